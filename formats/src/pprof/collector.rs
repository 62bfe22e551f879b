//! Collects samples from the result of any query. The types and names of the columns decide their
//! roles.

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, Schema};

use super::builder::{Builder, LabelValue, Labels, SampleType};
use super::labels::LabelReader;
use crate::error::{Error, Result};
use crate::stacks::{Stacks, is_text};

/// Names of integer columns that become labels. All other integer columns are values.
pub const LABEL_NAMES: [&str; 7] = ["rank", "step", "pid", "tid", "device", "stream", "track_id"];

/// The label that marks, in pprof, the samples of the base of a comparison.
pub const BASE: &str = "pprof::base";

/// Collects samples from batches of one schema.
#[derive(Debug)]
pub struct Collector {
    builder: Builder,
    stack: usize,
    values: Vec<usize>,
    labels: Vec<usize>,
    readers: [LabelReader; 2],
    /// Number of rows without a stack.
    pub without_stack: u64,
}

impl Collector {
    /// Creates a collector for the columns of a query: one list of strings is the stack, integers
    /// are values, and everything else is a label.
    ///
    /// # Errors
    ///
    /// Fails if there is not exactly one stack, if there is no value, or if a column fits no role.
    pub fn new(schema: &Schema) -> Result<Self> {
        let (mut stacks, mut values, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for (at, field) in schema.fields().iter().enumerate() {
            let known = LABEL_NAMES.contains(&field.name().as_str());
            match field.data_type() {
                DataType::List(_) | DataType::LargeList(_) => stacks.push(at),
                t if is_text(t) || *t == DataType::Boolean || known => labels.push(at),
                t if t.is_integer() => values.push(at),
                t => {
                    return Err(Error::Input(format!(
                        "column {} of the samples is {t}: a value must be a whole number, for \
                         example CAST(… AS BIGINT)",
                        field.name()
                    )));
                }
            }
        }
        let [stack] = stacks[..] else {
            return Err(Error::Input(format!(
                "samples have one column that is a stack (a list of texts, as stack() and \
                 unfold_stack() give it), not {}",
                stacks.len()
            )));
        };
        if values.is_empty() {
            return Err(Error::Input(format!(
                "samples have a column of whole numbers at least, such as self_ns; columns named \
                 {} are labels",
                LABEL_NAMES.join(", ")
            )));
        }
        let builder =
            Builder::new(values.iter().map(|&at| sample_type(schema.field(at).name())).collect())?;
        let names: Vec<String> = labels.iter().map(|&at| schema.field(at).name().clone()).collect();
        let base = (BASE.to_owned(), LabelValue::Text("true".to_owned()));
        let readers = [LabelReader::new(names.clone()), LabelReader::new(names).with(vec![base])];
        Ok(Self { builder, stack, values, labels, readers, without_stack: 0 })
    }

    /// Gives all steps the same frame in rows that are added from now on.
    pub fn merge_steps(&mut self) {
        self.builder.merge_steps();
    }

    /// Adds the rows of a batch. Rows of the `base` of a comparison are counted with negative
    /// values.
    ///
    /// # Errors
    ///
    /// Fails if a column cannot be cast, or if a sum does not fit into 64 bits.
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

    /// Returns the profile of all added rows, without the sample types that are 0 in every sample.
    pub fn finish(mut self) -> Builder {
        self.builder.drop_types_without_values();
        self.builder
    }
}

/// Derives the sample type from a column name: `cpu_ns` is `cpu` in nanoseconds. A name without a
/// unit is a count.
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

/// Whether the labels mark a sample of the base of a comparison.
pub fn is_base(labels: &Labels) -> bool {
    labels.iter().any(|(name, _)| name == BASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_of_a_column_is_its_unit() {
        assert_eq!(sample_type("cpu_ns"), SampleType::new("cpu", "nanoseconds"));
        assert_eq!(sample_type("alloc_space_bytes"), SampleType::new("alloc_space", "bytes"));
        assert_eq!(sample_type("samples"), SampleType::new("samples", "count"));
        assert_eq!(sample_type("_ns"), SampleType::new("_ns", "count"));
    }
}
