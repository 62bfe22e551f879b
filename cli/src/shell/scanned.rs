//! Counts what a query read from the store.

use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use indicatif::{HumanBytes, HumanCount};
use tracesql::engine::planned_apart;

/// The amount of data that a plan read from the store.
#[derive(Debug, Clone, Copy, Default)]
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
        let mut plans = vec![plan];
        shared(plan, &mut plans);
        plans.into_iter().map(scanned_itself).fold(Scanned::default(), |a, b| Scanned {
            rows: a.rows + b.rows,
            bytes: a.bytes + b.bytes,
        })
    }

    /// The amount in words; empty if nothing was read. Cached bytes are not counted, so there may
    /// be rows without bytes.
    pub fn text(&self) -> String {
        match (self.rows, self.bytes) {
            (0, 0) => String::new(),
            (count, 0) => format!("; read {}", rows(count)),
            (count, bytes) => {
                format!("; read {}, {} of the store", rows(count), HumanBytes(bytes as u64))
            }
        }
    }
}

fn scanned_itself(plan: &Arc<dyn ExecutionPlan>) -> Scanned {
    let children = plan.children();
    if !children.is_empty() {
        return children.into_iter().map(scanned_itself).fold(Scanned::default(), |a, b| Scanned {
            rows: a.rows + b.rows,
            bytes: a.bytes + b.bytes,
        });
    }
    let Some(metrics) = plan.metrics() else { return Scanned::default() };
    let sum = |name: &str| metrics.sum_by_name(name).map_or(0, |v| v.as_usize());
    // Rows that a filter dropped during the read were examined too.
    Scanned {
        rows: metrics.output_rows().unwrap_or(0) + sum("pushdown_rows_pruned"),
        bytes: sum("bytes_scanned"),
    }
}

/// Formats a number of rows in words.
pub fn rows(count: usize) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{} rows", HumanCount(count as u64)) }
}
