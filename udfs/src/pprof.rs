//! `pprof`: converts the stacks and values of a group of rows to a profile.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion_common::{Result, ScalarValue, exec_err, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::expressions::Literal;
use tracesql_formats::pprof::{Builder, Header, LabelReader, SampleType};
use tracesql_formats::stacks::Stacks;

use crate::doc::{Call, Example, Function, FunctionDoc};
use crate::error::from_formats;
use crate::types::{self, Takes};

/// The functions of this file.
pub fn functions() -> Vec<Function> {
    let aggregate = Pprof { signature: Signature::user_defined(Volatility::Immutable) };
    let call = Call::Aggregate(Arc::new(AggregateUDF::new_from_impl(aggregate)));
    vec![Function { call, doc: PPROF }]
}

const PPROF: FunctionDoc = FunctionDoc {
    name: "pprof",
    area: "stacks",
    signature: "pprof(stack VARCHAR[], type VARCHAR, unit VARCHAR, value BIGINT, … [, labels \
        STRUCT]) → VARBINARY",
    summary: "A profile for pprof (profile.proto, not compressed) of the stacks and values of the \
        rows.",
    detail: "Each value follows its type and unit, which are literals: `pprof(stack, 'cpu', \
        'nanoseconds', self_ns, 'alloc_space', 'bytes', bytes)`. A struct at the end gives labels \
        by the names of its fields, for example `named_struct('thread', thread, 'step', step)`: \
        whole numbers as numbers, everything else as text. Rows with equal stacks and labels are \
        added up. Samples are sorted, so equal rows give equal bytes in any order and partition. \
        Frames `path/file.py(12): function` become functions with file and line, named \
        `path.file.function`; all other frames are names as they are. Viewers first show the first \
        type in nanoseconds, or the first type if none is in nanoseconds. Write the bytes to a \
        file, compressed with gzip or not, and open it with `go tool pprof FILE`.",
    nulls: "Rows without a stack are skipped, and a comment of the profile gives their number. A \
        NULL value counts as 0. A NULL label is omitted. Without rows the profile has no samples.",
    errors: "A type or unit that is not a literal, a type named twice, a value that is not a whole \
        number, a sum beyond 64 bits, and DISTINCT are refused.",
    examples: &[Example {
        sql: "SELECT pprof(stack, 'cpu', 'nanoseconds', ns) = pprof(stack, 'cpu', 'nanoseconds', \
            ns ORDER BY ns DESC) AS same FROM (VALUES (['main', 'mm'], 5), (['main'], 7)) AS \
            t(stack, ns)",
        answer: "true",
    }],
};

#[derive(Debug, PartialEq, Eq, Hash)]
struct Pprof {
    signature: Signature,
}

/// Whether labels follow the values, judged by the number of arguments.
fn has_labels(arguments: usize) -> bool {
    arguments % 3 == 2
}

impl AggregateUDFImpl for Pprof {
    fn name(&self) -> &str {
        PPROF.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        if types.len() < 4 || types.len().is_multiple_of(3) {
            return plan_err!(
                "pprof takes a stack, then a type, a unit and a value for each sample type, then \
                 perhaps labels as a struct"
            );
        }
        let labels_at = if has_labels(types.len()) { types.len() - 1 } else { types.len() };
        let argument = |(i, t): (usize, &DataType)| match (i, i % 3) {
            (0, _) => types::argument(PPROF.name, i, t, Takes::Stack),
            _ if i == labels_at && matches!(t, DataType::Struct(_)) => Ok(t.clone()),
            _ if i == labels_at => plan_err!(
                "pprof: labels must be a struct, for example named_struct('thread', thread), not \
                 {t}"
            ),
            (_, 0) => types::argument(PPROF.name, i, t, Takes::Int),
            _ => types::argument(PPROF.name, i, t, Takes::Text),
        };
        types.iter().enumerate().map(argument).collect()
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let field = |name, data_type| {
            Arc::new(Field::new(format_state_name(args.name, name), data_type, true))
        };
        Ok(vec![field("profile", DataType::Binary), field("without_stack", DataType::Int64)])
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return plan_err!("pprof adds up all rows; DISTINCT is not supported");
        }
        let labels = has_labels(args.exprs.len())
            .then(|| args.expr_fields.last().map(|f| f.data_type()))
            .flatten();
        let labels = match labels {
            Some(DataType::Struct(fields)) => {
                Some(LabelReader::new(fields.iter().map(|f| f.name().clone()).collect()))
            }
            _ => None,
        };
        let mut sample_types = Vec::new();
        for triple in args.exprs[1..].chunks_exact(3) {
            sample_types.push(SampleType::new(literal(&triple[0])?, literal(&triple[1])?));
        }
        Ok(Box::new(Profile {
            values: sample_types.len(),
            builder: Builder::new(sample_types).map_err(from_formats)?,
            labels,
            without_stack: 0,
        }))
    }
}

fn literal(expr: &Arc<dyn PhysicalExpr>) -> Result<String> {
    match expr.downcast_ref::<Literal>().map(|l| l.value().try_as_str()) {
        Some(Some(Some(text))) => Ok(text.to_owned()),
        _ => plan_err!(
            "pprof: types and units are literals, such as 'cpu', 'nanoseconds'; {expr} is not"
        ),
    }
}

#[derive(Debug)]
struct Profile {
    values: usize,
    builder: Builder,
    labels: Option<LabelReader>,
    without_stack: i64,
}

impl Profile {
    fn encode(&self, comments: Vec<String>) -> Result<ScalarValue> {
        let bytes = self.builder.encode(&Header { comments, ..Header::default() });
        let bytes = bytes.map_err(from_formats)?;
        if i32::try_from(bytes.len()).is_err() {
            return exec_err!(
                "the profile takes {} bytes, more than a column can hold; take fewer rows",
                bytes.len()
            );
        }
        Ok(ScalarValue::Binary(Some(bytes)))
    }
}

impl Accumulator for Profile {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let stacks = Stacks::read(&columns[0]).map_err(from_formats)?;
        let values: Vec<&Int64Array> =
            (0..self.values).map(|i| columns[3 * i + 3].as_primitive::<Int64Type>()).collect();
        let labels = match (&mut self.labels, columns.last()) {
            (Some(reader), Some(labels)) => {
                let columns = reader.columns(labels.as_struct().columns());
                Some(columns.map_err(from_formats)?)
            }
            _ => None,
        };
        let mut row_values = vec![0; self.values];
        for row in 0..stacks.len() {
            for (to, from) in row_values.iter_mut().zip(&values) {
                *to = if from.is_valid(row) { from.value(row) } else { 0 };
            }
            let group = match (&mut self.labels, &labels) {
                (Some(reader), Some(columns)) => reader.group(columns, row, &mut self.builder),
                _ => self.builder.group(&Vec::new()),
            };
            let added = self.builder.add_row(&stacks, row, group, &row_values);
            if !added.map_err(from_formats)? {
                self.without_stack += 1;
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        states[0]
            .as_binary::<i32>()
            .iter()
            .flatten()
            .try_for_each(|bytes| self.builder.merge(bytes))
            .map_err(from_formats)?;
        self.without_stack += states[1].as_primitive::<Int64Type>().iter().flatten().sum::<i64>();
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.encode(Vec::new())?, ScalarValue::Int64(Some(self.without_stack))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let left_out = (self.without_stack > 0)
            .then(|| format!("rows without a stack, which are left out: {}", self.without_stack));
        self.encode(left_out.into_iter().collect())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.builder.bytes()
    }
}
