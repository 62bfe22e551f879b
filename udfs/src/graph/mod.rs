//! Functions on graphs of events: critical paths.
//!
//! `relation` turns a call into an ordinary plan: an aggregate (`collect`) that hands all rows of a
//! group to an algorithm, and an unnest of its result. `hta` is the graph of HTA, `path` the walk
//! from the end of a window back to its start.

mod collect;
mod docs;
mod hta;
mod path;
mod relation;
mod rows;

use crate::doc::{Call, Function};
use crate::relation::RelationFunction;
use relation::Graph;

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    let all = [
        (Graph::Hta, docs::HTA),
        (Graph::Path, docs::PATH),
        (Graph::Forecast, docs::FORECAST),
        (Graph::Slack, docs::SLACK),
        (Graph::JobPath, docs::JOB_PATH),
        (Graph::JobForecast, docs::JOB_FORECAST),
    ];
    all.map(|(graph, doc)| Function { call: Call::Relation(graph.planner()), doc }).to_vec()
}
