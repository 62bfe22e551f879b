//! Rows of queries that can be compared: sorted, exact but for floating point numbers, whose sums
//! depend on the order in which rows arrive.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::TryStreamExt;
use tracesql::engine::Engine;

/// The greatest relative difference between equal floating point numbers.
const MAX_DIFFERENCE: f64 = 1e-12;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Exact(String),
    Float(f64),
}

/// Rows in no particular order.
#[derive(Debug, Default)]
pub struct Rows(Vec<Vec<Value>>);

impl Rows {
    fn of(batches: &[RecordBatch]) -> Self {
        let options = FormatOptions::new().with_null("NULL");
        let mut rows = Vec::new();
        for batch in batches {
            let columns: Vec<Vec<Value>> =
                batch.columns().iter().map(|column| values(column.as_ref(), &options)).collect();
            rows.extend(
                (0..batch.num_rows()).map(|i| columns.iter().map(|c| c[i].clone()).collect()),
            );
        }
        Self(rows)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Drops repeated rows.
    pub fn distinct(mut self) -> Self {
        self.sort(|number| number);
        self.0.dedup();
        self
    }

    /// Sorts the rows by exact values first, then by the keys of floating point numbers.
    fn sort(&mut self, key: impl Fn(f64) -> f64) {
        let exact = |value: &Value| match value {
            Value::Exact(text) => text.clone(),
            Value::Float(_) => String::new(),
        };
        // The order of the bits is that of the numbers where their sign is the same.
        let bits = |value: &Value| match value {
            Value::Exact(_) => 0,
            Value::Float(number) => key(*number).to_bits(),
        };
        self.0.sort_by_cached_key(|row| {
            let (exact, bits) = (row.iter().map(exact), row.iter().map(bits));
            (exact.collect::<Vec<_>>(), bits.collect::<Vec<_>>())
        });
    }

    /// Describes the first difference; `None` if the rows are equal.
    pub fn difference(mut self, mut other: Self) -> Option<String> {
        if self.0.len() != other.0.len() {
            return Some(format!("{} rows, and {} of each", self.0.len(), other.0.len()));
        }
        self.sort(|number| number);
        other.sort(|number| number);
        self.first_difference(&other)?;
        // Rows that agree but for their sums may have another order.
        let rounded = |number: f64| format!("{number:.9e}").parse().unwrap_or(number);
        self.sort(rounded);
        other.sort(rounded);
        self.first_difference(&other)
    }

    fn first_difference(&self, other: &Self) -> Option<String> {
        let mut pairs = self.0.iter().zip(&other.0);
        let (a, b) = pairs.find(|(a, b)| !a.iter().zip(b.iter()).all(|(a, b)| is_equal(a, b)))?;
        Some(format!("{a:?}\n  and of each\n  {b:?}"))
    }
}

fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => {
            a == b
                || a.is_nan() && b.is_nan()
                || (a - b).abs() <= MAX_DIFFERENCE * a.abs().max(b.abs())
        }
        _ => a == b,
    }
}

fn values(column: &dyn Array, options: &FormatOptions<'_>) -> Vec<Value> {
    if *column.data_type() == DataType::Float64 {
        let numbers = column.as_primitive::<Float64Type>();
        return numbers
            .iter()
            .map(|number| number.map_or(Value::Exact("NULL".to_owned()), Value::Float))
            .collect();
    }
    let formatter = ArrayFormatter::try_new(column, options).expect("a formatter");
    (0..column.len()).map(|i| Value::Exact(formatter.value(i).to_string())).collect()
}

/// The rows of queries that start together, so that they compute shared views once.
pub fn rows_of_all(engine: &Engine, queries: &[String]) -> Vec<Rows> {
    let runtime = tracesql::runtime::with_threads(0).expect("a runtime");
    runtime.block_on(async {
        let statements =
            queries.iter().map(|sql| engine.parse(sql).expect("SQL").remove(0)).collect();
        let started = engine.start_all(statements, &[]).await.expect("the queries start");
        let mut rows = Vec::new();
        for (sql, started) in queries.iter().zip(started) {
            let batches: Result<Vec<RecordBatch>, _> = started.result.try_collect().await;
            rows.push(Rows::of(&batches.unwrap_or_else(|e| panic!("{sql}: {e}"))));
        }
        rows
    })
}

/// The rows of a query as they are.
pub fn batches_of(engine: &Engine, sql: &str) -> (SchemaRef, Vec<RecordBatch>) {
    let runtime = tracesql::runtime::with_threads(0).expect("a runtime");
    runtime.block_on(async {
        let statement = engine.parse(sql).expect("SQL").remove(0);
        let stream = engine.run(statement, &[]).await.expect("the query starts");
        (stream.schema(), stream.try_collect().await.expect("rows"))
    })
}
