//! The header of a profile: which traces its samples come from, and their times.

use std::collections::BTreeSet;

use tracesql_formats::pprof::{Builder, Header};

use super::request::Request;
use super::samples::{first_ints, rows, texts};
use crate::engine::Engine;
use crate::error::Result;
use crate::output::units::many;

/// Columns of samples that name the trace.
const TRACE_LABELS: [&str; 2] = ["trace", "trace_id"];

/// The header of a profile, without comments. It names and measures the traces that have samples.
pub(super) async fn header(
    engine: &Engine,
    request: &Request,
    profile: &Builder,
) -> Result<Header> {
    let mut traces = TRACE_LABELS.iter().find_map(|label| profile.label_texts(label));
    if let Some(sql) = request.traces_sql() {
        let mut found = BTreeSet::new();
        for batch in rows(engine, &sql).await? {
            found.extend(texts(&batch, 0)?.into_iter().flatten());
        }
        traces = Some(found);
    }
    let times = format!(
        "SELECT min(base_time_ns + start_ns), max(end_ns) - min(start_ns), max(duration_ns), \
         count(*) FROM traces{}",
        only(traces.as_ref())
    );
    let found = first_ints(engine, &times).await?;
    let at = |i: usize| found.get(i).copied().flatten();
    // Each trace has its own clock, so several traces together are as long as the longest one.
    let duration_ns = if at(3) == Some(1) { at(1) } else { at(2) }.unwrap_or(0);
    let source = source(engine, traces.as_ref()).await?;
    Ok(Header { time_ns: at(0).unwrap_or(0), duration_ns, source, ..Header::default() })
}

/// The file name of a single trace, or the number of traces. `None` stands for all traces of the
/// store.
pub(super) async fn source(engine: &Engine, traces: Option<&BTreeSet<String>>) -> Result<String> {
    let sql = format!("SELECT coalesce(path, trace_id) FROM traces{}", only(traces));
    let mut names = Vec::new();
    for batch in rows(engine, &sql).await? {
        names.extend(texts(&batch, 0)?.into_iter().flatten());
    }
    Ok(match &names[..] {
        [path] => path.rsplit('/').next().unwrap_or(path).to_owned(),
        _ => many(names.len() as i64, "trace"),
    })
}

/// A condition on `trace_id`; empty for all traces.
fn only(traces: Option<&BTreeSet<String>>) -> String {
    let Some(traces) = traces else { return String::new() };
    let ids: Vec<String> =
        traces.iter().map(|id| format!("'{}'", id.replace('\'', "''"))).collect();
    match ids.is_empty() {
        true => " WHERE false".to_owned(),
        false => format!(" WHERE trace_id IN ({})", ids.join(", ")),
    }
}
