//! `repeated_sequences`: sequences of values that occur several times in a list.

use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, ListArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Fields, Int64Type};
use datafusion_common::{Result, exec_err, plan_err};
use datafusion_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::repeats::{Limits, Repeat, repeats};
use crate::doc::{Call, Example, Function, FunctionDoc};
use crate::types::{columns, item_of, list_of};

/// The longest sequences that are found.
const MAX_LENGTH: i64 = 4096;

/// The longest list, because positions have 32 bits.
const MAX_VALUES: usize = 1 << 30;

/// Returns the function with its documentation.
pub fn function() -> Function {
    let signature = Signature::user_defined(Volatility::Immutable);
    Function {
        call: Call::Scalar(Arc::new(ScalarUDF::new_from_impl(RepeatedSequences { signature }))),
        doc: DOC,
    }
}

const DOC: FunctionDoc = FunctionDoc {
    name: "repeated_sequences",
    area: "nesting",
    signature: "repeated_sequences(values BIGINT[], groups BIGINT[], min_length BIGINT, max_length \
        BIGINT, top BIGINT) → STRUCT(length BIGINT, starts BIGINT[])[]",
    summary: "Sequences of values that occur at least twice in a list, those that repeat most of \
        it first.",
    detail: "A sequence has min_length to max_length values, all in one run of equal groups: \
        groups has one entry for each value, and no sequence crosses from one to another. The \
        sequence with the greatest length · (occurrences − 1) comes first; of equal ones the \
        longer, then the one that begins first. Its occurrences do not overlap, and the values \
        that they hold are not available to later sequences, so that no value is counted twice. At \
        most top sequences are returned. starts are the positions of the first values, from 1. \
        Found with a suffix array in O(n log n) comparisons of up to max_length values.",
    nulls: "NULL if an argument is NULL. A NULL value is in no sequence. NULL groups are equal.",
    errors: "Lists of unequal length, a min_length below 1, a max_length below min_length or above \
        4096, and a negative top are refused.",
    examples: &[Example {
        sql: "SELECT s['length'] AS length, s['starts'] AS starts FROM (SELECT \
            unnest(repeated_sequences([1, 2, 3, 1, 2, 3, 9, 1, 2, 3], [0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0], 2, 8, 3)) AS s)",
        answer: "3 | [1, 4, 8]",
    }],
};

#[derive(Debug, PartialEq, Eq, Hash)]
struct RepeatedSequences {
    signature: Signature,
}

fn fields() -> Fields {
    Fields::from(vec![
        Field::new("length", DataType::Int64, true),
        Field::new("starts", list_of(DataType::Int64), true),
    ])
}

impl ScalarUDFImpl for RepeatedSequences {
    fn name(&self) -> &str {
        DOC.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        if types.len() != 5 {
            return plan_err!(
                "repeated_sequences(values, groups, min_length, max_length, top) takes 5 \
                 arguments, {} were given",
                types.len()
            );
        }
        let coerced = |(at, data_type): (usize, &DataType)| {
            let item = item_of(data_type).filter(|_| at < 2).unwrap_or(data_type);
            let is_list = item != data_type || data_type.is_null();
            match (at < 2, item.is_integer() || item.is_null()) {
                (true, true) if is_list => Ok(list_of(DataType::Int64)),
                (false, true) => Ok(DataType::Int64),
                (true, _) => plan_err!(
                    "repeated_sequences: argument {} must be a list of whole numbers, not \
                     {data_type}; number texts first, for example with dense_rank()",
                    at + 1
                ),
                (false, _) => plan_err!(
                    "repeated_sequences: argument {} must be a whole number, not {data_type}",
                    at + 1
                ),
            }
        };
        types.iter().enumerate().map(coerced).collect()
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(list_of(DataType::Struct(fields())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = columns(&args)?;
        let rows = (0..args.number_rows)
            .map(|row| {
                if columns.iter().any(|column| column.is_null(row)) {
                    return Ok(None);
                }
                let number = |at: usize| columns[at].as_primitive::<Int64Type>().value(row);
                let limits = limits(number(2), number(3), number(4))?;
                let values = |at: usize| -> Vec<Option<i64>> {
                    let list = columns[at].as_list::<i32>().value(row);
                    list.as_primitive::<Int64Type>().iter().collect()
                };
                found(&values(0), &values(1), limits).map(Some)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(ColumnarValue::Array(Arc::new(answer(&rows)?)))
    }
}

fn limits(min_length: i64, max_length: i64, top: i64) -> Result<Limits> {
    let number = |n: i64| usize::try_from(n).unwrap_or_default();
    if min_length < 1 || max_length < min_length || max_length > MAX_LENGTH || top < 0 {
        return exec_err!(
            "repeated_sequences: min_length {min_length}, max_length {max_length}, top {top}: 1 <= \
             min_length <= max_length <= {MAX_LENGTH} and 0 <= top are needed"
        );
    }
    Ok(Limits { min_length: number(min_length), max_length: number(max_length), top: number(top) })
}

fn found(values: &[Option<i64>], groups: &[Option<i64>], limits: Limits) -> Result<Vec<Repeat>> {
    if values.len() != groups.len() {
        return exec_err!(
            "repeated_sequences: {} values have {} groups; the lists must be equally long",
            values.len(),
            groups.len()
        );
    }
    if values.len() > MAX_VALUES {
        return exec_err!(
            "repeated_sequences: a list of {} values is longer than {MAX_VALUES}",
            values.len()
        );
    }
    Ok(repeats(values, groups, limits))
}

/// Builds the result column from the sequences of all rows.
fn answer(rows: &[Option<Vec<Repeat>>]) -> Result<ListArray> {
    let valid = NullBuffer::from_iter(rows.iter().map(Option::is_some));
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|r| r.as_ref().map_or(0, Vec::len)));
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let all: Vec<&Repeat> = rows.iter().flatten().flatten().collect();
    let starts = all.iter().flat_map(|repeat| repeat.starts.iter().map(|&at| number(at + 1)));
    let starts = ListArray::try_new(
        Arc::new(Field::new_list_field(DataType::Int64, true)),
        OffsetBuffer::from_lengths(all.iter().map(|repeat| repeat.starts.len())),
        Arc::new(starts.collect::<Int64Array>()),
        None,
    )?;
    let lengths: Int64Array = all.iter().map(|repeat| Some(number(repeat.length))).collect();
    let values = StructArray::try_new(fields(), vec![Arc::new(lengths), Arc::new(starts)], None)?;
    Ok(ListArray::try_new(
        Arc::new(Field::new_list_field(DataType::Struct(fields()), true)),
        offsets,
        Arc::new(values),
        Some(valid),
    )?)
}
