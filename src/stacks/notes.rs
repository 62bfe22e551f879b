//! Properties of traces that make a profile differ from what a user may expect.

use super::request::{Request, Rule};
use super::samples::first_ints;
use crate::engine::Engine;
use crate::error::Result;
use crate::output::units;

/// An anomaly that concerns a smaller share of the time is in the comments only.
const MIN_WARNED_SHARE: f64 = 0.01;

/// Something unexpected about the events of the traces.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Anomaly {
    /// The text of the warning.
    brief: String,
    /// The text of the comment in the profile.
    detail: String,
    /// Whether it changes the result noticeably.
    matters: bool,
}

/// All anomalies of the traces.
#[derive(Debug, Default)]
pub(super) struct Anomalies(Vec<Anomaly>);

impl Anomalies {
    /// One line on all anomalies that change the result noticeably.
    pub(super) fn warning(&self) -> Option<String> {
        let briefs: Vec<&str> =
            self.0.iter().filter(|a| a.matters).map(|a| a.brief.as_str()).collect();
        (!briefs.is_empty()).then(|| briefs.join("; "))
    }

    /// A line for each anomaly, whether or not it matters.
    pub(super) fn details(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|a| a.detail.clone())
    }

    /// Adds an anomaly if there is a number of cases. `brief` follows that number, for one case and
    /// for several; `more` is what only the comment adds.
    fn add(&mut self, count: Option<i64>, matters: bool, brief: [&str; 2], more: &str) {
        let Some(count) = count.filter(|count| *count > 0) else { return };
        let brief = format!("{} {}", units::count(count), brief[usize::from(count != 1)]);
        self.0.push(Anomaly { detail: format!("{brief}{more}"), brief, matters });
    }
}

/// Finds the anomalies of a store that concern the samples of a rule.
pub(super) async fn anomalies(engine: &Engine, request: &Request) -> Result<Anomalies> {
    let mut found = Anomalies::default();
    let is_linked = match request.rule {
        _ if request.sql.is_some() => return Ok(found),
        Rule::Inclusive | Rule::Flat => return Ok(found),
        rule => rule == Rule::Linked,
    };
    // Device time of the rule `linked` is taken from kernels, where no overlap is counted twice.
    let tracks = if is_linked { "('cpu_thread')" } else { "('cpu_thread', 'gpu_stream')" };
    let counts = first_ints(engine, &counts_sql(tracks)).await?;
    let at = |i: usize| counts.get(i).copied().flatten();
    let share_matters = |part: Option<i64>, whole: Option<i64>| {
        part.unwrap_or(0) as f64 >= MIN_WARNED_SHARE * whole.unwrap_or(0) as f64 && part > Some(0)
    };
    let twice = match at(0) {
        Some(count) if count > 0 => {
            first_ints(engine, &twice_sql(tracks)).await?.into_iter().next()
        }
        _ => None,
    };
    let twice_ns = twice.flatten().unwrap_or(0).max(0);
    found.add(
        at(0),
        share_matters(Some(twice_ns), at(1)),
        ["event overlaps others partly", "events overlap others partly"],
        &format!(
            ": self times add up to more than the busy time by {}",
            units::ns(twice_ns as f64)
        ),
    );
    found.add(
        at(2),
        true,
        ["element could not be read", "elements could not be read"],
        " (see ingest_issues)",
    );
    found.add(
        at(3).filter(|_| is_linked),
        share_matters(at(4), at(5)),
        [
            "device activity has no launch in the trace",
            "device activities have no launch in the trace",
        ],
        "; such stacks begin with (launch not in trace)",
    );
    found.add(
        at(6),
        true,
        [
            "event with a negative duration is left out",
            "events with a negative duration are left out",
        ],
        "",
    );
    found.add(
        at(7).filter(|_| is_linked),
        share_matters(at(8), at(1)),
        ["event on no thread is left out", "events on no thread are left out"],
        " (async events, the profiler's own rows)",
    );
    Ok(found)
}

/// A query for the numbers of events, and for the times that they are shares of.
fn counts_sql(tracks: &str) -> String {
    format!(
        "WITH tracked AS (
           SELECT
             t.kind IN {tracks} AS is_sampled,
             t.kind NOT IN ('cpu_thread', 'gpu_stream') AS is_other,
             e.ph, e.cat, e.dur_ns, e.self_ns, e.overlaps
           FROM events e
           JOIN tracks t ON t.trace_id = e.trace_id AND t.track_id = e.track_id
         ),
         on_tracks AS (
           SELECT
             count(*) FILTER (WHERE overlaps AND is_sampled) AS overlapping,
             CAST(sum(self_ns) FILTER (WHERE is_sampled) AS BIGINT) AS self_ns,
             count(*) FILTER (WHERE ph = 'X' AND dur_ns < 0) AS negative,
             count(*) FILTER (WHERE is_other AND dur_ns > 0) AS on_no_thread,
             CAST(sum(dur_ns) FILTER (
               WHERE is_other AND dur_ns > 0 AND cat IS DISTINCT FROM 'Trace') AS BIGINT)
               AS other_ns
           FROM tracked
         ),
         on_devices AS (
           SELECT
             count(*) FILTER (WHERE launch_id IS NULL AND op_id IS NULL) AS without_launch,
             CAST(sum(dur_ns) FILTER (WHERE launch_id IS NULL AND op_id IS NULL) AS BIGINT)
               AS without_launch_ns,
             CAST(sum(dur_ns) AS BIGINT) AS device_ns
           FROM kernels WHERE kind <> 'sync'
         )
         SELECT
           t.overlapping, t.self_ns,
           (SELECT CAST(sum(skipped_count) AS BIGINT) FROM ingest_issues) AS skipped,
           d.without_launch, d.without_launch_ns, d.device_ns,
           t.negative, t.on_no_thread, t.other_ns
         FROM on_tracks t CROSS JOIN on_devices d"
    )
}

/// A query for the time that overlapping events count more than once.
fn twice_sql(tracks: &str) -> String {
    format!(
        "WITH overlapping AS (
           SELECT DISTINCT e.trace_id, e.track_id FROM events e
           JOIN tracks t ON t.trace_id = e.trace_id AND t.track_id = e.track_id
           WHERE e.overlaps AND t.kind IN {tracks}
         ),
         by_track AS (
           SELECT sum(e.self_ns) AS self_ns, interval_union_len(e.ts_ns, e.end_ns) AS busy_ns
           FROM events e
           JOIN overlapping o ON o.trace_id = e.trace_id AND o.track_id = e.track_id
           WHERE e.dur_ns >= 0
           GROUP BY e.trace_id, e.track_id
         )
         SELECT CAST(sum(self_ns - busy_ns) AS BIGINT) FROM by_track"
    )
}
