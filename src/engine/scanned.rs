//! Counts what a running or finished query read from the store.

use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;

use super::planned_apart;

/// The counter of the rows that an operator examined in plans of its own.
pub const ROWS_SCANNED: &str = "rows_scanned";

/// The amount of data that a plan read from the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The number of rows that were examined.
    pub rows: usize,
    /// The number of bytes that were read from files.
    pub bytes: usize,
}

impl Scanned {
    /// The rows and bytes counted by the leaves of a plan, and by the leaves of the shared plans
    /// that it reads.
    pub fn of(plan: &Arc<dyn ExecutionPlan>) -> Self {
        Self::of_all(std::slice::from_ref(plan))
    }

    /// The same of several plans. A shared plan counts once.
    pub fn of_all(all: &[Arc<dyn ExecutionPlan>]) -> Self {
        fn shared<'p>(
            plan: &'p Arc<dyn ExecutionPlan>,
            found: &mut Vec<&'p Arc<dyn ExecutionPlan>>,
        ) {
            match planned_apart(plan) {
                Some(inner) if found.iter().any(|f| Arc::ptr_eq(f, inner)) => {}
                Some(inner) => {
                    found.push(inner);
                    shared(inner, found);
                }
                None => plan.children().into_iter().for_each(|child| shared(child, found)),
            }
        }
        let mut plans: Vec<_> = all.iter().collect();
        all.iter().for_each(|plan| shared(plan, &mut plans));
        plans.into_iter().map(of_itself).fold(Self::default(), Self::and)
    }

    fn and(self, other: Self) -> Self {
        Self { rows: self.rows + other.rows, bytes: self.bytes + other.bytes }
    }
}

fn of_itself(plan: &Arc<dyn ExecutionPlan>) -> Scanned {
    let children = plan.children();
    if !children.is_empty() {
        return children.into_iter().map(of_itself).fold(Scanned::default(), Scanned::and);
    }
    let Some(metrics) = plan.metrics() else { return Scanned::default() };
    let sum = |name: &str| metrics.sum_by_name(name).map_or(0, |v| v.as_usize());
    // Rows that a filter dropped during the read were examined too, and so were those that groups of
    // traces read.
    Scanned {
        rows: metrics.output_rows().unwrap_or(0) + sum("pushdown_rows_pruned") + sum(ROWS_SCANNED),
        bytes: sum("bytes_scanned"),
    }
}
