//! How times of a trace become times of the timeline.

use tracesql::Result;
use tracesql::engine::{Engine, int, text};

/// The clock of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    /// What is added to a time of the timeline to get `ts_ns` of the trace.
    pub shift_ns: i64,
    /// `alone`, `aligned`, `recorded` or `not known`.
    pub status: &'static str,
    /// What a user must know about it; empty if nothing.
    pub note: String,
}

/// What is known of a trace's clock.
#[derive(Debug, Clone)]
pub struct Known {
    /// The trace.
    pub trace_id: String,
    /// The earliest time of its events.
    pub start_ns: i64,
    /// Unix time of its time 0.
    pub base_ns: Option<i64>,
    /// By how much its clock is ahead of the job's, if that is known, and what to say about it.
    pub ahead: Option<(i64, String)>,
}

impl Known {
    /// Unix time of its first event on the common clock.
    fn start_unix(&self) -> Option<i64> {
        let ahead = self.ahead.as_ref().map_or(0, |(ns, _)| *ns);
        self.base_ns?.checked_add(self.start_ns)?.checked_sub(ahead)
    }
}

/// Clocks of traces on one time whose zero is the earliest start. A trace whose place on it is not
/// known begins at 0.
pub fn clocks(known: &[Known]) -> Vec<Clock> {
    let origin = known.iter().filter_map(Known::start_unix).min();
    let is_one = known.len() == 1;
    known
        .iter()
        .map(|trace| {
            let own = || Clock { shift_ns: trace.start_ns, status: "alone", note: String::new() };
            if is_one {
                return own();
            }
            let begin = origin.and_then(|o| trace.start_unix()?.checked_sub(o));
            let shift = begin.and_then(|begin| trace.start_ns.checked_sub(begin));
            match (shift, &trace.ahead) {
                (Some(shift_ns), Some((_, note))) => {
                    Clock { shift_ns, status: "aligned", note: note.clone() }
                }
                (Some(shift_ns), None) => Clock {
                    shift_ns,
                    status: "recorded",
                    note: "its place is as its machine's clock says".into(),
                },
                (None, _) => Clock {
                    status: "not known",
                    note: "the trace does not say when its clock began; it is drawn from 0".into(),
                    ..own()
                },
            }
        })
        .collect()
}

/// By how much clocks are ahead of the job's, by trace. Nothing if there are no jobs.
pub async fn ahead(engine: &Engine) -> Result<Vec<(String, i64, String)>> {
    let sql = "
        SELECT trace_id, first_value(offset_ns ORDER BY segment) AS offset_ns,
               max(abs(drift_ppm)) AS drift_ppm, max(segment) AS segments, max(error_ns) AS error_ns
        FROM rank_clocks WHERE status IN ('reference', 'aligned') GROUP BY trace_id";
    let rows = engine.objects(sql).await?;
    let found = rows.iter().filter_map(|row| {
        let note = match int(row, "segments").unwrap_or(1) {
            1 => match int(row, "error_ns") {
                Some(error) => format!("aligned to {error} ns, without its drift"),
                None => String::new(),
            },
            steps => format!("its clock steps {} times; later stretches lie off", steps - 1),
        };
        Some((text(row, "trace_id")?, int(row, "offset_ns")?, note))
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(start_ns: i64, base_ns: Option<i64>, ahead: Option<i64>) -> Known {
        let ahead = ahead.map(|ns| (ns, String::new()));
        Known { trace_id: String::new(), start_ns, base_ns, ahead }
    }

    #[test]
    fn one_trace_begins_at_its_own_start() {
        let all = clocks(&[known(5, None, None)]);
        assert_eq!((all[0].shift_ns, all[0].status), (5, "alone"));
    }

    #[test]
    fn traces_begin_where_the_common_clock_says() {
        let all = clocks(&[known(100, Some(1_000), None), known(50, Some(1_200), Some(100))]);
        // They begin at 1,100 and 1,150 of the common clock.
        assert_eq!((all[0].shift_ns, all[0].status), (100, "recorded"));
        assert_eq!((all[1].shift_ns, all[1].status), (0, "aligned"));
    }

    #[test]
    fn without_a_base_the_place_is_not_known() {
        let all = clocks(&[known(100, Some(1_000), None), known(7, None, None)]);
        assert_eq!((all[1].shift_ns, all[1].status), (7, "not known"));
        let extreme = clocks(&[known(i64::MAX, Some(i64::MAX), None), known(0, Some(0), None)]);
        assert_eq!(extreme[0].status, "not known");
    }
}
