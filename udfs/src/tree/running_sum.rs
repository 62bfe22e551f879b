//! `running_sum`: the sum of a value over a row and all rows before it.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion_common::{Result, exec_datafusion_err, plan_err};

use crate::doc::{Example, Function, FunctionDoc};
use crate::window::{Arguments, PartitionFunction, argument_type};

/// Returns the function with its documentation.
pub fn function() -> Function {
    PartitionFunction {
        doc: DOC,
        arguments: Arguments::Coerced(coerce),
        result_type: |args| argument_type(args, 0),
        evaluate,
    }
    .into_function()
}

const DOC: FunctionDoc = FunctionDoc {
    name: "running_sum",
    area: "nesting",
    signature: "running_sum(value BIGINT|DOUBLE) OVER (PARTITION BY … ORDER BY …) → BIGINT|DOUBLE",
    summary: "The sum of a value over the row and all rows before it.",
    detail: "The same as sum(value) OVER (… ROWS UNBOUNDED PRECEDING), but faster. Frames (ROWS …) \
        have no effect.",
    nulls: "NULL values are ignored. NULL before the first value.",
    errors: "A sum that does not fit 64 bits is refused.",
    examples: &[Example {
        sql: "SELECT id, running_sum(v) OVER (ORDER BY id) AS sum FROM (VALUES (1, NULL), (2, 5), \
            (3, NULL), (4, -2)) AS t(id, v) ORDER BY id",
        answer: "1 | NULL\n2 | 5\n3 | 5\n4 | 3",
    }],
};

fn coerce(types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [value] if value.is_integer() || value.is_null() => Ok(vec![DataType::Int64]),
        [value] if value.is_floating() => Ok(vec![DataType::Float64]),
        [value] => plan_err!(
            "running_sum: its argument must be a number, not {value}; convert it with CAST(… AS \
             BIGINT)"
        ),
        _ => plan_err!("running_sum(value) takes 1 argument, {} were given", types.len()),
    }
}

fn evaluate(values: &[ArrayRef], _rows: usize) -> Result<ArrayRef> {
    if values[0].data_type() == &DataType::Float64 {
        let mut sum = None;
        let sums = values[0].as_primitive::<Float64Type>().iter().map(|value| {
            sum = value.map(|v| sum.unwrap_or(0.0) + v).or(sum);
            sum
        });
        return Ok(Arc::new(sums.collect::<Float64Array>()));
    }
    let mut sum: Option<i64> = None;
    let sums = values[0].as_primitive::<Int64Type>().iter().map(|value| {
        if let Some(value) = value {
            let total = sum.unwrap_or(0).checked_add(value);
            sum = Some(total.ok_or_else(|| {
                exec_datafusion_err!("running_sum: the sum does not fit 64 bits")
            })?);
        }
        Ok(sum)
    });
    Ok(Arc::new(sums.collect::<Result<Int64Array>>()?))
}
