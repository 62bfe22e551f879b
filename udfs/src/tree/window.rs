//! The window functions that carry values along links.

use std::ops::AddAssign;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, Float64Array, Int64Array, PrimitiveArray,
    UInt32Array,
};
use datafusion::arrow::compute::{cast, take};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type, Int64Type};
use datafusion::common::{Result, exec_datafusion_err, exec_err, plan_err};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl,
};

use super::links::Links;
use crate::doc::{Call, Function, FunctionDoc};

/// What a function answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The parent's value.
    ParentValue,
    /// The sum over the children.
    ChildrenSum,
    /// The sum over the row and all below it.
    SubtreeSum,
}

/// The function with its documentation.
pub fn function(answer: Answer, doc: FunctionDoc) -> Function {
    let signature = Signature::user_defined(Volatility::Immutable);
    Function {
        call: Call::Window(Arc::new(WindowUDF::new_from_impl(Tree {
            name: doc.name,
            answer,
            signature,
        }))),
        doc,
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Tree {
    name: &'static str,
    answer: Answer,
    signature: Signature,
}

impl WindowUDFImpl for Tree {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let name = self.name;
        let [id, parent, value] = types else {
            return plan_err!(
                "{name}(id, parent, value) takes 3 arguments, {} were given",
                types.len()
            );
        };
        for (position, data_type) in [(1, id), (2, parent)] {
            if !data_type.is_integer() && !data_type.is_null() {
                return plan_err!(
                    "{name}: argument {position} must be a whole number, not {data_type}; convert it with CAST(… AS BIGINT)"
                );
            }
        }
        let value = match (self.answer, value) {
            (Answer::ParentValue, value) => value.clone(),
            (_, value) if value.is_integer() || value.is_null() => DataType::Int64,
            (_, value) if value.is_floating() => DataType::Float64,
            (_, value) => {
                return plan_err!(
                    "{name}: argument 3 must be a number, not {value}; convert it with CAST(… AS BIGINT)"
                );
            }
        };
        Ok(vec![DataType::Int64, DataType::Int64, value])
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        let data_type = args.get_input_field(2).map_or(DataType::Null, |f| f.data_type().clone());
        Ok(Arc::new(Field::new(args.name(), data_type, true)))
    }

    fn partition_evaluator(
        &self,
        _args: PartitionEvaluatorArgs,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Evaluator { name: self.name, answer: self.answer }))
    }
}

#[derive(Debug)]
struct Evaluator {
    name: &'static str,
    answer: Answer,
}

impl PartitionEvaluator for Evaluator {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        if rows >= u32::MAX as usize {
            return exec_err!(
                "{}: the window's partition has {rows} rows, more than 2^32 - 2",
                self.name
            );
        }
        let links = Links::new(ints(&values[0])?.as_primitive(), ints(&values[1])?.as_primitive());
        if self.answer == Answer::ParentValue {
            let parents: UInt32Array =
                (0..rows).map(|row| links.parent(row).map(|p| p as u32)).collect();
            return Ok(take(&values[2], &parents, None)?);
        }
        if values[2].data_type() == &DataType::Float64 {
            let sums = self.sums(&links, known(values[2].as_primitive::<Float64Type>()))?;
            return Ok(Arc::new(Float64Array::from(sums)));
        }
        let addends = known(values[2].as_primitive::<Int64Type>());
        // Where the sum of all sizes fits, so does every other sum.
        let size: u128 = addends.iter().map(|v| u128::from(v.unsigned_abs())).sum();
        if i64::try_from(size).is_ok() {
            return Ok(Arc::new(Int64Array::from(self.sums(&links, addends)?)));
        }
        // Sums of 64-bit integers, of fewer than 2^32 rows, fit 128 bits.
        let sums = self.sums(&links, addends.into_iter().map(i128::from).collect())?;
        let fit = |sum: i128| {
            i64::try_from(sum).map_err(|_| {
                exec_datafusion_err!("{}: the sum {sum} does not fit 64 bits", self.name)
            })
        };
        Ok(Arc::new(Int64Array::from(sums.into_iter().map(fit).collect::<Result<Vec<i64>>>()?)))
    }
}

impl Evaluator {
    fn sums<T: Copy + Default + AddAssign>(
        &self,
        links: &Links,
        addends: Vec<T>,
    ) -> Result<Vec<T>> {
        if self.answer == Answer::ChildrenSum {
            return Ok(links.children_sums(&addends));
        }
        links.subtree_sums(addends).or_else(|circle| {
            exec_err!(
                "{}: row {} of the window's partition is its own ancestor",
                self.name,
                circle.row + 1
            )
        })
    }
}

fn ints(column: &ArrayRef) -> Result<ArrayRef> {
    Ok(cast(column, &DataType::Int64)?)
}

/// The values, 0 for NULL.
fn known<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>) -> Vec<T::Native> {
    if column.null_count() == 0 {
        return column.values().to_vec();
    }
    column.iter().map(Option::unwrap_or_default).collect()
}
