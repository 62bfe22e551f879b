//! `last_known`: copies a value down to the following rows that have none.

use arrow::array::{Array, ArrayRef, UInt64Array};
use arrow::compute::take;
use datafusion_common::Result;

use crate::doc::{Example, Function, FunctionDoc};
use crate::window::{Arguments, PartitionFunction, argument_type};

/// Returns the function with its documentation.
pub fn function() -> Function {
    PartitionFunction {
        doc: DOC,
        arguments: Arguments::One,
        result_type: |args| argument_type(args, 0),
        evaluate,
    }
    .into_function()
}

const DOC: FunctionDoc = FunctionDoc {
    name: "last_known",
    area: "nesting",
    signature: "last_known(value ANY) OVER (PARTITION BY … ORDER BY …) → type of value",
    summary: "The value of the row, or if it is NULL, that of the nearest earlier row that has \
        one.",
    detail: "The same as last_value(…) IGNORE NULLS over the rows so far, but in linear instead of \
        quadratic time. Frames (ROWS …) have no effect.",
    nulls: "NULL before the first value.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT id, last_known(v) OVER (ORDER BY id) AS known FROM (VALUES (1, NULL), (2, \
            'a'), (3, NULL), (4, 'b')) AS t(id, v) ORDER BY id",
        answer: "1 | NULL\n2 | a\n3 | a\n4 | b",
    }],
};

fn evaluate(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let mut last = None;
    let known = (0..rows).map(|row| {
        if values[0].is_valid(row) {
            last = Some(row as u64);
        }
        last
    });
    Ok(take(&values[0], &known.collect::<UInt64Array>(), None)?)
}
