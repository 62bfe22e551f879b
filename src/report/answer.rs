//! Answers of sections: columns, rows, remainders, and the traces without rows with the reason.

use std::time::Duration;

use serde_json::Value;

use super::sections::Section;

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// `integer`, `number`, `text` or `boolean`.
    pub kind: &'static str,
    /// The unit: ns, bytes, pct, count, id, flag, text, number and so on.
    pub unit: &'static str,
}

/// The rows of a trace that are only counted and summed, not listed.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    /// The trace.
    pub trace_id: String,
    /// The number of rows.
    pub rows: u64,
    /// The sums of columns that can be added up, by the position of the column.
    pub sums: Vec<(usize, Value)>,
}

/// A trace without rows in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The trace.
    pub trace_id: String,
    /// `not_recorded`, `empty` or `not_applicable`.
    pub status: &'static str,
    /// The reason, and how the user can change that.
    pub reason: String,
}

/// The answer of a section.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The section.
    pub section: &'static Section,
    /// Columns in order; the first is trace_id.
    pub columns: Vec<Column>,
    /// The rows. Rows of the same trace are together.
    pub rows: Vec<Vec<Value>>,
    /// The remainder beyond the limit, for each trace.
    pub rests: Vec<Rest>,
    /// The traces without rows.
    pub missing: Vec<Missing>,
    /// The error if the query failed.
    pub error: Option<String>,
    /// The time from the start of planning until the rows were complete.
    pub elapsed: Duration,
}

impl Answer {
    /// An answer without rows.
    pub fn empty(section: &'static Section) -> Self {
        Self {
            section,
            columns: Vec::new(),
            rows: Vec::new(),
            rests: Vec::new(),
            missing: Vec::new(),
            error: None,
            elapsed: Duration::ZERO,
        }
    }

    /// The position of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// The rows of a trace.
    pub fn of<'a>(&'a self, trace_id: &'a str) -> impl Iterator<Item = Row<'a>> {
        self.rows
            .iter()
            .filter(move |r| trace_of(r) == Some(trace_id))
            .map(|values| Row { answer: self, values })
    }

    /// The number of traces with rows.
    pub fn traces(&self) -> usize {
        self.rows.iter().filter_map(|r| trace_of(r)).collect::<std::collections::HashSet<_>>().len()
    }

    /// The remainder of a trace.
    pub fn rest(&self, trace_id: &str) -> Option<&Rest> {
        self.rests.iter().find(|r| r.trace_id == trace_id)
    }

    /// The reason why a trace has no rows.
    pub fn missing(&self, trace_id: &str) -> Option<&Missing> {
        self.missing.iter().find(|m| m.trace_id == trace_id)
    }
}

/// The trace of a row, which is its first value.
pub fn trace_of(row: &[Value]) -> Option<&str> {
    row.first().and_then(Value::as_str)
}

/// A row that knows its columns.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    answer: &'a Answer,
    values: &'a [Value],
}

impl<'a> Row<'a> {
    /// The value of a column; NULL if there is no such column.
    pub fn get(&self, name: &str) -> &'a Value {
        self.answer.column(name).and_then(|at| self.values.get(at)).unwrap_or(&Value::Null)
    }

    /// The value of a column as a whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name).as_i64()
    }

    /// The value of a column as a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).as_f64()
    }

    /// The value of a column as text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name).as_str()
    }
}
