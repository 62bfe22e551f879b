//! Functions that compare two samples given as lists. NULL and NaN in a list are ignored.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields, Float64Type};
use datafusion_common::{Result, plan_err};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

use super::{bootstrap, mann_whitney, quantile};

/// A function of two samples.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct OfSamples {
    what: What,
    signature: Signature,
}

/// The functions of two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum What {
    MannWhitney,
    BootstrapDiff,
    HodgesLehmann,
}

impl OfSamples {
    pub fn new(what: What) -> Self {
        Self { what, signature: Signature::user_defined(Volatility::Immutable) }
    }

    /// Returns the names of the fields of the result; empty if the result is a single number.
    fn fields(&self) -> &'static [&'static str] {
        match self.what {
            What::MannWhitney => &["u", "p_value", "effect"],
            What::BootstrapDiff => &["diff", "low", "high"],
            What::HodgesLehmann => &[],
        }
    }

    fn answer(&self, a: Vec<f64>, b: Vec<f64>) -> Option<Vec<f64>> {
        match self.what {
            What::MannWhitney => mann_whitney::mann_whitney(&a, &b)
                .map(|found| vec![found.u, found.p_value, found.effect]),
            What::BootstrapDiff => bootstrap::bootstrap_diff(&a, &b)
                .map(|found| vec![found.diff, found.low, found.high]),
            What::HodgesLehmann => {
                quantile::hodges_lehmann(&sorted(a), &sorted(b)).map(|found| vec![found])
            }
        }
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

impl ScalarUDFImpl for OfSamples {
    fn name(&self) -> &str {
        match self.what {
            What::MannWhitney => "mann_whitney",
            What::BootstrapDiff => "bootstrap_diff",
            What::HodgesLehmann => "hodges_lehmann",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        if given.len() != 2 {
            return plan_err!(
                "{} takes two lists of numbers; arguments given: {}",
                self.name(),
                given.len()
            );
        }
        let item = |list: &DataType| match list {
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                Some(item.data_type().clone())
            }
            DataType::Null => Some(DataType::Null),
            _ => None,
        };
        match given
            .iter()
            .find(|list| !item(list).is_some_and(|item| item.is_numeric() || item.is_null()))
        {
            Some(other) => plan_err!(
                "{} takes lists of numbers, got {other}; array_agg(x) makes a list of a column",
                self.name()
            ),
            None => Ok(vec![DataType::new_list(DataType::Float64, true); 2]),
        }
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType> {
        Ok(match struct_fields(self.fields()) {
            fields if fields.is_empty() => DataType::Float64,
            fields => DataType::Struct(fields),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let lists = ColumnarValue::values_to_arrays(&args.args)?;
        let samples = lists[0].as_list::<i32>().iter().zip(lists[1].as_list::<i32>().iter());
        let answers: Vec<Option<Vec<f64>>> = samples
            .map(|(a, b)| a.zip(b).and_then(|(a, b)| self.answer(numbers(&a), numbers(&b))))
            .collect();
        let column = |at: usize| -> ArrayRef {
            let parts = answers.iter().map(|answer| {
                answer
                    .as_ref()
                    .and_then(|parts| parts.get(at).copied())
                    .filter(|part| !part.is_nan())
            });
            Arc::new(parts.collect::<Float64Array>())
        };
        let fields = struct_fields(self.fields());
        let answer: ArrayRef = if fields.is_empty() {
            column(0)
        } else {
            let nulls: NullBuffer = answers.iter().map(Option::is_some).collect();
            Arc::new(StructArray::new(
                fields.clone(),
                (0..fields.len()).map(column).collect(),
                Some(nulls),
            ))
        };
        Ok(ColumnarValue::Array(answer))
    }
}

fn struct_fields(names: &[&str]) -> Fields {
    names.iter().map(|name| Field::new(*name, DataType::Float64, true)).collect()
}

fn numbers(list: &ArrayRef) -> Vec<f64> {
    list.as_primitive::<Float64Type>().iter().flatten().filter(|value| !value.is_nan()).collect()
}
