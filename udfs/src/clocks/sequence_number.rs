//! `sequence_number`: equal numbers for equal entries of several recordings.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Int64Type};
use datafusion_common::{Result, plan_err};

use super::sequence::shifts;
use crate::doc::{Example, Function, FunctionDoc};
use crate::window::{Arguments, PartitionFunction};

/// Returns the function with its documentation.
pub fn function() -> Function {
    PartitionFunction {
        doc: DOC,
        arguments: Arguments::Coerced(coerce),
        result_type: |_| DataType::Int64,
        evaluate,
    }
    .into_function()
}

const DOC: FunctionDoc = FunctionDoc {
    name: "sequence_number",
    area: "clocks",
    signature: "sequence_number(recording BIGINT, at_ns BIGINT) OVER (PARTITION BY … ORDER BY …) → \
        BIGINT",
    summary: "Numbers the entries of several recordings of one sequence, so that the same entry has \
        the same number in all of them.",
    detail: "A partition has the entries of all recordings, and the order of the window is that of \
        the entries within each recording. at_ns is a time that all recordings see at the same \
        moment, each on its own clock, which may be wrong by any amount. A recording that began \
        later or ended earlier than the longest one is shifted against it. The shift is the one at \
        which the difference of the two clocks changes least from entry to entry: the 80 % quantile \
        of its changes is at most 20 µs, and at any other shift it is 5 times as large and 1 µs \
        larger, or it also deviates least from its median, by the same limits. Recordings of equal length are shifted only if another shift is that much better. \
        Numbers count from 1 at the first entry of the longest recording, so an entry before it has \
        0 or less. Entries in the middle of a recording must not be missing.",
    nulls: "NULL if the shift is not clear, or if recording or at_ns is NULL.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT recording, at_ns, sequence_number(recording, at_ns) OVER (ORDER BY at_ns) AS n \
            FROM (VALUES (1, 100000), (1, 900000), (1, 1200000), (1, 2500000), (2, 70900000), (2, \
            71200000), (2, 72500000)) AS t(recording, at_ns) ORDER BY at_ns",
        answer: "1 | 100000 | 1\n1 | 900000 | 2\n1 | 1200000 | 3\n1 | 2500000 | 4\n2 | 70900000 | \
            2\n2 | 71200000 | 3\n2 | 72500000 | 4",
    }],
};

fn coerce(types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [_, _] => Ok(vec![DataType::Int64; 2]),
        _ => plan_err!(
            "sequence_number(recording, at_ns) takes 2 arguments, {} were given",
            types.len()
        ),
    }
}

fn evaluate(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let (ids, times) =
        (values[0].as_primitive::<Int64Type>(), values[1].as_primitive::<Int64Type>());
    let mut places: HashMap<i64, usize> = HashMap::new();
    let mut recordings: Vec<Vec<i64>> = Vec::new();
    let mut entries: Vec<Option<(usize, usize)>> = vec![None; rows];
    for (row, entry) in entries.iter_mut().enumerate() {
        if ids.is_null(row) || times.is_null(row) {
            continue;
        }
        let place = *places.entry(ids.value(row)).or_insert_with(|| {
            recordings.push(Vec::new());
            recordings.len() - 1
        });
        *entry = Some((place, recordings[place].len()));
        recordings[place].push(times.value(row));
    }
    let shifts = shifts(&recordings);
    let number = |entry: &Option<(usize, usize)>| {
        let (place, at) = (*entry)?;
        shifts[place].map(|shift| at as i64 + shift + 1)
    };
    Ok(Arc::new(entries.iter().map(number).collect::<Int64Array>()))
}
