//! Collects the samples of a store with SQL queries, and notes about them.

use std::ops::Range;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use futures::StreamExt;
use tracesql_formats::pprof::{Builder, Collector, Header};

use super::inclusive;
use crate::engine::Engine;
use crate::error::{Error, Result};

/// The rule that assigns values to stacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rule {
    /// Host time without children. Device time and memory count at the stack that launched or
    /// allocated.
    #[default]
    Linked,
    /// The time of each event without its children, on its own track. Device tracks are included,
    /// and nothing is linked.
    SelfTime,
    /// The whole duration of each event at its stack, as in torch2pprof. A parent's duration
    /// includes that of its children.
    Inclusive,
    /// The whole duration of each event as a stack with one frame, as in trace2profile.
    Flat,
}

/// A request for samples.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The rule that assigns values to stacks.
    pub rule: Rule,
    /// A query of the user.
    pub sql: Option<String>,
    /// A condition on the rows.
    pub filter: Option<String>,
    /// Selects only this step.
    pub step: Option<i64>,
    /// Selects only this rank.
    pub rank: Option<i64>,
    /// Whether the thread is the first frame.
    pub by_thread: bool,
}

/// Samples with a header and notes.
pub struct Samples {
    /// The stacks, labels and values.
    pub profile: Builder,
    /// The header of the profile.
    pub header: Header,
    /// Notes on anything a user may not expect, each with its count.
    pub notes: Vec<String>,
}

/// Collects the samples of a store. Samples of `base` count as negative.
pub async fn collect(engine: &Engine, base: Option<&Engine>, request: &Request) -> Result<Samples> {
    let rule = match (&request.sql, request.rule) {
        (Some(_), _) => "samples from SQL",
        (None, Rule::Linked) => {
            "rule: linked (host time without children; device time and memory at the stack that \
             launched or allocated)"
        }
        (None, Rule::SelfTime) => {
            "rule: self (time without children of each event on its own track)"
        }
        (None, Rule::Inclusive) => {
            "rule: inclusive (as torch2pprof: whole durations, parents count their children again)"
        }
        (None, Rule::Flat) => "rule: flat (as trace2profile: whole durations, one frame each)",
    };
    let about = async {
        let notes = notes(engine, request).await?;
        let mut header = header(engine).await?;
        header.comments =
            vec![concat!("tracesql ", env!("CARGO_PKG_VERSION")).to_owned(), rule.to_owned()];
        header.comments.extend(request.sql.as_ref().map(|sql| format!("SQL: {sql}")));
        header.comments.extend(request.conditions().map(|c| format!("only rows with {c}")));
        header.comments.extend(notes.iter().cloned());
        Ok::<_, Error>((header, notes))
    };
    if request.rule == Rule::Inclusive && request.sql.is_none() {
        let mut profile = inclusive::profile(engine, &request.inclusive_sql(), 1).await?;
        if let Some(base) = base {
            inclusive::add(&mut profile, base, &request.inclusive_sql(), -1).await?;
        }
        let (header, notes) = about.await?;
        return Ok(Samples { profile, header, notes });
    }
    let sql = request.sql();
    let mut collector = None;
    let (added, about) = futures::join!(add(engine, &sql, false, &mut collector), about);
    added?;
    let (mut header, mut notes) = about?;
    if let Some(base) = base {
        add(base, &sql, true, &mut collector).await?;
    }
    let Some(collector) = collector else {
        return Err(Error::Usage("the query gives no result".into()));
    };
    if collector.without_stack > 0 {
        let are = if collector.without_stack == 1 {
            "row without a stack is"
        } else {
            "rows without a stack are"
        };
        let note = format!("{} {are} left out", collector.without_stack);
        header.comments.push(note.clone());
        notes.push(note);
    }
    Ok(Samples { profile: collector.finish(), header, notes })
}

async fn add(
    engine: &Engine,
    sql: &str,
    base: bool,
    collector: &mut Option<Collector>,
) -> Result<()> {
    let mut statements = engine.parse(sql)?;
    if statements.len() != 1 {
        return Err(Error::Usage(format!(
            "give one query for the samples, not {}",
            statements.len()
        )));
    }
    let mut result = engine.run(statements.remove(0), &[]).await?;
    let collector = match collector {
        Some(collector) => collector,
        None => collector.insert(Collector::new(&result.schema())?),
    };
    while let Some(batch) = result.next().await {
        collector.add(&batch?, base)?;
    }
    Ok(())
}

impl Request {
    /// The conditions on the rows, joined into one; `None` if there are none.
    fn conditions(&self) -> Option<String> {
        let parts: Vec<String> = [
            self.filter.as_ref().map(|f| format!("({f})")),
            self.step.map(|n| format!("step = {n}")),
            self.rank.map(|n| format!("rank = {n}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!parts.is_empty()).then(|| parts.join(" AND "))
    }

    /// The statement that selects the samples, and the place of the user's part in it: the query,
    /// else the condition.
    pub fn statement(&self) -> (String, Range<usize>) {
        let sql = match (&self.sql, self.rule) {
            (None, Rule::Inclusive) => self.inclusive_sql(),
            _ => self.sql(),
        };
        let part = self.sql.as_deref().or(self.filter.as_deref()).unwrap_or_default();
        let start = sql.rfind(part).unwrap_or(0);
        let end = (start + part.len()).min(sql.len());
        (sql, start..end)
    }

    fn sql(&self) -> String {
        let condition = self.conditions().map(|c| format!(" WHERE {c}")).unwrap_or_default();
        let stack = if self.by_thread {
            "stack_concat(coalesce(thread, '(no thread)'), stack) AS stack"
        } else {
            "stack"
        };
        if let Some(sql) = &self.sql {
            return match condition.as_str() {
                "" if !self.by_thread => sql.clone(),
                // The line end closes a comment at the end of the query.
                _ if self.by_thread => format!(
                    "SELECT {stack}, * EXCLUDE (stack) FROM (\n{}\n) AS samples{condition}",
                    without_end(sql)
                ),
                _ => format!("SELECT * FROM (\n{}\n) AS samples{condition}", without_end(sql)),
            };
        }
        match self.rule {
            Rule::Linked => format!(
                "SELECT {stack}, samples, cpu_ns, gpu_ns, kernels, alloc_space_bytes, \
                 alloc_objects, trace_id AS trace, rank, pid, tid, thread, device, stream, step \
                 FROM stack_samples{condition}"
            ),
            Rule::SelfTime => format!(
                "SELECT {stack}, samples, time_ns, trace_id AS trace, rank, pid, tid, thread, \
                 device, stream, step FROM track_stacks{condition}"
            ),
            Rule::Flat | Rule::Inclusive => {
                format!("SELECT {stack}, cpu_ns FROM (\n{FLAT}\n) AS samples{condition}")
            }
        }
    }

    fn inclusive_sql(&self) -> String {
        let condition = self.conditions().map(|c| format!(" WHERE {c}")).unwrap_or_default();
        format!(
            "SELECT trace_id, thread, name, cat, ts_ns, dur_ns, cpu_ns FROM (\n{INCLUSIVE}\n) AS \
             samples{condition} ORDER BY trace_id, thread, {START_US}, event_id"
        )
    }
}

/// trace2profile converts microseconds as floating point numbers and truncates to whole
/// nanoseconds.
const FLAT: &str = "SELECT e.trace_id, t.rank, e.step, e.pid, e.tid, coalesce(k.thread_name, \
    k.tid_text) AS thread, e.name, e.cat, e.ts_ns, [concat(coalesce(e.name, 'unknown'), chr(31), \
    coalesce(e.cat, 'unknown'))] AS stack, CAST(trunc(e.dur_ns / 1000.0 * 1000.0) AS BIGINT) AS \
    cpu_ns FROM events e JOIN traces t ON t.trace_id = e.trace_id JOIN tracks k ON k.trace_id = \
    e.trace_id AND k.track_id = e.track_id WHERE e.ph NOT IN ('B', 'b') AND e.dur_ns IS NOT NULL";

/// torch2pprof identifies threads by `tid` alone, and takes 0 for a missing one.
const INCLUSIVE: &str = "SELECT e.trace_id, t.rank, e.step, e.pid, e.tid, e.event_id, \
    coalesce(k.tid_text, '0') AS thread, coalesce(e.name, '') AS name, coalesce(e.cat, '') AS cat, \
    e.ts_ns, e.dur_ns, CAST(trunc(e.dur_ns / 1000.0 * 1000.0) AS BIGINT) AS cpu_ns FROM events e \
    JOIN traces t ON t.trace_id = e.trace_id JOIN tracks k ON k.trace_id = e.trace_id AND \
    k.track_id = e.track_id WHERE e.ph = 'X' AND e.dur_ns > 0";

/// The start in floating point microseconds, by which torch2pprof orders events. Starts that are
/// equal in these numbers stay in the order of the file.
const START_US: &str = "CAST(ts_ns / 1000 AS DOUBLE) + CAST(ts_ns % 1000 AS DOUBLE) / 1000.0";

fn without_end(sql: &str) -> &str {
    sql.trim_end().trim_end_matches(';')
}

async fn rows(engine: &Engine, sql: &str) -> Result<Vec<RecordBatch>> {
    Ok(engine.context().sql(sql).await?.collect().await?)
}

/// The whole numbers in the first row. Other values are `None`.
async fn first_ints(engine: &Engine, sql: &str) -> Result<Vec<Option<i64>>> {
    let batches = rows(engine, sql).await?;
    let Some(batch) = batches.iter().find(|b| b.num_rows() > 0) else { return Ok(Vec::new()) };
    Ok(batch
        .columns()
        .iter()
        .map(|c| c.as_primitive_opt::<Int64Type>().filter(|c| c.is_valid(0)).map(|c| c.value(0)))
        .collect())
}

async fn header(engine: &Engine) -> Result<Header> {
    let times = "SELECT min(base_time_ns + start_ns), max(end_ns) - min(start_ns), \
        max(duration_ns), count(*) FROM traces";
    let found = first_ints(engine, times).await?;
    let at = |i: usize| found.get(i).copied().flatten();
    let traces = at(3).unwrap_or(0);
    // Each trace has its own clock, so several traces together are as long as the longest one.
    let duration_ns = if traces == 1 { at(1) } else { at(2) }.unwrap_or(0);
    let mut source = format!("{traces} traces");
    if traces == 1 {
        let paths =
            rows(engine, "SELECT CAST(coalesce(path, trace_id) AS VARCHAR) AS path FROM traces")
                .await?;
        if let Some(batch) = paths.iter().find(|b| b.num_rows() > 0) {
            let path = datafusion::arrow::util::display::array_value_to_string(batch.column(0), 0)
                .unwrap_or_default();
            source = path.rsplit('/').next().unwrap_or(&path).to_owned();
        }
    }
    Ok(Header { time_ns: at(0).unwrap_or(0), duration_ns, source, ..Header::default() })
}

/// Notes on anything a user may not expect about the samples of a store.
async fn notes(engine: &Engine, request: &Request) -> Result<Vec<String>> {
    if request.sql.is_some() || matches!(request.rule, Rule::Inclusive | Rule::Flat) {
        return Ok(Vec::new());
    }
    let found = first_ints(
        engine,
        "SELECT
           (SELECT sum(count) FROM ingest_issues WHERE code = 'partial_overlap') AS overlapping,
           (SELECT sum(skipped_count) FROM ingest_issues) AS skipped,
           (SELECT count(*) FROM kernels
            WHERE launch_id IS NULL AND op_id IS NULL AND kind <> 'sync') AS without_launch,
           (SELECT count(*) FROM events WHERE ph = 'X' AND dur_ns < 0) AS negative,
           (SELECT count(*) FROM events e
            JOIN tracks t ON t.trace_id = e.trace_id AND t.track_id = e.track_id
            WHERE t.kind NOT IN ('cpu_thread', 'gpu_stream') AND e.dur_ns > 0) AS on_no_thread",
    )
    .await?;
    let texts = [
        "events overlap others partly: self times add up to more than busy time by their overlap",
        "elements of the traces could not be read (see ingest_issues)",
        "device activities have no launch in the trace; their stacks begin with (launch not in \
         trace)",
        "events have a negative duration and are left out",
        "events lie on no thread (async events, the profiler's own rows) and are left out",
    ];
    let linked = [true, true, request.rule == Rule::Linked, true, request.rule == Rule::Linked];
    let note = |((count, text), applies): ((&Option<i64>, &str), bool)| match count {
        Some(count) if *count > 0 && applies => Some(format!("{count} {text}")),
        _ => None,
    };
    Ok(found.iter().zip(texts).zip(linked).filter_map(note).collect())
}
