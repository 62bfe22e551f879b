//! Describes the open traces in a few lines: traces, events, ranks, time, and their issues.

use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::TryStreamExt;
use indicatif::HumanCount;

use tracesql::Result;
use tracesql::output::units::plural;
use tracesql::output::{clip, safe};

use super::session::Session;

/// The maximum number of traces that are listed one by one.
const MAX_TRACES: usize = 6;

const TRACES: &str = "
    SELECT path, format, rank, event_count, format_ns(duration_ns) AS duration,
           date_trunc('second', to_timestamp_nanos(base_time_ns + start_ns))::VARCHAR AS started
    FROM traces ORDER BY rank, path";

const ISSUES: &str = "
    SELECT severity, code, sum(count) AS n FROM ingest_issues WHERE severity <> 'info'
    GROUP BY severity, code ORDER BY severity, n DESC, code";

/// The lines of the message.
pub fn loaded(session: &Session) -> Result<String> {
    let (traces, issues) = session
        .runtime
        .block_on(async { tokio::try_join!(rows(session, TRACES), rows(session, ISSUES)) })?;
    let width = session.screen.map_or(usize::MAX, |s| s.width);
    let mut lines = Vec::new();
    let events: i64 = traces.iter().filter_map(|t| t[3].parse::<i64>().ok()).sum();
    let count = match traces.len() {
        0 => "no traces".to_owned(),
        1 => "1 trace".to_owned(),
        n => format!("{n} traces"),
    };
    lines.push(format!(
        "{count}, {} {}",
        HumanCount(events.max(0) as u64),
        plural(events, "event")
    ));
    for trace in traces.iter().take(MAX_TRACES) {
        let [path, format, rank, events, duration, started] = trace.as_slice() else { continue };
        let rank = if rank.is_empty() { String::new() } else { format!(", rank {rank}") };
        let duration = if duration.is_empty() { String::new() } else { format!(", {duration}") };
        let started = if started.is_empty() {
            String::new()
        } else {
            format!(" from {}", started.replace('T', " "))
        };
        let facts = format!(
            "{format}{rank}, {} {}{duration}{started}",
            HumanCount(events.parse().unwrap_or(0)),
            plural(events.parse().unwrap_or(0_u64), "event")
        );
        lines.push(format!(
            "  {}  {facts}",
            short(path, width.saturating_sub(facts.chars().count() + 4).max(20))
        ));
    }
    if traces.len() > MAX_TRACES {
        lines.push(format!("  and {} more: SELECT * FROM traces", traces.len() - MAX_TRACES));
    }
    if !issues.is_empty() {
        let mut parts: Vec<String> =
            issues.iter().take(3).map(|i| format!("{} × {} ({})", i[2], i[1], i[0])).collect();
        if issues.len() > 3 {
            parts.push(format!("{} more kinds", issues.len() - 3));
        }
        lines.push(format!("  issues: {}; see ingest_issues", parts.join(", ")));
    }
    Ok(lines.iter().map(|l| format!("{}\n", clip(&safe(l), width))).collect())
}

/// The end of a path, which distinguishes traces better than its beginning.
fn short(path: &str, max_chars: usize) -> String {
    let path = safe(path);
    let count = path.chars().count();
    if count <= max_chars {
        path
    } else {
        format!("…{}", path.chars().skip(count + 1 - max_chars).collect::<String>())
    }
}

/// The rows of a query as texts. NULL becomes an empty text.
async fn rows(session: &Session, sql: &str) -> Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for statement in session.engine.parse(sql)? {
        let batches: Vec<_> = session.engine.run(statement, &[]).await?.try_collect().await?;
        for batch in &batches {
            let options = FormatOptions::new();
            let columns: Vec<_> = batch
                .columns()
                .iter()
                .filter_map(|c| ArrayFormatter::try_new(c.as_ref(), &options).ok())
                .collect();
            rows.extend(
                (0..batch.num_rows())
                    .map(|i| columns.iter().map(|c| c.value(i).to_string()).collect()),
            );
        }
    }
    Ok(rows)
}
