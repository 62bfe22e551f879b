//! `last_known`: a value carried down over the rows that have none.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, UInt64Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl,
};

use crate::doc::{Call, Example, Function, FunctionDoc};

/// The function with its documentation.
pub fn function() -> Function {
    let signature = Signature::any(1, Volatility::Immutable);
    Function {
        call: Call::Window(Arc::new(WindowUDF::new_from_impl(LastKnown { signature }))),
        doc: DOC,
    }
}

const DOC: FunctionDoc = FunctionDoc {
    name: "last_known",
    area: "nesting",
    signature: "last_known(value ANY) OVER (PARTITION BY … ORDER BY …) → type of value",
    summary: "The value of the row, or else that of the nearest row before it that has one.",
    detail: "The answer of last_value(…) IGNORE NULLS over the rows so far, in time that grows with the number of rows and not with its square. \
        Frames (ROWS …) do not matter.",
    nulls: "NULL before the first value.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT id, last_known(v) OVER (ORDER BY id) AS known FROM (VALUES (1, NULL), (2, 'a'), (3, NULL), (4, 'b')) AS t(id, v) ORDER BY id",
        answer: "1 | NULL\n2 | a\n3 | a\n4 | b",
    }],
};

#[derive(Debug, PartialEq, Eq, Hash)]
struct LastKnown {
    signature: Signature,
}

impl WindowUDFImpl for LastKnown {
    fn name(&self) -> &str {
        DOC.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        let data_type = args
            .get_input_field(0)
            .map_or(datafusion::arrow::datatypes::DataType::Null, |f| f.data_type().clone());
        Ok(Arc::new(Field::new(args.name(), data_type, true)))
    }

    fn partition_evaluator(
        &self,
        _args: PartitionEvaluatorArgs,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Evaluator))
    }
}

#[derive(Debug)]
struct Evaluator;

impl PartitionEvaluator for Evaluator {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let mut last = None;
        let known = (0..rows).map(|row| {
            if values[0].is_valid(row) {
                last = Some(row as u64);
            }
            last
        });
        Ok(take(&values[0], &known.collect::<UInt64Array>(), None)?)
    }
}
