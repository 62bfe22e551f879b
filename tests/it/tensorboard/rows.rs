//! Makes expected rows from the plugin's figures for a worker.

use serde_json::{Value, json};

use super::cells::Row;

/// The elements of a list. There are none if the value is not a list.
pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The fields of an object.
pub fn cells(row: &Value, fields: &[&str]) -> Vec<Value> {
    fields.iter().map(|f| row[*f].clone()).collect()
}

/// The text of a field, for use as a key.
fn text(value: &Value, field: &str) -> String {
    match &value[field] {
        Value::String(text) => text.clone(),
        Value::Null => "NULL".into(),
        other => other.to_string(),
    }
}

/// Shapes as compact JSON. The plugin stores them as Python's text of the list.
fn shapes(row: &Value) -> String {
    text(row, "input_shape").replace(", ", ",")
}

/// The fields of an operator.
const OPERATOR: [&str; 8] = [
    "calls",
    "host_duration",
    "self_host_duration",
    "device_duration",
    "self_device_duration",
    "tc_eligible",
    "tc_self_ratio",
    "tc_total_ratio",
];

/// Operators by name.
pub fn operators(w: &Value) -> Vec<Row> {
    list(&w["raw"]["operators"])
        .map(|o| Row { key: vec![text(o, "name")], cells: cells(o, &OPERATOR) })
        .collect()
}

/// Operators by name and input shapes.
pub fn operators_by_input(w: &Value) -> Vec<Row> {
    list(&w["raw"]["operators_by_input"])
        .map(|o| Row { key: vec![text(o, "name"), shapes(o)], cells: cells(o, &OPERATOR) })
        .collect()
}

/// Operators by name and call stack. These tables are rounded: times to whole numbers, percentages
/// to two decimals.
pub fn stacks(w: &Value) -> Vec<Row> {
    stack_rows(&w["operation_stack_by_name"], |s| vec![text(s, "name"), text(s, "call_stack")])
}

/// Operators by name, input shapes and call stack.
pub fn input_stacks(w: &Value) -> Vec<Row> {
    stack_rows(&w["operation_stack_by_name_input"], |s| {
        vec![text(s, "name"), shapes(s), text(s, "call_stack")]
    })
}

fn stack_rows(tables: &Value, key: fn(&Value) -> Vec<String>) -> Vec<Row> {
    let rows = tables.as_object().into_iter().flatten().flat_map(|(_, table)| list(&table["data"]));
    let fields = [
        "calls",
        "host_total_duration",
        "host_self_duration",
        "device_total_duration",
        "device_self_duration",
    ];
    let ratios = ["tc_self_ratio", "tc_total_ratio"];
    let row = |s: &Value| {
        // Without device work, the table has no device columns.
        let mut cells: Vec<Value> =
            fields.iter().map(|f| s.get(f).cloned().unwrap_or_else(|| 0.into())).collect();
        cells.push((s["tc_eligible"] == "Yes").into());
        cells.extend(ratios.iter().map(|f| s[f].clone()));
        Row { key: key(s), cells }
    };
    rows.map(row).collect()
}

/// Kernels by name.
pub fn kernels(w: &Value) -> Vec<Row> {
    let fields = ["count", "sum", "mean", "max", "min", "blocks_per_sm", "occupancy", "tc_used"];
    list(&w["raw"]["kernels"])
        .map(|k| Row { key: vec![text(k, "name")], cells: cells(k, &fields) })
        .collect()
}

/// Kernels by operator and launch configuration. The plugin's root and its N/A correspond to our
/// unattributed row.
pub fn launched(w: &Value) -> Vec<Row> {
    let fields = [
        "calls",
        "total_duration",
        "avg_duration",
        "max_duration",
        "min_duration",
        "avg_blocks_per_sm",
        "avg_occupancy",
        "tc_used",
        "op_tc_eligible",
    ];
    let row = |kernel: &Value| {
        let operator = match kernel["op_name"].as_str() {
            Some("CallTreeRoot" | "N/A") | None => "(unattributed)",
            Some(name) => name,
        };
        let dims = |field: &str| {
            if kernel[field].is_array() {
                kernel[field].to_string().replace(',', ", ")
            } else {
                "NULL".to_owned()
            }
        };
        let count = |field: &str| kernel[field].as_i64().unwrap_or(0).to_string();
        let shape = [dims("grid"), dims("block"), count("regs_per_thread"), count("shared_memory")];
        let key = [text(kernel, "name"), operator.to_owned()].into_iter().chain(shape).collect();
        Row { key, cells: cells(kernel, &fields) }
    };
    list(&w["raw"]["kernels_by_op"]).map(row).collect()
}

/// Steps by position, because numbers of steps can repeat. Each has its number, bounds and parts.
pub fn steps(w: &Value) -> Vec<Row> {
    by_step(w, |i| {
        list(&w["raw"]["steps"][i]).chain(list(&w["raw"]["steps_costs"][i])).cloned().collect()
    })
}

/// Computation and communication of each step.
pub fn overlaps(w: &Value) -> Vec<Row> {
    by_step(w, |i| {
        cells(&w["raw"]["comm_overlap"][i], &["computation", "communication", "overlap", "other"])
    })
}

fn by_step(w: &Value, cells: impl Fn(usize) -> Vec<Value>) -> Vec<Row> {
    let row = |(i, name): (usize, &Value)| {
        let step = name.as_str().and_then(|n| n.parse::<i64>().ok()).expect("the number of a step");
        Row { key: vec![i.to_string()], cells: [json!(step)].into_iter().chain(cells(i)).collect() }
    };
    list(&w["raw"]["steps_names"]).enumerate().map(row).collect()
}

/// The average step.
pub fn average(w: &Value) -> Vec<Row> {
    vec![Row { key: vec![], cells: list(&w["raw"]["avg_costs"]).cloned().collect() }]
}

fn devices(w: &Value) -> impl Iterator<Item = (String, &Value)> {
    w["raw"]["gpu"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(device, figures)| (device.clone(), figures))
}

/// The figures of each device.
pub fn gpus(w: &Value) -> Vec<Row> {
    let fields = ["utilization", "sm_efficiency", "occupancy", "tc_ratio"];
    devices(w)
        .map(|(device, figures)| Row { key: vec![device], cells: cells(figures, &fields) })
        .collect()
}

/// The buckets of each device. The last pair of the plugin's list only closes the curve.
pub fn buckets(w: &Value) -> Vec<Row> {
    let of = |(device, figures): (String, &Value)| {
        let all: Vec<&Value> = list(&figures["buckets"]).collect();
        let kept = all.len().saturating_sub(1);
        let row = |(i, b): (usize, &Value)| Row {
            key: vec![device.clone(), i.to_string()],
            cells: vec![b[0].clone(), b[1].clone()],
        };
        all.into_iter().take(kept).enumerate().map(row).collect::<Vec<Row>>()
    };
    devices(w).flat_map(of).collect()
}

/// The two tensor core ratios.
pub fn tensor_cores(w: &Value) -> Vec<Row> {
    let raw = &w["raw"];
    let used = if raw["kernels"].is_array() { raw["tc_used_ratio"].clone() } else { Value::Null };
    vec![Row { key: vec![], cells: vec![used, raw["tc_eligible_ops_kernel_ratio"].clone()] }]
}
