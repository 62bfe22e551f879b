//! The window functions that copy or sum values along links.

use std::ops::AddAssign;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, Float64Array, Int64Array, PrimitiveArray,
    UInt32Array,
};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion_common::{Result, exec_datafusion_err, exec_err, plan_err};

use super::docs::{CHILDREN_SUM, PARENT_VALUE, SUBTREE_SUM};
use super::links::Links;
use crate::doc::{Function, FunctionDoc};
use crate::window::{Arguments, Evaluate, PartitionFunction, argument_type};

/// The functions of this file.
pub fn functions() -> [Function; 3] {
    let function = |doc: FunctionDoc, coerce, evaluate: Evaluate| {
        PartitionFunction {
            doc,
            arguments: Arguments::Coerced(coerce),
            result_type: |args| argument_type(args, 2),
            evaluate,
        }
        .into_function()
    };
    [
        function(PARENT_VALUE, |types| arguments(PARENT_VALUE.name, types, false), parent_values),
        function(CHILDREN_SUM, |types| arguments(CHILDREN_SUM.name, types, true), children_sums),
        function(SUBTREE_SUM, |types| arguments(SUBTREE_SUM.name, types, true), subtree_sums),
    ]
}

/// Returns the types of id, parent and value. If `is_sum` is true, the value must be a number.
fn arguments(name: &str, types: &[DataType], is_sum: bool) -> Result<Vec<DataType>> {
    let [id, parent, value] = types else {
        return plan_err!("{name}(id, parent, value) takes 3 arguments; given: {}", types.len());
    };
    for (position, data_type) in [(1, id), (2, parent)] {
        if !data_type.is_integer() && !data_type.is_null() {
            return plan_err!(
                "{name}: argument {position} must be a whole number, not {data_type}; convert it \
                 with CAST(… AS BIGINT)"
            );
        }
    }
    let value = match value {
        value if !is_sum => value.clone(),
        value if value.is_integer() || value.is_null() => DataType::Int64,
        value if value.is_floating() => DataType::Float64,
        value => {
            return plan_err!(
                "{name}: argument 3 must be a number, not {value}; convert it with \
                 CAST(… AS BIGINT)"
            );
        }
    };
    Ok(vec![DataType::Int64, DataType::Int64, value])
}

fn links(function: &str, values: &[ArrayRef], rows: usize) -> Result<Links> {
    if rows >= u32::MAX as usize {
        return exec_err!("{function}: the window's partition has {rows} rows, more than 2^32 - 2");
    }
    Ok(Links::new(ints(&values[0])?.as_primitive(), ints(&values[1])?.as_primitive()))
}

fn parent_values(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let links = links(PARENT_VALUE.name, values, rows)?;
    let parents: UInt32Array = (0..rows).map(|row| links.parent(row).map(|p| p as u32)).collect();
    Ok(take(&values[2], &parents, None)?)
}

fn children_sums(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let links = links(CHILDREN_SUM.name, values, rows)?;
    sums(CHILDREN_SUM.name, &ChildrenSums(links), &values[2])
}

fn subtree_sums(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let links = links(SUBTREE_SUM.name, values, rows)?;
    sums(SUBTREE_SUM.name, &SubtreeSums(links), &values[2])
}

/// Computes sums along links, for any numeric type.
trait Sums {
    fn of<T: Copy + Default + AddAssign>(&self, addends: Vec<T>) -> Result<Vec<T>>;
}

struct ChildrenSums(Links);

impl Sums for ChildrenSums {
    fn of<T: Copy + Default + AddAssign>(&self, addends: Vec<T>) -> Result<Vec<T>> {
        Ok(self.0.children_sums(&addends))
    }
}

struct SubtreeSums(Links);

impl Sums for SubtreeSums {
    fn of<T: Copy + Default + AddAssign>(&self, addends: Vec<T>) -> Result<Vec<T>> {
        self.0.subtree_sums(addends).or_else(|circle| {
            exec_err!(
                "{}: row {} of the window's partition is its own ancestor",
                SUBTREE_SUM.name,
                circle.row + 1
            )
        })
    }
}

fn sums(function: &str, sums: &impl Sums, values: &ArrayRef) -> Result<ArrayRef> {
    if values.data_type() == &DataType::Float64 {
        let sums = sums.of(known(values.as_primitive::<Float64Type>()))?;
        return Ok(Arc::new(Float64Array::from(sums)));
    }
    let addends = known(values.as_primitive::<Int64Type>());
    // If the sum of all magnitudes fits, every other sum fits too.
    let magnitude: u128 = addends.iter().map(|v| u128::from(v.unsigned_abs())).sum();
    if i64::try_from(magnitude).is_ok() {
        return Ok(Arc::new(Int64Array::from(sums.of(addends)?)));
    }
    // Sums of fewer than 2^32 64-bit integers fit into 128 bits.
    let sums = sums.of(addends.into_iter().map(i128::from).collect())?;
    let fit = |sum: i128| {
        i64::try_from(sum)
            .map_err(|_| exec_datafusion_err!("{function}: the sum {sum} does not fit 64 bits"))
    };
    Ok(Arc::new(Int64Array::from(sums.into_iter().map(fit).collect::<Result<Vec<i64>>>()?)))
}

fn ints(column: &ArrayRef) -> Result<ArrayRef> {
    Ok(cast(column, &DataType::Int64)?)
}

/// Returns the values, with 0 for NULL.
fn known<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>) -> Vec<T::Native> {
    if column.null_count() == 0 {
        return column.values().to_vec();
    }
    column.iter().map(Option::unwrap_or_default).collect()
}
