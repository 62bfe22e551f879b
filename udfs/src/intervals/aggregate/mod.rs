//! Aggregates over intervals: their arguments, states and results. `groups` contains the
//! implementation.

mod groups;
mod labels;
mod rows;
mod struct_lists;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Result, ScalarValue, exec_err, not_impl_err, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::format_state_name;
use datafusion_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility,
};

use groups::{Groups, Single};
pub use struct_lists::{Lists, list_of};

/// The quantity that an aggregate measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Length of the union.
    UnionLen,
    /// Length for each combination of sets that are open at the same time.
    OverlapLen,
    /// The parts of the union.
    Merge,
    /// The largest number of intervals that are open at the same time.
    MaxOverlap,
    /// The number of open intervals over time.
    OverlapCount,
}

impl Measure {
    /// Returns the name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnionLen => "interval_union_len",
            Self::OverlapLen => "interval_overlap_len",
            Self::Merge => "interval_merge",
            Self::MaxOverlap => "interval_max_overlap",
            Self::OverlapCount => "interval_overlap_count",
        }
    }

    /// Returns the function.
    pub fn function(self) -> Arc<AggregateUDF> {
        Arc::new(AggregateUDF::new_from_impl(IntervalAggregate {
            measure: self,
            signature: Signature::user_defined(Volatility::Immutable),
        }))
    }

    /// Whether intervals may be replaced by their union without changing the result.
    fn unites(self) -> bool {
        matches!(self, Self::UnionLen | Self::OverlapLen | Self::Merge)
    }

    fn arguments(self) -> &'static str {
        if self == Self::OverlapLen { "start, end and set" } else { "start and end" }
    }

    fn answer_type(self, text_sets: bool) -> DataType {
        match self {
            Self::UnionLen | Self::MaxOverlap => DataType::Int64,
            Self::Merge => list_of(vec![("start", DataType::Int64), ("end", DataType::Int64)]),
            Self::OverlapCount => list_of(vec![
                ("start", DataType::Int64),
                ("end", DataType::Int64),
                ("open", DataType::Int64),
            ]),
            Self::OverlapLen => {
                let sets = if text_sets {
                    DataType::new_list(DataType::Utf8, true)
                } else {
                    DataType::Int64
                };
                list_of(vec![("sets", sets), ("len", DataType::Int64)])
            }
        }
    }
}

/// Returns the type to which a start or end is cast. Types other than integers are refused.
pub fn time_type(function: &str, argument: &str, given: &DataType) -> Result<DataType> {
    if given.is_integer() || given.is_null() {
        return Ok(DataType::Int64);
    }
    plan_err!(
        "{function}: {argument} must be BIGINT, not {given}; write CAST({argument} AS BIGINT)"
    )
}

fn is_text(given: &DataType) -> bool {
    match given {
        DataType::Dictionary(_, values) => is_text(values),
        other => other.is_string(),
    }
}

/// An aggregate function over intervals.
#[derive(Debug, PartialEq, Eq, Hash)]
struct IntervalAggregate {
    measure: Measure,
    signature: Signature,
}

impl IntervalAggregate {
    fn groups(&self, args: &AccumulatorArgs<'_>) -> Result<Groups> {
        if args.is_distinct && !self.measure.unites() {
            return not_impl_err!(
                "{}: DISTINCT is not supported; take the distinct rows in a subquery",
                self.name()
            );
        }
        Ok(Groups::new(
            self.measure,
            args.expr_fields.get(2).is_some_and(|set| is_text(set.data_type())),
        ))
    }
}

impl AggregateUDFImpl for IntervalAggregate {
    fn name(&self) -> &str {
        self.measure.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let name = self.name();
        match (self.measure, given) {
            (Measure::OverlapLen, [start, end, set]) => {
                let set = match set {
                    text if is_text(text) => DataType::Utf8View,
                    number if number.is_integer() || number.is_null() => DataType::Int64,
                    other => {
                        return plan_err!(
                            "{name}: set must be an integer 0..62 or a text, not {other}; write \
                             CAST(set AS VARCHAR)"
                        );
                    }
                };
                Ok(vec![time_type(name, "start", start)?, time_type(name, "end", end)?, set])
            }
            (Measure::OverlapLen, _) | (_, [] | [_] | [_, _, _, ..]) => {
                plan_err!(
                    "{name} takes {}; arguments given: {}",
                    self.measure.arguments(),
                    given.len()
                )
            }
            (_, [start, end]) => {
                Ok(vec![time_type(name, "start", start)?, time_type(name, "end", end)?])
            }
        }
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(self.measure.answer_type(given.get(2).is_some_and(is_text)))
    }

    fn is_nullable(&self) -> bool {
        false
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        match data_type {
            DataType::Int64 => Ok(ScalarValue::Int64(Some(0))),
            DataType::List(item) => {
                Ok(ScalarValue::List(ScalarValue::new_list(&[], item.data_type(), true)))
            }
            other => exec_err!("{}: no answer has type {other}", self.name()),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let list = |name: &str, item: DataType| {
            Arc::new(Field::new(
                format_state_name(args.name, name),
                DataType::new_list(item, true),
                true,
            ))
        };
        let mut fields = vec![list("intervals", DataType::Int64)];
        if args.input_fields.get(2).is_some_and(|set| is_text(set.data_type())) {
            fields.push(list("labels", DataType::Utf8));
        }
        Ok(fields)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Single::new(self.groups(&args)?)))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.groups(&args)?))
    }

    fn order_sensitivity(&self) -> datafusion_expr::utils::AggregateOrderSensitivity {
        datafusion_expr::utils::AggregateOrderSensitivity::Insensitive
    }
}
