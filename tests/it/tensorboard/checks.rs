//! Assigns the plugin's figures to the views that they are compared with.

use serde_json::Value;

use super::cells::Row;
use super::rows;

/// A comparison of a view.
pub struct Check {
    /// The mode of the figures.
    pub mode: &'static str,
    /// The name of the view.
    pub view: &'static str,
    /// A query with the key columns first, followed by the compared columns.
    pub sql: &'static str,
    /// The number of key columns.
    pub keys: usize,
    /// The names of the compared columns.
    pub columns: &'static [&'static str],
    /// The expected rows, from the figures of a worker.
    pub want: fn(&Value) -> Vec<Row>,
}

const OPERATOR: &[&str] = &[
    "calls",
    "host_total",
    "host_self",
    "device_total",
    "device_self",
    "tensor_core_eligible",
    "tensor_core_self",
    "tensor_core_total",
];
const STACK: &[&str] = &[
    "calls",
    "host_total",
    "host_self",
    "device_total",
    "device_self",
    "tensor_core_eligible",
    "tensor_core_self_pct",
    "tensor_core_total_pct",
];
const KERNEL: &[&str] =
    &["calls", "total", "mean", "max", "min", "blocks_per_sm", "occupancy", "uses_tensor_cores"];
const LAUNCHED: &[&str] = &[
    "calls",
    "total",
    "mean",
    "max",
    "min",
    "blocks_per_sm",
    "occupancy",
    "uses_tensor_cores",
    "operator_tensor_core_eligible",
];
const STEP: &[&str] = &[
    "step", "start", "end", "kernel", "memcpy", "memset", "communication", "runtime", "dataloader",
    "cpu_exec", "other", "total",
];
const PARTS: &[&str] = &[
    "kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other",
    "total",
];
const OVERLAP: &[&str] = &["step", "computation", "communication", "overlap", "other"];
const GPU: &[&str] = &["utilization", "sm_efficiency", "occupancy", "tensor_cores"];
const BUCKET: &[&str] = &["start", "utilization"];
const TENSOR: &[&str] = &["used", "eligible"];

/// All comparisons.
pub const CHECKS: &[Check] = &[
    Check {
        mode: "relink",
        view: "operators",
        sql: "SELECT name, calls, host_total_ns, host_self_ns, device_total_ns, device_self_ns,
                  tensor_core_eligible,
                  coalesce(tensor_core_self_pct, 0.0) / 100, coalesce(tensor_core_total_pct,
                      0.0) / 100
              FROM operators WHERE name <> '(unattributed)'",
        keys: 1,
        columns: OPERATOR,
        want: rows::operators,
    },
    Check {
        mode: "relink",
        view: "operators_by_input",
        sql: "SELECT name, input_shapes, calls, host_total_ns, host_self_ns, device_total_ns,
                  device_self_ns, tensor_core_eligible,
                  coalesce(tensor_core_self_pct, 0.0) / 100, coalesce(tensor_core_total_pct,
                      0.0) / 100
              FROM operators_by_input WHERE name <> '(unattributed)'",
        keys: 2,
        columns: OPERATOR,
        want: rows::operators_by_input,
    },
    Check {
        mode: "relink",
        view: "operators_by_stack",
        sql: "SELECT name, call_stack, calls, host_total_ns, host_self_ns, device_total_ns,
                  device_self_ns, tensor_core_eligible,
                  round(coalesce(tensor_core_self_pct, 0.0), 2),
                      round(coalesce(tensor_core_total_pct, 0.0), 2)
              FROM operators_by_stack",
        keys: 2,
        columns: STACK,
        want: rows::stacks,
    },
    Check {
        mode: "relink",
        view: "operators_by_input_stack",
        sql: "SELECT name, input_shapes, call_stack, calls, host_total_ns, host_self_ns,
                  device_total_ns, device_self_ns, tensor_core_eligible,
                  round(coalesce(tensor_core_self_pct, 0.0), 2),
                      round(coalesce(tensor_core_total_pct, 0.0), 2)
              FROM operators_by_input_stack",
        keys: 3,
        columns: STACK,
        want: rows::input_stacks,
    },
    Check {
        mode: "relink",
        view: "kernels_by_name",
        sql: "SELECT name, sum(calls), sum(total_ns), CAST(sum(total_ns) AS DOUBLE) / sum(calls),
                  max(max_ns), min(min_ns),
                  coalesce(sum(blocks_per_sm * total_ns) / sum(total_ns), 0.0),
                      coalesce(sum(occupancy_pct * total_ns) / sum(total_ns), 0.0),
                  bool_or(matrix_unit = 'yes')
              FROM kernels_by_name GROUP BY name",
        keys: 1,
        columns: KERNEL,
        want: rows::kernels,
    },
    Check {
        mode: "relink",
        view: "kernels_by_operator",
        sql: "SELECT name, operator, grid, block, registers_per_thread, shared_memory_bytes, calls,
                  total_ns, mean_ns, max_ns, min_ns,
                  coalesce(blocks_per_sm, 0.0), coalesce(occupancy_pct, 0.0),
                      coalesce(uses_tensor_cores, false),
                  operator_tensor_core_eligible
              FROM kernels_by_operator",
        keys: 6,
        columns: LAUNCHED,
        want: rows::launched,
    },
    Check {
        mode: "relink",
        view: "step_time",
        sql:
            "SELECT row_number() OVER (ORDER BY start_ns) - 1, coalesce(step, 0), start_ns, end_ns,
              kernel_ns, memcpy_ns, memset_ns, communication_ns, runtime_ns, dataloader_ns,
              cpu_exec_ns, other_ns, total_ns
              FROM step_time",
        keys: 1,
        columns: STEP,
        want: rows::steps,
    },
    Check {
        mode: "relink",
        view: "step_time_average",
        sql: "SELECT kernel_ns, memcpy_ns, memset_ns, communication_ns, runtime_ns, dataloader_ns, \
            cpu_exec_ns, other_ns, total_ns FROM step_time_average",
        keys: 0,
        columns: PARTS,
        want: rows::average,
    },
    Check {
        mode: "relink",
        view: "step_overlap",
        sql: "SELECT row_number() OVER (ORDER BY step) - 1, coalesce(step, 0), computation_ns, \
            communication_ns, overlap_ns, other_ns FROM step_overlap",
        keys: 1,
        columns: OVERLAP,
        want: rows::overlaps,
    },
    Check {
        mode: "relink",
        view: "gpu_summary",
        sql: "SELECT device, utilization_pct / 100, sm_efficiency_pct / 100, occupancy_pct, \
            tensor_core_pct / 100 FROM gpu_summary",
        keys: 1,
        columns: GPU,
        want: rows::gpus,
    },
    Check {
        mode: "relink",
        view: "gpu_utilization_over_time",
        sql: "SELECT device, bucket, start_ns, utilization_pct / 100 \
            FROM gpu_utilization_over_time",
        keys: 2,
        columns: BUCKET,
        want: rows::buckets,
    },
    Check {
        mode: "relink",
        view: "tensor_core_time",
        sql: "SELECT used_pct / 100, eligible_operators_pct / 100 FROM tensor_core_time",
        keys: 0,
        columns: TENSOR,
        want: rows::tensor_cores,
    },
    Check {
        mode: "plain",
        view: "tb_operators",
        sql: "SELECT name, calls, host_total_us, host_self_us, device_total_us, device_self_us,
              tc_eligible, tc_self_ratio, tc_total_ratio
              FROM tb_operators",
        keys: 1,
        columns: OPERATOR,
        want: rows::operators,
    },
    Check {
        mode: "plain",
        view: "tb_operators_by_input",
        sql: "SELECT name, input_shapes, calls, host_total_us, host_self_us, device_total_us,
              device_self_us, tc_eligible, tc_self_ratio, tc_total_ratio
              FROM tb_operators_by_input",
        keys: 2,
        columns: OPERATOR,
        want: rows::operators_by_input,
    },
    Check {
        mode: "plain",
        view: "tb_operators_by_stack",
        sql: "SELECT name, call_stack, calls, round(host_total_us), round(host_self_us),
                  round(device_total_us), round(device_self_us), tc_eligible,
                  round(100 * tc_self_ratio, 2), round(100 * tc_total_ratio, 2)
              FROM tb_operators_by_stack",
        keys: 2,
        columns: STACK,
        want: rows::stacks,
    },
    Check {
        mode: "plain",
        view: "tb_operators_by_input_stack",
        sql: "SELECT name, input_shapes, call_stack, calls, round(host_total_us),
                  round(host_self_us), round(device_total_us), round(device_self_us), tc_eligible,
                  round(100 * tc_self_ratio, 2), round(100 * tc_total_ratio, 2)
              FROM tb_operators_by_input_stack",
        keys: 3,
        columns: STACK,
        want: rows::input_stacks,
    },
    Check {
        mode: "plain",
        view: "tb_kernels_by_name",
        sql: "SELECT name, calls, total_us, mean_us, max_us, min_us,
                  blocks_per_sm, occupancy_pct, tc_used FROM tb_kernels_by_name",
        keys: 1,
        columns: KERNEL,
        want: rows::kernels,
    },
    Check {
        mode: "plain",
        view: "tb_kernels_by_operator",
        sql: "SELECT name, CASE operator WHEN 'CallTreeRoot' THEN '(unattributed)' ELSE operator
                  END, grid, block,
                  registers_per_thread, shared_memory_bytes, calls, total_us, mean_us, max_us,
                      min_us,
                  blocks_per_sm, occupancy_pct, tc_used, op_tc_eligible
              FROM tb_kernels_by_operator",
        keys: 6,
        columns: LAUNCHED,
        want: rows::launched,
    },
    Check {
        mode: "plain",
        view: "tb_step_time",
        sql: "SELECT ordinal, step, start_us, end_us, kernel_us, memcpy_us, memset_us,
              communication_us, runtime_us, dataloader_us, cpu_exec_us, other_us, total_us
              FROM tb_step_time",
        keys: 1,
        columns: STEP,
        want: rows::steps,
    },
    Check {
        mode: "plain",
        view: "tb_step_time_average",
        sql: "SELECT kernel_us, memcpy_us, memset_us, communication_us, runtime_us, dataloader_us, \
            cpu_exec_us, other_us, total_us FROM tb_step_time_average",
        keys: 0,
        columns: PARTS,
        want: rows::average,
    },
    Check {
        mode: "plain",
        view: "tb_step_overlap",
        sql: "SELECT ordinal, step, computation_us, communication_us, overlap_us, other_us \
            FROM tb_step_overlap",
        keys: 1,
        columns: OVERLAP,
        want: rows::overlaps,
    },
    Check {
        mode: "plain",
        view: "tb_gpu_summary",
        sql: "SELECT device, utilization, sm_efficiency, occupancy_pct, tc_ratio \
            FROM tb_gpu_summary",
        keys: 1,
        columns: GPU,
        want: rows::gpus,
    },
    Check {
        mode: "plain",
        view: "tb_gpu_utilization_over_time",
        sql: "SELECT device, bucket, start_us, utilization FROM tb_gpu_utilization_over_time",
        keys: 2,
        columns: BUCKET,
        want: rows::buckets,
    },
    Check {
        mode: "plain",
        view: "tb_tensor_core_time",
        sql: "SELECT used_ratio, eligible_ratio FROM tb_tensor_core_time",
        keys: 0,
        columns: TENSOR,
        want: rows::tensor_cores,
    },
];
