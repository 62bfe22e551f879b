//! Selects the traces and events of an export.

use tracesql_formats::chrome::COLUMNS;

use super::{literal, rows};
use crate::engine::Engine;
use crate::error::{Error, Result};

/// The number of ranks that an error lists one by one.
const MAX_RANKS: usize = 16;

/// The properties of a trace that an export needs.
#[derive(Debug, Clone)]
pub struct TraceFacts {
    /// The name of the trace.
    pub trace_id: String,
    /// The path of the input as the user gave it.
    pub path: String,
    /// The format, such as `kineto`; `traces.format` lists them.
    pub format: String,
    /// The rank.
    pub rank: Option<i64>,
    /// The Unix time at which the clock of the trace is 0.
    pub base_time_ns: Option<i64>,
    /// The earliest start of an event.
    pub start_ns: Option<i64>,
    /// The number of elements in its event list.
    pub elements: u64,
    /// The number of elements that have no row.
    pub skipped: u64,
    /// The size of its JSON text in bytes.
    pub text_bytes: u64,
    /// All top-level keys except the event list.
    pub metadata: String,
}

/// The traces of a session by rank and name.
pub async fn traces(engine: &Engine) -> Result<Vec<TraceFacts>> {
    let found = rows::query(
        engine,
        "SELECT trace_id, path, format, rank, base_time_ns, start_ns, element_count, \
         skipped_count, text_bytes, metadata FROM traces ORDER BY rank NULLS LAST, trace_id",
    )
    .await?;
    let text = |row: &rows::Row<'_>, name| row.text(name).unwrap_or_default().to_owned();
    let count =
        |row: &rows::Row<'_>, name| row.int(name).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let facts = |row: rows::Row<'_>| TraceFacts {
        trace_id: text(&row, "trace_id"),
        path: text(&row, "path"),
        format: text(&row, "format"),
        rank: row.int("rank"),
        base_time_ns: row.int("base_time_ns"),
        start_ns: row.int("start_ns"),
        elements: count(&row, "element_count"),
        skipped: count(&row, "skipped_count"),
        text_bytes: count(&row, "text_bytes"),
        metadata: text(&row, "metadata"),
    };
    Ok(found.iter().map(facts).collect())
}

/// The selected events. By default all events are selected.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// A condition on the columns of `events`, or on those of the exported view.
    pub condition: Option<String>,
    /// The first and the last step.
    pub steps: Option<(i64, i64)>,
    /// A query whose columns `trace_id` and `event_id` identify events.
    pub query: Option<String>,
}

impl Selection {
    /// Whether all events are selected.
    pub fn is_all(&self) -> bool {
        self.condition.is_none() && self.steps.is_none() && self.query.is_none()
    }

    /// The selection as text for people.
    pub fn text(&self) -> String {
        let steps = self
            .steps
            .map(|(a, b)| if a == b { format!("step {a}") } else { format!("steps {a} to {b}") });
        let query = self.query.as_ref().map(|q| format!("events of {}", without_end(q)));
        [steps, self.condition.clone(), query].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The conditions on rows, if there are any.
    pub fn conditions(&self) -> Option<String> {
        // The line end closes a comment at the end of the condition.
        let condition = self.condition.as_ref().map(|c| format!("(\n{c}\n)"));
        let steps = self.steps.map(|(a, b)| format!("(step BETWEEN {a} AND {b})"));
        let parts: Vec<String> = [condition, steps].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" AND "))
    }

    /// The query for the events of a trace, in any order: all of them, or those between two ids.
    pub fn sql(&self, trace: &TraceFacts, between: Option<(i64, i64)>) -> String {
        let columns =
            if trace.format == "mllm_perf" { BLOBS.to_owned() } else { COLUMNS.join(", ") };
        let range =
            between.map(|(a, b)| format!(" AND event_id BETWEEN {a} AND {b}")).unwrap_or_default();
        format!("SELECT {columns} FROM events WHERE trace_id = {}{range}", literal(&trace.trace_id))
    }

    /// The query for the IDs of the selected events and of the events that belong to them. An ID
    /// can occur several times.
    ///
    /// Metadata events belong to them, so that tracks keep their names. Arrows belong to them if
    /// both ends are selected. End events do not, because they are made from their begin events.
    pub fn ids_sql(&self, trace: &TraceFacts) -> String {
        let id = literal(&trace.trace_id);
        let conditions = self.conditions().map(|c| format!(" AND {c}")).unwrap_or_default();
        let picked = match &self.query {
            // The columns are qualified, because otherwise a column that the query lacks would be
            // taken from the events of the outer query.
            Some(query) => {
                format!(
                    " AND event_id IN (SELECT picked.event_id FROM (\n{}\n) AS picked WHERE \
                     picked.trace_id = {id})",
                    without_end(query)
                )
            }
            None => String::new(),
        };
        format!(
            "WITH chosen AS (
                SELECT event_id FROM events
                WHERE trace_id = {id} AND ph NOT IN ('M', 'E', 'e', 's', 't', 'f')
                    {conditions}{picked}
            ),
            arrows AS (
                SELECT src_flow_event_id, dst_flow_event_id FROM flows
                WHERE trace_id = {id} AND src_event_id IN (SELECT event_id FROM chosen)
                    AND dst_event_id IN (SELECT event_id FROM chosen)
            )
            SELECT event_id FROM chosen
            UNION ALL SELECT src_flow_event_id FROM arrows
            UNION ALL SELECT dst_flow_event_id FROM arrows
            UNION ALL SELECT event_id FROM events WHERE trace_id = {id} AND ph = 'M'"
        )
    }
}

/// The elements for the blobs of a perf.json. Memory blobs overlap, so they become async events.
/// Operators become complete events.
const BLOBS: &str = "event_id, track_id, CAST(1 AS BIGINT) AS pid, track_id + 1 AS tid, CASE WHEN \
    cat = 'memory_blob' THEN 'b' ELSE ph END AS ph, cat, name, ts_ns, dur_ns, CASE WHEN cat = \
    'memory_blob' THEN concat('blob ', event_id) END AS id, args, CAST(NULL AS VARCHAR) AS extra";

/// A query without the semicolon at its end.
pub fn without_end(sql: &str) -> &str {
    sql.trim_end().trim_end_matches(';')
}

/// The ids of the traces with this rank among some traces.
pub fn of_rank(all: &[TraceFacts], rank: i64) -> Result<Vec<String>> {
    let chosen: Vec<String> =
        all.iter().filter(|t| t.rank == Some(rank)).map(|t| t.trace_id.clone()).collect();
    if chosen.is_empty() {
        return Err(Error::Usage(format!("no trace has rank {rank}; {}", ranks(all))));
    }
    Ok(chosen)
}

/// A sentence about the ranks of some traces.
fn ranks(all: &[TraceFacts]) -> String {
    let mut ranks: Vec<i64> = all.iter().filter_map(|t| t.rank).collect();
    ranks.dedup();
    let (Some(first), Some(last)) = (ranks.first(), ranks.last()) else {
        return "no trace states its rank".to_owned();
    };
    if ranks.len() <= MAX_RANKS {
        let ranks: Vec<String> = ranks.iter().map(i64::to_string).collect();
        return format!("there are the ranks {}", ranks.join(", "));
    }
    format!("there are {} ranks from {first} to {last}", ranks.len())
}
