//! Compares the rows of a view with expected rows.

use std::collections::HashMap;

use serde_json::Value;

use super::checks::Check;

/// An expected row: its key and its values.
pub struct Row {
    pub key: Vec<String>,
    pub cells: Vec<Value>,
}

/// The result of a comparison.
pub struct Tally {
    /// The number of equal cells.
    pub equal: usize,
    /// The number of expected cells.
    pub total: usize,
    /// The cells that differ, with row, column, expected value and found value.
    pub wrong: Vec<String>,
    /// The rows that are not expected.
    pub extra: Vec<String>,
}

/// Compares the rows of a check's query. Rows with the same key are compared in order.
pub fn compare(check: &Check, want: Vec<Row>, got: Vec<Vec<String>>) -> Tally {
    let mut tally = Tally { equal: 0, total: 0, wrong: Vec::new(), extra: Vec::new() };
    let mut found: HashMap<Vec<String>, Vec<Vec<String>>> = HashMap::new();
    for mut row in got.into_iter().rev() {
        let cells = row.split_off(check.keys);
        assert_eq!(cells.len(), check.columns.len(), "{}: columns of the query", check.view);
        found.entry(row).or_default().push(cells);
    }
    for row in want {
        assert_eq!(row.cells.len(), check.columns.len(), "{}: expected columns", check.view);
        let cells = found.get_mut(&row.key).and_then(Vec::pop);
        for (at, (column, wanted)) in check.columns.iter().zip(&row.cells).enumerate() {
            tally.total += 1;
            let value = cells.as_ref().map_or("no row", |c| c[at].as_str());
            if same(wanted, value) {
                tally.equal += 1;
            } else {
                tally.wrong.push(format!("{:?} {column}: want {wanted}, got {value}", row.key));
            }
        }
    }
    tally.extra =
        found.iter().flat_map(|(key, rows)| rows.iter().map(move |_| format!("{key:?}"))).collect();
    tally.extra.sort();
    tally
}

/// Integers and texts must be equal. Floats must be within 1e-9, relative to the larger one.
fn same(wanted: &Value, got: &str) -> bool {
    match wanted {
        Value::Null => got == "NULL",
        Value::Bool(b) => got == b.to_string(),
        Value::String(text) => text == got,
        Value::Number(number) => {
            if let Some(a) = number.as_i64() {
                return got.parse() == Ok(a) || got.parse() == Ok(a as f64);
            }
            let (Some(a), Ok(b)) = (number.as_f64(), got.parse::<f64>()) else { return false };
            a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
        }
        Value::Array(_) | Value::Object(_) => false,
    }
}
