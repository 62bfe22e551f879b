//! The window functions that return the results of nesting.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, UInt64Array};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::DataType;
use datafusion_common::Result;

use super::docs::{DEPTH, PARENT, SELF};
use super::intervals::{Intervals, nest_all};
use super::rules::Nested;
use crate::doc::Function;
use crate::types::{self, Takes};
use crate::window::{Arguments, PartitionFunction, argument_type};

/// The functions of this file.
pub fn functions() -> [Function; 3] {
    let parent = PartitionFunction {
        doc: PARENT,
        arguments: Arguments::Coerced(|types| {
            let takes = [Takes::Any, Takes::Int, Takes::Int];
            types::arguments(PARENT.name, "id, start, end", types, &takes)
        }),
        result_type: |args| argument_type(args, 0),
        evaluate: parents,
    };
    let depth = PartitionFunction {
        doc: DEPTH,
        arguments: Arguments::Coerced(|types| start_and_end(DEPTH.name, types)),
        result_type: |_| DataType::Int64,
        evaluate: depths,
    };
    let own = PartitionFunction {
        doc: SELF,
        arguments: Arguments::Coerced(|types| start_and_end(SELF.name, types)),
        result_type: |_| DataType::Int64,
        evaluate: self_times,
    };
    [parent.into_function(), depth.into_function(), own.into_function()]
}

fn start_and_end(function: &str, types: &[DataType]) -> Result<Vec<DataType>> {
    types::arguments(function, "start, end", types, &[Takes::Int, Takes::Int])
}

fn parents(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let intervals = Intervals::new(&values[1], &values[2])?;
    let (mut parents, mut known) = (vec![0u64; rows], vec![false; rows]);
    let found = |row: usize, nested: Nested| {
        if let Some(parent) = nested.parent {
            (parents[row], known[row]) = (parent as u64, true);
        }
        Ok(())
    };
    nest_all(PARENT.name, &intervals, found, |_, _| ())?;
    let parents = UInt64Array::new(ScalarBuffer::from(parents), Some(NullBuffer::from(known)));
    Ok(take(&values[0], &parents, None)?)
}

fn depths(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let intervals = Intervals::new(&values[0], &values[1])?;
    let mut depths = Ints::new(rows);
    let found = |row, nested: Nested| {
        depths.set(row, i64::from(nested.depth));
        Ok(())
    };
    nest_all(DEPTH.name, &intervals, found, |_, _| ())?;
    Ok(depths.finish())
}

fn self_times(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let intervals = Intervals::new(&values[0], &values[1])?;
    let mut own = Ints::new(rows);
    nest_all(SELF.name, &intervals, |_, _| Ok(()), |row, ns| own.set(row, ns))?;
    Ok(own.finish())
}

/// A column of integers that is NULL where no value was set.
struct Ints {
    values: Vec<i64>,
    known: Vec<bool>,
}

impl Ints {
    fn new(rows: usize) -> Self {
        Self { values: vec![0; rows], known: vec![false; rows] }
    }

    fn set(&mut self, row: usize, value: i64) {
        (self.values[row], self.known[row]) = (value, true);
    }

    fn finish(self) -> ArrayRef {
        Arc::new(Int64Array::new(
            ScalarBuffer::from(self.values),
            Some(NullBuffer::from(self.known)),
        ))
    }
}
