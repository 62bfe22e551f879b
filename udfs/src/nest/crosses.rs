//! `nest_crosses`: finds the intervals to remove so that the remaining ones nest or are disjoint.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion_common::Result;

use crate::doc::{Example, Function, FunctionDoc};
use crate::window::{Arguments, PartitionFunction, Starts};

/// Returns the function with its documentation.
pub fn function() -> Function {
    PartitionFunction {
        doc: DOC,
        arguments: Arguments::TwoInts,
        result_type: |_| DataType::Boolean,
        evaluate,
    }
    .into_function()
}

const DOC: FunctionDoc = FunctionDoc {
    name: "nest_crosses",
    area: "nesting",
    signature: "nest_crosses(start BIGINT, end BIGINT) OVER (PARTITION BY … ORDER BY start, end \
        DESC, …) → BOOLEAN",
    summary: "Whether an interval begins within an earlier one of the window's partition and ends \
        after it.",
    detail: "An interval that crosses is discarded at once and crosses no later one, so any two \
        intervals with the result false are nested or disjoint. torch-tb-profiler builds its trees \
        from such intervals. Intervals are half-open, and an empty one crosses nothing. Frames \
        (ROWS …) have no effect.",
    nulls: "A row whose start or end is NULL is ignored, and its result is NULL.",
    errors: "Rows that are not in the order of start (`ORDER BY start`) are refused.",
    examples: &[Example {
        sql: "SELECT id, nest_crosses(s, e) OVER (ORDER BY s, e DESC, id) AS crosses FROM (VALUES \
            (1, 0, 100), (2, 10, 60), (3, 20, 70), (4, 65, 90), (5, 80, 120)) AS t(id, s, e) ORDER \
            BY id",
        answer: "1 | false\n2 | false\n3 | true\n4 | false\n5 | true",
    }],
};

fn evaluate(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let (starts, ends) =
        (values[0].as_primitive::<Int64Type>(), values[1].as_primitive::<Int64Type>());
    let mut kept = Kept::default();
    let mut order = Starts::of(DOC.name);
    let mut answer = BooleanArray::builder(rows);
    for (start, end) in starts.iter().zip(ends) {
        let (Some(start), Some(end)) = (start, end) else {
            answer.append_null();
            continue;
        };
        order.accept(start)?;
        answer.append_value(kept.crosses(start, end));
    }
    Ok(Arc::new(answer.finish()))
}

/// The ends of the open intervals that were kept. Each end is no later than the one before it.
#[derive(Default)]
struct Kept {
    ends: Vec<i64>,
}

impl Kept {
    fn crosses(&mut self, start: i64, end: i64) -> bool {
        while self.ends.pop_if(|open| *open <= start).is_some() {}
        let crosses = self.ends.last().is_some_and(|open| *open < end);
        if !crosses {
            self.ends.push(end);
        }
        crosses
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn kept_intervals_are_nested_or_disjoint(
            mut intervals in prop::collection::vec((0i64..60, 0i64..30), 0..80)
        ) {
            intervals.iter_mut().for_each(|i| i.1 += i.0);
            intervals.sort_by_key(|&(start, end)| (start, -end));
            let mut kept = Kept::default();
            let mut before: Vec<(i64, i64)> = Vec::new();
            for (start, end) in intervals {
                let cuts = before.iter().any(|&(s, e)| s <= start && start < e && e < end);
                prop_assert_eq!(kept.crosses(start, end), cuts);
                if !cuts {
                    before.push((start, end));
                }
            }
        }
    }
}
