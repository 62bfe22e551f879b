//! Explains why a trace has no rows in a section: which information was not recorded, and how to
//! record it. The explanation comes from the view `coverage`.

use std::collections::HashSet;

use super::Trace;
use super::answer::{Answer, Missing, trace_of};
use super::sections::Scope;

/// Adds the traces without rows to each answer, with the reason. `open` is the number of traces
/// that the queries read.
pub fn explain(answers: &mut [Answer], traces: &[Trace], open: usize) {
    let coverage = answers.iter().find(|a| a.section.key == "coverage").cloned();
    for answer in answers.iter_mut().filter(|a| a.error.is_none()) {
        let has_rows: HashSet<&str> = answer.rows.iter().filter_map(|r| trace_of(r)).collect();
        let without: Vec<&Trace> =
            traces.iter().filter(|t| !has_rows.contains(t.trace_id.as_str())).collect();
        answer.missing =
            without.into_iter().map(|t| reason(answer, t, coverage.as_ref(), open)).collect();
    }
}

fn reason(answer: &Answer, trace: &Trace, coverage: Option<&Answer>, open: usize) -> Missing {
    let section = answer.section;
    let missing =
        |status, reason: String| Missing { trace_id: trace.trace_id.clone(), status, reason };
    if !section.scope.holds(trace, open) {
        let why = match section.scope {
            _ if trace.format == "mllm_perf" => {
                "MLLM's perf.json holds memory blobs and operations only"
            }
            _ if trace.format == "torch_memory" => {
                "a memory snapshot holds the history and the state of the allocator only"
            }
            Scope::Snapshot => "this section is about PyTorch memory snapshots",
            Scope::Flight => "this section is about dumps of the flight recorder",
            _ if trace.format == "flight_recorder" => {
                "a flight recorder dump holds the last collectives of a rank only; Hangs says what \
                 the job hangs on"
            }
            _ if trace.format == "execution_trace" => {
                "an execution trace holds operators without times; et_events joins it with the \
                 profiler's trace of the same run"
            }
            Scope::Mllm => "this section is about MLLM's perf.json",
            _ => "this section compares the ranks of a job; open the traces of all ranks together",
        };
        return missing("not_applicable", why.to_owned());
    }
    for need in section.needs {
        let row = coverage
            .and_then(|c| c.of(&trace.trace_id).find(|row| row.text("information") == Some(need)));
        if let Some(row) = row
            && row.text("status") == Some("missing")
        {
            let how = row.text("how_to_record").unwrap_or("see docs/recording.md");
            return missing("not_recorded", format!("not recorded: {need}; to record it: {how}"));
        }
    }
    missing("empty", section.if_empty.to_owned())
}
