//! `lane`: the line of a timeline in which an interval is drawn, so that no interval covers
//! another.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Int64Type};
use datafusion_common::Result;

use crate::doc::{Example, Function, FunctionDoc};
use crate::window::{Arguments, PartitionFunction, Starts};

/// Returns the function with its documentation.
pub fn function() -> Function {
    PartitionFunction {
        doc: DOC,
        arguments: Arguments::TwoInts,
        result_type: |_| DataType::Int64,
        evaluate,
    }
    .into_function()
}

const DOC: FunctionDoc = FunctionDoc {
    name: "lane",
    area: "nesting",
    signature: "lane(start BIGINT, end BIGINT) OVER (PARTITION BY … ORDER BY start, …) → BIGINT",
    summary: "The lane of an interval: the first one, from 0, that is free when the interval \
        starts.",
    detail: "A lane is free from the end of its last interval, so intervals that touch can share a \
        lane. With N lanes at most N intervals were open at once. Frames (ROWS …) have no effect.",
    nulls: "A row whose start or end is NULL is ignored, and its result is NULL.",
    errors: "Rows that are not in the order of start (`ORDER BY start`) are refused.",
    examples: &[Example {
        sql: "SELECT id, lane(s, e) OVER (ORDER BY s, id) AS lane FROM (VALUES (1, 0, 10), (2, 5, \
            20), (3, 10, 12), (4, 11, 15)) AS t(id, s, e) ORDER BY id",
        answer: "1 | 0\n2 | 1\n3 | 0\n4 | 2",
    }],
};

fn evaluate(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let (starts, ends) =
        (values[0].as_primitive::<Int64Type>(), values[1].as_primitive::<Int64Type>());
    let mut lanes = Lanes::default();
    let mut order = Starts::of(DOC.name);
    let mut answer = Int64Array::builder(rows);
    for (start, end) in starts.iter().zip(ends) {
        let (Some(start), Some(end)) = (start, end) else {
            answer.append_null();
            continue;
        };
        order.accept(start)?;
        answer.append_value(lanes.take(start, end) as i64);
    }
    Ok(Arc::new(answer.finish()))
}

/// The end of the last interval of each lane, stored as a binary tree of minima. The first free
/// lane is found in logarithmic time.
#[derive(Default)]
struct Lanes {
    /// The nodes of the tree. Node i has the children 2i and 2i + 1, and the last half are the
    /// lanes. Unused lanes are free.
    least: Vec<i64>,
}

impl Lanes {
    fn take(&mut self, start: i64, end: i64) -> usize {
        if self.least.get(1).is_none_or(|least| *least > start) {
            self.grow();
        }
        let half = self.least.len() / 2;
        let mut node = 1;
        while node < half {
            node = if self.least[2 * node] <= start { 2 * node } else { 2 * node + 1 };
        }
        let lane = node - half;
        self.least[node] = end;
        while node > 1 {
            node /= 2;
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]);
        }
        lane
    }

    /// Doubles the number of lanes.
    fn grow(&mut self) {
        let half = (self.least.len() / 2).max(1);
        let used = if self.least.is_empty() { &[][..] } else { &self.least[half..] };
        let mut least = vec![i64::MIN; 4 * half];
        least[2 * half..2 * half + used.len()].copy_from_slice(used);
        for node in (1..2 * half).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        self.least = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(intervals: &[(i64, i64)]) -> Vec<usize> {
        let mut lanes = Lanes::default();
        intervals.iter().map(|(start, end)| lanes.take(*start, *end)).collect()
    }

    /// The definition of a lane: the first lane that is free.
    fn first_fit(intervals: &[(i64, i64)]) -> Vec<usize> {
        let mut ends: Vec<i64> = Vec::new();
        let mut place = |start, end| {
            let lane = ends.iter().position(|e| *e <= start).unwrap_or(ends.len());
            if lane == ends.len() {
                ends.push(end);
            } else {
                ends[lane] = end;
            }
            lane
        };
        intervals.iter().map(|(start, end)| place(*start, *end)).collect()
    }

    #[test]
    fn intervals_that_touch_share_a_lane() {
        assert_eq!(lanes(&[(0, 10), (10, 20), (10, 10), (10, 15)]), [0, 0, 1, 1]);
    }

    #[test]
    fn intervals_at_the_extremes_of_time_get_lanes() {
        assert_eq!(lanes(&[(i64::MIN, i64::MAX), (i64::MIN, i64::MIN), (0, i64::MAX)]), [0, 1, 1]);
    }

    proptest::proptest! {
        #[test]
        fn lanes_are_those_of_first_fit(
            mut intervals in proptest::collection::vec((0i64..100, 0i64..60), 0..200)
        ) {
            intervals.sort();
            let intervals: Vec<_> =
                intervals.into_iter().map(|(start, length)| (start, start + length)).collect();
            proptest::prop_assert_eq!(lanes(&intervals), first_fit(&intervals));
        }
    }
}
