//! Reads the labels of samples from columns.

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type, Int64Type};
use hashbrown::HashMap;

use super::builder::{Builder, LabelValue, Labels};
use crate::error::Result;
use crate::stacks::{Texts, frame_type, is_text};

/// Reads labels, one per column. A NULL gives no label.
#[derive(Debug)]
pub struct LabelReader {
    names: Vec<String>,
    more: Labels,
    texts: Texts,
    groups: HashMap<Vec<Option<i64>>, u32>,
    /// The labels of the previous row and their group, because adjacent rows mostly share their
    /// labels.
    last: Option<(Vec<Option<i64>>, u32)>,
}

/// The label columns of a batch, as numbers or as indices of strings.
pub struct LabelColumns(Vec<LabelColumn>);

struct LabelColumn {
    values: Int64Array,
    is_text: bool,
}

impl LabelReader {
    /// Creates a reader of labels with these names.
    pub fn new(names: Vec<String>) -> Self {
        Self {
            names,
            more: Labels::new(),
            texts: Texts::default(),
            groups: HashMap::new(),
            last: None,
        }
    }

    /// Adds labels that apply to every row.
    pub fn with(self, more: Labels) -> Self {
        Self { more, ..self }
    }

    /// Reads the columns of a batch, in the order of the names.
    ///
    /// # Errors
    ///
    /// Fails if a column can be cast neither to integers nor to strings.
    pub fn columns(&mut self, columns: &[ArrayRef]) -> Result<LabelColumns> {
        Ok(LabelColumns(columns.iter().map(|column| self.column(column)).collect::<Result<_>>()?))
    }

    fn column(&mut self, column: &ArrayRef) -> Result<LabelColumn> {
        if column.data_type().is_integer() {
            return Ok(LabelColumn {
                values: cast(column, &DataType::Int64)?.as_primitive::<Int64Type>().clone(),
                is_text: false,
            });
        }
        let column = if is_text(column.data_type()) {
            column.clone()
        } else {
            cast(column, &DataType::Utf8)?
        };
        let column = cast(&column, &frame_type())?;
        let dictionary = column.as_dictionary::<Int32Type>();
        let texts = dictionary.values().as_string::<i32>();
        let numbers: Vec<Option<i64>> = (0..texts.len())
            .map(|at| texts.is_valid(at).then(|| i64::from(self.texts.number(texts.value(at)))))
            .collect();
        Ok(LabelColumn {
            values: dictionary.keys().iter().map(|key| numbers[key? as usize]).collect(),
            is_text: true,
        })
    }

    /// Returns the group of a row's labels.
    pub fn group(&mut self, columns: &LabelColumns, row: usize, builder: &mut Builder) -> u32 {
        let value =
            |column: &LabelColumn| column.values.is_valid(row).then(|| column.values.value(row));
        if let Some((values, group)) = &self.last
            && columns.0.iter().map(value).eq(values.iter().copied())
        {
            return *group;
        }
        let values: Vec<Option<i64>> = columns.0.iter().map(value).collect();
        let group = match self.groups.get(&values) {
            Some(group) => *group,
            None => builder.group(&self.labels(columns, &values)),
        };
        self.groups.insert(values.clone(), group);
        self.last = Some((values, group));
        group
    }

    fn labels(&self, columns: &LabelColumns, values: &[Option<i64>]) -> Labels {
        let label = |((name, column), value): ((&String, &LabelColumn), &Option<i64>)| {
            let value = match ((*value)?, column.is_text) {
                (at, true) => LabelValue::Text(self.texts.all()[at as usize].to_string()),
                (number, false) => LabelValue::Number(number),
            };
            Some((name.clone(), value))
        };
        self.names
            .iter()
            .zip(&columns.0)
            .zip(values)
            .filter_map(label)
            .chain(self.more.iter().cloned())
            .collect()
    }
}
