//! `timeline_lane`: the lane in which a timeline draws an event.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Int64Type};
use datafusion_common::{Result, plan_err};

use super::Places;
use crate::doc::{Example, Function, FunctionDoc};
use crate::window::{Arguments, PartitionFunction, Starts};

/// Returns the function with its documentation.
pub fn function() -> Function {
    PartitionFunction {
        doc: DOC,
        arguments: Arguments::Coerced(five_ints),
        result_type: |_| DataType::Int64,
        evaluate,
    }
    .into_function()
}

const DOC: FunctionDoc = FunctionDoc {
    name: "timeline_lane",
    area: "nesting",
    signature: "timeline_lane(start BIGINT, end BIGINT, depth BIGINT, id BIGINT, parent BIGINT) \
        OVER (PARTITION BY … ORDER BY start, end DESC, …) → BIGINT",
    summary: "The lane in which a timeline draws an event of a track, so that none covers another.",
    detail: "It is the first lane, from 0, that is free at the start of the event, that is not \
        above its depth, and that is below the lane of its parent. Without overlaps it is the \
        depth. parent is the id of another row, or NULL. A track has at most 4,096 lanes; an event \
        that fits into none of them has the result NULL. Frames (ROWS …) have no effect.",
    nulls: "A row whose start, end, depth or id is NULL, or that has no duration, is ignored, and \
        its result is NULL.",
    errors: "Rows that are not in the order of start (`ORDER BY start`) are refused.",
    examples: &[Example {
        sql: "SELECT id, timeline_lane(s, e, depth, id, parent) OVER (ORDER BY s, e DESC, id) AS \
            lane FROM (VALUES (1, 0, 100, 0, NULL), (2, 50, 150, 0, NULL), (3, 60, 70, 1, 2)) AS \
            t(id, s, e, depth, parent) ORDER BY id",
        answer: "1 | 0\n2 | 1\n3 | 2",
    }],
};

fn five_ints(types: &[DataType]) -> Result<Vec<DataType>> {
    let fits = |given: &DataType| given.is_integer() || *given == DataType::Null;
    if types.len() != 5 || !types.iter().all(fits) {
        return plan_err!(
            "{}: five whole numbers are expected: start, end, depth, id and parent",
            DOC.name
        );
    }
    Ok(vec![DataType::Int64; 5])
}

fn evaluate(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let columns: Vec<&Int64Array> = values.iter().map(|v| v.as_primitive::<Int64Type>()).collect();
    let mut places = Places::default();
    let mut order = Starts::of(DOC.name);
    let mut answer = Int64Array::builder(rows);
    for row in 0..rows {
        let value = |column: usize| {
            let own = columns[column];
            (!arrow::array::Array::is_null(own, row)).then(|| own.value(row))
        };
        let (Some(start), Some(end), Some(depth), Some(id)) =
            (value(0), value(1), value(2), value(3))
        else {
            answer.append_null();
            continue;
        };
        order.accept(start)?;
        let depth = usize::try_from(depth).unwrap_or(0);
        let lane = (end > start).then(|| places.take(id, value(4), depth, start, end)).flatten();
        answer.append_option(lane.map(|lane| lane as i64));
    }
    Ok(Arc::new(answer.finish()))
}
