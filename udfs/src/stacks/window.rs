//! Builds stacks from nesting in time: the names of a row's ancestors followed by its own name.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::DataType;
use datafusion_common::{HashMap, Result};
use tracesql_formats::stacks::{StacksBuilder, Texts, frames_by_name, stack_type};

use crate::doc::{Example, Function, FunctionDoc};
use crate::error::from_formats;
use crate::nest::{self, Intervals, nest_all};
use crate::types::{self, Takes};
use crate::window::{Arguments, PartitionFunction};

/// The functions of this file.
pub fn functions() -> Vec<Function> {
    let stack = PartitionFunction {
        doc: STACK,
        arguments: Arguments::Coerced(|types| arguments(STACK.name, types)),
        result_type: |_| stack_type(),
        evaluate: stacks,
    };
    let id = PartitionFunction {
        doc: STACK_ID,
        arguments: Arguments::Coerced(|types| arguments(STACK_ID.name, types)),
        result_type: |_| DataType::Int64,
        evaluate: ids,
    };
    vec![stack.into_function(), id.into_function()]
}

fn arguments(function: &str, types: &[DataType]) -> Result<Vec<DataType>> {
    types::arguments(function, "name, start, end", types, &[Takes::Text, Takes::Int, Takes::Int])
}

const STACK: FunctionDoc = FunctionDoc {
    name: "stack",
    area: "stacks",
    signature: "stack(name VARCHAR, start BIGINT, end BIGINT) OVER (PARTITION BY … ORDER BY start, \
        end DESC, …) → VARCHAR[]",
    summary: "The names of the intervals that enclose the row's interval, outermost first, and the \
        row's own name.",
    detail: "Nesting is that of `nest_parent`: it covers the rows of the window's partition, so a \
        filter removes frames. Each name is held once for all rows, and a frame takes 4 bytes. \
        Group by `fold_stack(stack)` or by `stack_id` rather than by the list itself, because SQL \
        compares lists frame by frame.",
    nulls: "A NULL name is the frame `(no name)`. A row whose start or end is NULL is ignored, and \
        its result is NULL.",
    errors: "As for `nest_parent`. A partition with more than 2147483647 frames in all its stacks \
        together is refused too.",
    examples: &[Example {
        sql: "SELECT id, fold_stack(stack(name, s, e) OVER (ORDER BY s, e DESC, id)) AS stack FROM \
            (VALUES (1, 'main', 0, 100), (2, 'forward', 10, 60), (3, 'mm', 20, 30), (4, \
            'backward', 60, 70)) AS t(id, name, s, e) ORDER BY id",
        answer: "1 | main\n2 | main;forward\n3 | main;forward;mm\n4 | main;backward",
    }],
};

const STACK_ID: FunctionDoc = FunctionDoc {
    name: "stack_id",
    area: "stacks",
    signature: "stack_id(name VARCHAR, start BIGINT, end BIGINT) OVER (PARTITION BY … ORDER BY \
        start, end DESC, …) → BIGINT",
    summary: "A number for the row's stack: rows of one partition with equal stacks share it.",
    detail: "Numbers count from 1 in the order of the window. A number stands for the result of \
        `stack` for the same window, and grouping by it is much faster than grouping by the stack. \
        Numbers of different partitions are unrelated, so group by the partition's columns too.",
    nulls: "As for `stack`.",
    errors: nest::ERRORS,
    examples: &[Example {
        sql: "SELECT id, stack_id(name, s, e) OVER (ORDER BY s, e DESC, id) AS stack FROM (VALUES \
            (1, 'step', 0, 10), (2, 'mm', 1, 2), (3, 'mm', 3, 4), (4, 'step', 10, 20)) AS t(id, \
            name, s, e) ORDER BY id",
        answer: "1 | 1\n2 | 2\n3 | 2\n4 | 1",
    }],
};

fn stacks(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let intervals = &Intervals::new(&values[1], &values[2])?;
    // Frames are counted first, so that a set with too deep nesting is refused before it uses
    // memory, and the column is allocated once.
    let mut frames = 0usize;
    let count = |_, nested: nest::Nested| {
        frames = frames.saturating_add(nested.depth as usize + 1);
        Ok(())
    };
    nest_all(STACK.name, intervals, count, |_, _| ())?;
    let mut stacks = StacksBuilder::with_room(rows, frames).map_err(from_formats)?;
    let names = frames_by_name(&values[0], &mut |text| stacks.frame(text)).map_err(from_formats)?;
    let append = |row: usize, nested: nest::Nested| {
        while stacks.len() < row {
            stacks.end(false).map_err(from_formats)?;
        }
        if let Some(parent) = nested.parent {
            stacks.push_stack(parent);
        }
        stacks.push(names[row]);
        stacks.end(true).map_err(from_formats)
    };
    nest_all(STACK.name, intervals, append, |_, _| ())?;
    while stacks.len() < rows {
        stacks.end(false).map_err(from_formats)?;
    }
    stacks.finish().map_err(from_formats)
}

fn ids(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let intervals = &Intervals::new(&values[1], &values[2])?;
    let mut texts = Texts::default();
    let names = frames_by_name(&values[0], &mut |text| texts.number(text)).map_err(from_formats)?;
    let mut ids: Vec<Option<i64>> = vec![None; rows];
    let mut known: HashMap<(i64, i32), i64> = HashMap::new();
    let number = |row: usize, nested: nest::Nested| {
        let parent = nested.parent.and_then(|parent| ids[parent]).unwrap_or(0);
        let next = known.len() as i64 + 1;
        ids[row] = Some(*known.entry((parent, names[row])).or_insert(next));
        Ok(())
    };
    nest_all(STACK_ID.name, intervals, number, |_, _| ())?;
    Ok(Arc::new(Int64Array::from(ids)))
}
