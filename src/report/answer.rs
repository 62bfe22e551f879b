//! Answers of sections: columns, rows, rests, and which traces have no rows and why.

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
    /// Unit: ns, bytes, pct, count, id, flag, text, number ….
    pub unit: &'static str,
}

/// Rows of a trace that are not in the answer individually.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    /// The trace.
    pub trace_id: String,
    /// The number of rows.
    pub rows: u64,
    /// The sums of columns that can be added up, by the position of the column.
    pub sums: Vec<(usize, Value)>,
}

/// A trace without rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The trace.
    pub trace_id: String,
    /// `not_recorded`, `empty` or `not_applicable`.
    pub status: &'static str,
    /// Why, and how to change that.
    pub reason: String,
}

/// The answer of a section.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The section.
    pub section: &'static Section,
    /// Columns in order; the first is trace_id.
    pub columns: Vec<Column>,
    /// Rows, those of a trace together.
    pub rows: Vec<Vec<Value>>,
    /// Rows beyond the limit, by trace.
    pub rests: Vec<Rest>,
    /// Traces without rows.
    pub missing: Vec<Missing>,
    /// Why the query failed; `None` if it did not.
    pub error: Option<String>,
    /// Time from the start of planning until its rows were complete.
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

    /// How many traces have rows.
    pub fn traces(&self) -> usize {
        self.rows.iter().filter_map(|r| trace_of(r)).collect::<std::collections::HashSet<_>>().len()
    }

    /// The rest of a trace.
    pub fn rest(&self, trace_id: &str) -> Option<&Rest> {
        self.rests.iter().find(|r| r.trace_id == trace_id)
    }

    /// Why a trace has no rows.
    pub fn missing(&self, trace_id: &str) -> Option<&Missing> {
        self.missing.iter().find(|m| m.trace_id == trace_id)
    }
}

/// The trace of a row: its first value.
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
    /// A value; NULL if there is no such column.
    pub fn get(&self, name: &str) -> &'a Value {
        self.answer.column(name).and_then(|at| self.values.get(at)).unwrap_or(&Value::Null)
    }

    /// A whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name).as_i64()
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).as_f64()
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name).as_str()
    }
}
