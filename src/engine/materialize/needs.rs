//! Collects the columns and filters that plans need from shared views.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlan;

use super::part::{Columns, Need, comparable};
use super::shared_view::{SharedView, each_scan};

/// The columns and filters that plans need, grouped by shared view.
#[derive(Default)]
pub struct Needs(HashMap<usize, Vec<Need>>);

impl Needs {
    /// Adds the needs of all scans in an optimized plan.
    pub fn collect(&mut self, plan: &LogicalPlan) -> Result<()> {
        each_scan(plan, |view, scan| {
            let all = || (0..scan.source.schema().fields().len()).collect();
            let columns: Columns =
                scan.projection.as_ref().map_or_else(all, |p| p.iter().copied().collect());
            let filters = comparable(&scan.filters)?;
            let needs = self.0.entry(view).or_default();
            match needs.iter_mut().find(|need| need.filters == filters) {
                Some(need) => {
                    need.columns.extend(columns);
                    need.readers += 1;
                }
                None => needs.push(Need { filters, columns, readers: 1 }),
            }
            Ok(())
        })
    }

    /// Removes and returns the needs of a view.
    pub fn take(&mut self, view: &Arc<SharedView>) -> Vec<Need> {
        self.0.remove(&view.id()).unwrap_or_default()
    }
}
