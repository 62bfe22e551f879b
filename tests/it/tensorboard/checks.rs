//! Which view is compared with which of the plugin's figures.

use serde_json::{Value, json};

use super::cells::Row;
use super::text;

/// A comparison of one view.
pub struct Check {
    /// The mode of the figures.
    pub mode: &'static str,
    /// The view.
    pub view: &'static str,
    /// A query: the columns that name a row, then those that are compared.
    pub sql: &'static str,
    /// Number of columns that name a row.
    pub keys: usize,
    /// Names of the columns that are compared.
    pub columns: &'static [&'static str],
    /// The expected rows, from the figures of a worker.
    pub want: fn(&Value) -> Vec<Row>,
}

const OPERATOR: &[&str] = &[
    "calls",
    "host_total_ns",
    "host_self_ns",
    "device_total_ns",
    "device_self_ns",
    "tensor_core_eligible",
    "tensor_core_self_ratio",
    "tensor_core_total_ratio",
];
const STEP: &[&str] = &["kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other", "total"];
const KERNEL: &[&str] = &["calls", "total_ns", "mean_ns", "max_ns", "min_ns", "blocks_per_sm", "occupancy_pct", "uses_tensor_cores"];

/// All comparisons.
pub const CHECKS: &[Check] = &[
    Check {
        mode: "relink",
        view: "operators",
        sql: "SELECT name, calls, host_total_ns, host_self_ns, device_total_ns, device_self_ns, tensor_core_eligible,
                  coalesce(tensor_core_self_pct, 0.0) / 100, coalesce(tensor_core_total_pct, 0.0) / 100
              FROM operators WHERE name <> '(unattributed)'",
        keys: 1,
        columns: OPERATOR,
        want: |w| list(&w["raw"]["operators"]).map(|o| Row { key: vec![text(o, "name")], cells: operator(o) }).collect(),
    },
    Check {
        mode: "relink",
        view: "operators_by_input",
        sql: "SELECT name, input_shapes, calls, host_total_ns, host_self_ns, device_total_ns, device_self_ns, tensor_core_eligible,
                  coalesce(tensor_core_self_pct, 0.0) / 100, coalesce(tensor_core_total_pct, 0.0) / 100
              FROM operators_by_input WHERE name <> '(unattributed)'",
        keys: 2,
        columns: OPERATOR,
        want: |w| list(&w["raw"]["operators_by_input"]).map(|o| Row { key: vec![text(o, "name"), shapes(o)], cells: operator(o) }).collect(),
    },
    Check {
        mode: "relink",
        view: "operators_by_stack",
        sql: "SELECT name, call_stack, calls, host_total_ns, host_self_ns FROM operators_by_stack",
        keys: 2,
        columns: &["calls", "host_total_ns", "host_self_ns"],
        want: |w| stacks(&w["operation_stack_by_name"], |s| vec![text(s, "name"), text(s, "call_stack")]),
    },
    Check {
        mode: "relink",
        view: "operators_by_input_stack",
        sql: "SELECT name, input_shapes, call_stack, calls, host_total_ns, host_self_ns FROM operators_by_input_stack",
        keys: 3,
        columns: &["calls", "host_total_ns", "host_self_ns"],
        want: |w| stacks(&w["operation_stack_by_name_input"], |s| vec![text(s, "name"), shapes(s), text(s, "call_stack")]),
    },
    Check {
        mode: "relink",
        view: "kernels_by_name",
        sql: "SELECT name, sum(calls), sum(total_ns), CAST(sum(total_ns) AS DOUBLE) / sum(calls), max(max_ns), min(min_ns),
                  coalesce(sum(blocks_per_sm * total_ns) / sum(total_ns), 0.0), coalesce(sum(occupancy_pct * total_ns) / sum(total_ns), 0.0),
                  bool_or(uses_tensor_cores)
              FROM kernels_by_name GROUP BY name",
        keys: 1,
        columns: KERNEL,
        want: |w| {
            let fields = ["count", "sum", "mean", "max", "min", "blocks_per_sm", "occupancy", "tc_used"];
            list(&w["raw"]["kernels"]).map(|k| Row { key: vec![text(k, "name")], cells: cells(k, &fields) }).collect()
        },
    },
    Check {
        mode: "relink",
        view: "kernels_by_operator",
        sql: "SELECT name, operator, grid, block, registers_per_thread, shared_memory_bytes, calls, total_ns, mean_ns, max_ns, min_ns,
                  coalesce(blocks_per_sm, 0.0), coalesce(occupancy_pct, 0.0), uses_tensor_cores, operator_tensor_core_eligible
              FROM kernels_by_operator",
        keys: 6,
        columns: &[
            "calls",
            "total_ns",
            "mean_ns",
            "max_ns",
            "min_ns",
            "blocks_per_sm",
            "occupancy_pct",
            "uses_tensor_cores",
            "operator_tensor_core_eligible",
        ],
        want: |w| list(&w["raw"]["kernels_by_op"]).map(launched).collect(),
    },
    Check {
        mode: "relink",
        view: "step_time",
        sql: "SELECT coalesce(step, 0), start_ns, end_ns, kernel_ns, memcpy_ns, memset_ns, communication_ns, runtime_ns, dataloader_ns, cpu_exec_ns,
                  other_ns, total_ns
              FROM step_time",
        keys: 1,
        columns: &["start", "end", "kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other", "total"],
        want: |w| {
            let raw = &w["raw"];
            steps(w, |i| list(&raw["steps"][i]).chain(list(&raw["steps_costs"][i])).cloned().collect())
        },
    },
    Check {
        mode: "relink",
        view: "step_time_average",
        sql: "SELECT kernel_ns, memcpy_ns, memset_ns, communication_ns, runtime_ns, dataloader_ns, cpu_exec_ns, other_ns, total_ns
              FROM step_time_average",
        keys: 0,
        columns: STEP,
        want: |w| vec![Row { key: vec![], cells: list(&w["raw"]["avg_costs"]).cloned().collect() }],
    },
    Check {
        mode: "relink",
        view: "step_overlap",
        sql: "SELECT coalesce(step, 0), computation_ns, communication_ns, overlap_ns, other_ns FROM step_overlap",
        keys: 1,
        columns: &["computation", "communication", "overlap", "other"],
        want: |w| steps(w, |i| cells(&w["raw"]["comm_overlap"][i], &["computation", "communication", "overlap", "other"])),
    },
    Check {
        mode: "relink",
        view: "gpu_summary",
        sql: "SELECT device, utilization_pct / 100, sm_efficiency_pct / 100, occupancy_pct, tensor_core_pct / 100 FROM gpu_summary",
        keys: 1,
        columns: &["utilization", "sm_efficiency", "occupancy", "tensor_core_ratio"],
        want: |w| {
            devices(w)
                .map(|(device, g)| Row { key: vec![device], cells: cells(g, &["utilization", "sm_efficiency", "occupancy", "tc_ratio"]) })
                .collect()
        },
    },
    Check {
        mode: "relink",
        view: "gpu_utilization_over_time",
        sql: "SELECT device, start_ns, utilization_pct / 100 FROM gpu_utilization_over_time",
        keys: 2,
        columns: &["utilization"],
        want: |w| {
            let buckets = devices(w).flat_map(|(device, g)| list(&g["buckets"]).map(move |b| (device.clone(), b)));
            // The last bucket only closes the curve.
            let mut rows: Vec<Row> = buckets.map(|(device, b)| Row { key: vec![device, b[0].to_string()], cells: vec![b[1].clone()] }).collect();
            let closing = |at: usize, rows: &[Row]| rows.get(at + 1).is_none_or(|next| next.key[0] != rows[at].key[0]);
            for at in (0..rows.len()).rev() {
                if closing(at, &rows) {
                    rows[at].key[0] = "closing".into();
                }
            }
            rows.retain(|r| r.key[0] != "closing");
            rows
        },
    },
    Check {
        mode: "relink",
        view: "tensor_core_time",
        sql: "SELECT used_pct / 100, eligible_operators_pct / 100 FROM tensor_core_time",
        keys: 0,
        columns: &["used_ratio", "eligible_ratio"],
        want: |w| {
            let raw = &w["raw"];
            let used = if raw["kernels"].is_array() { raw["tc_used_ratio"].clone() } else { Value::Null };
            vec![Row { key: vec![], cells: vec![used, raw["tc_eligible_ops_kernel_ratio"].clone()] }]
        },
    },
];

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn devices(worker: &Value) -> impl Iterator<Item = (String, &Value)> {
    worker["raw"]["gpu"].as_object().into_iter().flatten().map(|(device, figures)| (device.clone(), figures))
}

fn cells(row: &Value, fields: &[&str]) -> Vec<Value> {
    fields.iter().map(|f| row[*f].clone()).collect()
}

fn operator(row: &Value) -> Vec<Value> {
    let fields =
        ["calls", "host_duration", "self_host_duration", "device_duration", "self_device_duration", "tc_eligible", "tc_self_ratio", "tc_total_ratio"];
    cells(row, &fields)
}

/// Shapes as compact JSON; the plugin keeps them as Python's text of the list.
fn shapes(row: &Value) -> String {
    text(row, "input_shape").replace(", ", ",")
}

fn stacks(tables: &Value, key: fn(&Value) -> Vec<String>) -> Vec<Row> {
    let rows = tables.as_object().into_iter().flatten().flat_map(|(_, table)| list(&table["data"]));
    rows.map(|s| Row { key: key(s), cells: cells(s, &["calls", "host_total_duration", "host_self_duration"]) }).collect()
}

fn steps(worker: &Value, cells: impl Fn(usize) -> Vec<Value>) -> Vec<Row> {
    let names = list(&worker["raw"]["steps_names"]).enumerate();
    names.map(|(i, name)| Row { key: vec![name.as_str().expect("a step").to_owned()], cells: cells(i) }).collect()
}

/// A kernel by operator and launch configuration; the plugin's root and its N/A are our unattributed row.
fn launched(kernel: &Value) -> Row {
    let operator = match kernel["op_name"].as_str() {
        Some("CallTreeRoot" | "N/A") | None => "(unattributed)",
        Some(name) => name,
    };
    let dims = |field: &str| if kernel[field].is_array() { kernel[field].to_string().replace(',', ", ") } else { "NULL".to_owned() };
    let count = |field: &str| kernel[field].as_i64().unwrap_or(0).to_string();
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
    Row {
        key: vec![text(kernel, "name"), operator.to_owned(), dims("grid"), dims("block"), count("regs_per_thread"), count("shared_memory")],
        cells: cells(kernel, &fields),
    }
}
