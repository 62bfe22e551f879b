//! The window functions that say what nesting found.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, UInt64Array};
use datafusion::arrow::buffer::{NullBuffer, ScalarBuffer};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl,
};

use super::intervals::{Intervals, nest_all};
use super::rules::Nested;
use crate::doc::{Call, Function, FunctionDoc};
use crate::types::{self, Takes};

/// What a function answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The parent's id.
    Parent,
    /// The number of ancestors.
    Depth,
    /// The length without children.
    SelfTime,
}

/// The function with its documentation.
pub fn function(answer: Answer, doc: FunctionDoc) -> Function {
    let signature = Signature::user_defined(Volatility::Immutable);
    Function {
        call: Call::Window(Arc::new(WindowUDF::new_from_impl(Nest {
            name: doc.name,
            answer,
            signature,
        }))),
        doc,
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Nest {
    name: &'static str,
    answer: Answer,
    signature: Signature,
}

impl WindowUDFImpl for Nest {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        match self.answer {
            Answer::Parent => types::arguments(
                self.name,
                "id, start, end",
                types,
                &[Takes::Any, Takes::Int, Takes::Int],
            ),
            Answer::Depth | Answer::SelfTime => {
                types::arguments(self.name, "start, end", types, &[Takes::Int, Takes::Int])
            }
        }
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        let data_type = match self.answer {
            Answer::Parent => {
                args.get_input_field(0).map_or(DataType::Null, |f| f.data_type().clone())
            }
            Answer::Depth | Answer::SelfTime => DataType::Int64,
        };
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
        match self.answer {
            Answer::Parent => {
                let intervals = Intervals::new(&values[1], &values[2])?;
                let (mut parents, mut known) = (vec![0u64; rows], vec![false; rows]);
                let found = |row: usize, nested: Nested| {
                    if let Some(parent) = nested.parent {
                        (parents[row], known[row]) = (parent as u64, true);
                    }
                    Ok(())
                };
                nest_all(self.name, &intervals, found, |_, _| ())?;
                let parents =
                    UInt64Array::new(ScalarBuffer::from(parents), Some(NullBuffer::from(known)));
                Ok(take(&values[0], &parents, None)?)
            }
            Answer::Depth => {
                let mut depths = Ints::new(rows);
                nest_all(
                    self.name,
                    &Intervals::new(&values[0], &values[1])?,
                    |row, n| depths.set(row, n.depth as i64),
                    |_, _| (),
                )?;
                Ok(depths.finish())
            }
            Answer::SelfTime => {
                let mut own = Ints::new(rows);
                nest_all(
                    self.name,
                    &Intervals::new(&values[0], &values[1])?,
                    |_, _| Ok(()),
                    |row, ns| _ = own.set(row, ns),
                )?;
                Ok(own.finish())
            }
        }
    }
}

/// A column of integers, NULL where none was set.
struct Ints {
    values: Vec<i64>,
    known: Vec<bool>,
}

impl Ints {
    fn new(rows: usize) -> Self {
        Self { values: vec![0; rows], known: vec![false; rows] }
    }

    fn set(&mut self, row: usize, value: i64) -> Result<()> {
        (self.values[row], self.known[row]) = (value, true);
        Ok(())
    }

    fn finish(self) -> ArrayRef {
        Arc::new(Int64Array::new(
            ScalarBuffer::from(self.values),
            Some(NullBuffer::from(self.known)),
        ))
    }
}
