//! Intervals: lengths, unions, overlaps, gaps, innermost intervals, and joins by time.
//!
//! Intervals are half-open, `[start, end)`: an interval that ends where another starts touches it
//! but does not overlap it. All values are BIGINT, in the caller's unit. An interval of length zero
//! contains no instant, so it adds nothing.
//!
//! `algorithm` contains the computations, `aggregate` and `relation` turn them into SQL functions,
//! and `aggregate_docs` and `relation_docs` document these functions.

mod aggregate;
mod aggregate_docs;
mod algorithm;
pub(crate) mod relation;
mod relation_docs;

use crate::doc::{Call, Function, FunctionDoc};
use crate::relation::RelationFunction;
use aggregate::Measure;
use relation::Relation;

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    let aggregate = |measure: Measure, doc: FunctionDoc| Function {
        call: Call::Aggregate(measure.function()),
        doc,
    };
    let relation = |relation: Relation, doc: FunctionDoc| Function {
        call: Call::Relation(relation.planner()),
        doc,
    };
    vec![
        aggregate(Measure::UnionLen, aggregate_docs::UNION_LEN),
        aggregate(Measure::OverlapLen, aggregate_docs::OVERLAP_LEN),
        aggregate(Measure::MaxOverlap, aggregate_docs::MAX_OVERLAP),
        aggregate(Measure::Merge, aggregate_docs::MERGE),
        aggregate(Measure::OverlapCount, aggregate_docs::OVERLAP_COUNT),
        relation(Relation::Merge, relation_docs::MERGE),
        relation(Relation::Intersect, relation_docs::INTERSECT),
        relation(Relation::Subtract, relation_docs::SUBTRACT),
        relation(Relation::OverlapCount, relation_docs::OVERLAP_COUNT),
        relation(Relation::Gaps, relation_docs::GAPS),
        relation(Relation::Flatten, relation_docs::FLATTEN),
        relation(Relation::AsofJoin, relation_docs::ASOF_JOIN),
    ]
}
