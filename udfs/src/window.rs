//! The common part of window functions that compute a whole partition at once.
//!
//! These functions ignore frames (`ROWS …`): `evaluate` receives all rows of a partition in the
//! order of the window.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Result, exec_err, not_impl_err};
use datafusion_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion_expr::{PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl};

use crate::doc::{Call, Function, FunctionDoc};

/// A window function that computes whole partitions.
pub struct PartitionFunction {
    /// The documentation, which also defines the name.
    pub doc: FunctionDoc,
    /// The arguments that the function accepts.
    pub arguments: Arguments,
    /// The type of the result.
    pub result_type: fn(&WindowUDFFieldArgs) -> DataType,
    /// Computes the result for a partition from its argument columns and its number of rows.
    pub evaluate: Evaluate,
}

/// Computes the result column of a partition.
pub type Evaluate = fn(&[ArrayRef], usize) -> Result<ArrayRef>;

/// The arguments that a window function accepts.
pub enum Arguments {
    /// One argument of any type.
    One,
    /// Two arguments of type BIGINT, or of a type that DataFusion casts to it.
    TwoInts,
    /// Arguments checked by a function, which returns the types to which they are cast.
    Coerced(fn(&[DataType]) -> Result<Vec<DataType>>),
}

impl PartitionFunction {
    /// Returns the function with its documentation.
    pub fn into_function(self) -> Function {
        let Self { doc, arguments, result_type, evaluate } = self;
        let (signature, coerce) = match arguments {
            Arguments::One => (Signature::any(1, Volatility::Immutable), None),
            Arguments::TwoInts => {
                (Signature::exact(vec![DataType::Int64; 2], Volatility::Immutable), None)
            }
            Arguments::Coerced(coerce) => {
                (Signature::user_defined(Volatility::Immutable), Some(coerce))
            }
        };
        let window = PartitionWindow { name: doc.name, signature, coerce, result_type, evaluate };
        Function { call: Call::Window(Arc::new(WindowUDF::new_from_impl(window))), doc }
    }
}

/// Returns the type of an argument, or the type of NULL if there is no such argument.
pub fn argument_type(args: &WindowUDFFieldArgs, at: usize) -> DataType {
    args.get_input_field(at).map_or(DataType::Null, |field| field.data_type().clone())
}

/// Returns the types that a function takes in place of the given ones.
type Coercion = fn(&[DataType]) -> Result<Vec<DataType>>;

#[derive(Debug)]
struct PartitionWindow {
    name: &'static str,
    signature: Signature,
    coerce: Option<Coercion>,
    result_type: fn(&WindowUDFFieldArgs) -> DataType,
    evaluate: Evaluate,
}

// Functions have different names, so comparing the names is enough.
impl PartialEq for PartitionWindow {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for PartitionWindow {}

impl std::hash::Hash for PartitionWindow {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl WindowUDFImpl for PartitionWindow {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        match self.coerce {
            Some(coerce) => coerce(types),
            None => not_impl_err!("{} has fixed argument types", self.name),
        }
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        let data_type = (self.result_type)(&args);
        Ok(Arc::new(Field::new(args.name(), data_type, true)))
    }

    fn partition_evaluator(
        &self,
        _args: PartitionEvaluatorArgs,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Evaluator(self.evaluate)))
    }
}

/// The starts of a partition's intervals, which must come in order.
pub struct Starts {
    function: &'static str,
    last: i64,
}

impl Starts {
    /// No start yet; errors name the function.
    pub fn of(function: &'static str) -> Self {
        Self { function, last: i64::MIN }
    }

    /// Accepts the next start.
    ///
    /// # Errors
    ///
    /// If it is before the last one.
    pub fn accept(&mut self, start: i64) -> Result<()> {
        let Self { function, last } = self;
        if start < *last {
            return exec_err!(
                "{function}: rows must come in the order of start (ORDER BY start): {start} comes \
                 after {last}"
            );
        }
        *last = start;
        Ok(())
    }
}

#[derive(Debug)]
struct Evaluator(Evaluate);

impl PartitionEvaluator for Evaluator {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        (self.0)(values, rows)
    }
}
