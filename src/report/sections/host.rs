//! Sections about the host and what it calls: steps, operators, modules, stacks.

use super::{Scope, Section, Shape, rows};

pub const STEPS: Section = Section {
    key: "steps",
    title: "Steps",
    about: "What each moment of a step went to: each counts once, for the first that applies, so \
        the parts add up to the total. Of more than 400 steps, neighbours are added up.",
    scope: Scope::Torch,
    needs: &[],
    if_empty: "no steps, operators or device work to divide",
    is_detail: false,
    shape: rows(6400, &["steps", "total_ns"]),
    sql: "WITH numbered AS (
    SELECT *, row_number() OVER (PARTITION BY trace_id ORDER BY start_ns, step) - 1 AS place, \
               count(*) OVER (PARTITION BY trace_id) AS of_steps
    FROM step_time
)
SELECT n.trace_id, n.place / ((n.of_steps + 399) / 400) AS bar, min(n.step) AS first_step, \
               max(n.step) AS last_step, count(*) AS steps,
       min(n.start_ns) - t.start_ns AS at_ns, sum(n.total_ns) AS total_ns, sum(n.kernel_ns) AS \
               kernel_ns, sum(n.memcpy_ns) AS memcpy_ns,
       sum(n.memset_ns) AS memset_ns, sum(n.communication_ns) AS communication_ns, \
               sum(n.runtime_ns) AS runtime_ns,
       sum(n.dataloader_ns) AS dataloader_ns, sum(n.cpu_exec_ns) AS cpu_exec_ns, sum(n.other_ns) \
               AS other_ns
FROM numbered n JOIN traces t ON t.trace_id = n.trace_id
GROUP BY n.trace_id, n.place / ((n.of_steps + 399) / 400), t.start_ns
ORDER BY n.trace_id, bar",
};

pub const OPERATORS: Section = Section {
    key: "operators",
    title: "Operators",
    about: "Operators by name. Self time is without the operators that are called inside; device \
        time is that of the work launched. Shares are of the sums over all operators of the \
        trace.",
    scope: Scope::Torch,
    needs: &["operators"],
    if_empty: "no operator was recorded",
    is_detail: false,
    shape: rows(
        5000,
        &[
            "calls",
            "host_self_ns",
            "host_self_pct",
            "device_self_ns",
            "device_self_pct",
            "tensor_core_self_ns",
        ],
    ),
    sql: "SELECT trace_id, name, calls, host_self_ns, host_self_pct, host_total_ns, \
               device_self_ns, device_self_pct, device_total_ns, tensor_core_eligible,
       tensor_core_self_ns, tensor_core_self_pct
FROM operators
ORDER BY trace_id, greatest(coalesce(host_self_pct, 0), coalesce(device_self_pct, 0)) DESC, name",
};

pub const MODULES: Section = Section {
    key: "modules",
    title: "Modules",
    about: "Modules of the model as a tree: calls, host time and device time. The totals of a \
        module hold those of the modules inside it.",
    scope: Scope::Torch,
    needs: &["modules"],
    if_empty: "no module was called",
    is_detail: true,
    shape: rows(5000, &["calls", "host_exclusive_ns", "device_self_ns"]),
    sql:
        "SELECT trace_id, path, parent_path, name, class, depth, calls, operators, host_total_ns, \
               host_exclusive_ns, device_total_ns, device_self_ns,
       device_total_pct
FROM module_tree
WHERE path IS NOT NULL
ORDER BY trace_id, greatest(coalesce(host_total_ns, 0), coalesce(device_total_ns, 0)) DESC, depth, \
               first_ts_ns, path",
};

pub const FLAME: Section = Section {
    key: "flame",
    title: "Flame graph",
    about: "Stacks of each thread: host time where it was spent, device time and memory at the \
        stack that launched or allocated it. Steps are one frame, and frames that are small in \
        every measure are merged into (other), so totals stay exact.",
    scope: Scope::Torch,
    needs: &[],
    if_empty: "no event on a thread has a duration",
    is_detail: true,
    shape: Shape::Stacks { max_frames: 16_000 },
    sql: "SELECT trace_id AS trace, coalesce(thread, '(no thread)') AS thread, stack, cpu_ns AS \
               host_ns, gpu_ns AS device_ns,
       alloc_space_bytes AS allocated_bytes
FROM stack_samples",
};

pub const CALL_GRAPH: Section = Section {
    key: "call_graph",
    title: "Sunburst",
    about: "The call graph of the host from steps down to runtime calls, by name; numbers of steps \
        and module instances are left out of names, so that repetitions are one.",
    scope: Scope::Torch,
    needs: &["operators"],
    if_empty: "no operator, annotation or runtime call was recorded",
    is_detail: true,
    shape: Shape::Stacks { max_frames: 3000 },
    sql: "SELECT unfold_stack(path) AS stack, host_self_ns AS host_ns, device_self_ns AS \
               device_ns, trace_id AS trace
FROM call_graph",
};
