//! Operations, bytes and owners of device time against the figures of an independent reference, for
//! public traces and for calls that PyTorch counted itself.
//!
//! The reference is next to the corpus. Without it these tests are skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::support::{TestStore, needs};

/// The lines of a table with tabs, as maps from column to cell.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).expect("the table is read");
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    lines
        .map(|line| {
            columns
                .iter()
                .zip(line.split('\t'))
                .map(|(c, v)| ((*c).to_owned(), v.to_owned()))
                .collect()
        })
        .collect()
}

/// JSON without the blanks that tools write differently.
fn plain(json: &str) -> String {
    serde_json::from_str::<Value>(json)
        .map_or_else(|_| "null".to_owned(), |value| value.to_string())
}

/// What identifies a row of the reference: name, shapes, types and values.
type Key = [String; 4];

fn key(name: &str, shapes: &str, types: &str, values: &str) -> Key {
    [name.to_owned(), plain(shapes), plain(types), plain(values)]
}

/// The traces of the reference, with the name of each.
fn traces(folder: &Path) -> Vec<(String, TestStore)> {
    let list = std::fs::read_to_string(folder.join("traces_public.txt")).expect("the list");
    list.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(label, path)| {
            let path = folder.join(path).canonicalize().expect("the trace is there");
            (label.to_owned(), TestStore::with(&path).0)
        })
        .collect()
}

#[test]
fn operations_and_bytes_of_public_traces_equal_the_reference() {
    let Some(folder) = needs::in_corpus("../oracle/roofline") else { return };
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (label, store) in traces(&folder) {
        let sql = "SELECT f.name, f.input_shapes, f.input_types, f.arguments, f.flop, \
                   f.read_bytes + f.written_bytes FROM _call_figures f GROUP BY ALL";
        let sql = sql.replace(
            "GROUP BY ALL",
            "GROUP BY f.name, f.input_shapes, f.input_types, f.arguments, f.flop, f.read_bytes, \
             f.written_bytes",
        );
        let mut found: BTreeMap<Key, BTreeSet<(String, String)>> = BTreeMap::new();
        for row in store.rows(&sql) {
            let figures = (row[4].clone(), row[5].clone());
            found.entry(key(&row[0], &row[1], &row[2], &row[3])).or_default().insert(figures);
        }
        for row in table(&folder.join(format!("expected/{label}.tsv"))) {
            let cells = ["name", "input_dims", "input_types", "concrete_inputs"];
            let [name, shapes, types, values] = cells.map(|c| row[c].as_str());
            let ours = found.get(&key(name, shapes, types, values)).cloned().unwrap_or_default();
            let flop = &row["spec_flop"];
            let bytes = &row["spec_bytes"];
            compared += usize::from(!bytes.is_empty());
            let has_flop = flop.is_empty() || ours.iter().any(|(f, _)| f == flop);
            let has_bytes = bytes.is_empty() || ours.iter().any(|(_, b)| b == bytes);
            if !(has_flop && has_bytes) {
                wrong.push(format!("{label}: {name} {shapes}: {flop} {bytes}, found {ours:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(compared, 518);
}

#[test]
fn device_time_belongs_to_the_owners_of_the_reference_and_adds_up() {
    let Some(folder) = needs::in_corpus("../oracle/roofline") else { return };
    let owners = table(&folder.join("owners.tsv"));
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (label, store) in traces(&folder) {
        let sum = "SELECT (SELECT sum(device_ns) FROM operator_roofline) - sum(dur_ns) FROM \
                   kernels WHERE kind IN ('kernel', 'memcpy', 'memset')";
        assert_eq!(store.ints(sum), [0], "{label}");
        let mut found: BTreeMap<[String; 3], f64> = BTreeMap::new();
        let sql = "SELECT name, input_shapes, input_types, sum(device_ns) FROM operator_roofline \
                   WHERE input_shapes IS NOT NULL GROUP BY name, input_shapes, input_types";
        for row in store.rows(sql) {
            let time: f64 = row[3].parse().expect("a number");
            *found.entry([row[0].clone(), plain(&row[1]), plain(&row[2])]).or_default() += time;
        }
        // The reference divides by values too, so its rows are added up.
        let mut wanted: BTreeMap<[String; 3], f64> = BTreeMap::new();
        for row in owners.iter().filter(|row| row["trace"] == label && !row["owner_us"].is_empty())
        {
            let at = [row["name"].clone(), plain(&row["input_dims"]), plain(&row["input_types"])];
            let time: f64 = row["owner_us"].parse().expect("a number");
            *wanted.entry(at).or_default() += 1000.0 * time;
        }
        for (at, time) in wanted {
            compared += 1;
            let ours = found.get(&at).copied().unwrap_or(0.0);
            if (ours - time).abs() > 0.001 * time + 2.0 {
                wrong.push(format!("{label}: {at:?}: {time} ns, found {ours} ns"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 400, "{compared}");
}

#[test]
fn calls_of_a_made_trace_have_the_figures_by_hand() {
    let Some(folder) = needs::in_corpus("../oracle/roofline") else { return };
    let store = TestStore::with(&folder.join("made/roofline_ops.json.gz")).0;
    let found = store.rows(
        "SELECT e.external_id, f.flop, f.flop_full, f.read_bytes + f.written_bytes, f.reason
         FROM _call_figures f JOIN events e ON e.event_id = f.event_id ORDER BY e.external_id",
    );
    let expected = table(&folder.join("made/expected.tsv"));
    assert_eq!(found.len(), expected.len());
    for row in &expected {
        let ours = found.iter().find(|r| r[0] == row["external_id"]).expect("the call");
        let cell =
            |name: &str| if row[name].is_empty() { "NULL".to_owned() } else { row[name].clone() };
        assert_eq!(ours[1], cell("flop"), "{row:?}");
        assert_eq!(ours[3], cell("bytes"), "{row:?}");
        assert!(row["flop_full"].is_empty() || ours[2] == row["flop_full"], "{row:?}");
        assert_eq!(ours[4] == "NULL", !row["bytes"].is_empty(), "{row:?}");
    }
}

/// Sums by operator of what `FlopCounterMode` counts. It counts all of causal attention and of the
/// gradient of the weight of grouped convolutions, and does not see products in fused operators.
#[test]
fn sums_equal_those_that_pytorch_counts() {
    let Some(folder) = needs::in_corpus("../oracle/roofline") else { return };
    let store = TestStore::with(&folder.join("torch_flops.pt.trace.json.gz")).0;
    let sql = "SELECT name, sum(flop) FROM _call_figures WHERE name IN ('aten::mm', 'aten::addmm', \
               'aten::bmm', 'aten::baddbmm', 'aten::convolution', 'aten::convolution_backward', \
               'aten::_scaled_dot_product_flash_attention_for_cpu', \
               'aten::_scaled_dot_product_flash_attention_for_cpu_backward') GROUP BY name \
               ORDER BY name";
    let expected = [
        format!("aten::_scaled_dot_product_flash_attention_for_cpu {}", 5_570_560 - 1_048_576),
        format!(
            "aten::_scaled_dot_product_flash_attention_for_cpu_backward {}",
            2_621_440 - 655_360
        ),
        format!("aten::addmm {}", 2_293_760 + 40_960),
        "aten::baddbmm 393216".to_owned(),
        format!("aten::bmm {}", 1_517_824 + 25_600 + 5_670),
        "aten::convolution 12592256".to_owned(),
        format!("aten::convolution_backward {}", 10_287_360 - 2_108_160),
        format!("aten::mm {}", 3_420_160 + 122_880),
    ];
    assert_eq!(store.lines(sql), expected);
}

/// The share of the roofline of each row of the reference, with the devices that it takes.
#[test]
fn shares_of_the_roofline_equal_the_reference() {
    let Some(folder) = needs::in_corpus("../oracle/roofline") else { return };
    let rows = table(&folder.join("roofline_rows.tsv"));
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (label, store) in traces(&folder) {
        let sql = "SELECT o.name, o.input_shapes, o.calls, o.device_ns, o.roofline_pct, o.bound \
                   FROM operator_roofline o WHERE o.roofline_pct IS NOT NULL";
        let mut found: BTreeMap<[String; 3], Vec<(f64, f64, String)>> = BTreeMap::new();
        for row in store.rows(sql) {
            let number = |at: usize| row[at].parse::<f64>().expect("a number");
            found.entry([row[0].clone(), plain(&row[1]), row[2].clone()]).or_default().push((
                number(3),
                number(4),
                row[5].clone(),
            ));
        }
        for row in rows.iter().filter(|r| r["trace"] == label && r["set"] == "expected") {
            let time = 1000.0 * row["kernel_us"].parse::<f64>().expect("a number");
            let Ok(share) = row["roofline_pct"].parse::<f64>() else { continue };
            let at = [row["name"].clone(), plain(&row["input_dims"]), row["calls"].clone()];
            // Rows whose time belongs to another operator here cannot be compared.
            let same = found.get(&at).into_iter().flatten();
            let same: Vec<_> =
                same.filter(|(t, ..)| (t - time).abs() <= 0.001 * time + 2.0).collect();
            if same.is_empty() {
                continue;
            }
            compared += 1;
            if !same.iter().any(|(_, ours, bound)| {
                (ours - share).abs() <= 0.1 + 0.001 * share && *bound == row["bound"]
            }) {
                wrong.push(format!("{label}: {at:?}: {share} {}, found {same:?}", row["bound"]));
            }
        }
    }
    println!("{compared} rows compared");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 100, "{compared}");
}

/// Operations by operator inside each case that PyTorch counted on the CPU, one row of the table
/// each. `FlopCounterMode` counts all of causal attention, and the gradients of the weights of
/// grouped convolutions too high, which its table states in `flop_counter_by_op`.
#[test]
fn each_case_has_the_operations_that_pytorch_counts() {
    let Some(folder) = needs::in_corpus("../oracle/roofline") else { return };
    let store = TestStore::with(&folder.join("torch_flops.pt.trace.json.gz")).0;
    let rows = store.rows(
        "SELECT substr(m.name, 6), f.name, sum(f.flop_full)
         FROM events m
         JOIN events e ON e.trace_id = m.trace_id AND e.ts_ns >= m.ts_ns AND e.end_ns <= m.end_ns
         JOIN _call_figures f ON f.trace_id = e.trace_id AND f.event_id = e.event_id
         WHERE m.name LIKE 'case:%' GROUP BY m.name, f.name",
    );
    let found: BTreeMap<[String; 2], String> =
        rows.iter().map(|row| ([row[0].clone(), row[1].clone()], row[2].clone())).collect();
    // The gradient of the weight is counted once for each group: four instead of two of a pass, and
    // as many as there are groups.
    let grouped = [
        ("conv2d_bwd_groups4", 829_440),
        ("conv2d_bwd_depthwise", 2 * 103_680),
        ("conv_transpose2d_bwd_groups2", 2 * 138_240),
    ];
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for row in table(&folder.join("torch_flops.tsv")).iter().filter(|row| row["device"] == "cpu") {
        let counted: BTreeMap<String, i64> =
            serde_json::from_str(&row["flop_counter_by_op"]).expect("operations by operator");
        for (name, flop) in counted {
            let case = &row["case"];
            let right = grouped.iter().find(|(c, _)| c == case).map(|(_, flop)| *flop);
            let flop = right.filter(|_| name.ends_with("backward")).unwrap_or(flop);
            compared += 1;
            let ours = found.get(&[case.clone(), name.clone()]);
            if ours.map(String::as_str) != Some(flop.to_string().as_str()) {
                wrong.push(format!("{case}: {name}: {flop}, found {ours:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 50, "{compared}");
}

/// The share of the linked device time whose operations, and whose bytes, are known is at least that
/// of the reference.
#[test]
fn as_much_device_time_is_covered_as_by_the_reference() {
    let Some(folder) = needs::in_corpus("../oracle/roofline") else { return };
    let shares = table(&folder.join("coverage.tsv"));
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (label, store) in traces(&folder) {
        let known = store.ints(
            "SELECT sum(device_ns) FILTER (WHERE coverage = 'modelled'),
                 sum(device_ns) FILTER (WHERE coverage IN ('modelled', 'bytes only'))
             FROM roofline_coverage",
        );
        let row = shares.iter().find(|row| row["trace"] == label && row["set"] == "expected");
        let row = row.expect("the shares of the trace");
        let number = |column: &str| row[column].parse::<f64>().expect("a number");
        let whole = 1e6 * number("linked_device_ms");
        for (known, column) in known.iter().zip(["spec_flop_pct", "spec_bytes_pct"]) {
            compared += 1;
            let share = 100.0 * *known as f64 / whole;
            // The table has one decimal of the shares, and three of the milliseconds.
            if share < number(column) - 0.1 {
                wrong.push(format!("{label}: {column} {}, found {share:.1}", row[column]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are below:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(compared, 28);
}
