//! Samples from the result of any query: the types and names of its columns say what they are.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, Schema};
use datafusion::common::{Result, exec_err};

use super::build::{Builder, LabelValue, Labels, SampleType};
use super::labels::LabelReader;
use crate::stacks::Stacks;
use crate::types;

/// Names of whole-number columns that are labels; all others are values.
pub const LABEL_NAMES: [&str; 7] = ["rank", "step", "pid", "tid", "device", "stream", "track_id"];

/// The label of samples that a difference is taken from, as pprof knows it.
pub const BASE: &str = "pprof::base";

/// Collects samples from batches of one schema.
#[derive(Debug)]
pub struct Collector {
    builder: Builder,
    stack: usize,
    values: Vec<usize>,
    labels: Vec<usize>,
    readers: [LabelReader; 2],
    /// Rows that had no stack.
    pub without_stack: u64,
}

impl Collector {
    /// A collector of what a query gives: one list of texts, the stack; whole numbers, the values;
    /// and labels.
    pub fn new(schema: &Schema) -> Result<Self> {
        let (mut stacks, mut values, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for (at, field) in schema.fields().iter().enumerate() {
            let known = LABEL_NAMES.contains(&field.name().as_str());
            match field.data_type() {
                DataType::List(_) | DataType::LargeList(_) => stacks.push(at),
                t if types::is_text(t) || *t == DataType::Boolean || known => labels.push(at),
                t if t.is_integer() => values.push(at),
                t => {
                    return exec_err!(
                        "column {} of the samples is {t}: a value must be a whole number, for example CAST(… AS BIGINT)",
                        field.name()
                    );
                }
            }
        }
        let [stack] = stacks[..] else {
            return exec_err!(
                "samples have one column that is a stack (a list of texts, as stack() and unfold_stack() give it), not {}",
                stacks.len()
            );
        };
        if values.is_empty() {
            return exec_err!(
                "samples have a column of whole numbers at least, such as self_ns; columns named {} are labels",
                LABEL_NAMES.join(", ")
            );
        }
        let builder =
            Builder::new(values.iter().map(|&at| sample_type(schema.field(at).name())).collect())?;
        let names: Vec<String> = labels.iter().map(|&at| schema.field(at).name().clone()).collect();
        let base = (BASE.to_owned(), LabelValue::Text("true".to_owned()));
        let readers = [LabelReader::new(names.clone()), LabelReader::new(names).with(vec![base])];
        Ok(Self { builder, stack, values, labels, readers, without_stack: 0 })
    }

    /// Adds the rows of a batch; those of the `base` that a difference is taken from count
    /// negative.
    pub fn add(&mut self, batch: &RecordBatch, base: bool) -> Result<()> {
        let stacks = Stacks::read(batch.column(self.stack))?;
        let int = |&at: &usize| -> Result<Int64Array> {
            Ok(cast(batch.column(at), &DataType::Int64)?.as_primitive::<Int64Type>().clone())
        };
        let columns = self.values.iter().map(int).collect::<Result<Vec<_>>>()?;
        let labels: Vec<ArrayRef> =
            self.labels.iter().map(|&at| batch.column(at).clone()).collect();
        let reader = &mut self.readers[usize::from(base)];
        let labels = reader.columns(&labels)?;
        let sign = if base { -1 } else { 1 };
        let mut values = vec![0i64; columns.len()];
        for row in 0..batch.num_rows() {
            for (to, from) in values.iter_mut().zip(&columns) {
                *to = if from.is_valid(row) { from.value(row).saturating_mul(sign) } else { 0 };
            }
            let group = reader.group(&labels, row, &mut self.builder);
            if !self.builder.add_row(&stacks, row, group, &values)? {
                self.without_stack += 1;
            }
        }
        Ok(())
    }

    /// The profile of what was added, without the sample types that have no value in any sample.
    pub fn finish(mut self) -> Builder {
        self.builder.drop_types_without_values();
        self.builder
    }
}

/// `cpu_ns` is `cpu` in nanoseconds; a name without a unit counts.
fn sample_type(column: &str) -> SampleType {
    const UNITS: [(&str, &str); 5] = [
        ("_ns", "nanoseconds"),
        ("_us", "microseconds"),
        ("_ms", "milliseconds"),
        ("_s", "seconds"),
        ("_bytes", "bytes"),
    ];
    for (suffix, unit) in UNITS {
        if let Some(name) = column.strip_suffix(suffix)
            && !name.is_empty()
        {
            return SampleType::new(name, unit);
        }
    }
    SampleType::new(column, "count")
}

/// Whether labels are those of a sample that a difference is taken from.
pub fn is_base(labels: &Labels) -> bool {
    labels.iter().any(|(name, _)| name == BASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_units() {
        assert_eq!(sample_type("cpu_ns"), SampleType::new("cpu", "nanoseconds"));
        assert_eq!(sample_type("alloc_space_bytes"), SampleType::new("alloc_space", "bytes"));
        assert_eq!(sample_type("samples"), SampleType::new("samples", "count"));
        assert_eq!(sample_type("_ns"), SampleType::new("_ns", "count"));
    }
}
