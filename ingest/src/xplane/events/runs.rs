//! Runs of programs on a TPU.

use crate::typed::TypedElements;

/// Runs of programs on a TPU, and the operators that belong to them.
#[derive(Default)]
pub struct Runs {
    /// Start, end and position of each run in the event list.
    pub(super) runs: Vec<(i64, i64, u32)>,
    /// Start and position of each operator.
    pub(super) operators: Vec<(i64, u32)>,
}

impl Runs {
    /// Assigns the operators to the runs that enclose them.
    pub fn finish(mut self, elements: &mut TypedElements<'_>) {
        self.runs.sort_unstable();
        for (ts, ord) in self.operators {
            let after = self.runs.partition_point(|run| run.0 <= ts);
            if let Some(&(_, end, run)) = self.runs[..after].last()
                && ts < end
            {
                elements.facts.runs.work.push((ord, run));
            }
        }
    }
}
