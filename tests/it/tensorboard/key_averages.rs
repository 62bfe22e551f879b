//! Compares the view `key_averages` with PyTorch's table of the same run: counts, times, memory and
//! operations.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use crate::support::TestStore;

/// Names that differ between a trace and PyTorch's table, because PyTorch's exporter changes or
/// breaks them (quotes, backslashes, line ends, control characters and non-ASCII characters).
fn is_odd(name: &str) -> bool {
    name.chars().any(|c| matches!(c, '"' | '\\') || c.is_control() || !c.is_ascii())
}

/// Values of a table that cannot be derived from the trace: trace, name, column, value in the
/// table, our value.
///
/// PyTorch 2.4 assigns one free of 4 bytes, at the very end of a call of `aten::mul_`, to the
/// enclosing row. In the trace it lies 0.2 us before the end.
const KNOWN: [[&str; 5]; 3] = [
    ["cnn_train_verbose_torch2.4.1", "Optimizer.step#SGD.step", "self_cpu_mem_bytes", "-4", "0"],
    ["cnn_train_verbose_torch2.4.1", "aten::mul_", "cpu_mem_bytes", "4", "0"],
    ["cnn_train_verbose_torch2.4.1", "aten::mul_", "self_cpu_mem_bytes", "-116", "-120"],
];

const SQL: &str = "SELECT name, calls, cpu_total_ns, self_cpu_ns, cpu_mem_bytes, \
    self_cpu_mem_bytes, flops FROM key_averages WHERE device_type = 'cpu'";

/// The comparison of a table, with the number of its memory values and operation counts.
#[derive(Default)]
pub struct Compared {
    /// The differences.
    pub wrong: Vec<String>,
    /// The number of memory values other than 0.
    pub memory: usize,
    /// The number of operation counts other than 0.
    pub flops: usize,
}

/// Compares a trace with a table. The calls, total and self time and memory of every name must be
/// equal; times must be within 1e-9 if the table has floats. Operations are compared if the table
/// has any.
pub fn compare(trace: &Path, table: &Path) -> Compared {
    let text =
        std::fs::read_to_string(table).unwrap_or_else(|e| panic!("{}: {e}", table.display()));
    let table: Value = serde_json::from_str(&text).expect("JSON");
    let (store, _) = TestStore::with(trace);
    let title =
        trace.file_name().expect("a name").to_string_lossy().replace(".pt.trace.json.gz", "");
    let mut known: Vec<[String; 5]> =
        KNOWN.iter().filter(|k| k[0] == title).map(|k| k.map(str::to_owned)).collect();
    let mut found: HashMap<String, Vec<String>> =
        store.rows(SQL).into_iter().map(|row| (row[0].clone(), row[1..].to_vec())).collect();
    let rows = table["rows"].as_array().expect("rows");
    // PyTorch 1.8 writes no memory records into traces, and counts operations differently.
    let is_old = table["torch"].as_str().is_some_and(|version| version.starts_with("1.8"));
    let has_flops =
        !is_old && rows.iter().any(|row| row["flops"].as_f64().is_some_and(|flops| flops > 0.0));
    let mut compared = Compared::default();
    let mut odd = 0;
    for row in rows {
        let name = row["name"].as_str().expect("a name").to_owned();
        let Some(got) = found.remove(&name) else {
            if is_odd(&name) {
                odd += 1;
            } else {
                compared.wrong.push(format!("{title}: {name} is missing"));
            }
            continue;
        };
        let ns = |field: &str| {
            row[format!("{field}_ns")]
                .as_f64()
                .or_else(|| row[format!("{field}_us")].as_f64().map(|us| us * 1000.0))
                .expect("a time")
        };
        let want = [
            row["count"].as_f64().expect("a count"),
            ns("cpu_time_total"),
            ns("self_cpu_time_total"),
        ];
        let same = |(want, got): (&f64, &String)| {
            (want - got.parse::<f64>().expect("a number")).abs() <= 1e-9 * want.abs()
        };
        if !want.iter().zip(&got).all(same) {
            compared.wrong.push(format!("{title}: {name}: want {want:?}, got {got:?}"));
        }
        let mut exactly = |column: &str, want: i64, got: &str| {
            let difference =
                [title.clone(), name.clone(), column.to_owned(), want.to_string(), got.to_owned()];
            // If nothing was recorded, there is no value here and a 0 in the table.
            if got != want.to_string() && !(want == 0 && got == "NULL") {
                match known.iter().position(|k| *k == difference) {
                    Some(at) => drop(known.swap_remove(at)),
                    None => compared.wrong.push(difference.join(" ")),
                }
            }
            usize::from(want != 0)
        };
        let bytes = |field: &str| {
            row[format!("{field}_usage")]
                .as_i64()
                .or_else(|| row[format!("{field}_bytes")].as_i64())
                .expect("bytes")
        };
        if !is_old {
            compared.memory += exactly("cpu_mem_bytes", bytes("cpu_memory"), &got[3])
                + exactly("self_cpu_mem_bytes", bytes("self_cpu_memory"), &got[4]);
        }
        let flops = row["flops"].as_f64().expect("a number") as i64;
        // Traces of PyTorch 1.12 lack the stride of convolutions, so their operations cannot be
        // counted.
        let is_unknown = name == "aten::conv2d"
            && table["torch"].as_str().is_some_and(|version| version.starts_with("1.12"));
        if is_unknown && flops > 0 {
            compared.wrong.extend(
                (got[5] != "NULL").then(|| format!("{title}: operations of {name} are {}", got[5])),
            );
        } else if has_flops {
            compared.flops += exactly("flops", flops, &got[5]);
        }
    }
    if rows.len() <= odd + 10 {
        compared.wrong.push(format!("{title}: too few names were compared"));
    }
    if found.len() > odd {
        compared.wrong.push(format!("{title}: {:?} are not in PyTorch's table", found.keys()));
    }
    compared.wrong.extend(
        known.into_iter().map(|k| format!("{} is listed, and does not differ so", k.join(" "))),
    );
    compared
}
