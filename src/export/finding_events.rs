//! The events that a finding rests on: waits, copies, gaps, collectives.

use super::{literal, rows};
use crate::engine::Engine;
use crate::error::Result;

/// Maximum number of events of a finding. The longest ones are chosen.
const MAX_EVENTS: usize = 20;

/// An event that a finding rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingEvent {
    pub ts_ns: i64,
    /// Row of `events`; of a gap the work after it.
    pub event_id: Option<i64>,
    pub name: String,
    pub dur_ns: Option<i64>,
}

/// What identifies a finding among those of its rule.
#[derive(Debug, Clone, Copy)]
pub struct Finding<'a> {
    pub rule: &'a str,
    pub trace_id: &'a str,
    pub device: Option<i64>,
    pub step: Option<i64>,
    pub subject: Option<&'a str>,
}

/// The events of a finding, in the order of their starts. Findings of rules that are about shares
/// and not about single events have none.
pub async fn events(engine: &Engine, finding: Finding<'_>) -> Result<Vec<FindingEvent>> {
    let Some(from) = finding.sql() else { return Ok(Vec::new()) };
    let step = finding.step.map(|n| format!(" AND step = {n}")).unwrap_or_default();
    let sql = format!(
        "SELECT ts_ns, event_id, name, dur_ns FROM (
           SELECT * FROM ({from}) AS all_events
           WHERE trace_id = {}{step}
           ORDER BY dur_ns DESC NULLS LAST, event_id LIMIT {MAX_EVENTS}
         ) AS longest ORDER BY ts_ns, event_id",
        literal(finding.trace_id)
    );
    let found = rows::query_views(engine, &sql).await?;
    let event = |row: rows::Row<'_>| {
        Some(FindingEvent {
            ts_ns: row.int("ts_ns")?,
            event_id: row.int("event_id"),
            name: row.text("name").unwrap_or_default().to_owned(),
            dur_ns: row.int("dur_ns"),
        })
    };
    Ok(found.iter().filter_map(event).collect())
}

impl Finding<'_> {
    /// A query for the events, with the trace and the step of each.
    fn sql(self) -> Option<String> {
        let device = match self.device {
            Some(device) => format!(" AND device = {device}"),
            None => String::new(),
        };
        let copies = format!(
            "SELECT trace_id, step, ts_ns, event_id, name, dur_ns, device FROM kernels \
             WHERE kind = 'memcpy'{device}"
        );
        Some(match self.rule {
            "cpu_gpu_sync" => {
                "SELECT trace_id, step, ts_ns, event_id, name, dur_ns FROM _device_syncs".to_owned()
            }
            "tiny_copies" => {
                let place = self.subject.map(literal);
                let place = place.map(|place| {
                    format!(" AND coalesce(python_frame, outer_op_name, op_name, name) = {place}")
                });
                format!(
                    "SELECT trace_id, step, ts_ns, event_id, name, dur_ns FROM _device_syncs \
                     WHERE is_tiny{}",
                    place.unwrap_or_default()
                )
            }
            "memcpy" => copies,
            "pageable_copies" => format!("{copies} AND contains(name, 'Pageable')"),
            "gpu_idle" => {
                let cause = self.subject.map(|cause| format!(" AND cause = {}", literal(cause)));
                format!(
                    "SELECT trace_id, step, start_ns AS ts_ns, after_id AS event_id, \
                     concat('gap: ', cause) AS name, idle_ns AS dur_ns \
                     FROM gpu_idle_gaps WHERE idle_ns > 0{device}{}",
                    cause.unwrap_or_default()
                )
            }
            "communication" => format!(
                "SELECT trace_id, step, ts_ns, event_id, name, dur_ns FROM kernel_classes \
                 WHERE class = 'communication'{device}"
            ),
            "unlinked_work" => format!(
                "SELECT trace_id, step, ts_ns, event_id, name, dur_ns FROM kernels \
                 WHERE launch_id IS NULL AND op_id IS NULL AND kind <> 'sync'{device}"
            ),
            _ => return None,
        })
    }
}
