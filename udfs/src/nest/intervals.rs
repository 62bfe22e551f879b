//! The intervals in a partition of a window, and the nesting of all of them.

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion_common::{Result, exec_err};

use super::rules::{Nested, Nester, Refused};

/// Starts and ends of a partition's rows, in the order of the window.
pub struct Intervals {
    starts: Int64Array,
    ends: Int64Array,
}

impl Intervals {
    /// Reads the columns of starts and ends.
    pub fn new(starts: &ArrayRef, ends: &ArrayRef) -> Result<Self> {
        let int = |column: &ArrayRef| -> Result<Int64Array> {
            Ok(cast(column, &DataType::Int64)?.as_primitive::<Int64Type>().clone())
        };
        Ok(Self { starts: int(starts)?, ends: int(ends)? })
    }

    /// Returns the interval of a row, if the row has both a start and an end.
    fn get(&self, row: usize) -> Option<(i64, i64)> {
        (self.starts.is_valid(row) && self.ends.is_valid(row))
            .then(|| (self.starts.value(row), self.ends.value(row)))
    }
}

/// Nests all rows for `function`. `nested` is called for each row that has an interval, in order.
/// `closed` receives the self time of each of these rows.
pub fn nest_all(
    function: &str,
    intervals: &Intervals,
    mut nested: impl FnMut(usize, Nested) -> Result<()>,
    mut closed: impl FnMut(usize, i64),
) -> Result<()> {
    let mut nester = Nester::default();
    for row in 0..intervals.starts.len() {
        let Some((start, end)) = intervals.get(row) else { continue };
        match nester.push(row, start, end, &mut closed) {
            Ok(found) => nested(row, found)?,
            Err(refused) => return refuse(function, refused, row, start, end),
        }
    }
    nester.finish(closed);
    Ok(())
}

fn refuse<T>(function: &str, refused: Refused, row: usize, start: i64, end: i64) -> Result<T> {
    let row = row + 1;
    match refused {
        Refused::EndBeforeStart => exec_err!(
            "{function}: row {row} of the window's partition ends at {end}, before its start \
             {start}"
        ),
        Refused::TooLong => exec_err!(
            "{function}: the interval of row {row}, {start} to {end}, is longer than 64 bits can \
             hold"
        ),
        Refused::Order => exec_err!(
            "{function}: row {row} of the window's partition ({start} to {end}) comes too late; \
             write OVER (PARTITION BY … ORDER BY start, end DESC) with the start and end that \
             {function} is given"
        ),
    }
}
