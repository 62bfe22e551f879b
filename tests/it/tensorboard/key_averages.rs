//! The view `key_averages` against the table that PyTorch made of the same run.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use crate::support::TestStore;

/// Names that traces do not hold as PyTorch's table does: its exporter changes or breaks them (quotes, backslashes, line ends, control and
/// non-ASCII characters).
fn is_odd(name: &str) -> bool {
    name.chars().any(|c| matches!(c, '"' | '\\') || c.is_control() || !c.is_ascii())
}

/// What differs: calls, total and self time of every name must be equal, the times to 1e-9 where the table holds floats.
pub fn differences(trace: &Path, table: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(table).unwrap_or_else(|e| panic!("{}: {e}", table.display()));
    let table: Value = serde_json::from_str(&text).expect("JSON");
    let (store, _) = TestStore::with(trace);
    let rows = store.rows("SELECT name, calls, cpu_total_ns, self_cpu_ns FROM key_averages WHERE device_type = 'cpu'");
    let mut found: HashMap<String, Vec<i64>> = HashMap::new();
    for row in rows {
        found.insert(row[0].clone(), row[1..].iter().map(|v| v.parse().expect("an integer")).collect());
    }
    let name_of = |row: &Value| row["name"].as_str().expect("a name").to_owned();
    let mut wrong = Vec::new();
    let rows = table["rows"].as_array().expect("rows");
    let mut odd = 0;
    for row in rows {
        let name = name_of(row);
        let ns =
            |field: &str| row[format!("{field}_ns")].as_f64().or_else(|| row[format!("{field}_us")].as_f64().map(|us| us * 1000.0)).expect("a time");
        let want = [row["count"].as_f64().expect("a count"), ns("cpu_time_total"), ns("self_cpu_time_total")];
        let Some(got) = found.remove(&name) else {
            if is_odd(&name) {
                odd += 1;
            } else {
                wrong.push(format!("{}: {name} is missing", trace.display()));
            }
            continue;
        };
        let same = |(want, got): (&f64, &i64)| (want - *got as f64).abs() <= 1e-9 * want.abs();
        if !want.iter().zip(&got).all(same) {
            wrong.push(format!("{}: {name}: want {want:?}, got {got:?}", trace.display()));
        }
    }
    if rows.len() <= odd + 10 {
        wrong.push(format!("{}: too few names were compared", trace.display()));
    }
    if found.len() > odd {
        wrong.push(format!("{}: {:?} are not in PyTorch's table", trace.display(), found.keys()));
    }
    wrong
}
