//! The statistical aggregates. Rows in which an argument is NULL or NaN are ignored.

use std::mem::size_of_val;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, ListArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type, UInt64Type};
use datafusion_common::{Result, ScalarValue, exec_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::format_state_name;
use datafusion_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};

use super::moments::{Pairs, Sum};
use super::quantile;

/// An aggregate of this file.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Aggregate {
    what: What,
    signature: Signature,
}

/// The aggregates of this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum What {
    WeightedAvg,
    LinearRegression,
    Quantile,
    Mad,
}

impl Aggregate {
    pub fn new(what: What) -> Self {
        let arguments = if what == What::Mad { 1 } else { 2 };
        Self {
            what,
            signature: Signature::exact(vec![DataType::Float64; arguments], Volatility::Immutable),
        }
    }
}

impl AggregateUDFImpl for Aggregate {
    fn name(&self) -> &str {
        match self.what {
            What::WeightedAvg => "weighted_avg",
            What::LinearRegression => "linear_regression",
            What::Quantile => "quantile",
            What::Mad => "mad",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType> {
        Ok(if self.what == What::LinearRegression {
            DataType::Struct(line_fields())
        } else {
            DataType::Float64
        })
    }

    fn accumulator(&self, _args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(match self.what {
            What::WeightedAvg => Box::new(WeightedAvg::default()),
            What::LinearRegression => Box::new(Regression::default()),
            What::Quantile => {
                Box::new(Values { values: Vec::new(), share: None, statistic: Statistic::Quantile })
            }
            What::Mad => {
                Box::new(Values { values: Vec::new(), share: None, statistic: Statistic::Mad })
            }
        })
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let field = |part: &str, data_type| {
            Arc::new(Field::new(format_state_name(args.name, part), data_type, true))
        };
        let float = |part: &&str| field(part, DataType::Float64);
        Ok(match self.what {
            What::WeightedAvg => {
                ["products", "products_lost", "weights", "weights_lost"].iter().map(float).collect()
            }
            What::LinearRegression => {
                let sums = ["mean_x", "mean_y", "xx", "yy", "xy"];
                std::iter::once(field("count", DataType::UInt64))
                    .chain(sums.iter().map(float))
                    .collect()
            }
            What::Quantile | What::Mad => {
                vec![field("values", DataType::List(list_item())), float(&"share")]
            }
        })
    }
}

fn list_item() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Float64, true))
}

fn line_fields() -> Fields {
    let float = |name| Field::new(name, DataType::Float64, true);
    Fields::from(vec![
        float("slope"),
        float("intercept"),
        float("r2"),
        Field::new("n", DataType::Int64, true),
    ])
}

/// Iterates over the values of a column; NULL and NaN become `None`.
fn numbers(column: &ArrayRef) -> impl Iterator<Item = Option<f64>> {
    column.as_primitive::<Float64Type>().iter().map(|value| value.filter(|value| !value.is_nan()))
}

/// Iterates over the rows in which both columns contain a number.
fn both<'a>(columns: &'a [ArrayRef]) -> impl Iterator<Item = (f64, f64)> + 'a {
    numbers(&columns[0]).zip(numbers(&columns[1])).filter_map(|(one, other)| one.zip(other))
}

/// Returns a number, or NULL if arithmetic with infinities gives NaN.
fn number(value: Option<f64>) -> ScalarValue {
    ScalarValue::Float64(value.filter(|value| !value.is_nan()))
}

#[derive(Debug, Default)]
struct WeightedAvg {
    products: Sum,
    weights: Sum,
}

impl Accumulator for WeightedAvg {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        for (value, weight) in both(columns) {
            self.products.add(value * weight);
            self.weights.add(weight);
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for (at, state) in states.iter().enumerate() {
            let sum = if at < 2 { &mut self.products } else { &mut self.weights };
            state.as_primitive::<Float64Type>().iter().flatten().for_each(|part| sum.add(part));
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let parts =
            [self.products.total, self.products.lost, self.weights.total, self.weights.lost];
        Ok(parts.map(ScalarValue::from).to_vec())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let weights = self.weights.value();
        Ok(number((weights != 0.0).then(|| self.products.value() / weights)))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

#[derive(Debug, Default)]
struct Regression(Pairs);

impl Accumulator for Regression {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        both(columns).for_each(|(y, x)| self.0.add(y, x));
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let counts = states[0].as_primitive::<UInt64Type>();
        let part = |at: usize, row: usize| states[at].as_primitive::<Float64Type>().value(row);
        for row in 0..counts.len() {
            let (mean_x, mean_y) = (part(1, row), part(2, row));
            self.0.merge(&Pairs {
                count: counts.value(row),
                mean_x,
                mean_y,
                xx: part(3, row),
                yy: part(4, row),
                xy: part(5, row),
            });
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let Pairs { count, mean_x, mean_y, xx, yy, xy } = self.0;
        Ok(std::iter::once(ScalarValue::from(count))
            .chain([mean_x, mean_y, xx, yy, xy].map(ScalarValue::from))
            .collect())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let line = self.0.line();
        let float = |value: Option<f64>| Arc::new(Float64Array::from(vec![value])) as ArrayRef;
        let columns = vec![
            float(line.map(|line| line.slope)),
            float(line.map(|line| line.intercept)),
            float(line.and_then(|line| line.r2)),
            Arc::new(Int64Array::from(vec![self.0.count as i64])),
        ];
        Ok(ScalarValue::Struct(Arc::new(StructArray::new(line_fields(), columns, None))))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// All values of a group, for order statistics.
#[derive(Debug)]
struct Values {
    values: Vec<f64>,
    share: Option<f64>,
    statistic: Statistic,
}

#[derive(Debug, Clone, Copy)]
enum Statistic {
    Quantile,
    Mad,
}

impl Values {
    /// Reads the share of a quantile. The share must be the same in all rows.
    fn take_share(&mut self, given: &ArrayRef) -> Result<()> {
        for share in numbers(given).flatten() {
            match self.share {
                Some(known) if known == share => {}
                Some(known) => {
                    return exec_err!(
                        "quantile: the share must be the same in all rows, got {known} and {share}"
                    );
                }
                None if (0.0..=1.0).contains(&share) => self.share = Some(share),
                None => {
                    return exec_err!("quantile: the share must be between 0 and 1, got {share}");
                }
            }
        }
        Ok(())
    }
}

impl Accumulator for Values {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        self.values.extend(numbers(&columns[0]).flatten());
        columns.get(1).map_or(Ok(()), |share| self.take_share(share))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for values in states[0].as_list::<i32>().iter().flatten() {
            self.values.extend(numbers(&values).flatten());
        }
        self.take_share(&states[1])
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = Float64Array::from(std::mem::take(&mut self.values));
        let list = ListArray::new(
            list_item(),
            OffsetBuffer::from_lengths([values.len()]),
            Arc::new(values),
            None,
        );
        Ok(vec![ScalarValue::List(Arc::new(list)), ScalarValue::Float64(self.share)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(number(match self.statistic {
            Statistic::Quantile => {
                self.share.and_then(|share| quantile::quantile(&mut self.values, share))
            }
            Statistic::Mad => quantile::mad(&mut self.values.clone()),
        }))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * size_of::<f64>()
    }
}
