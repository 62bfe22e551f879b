//! Sections about devices: their time, their classes of work, kernels and copies.

use super::{Scope, Section, rows};

pub const DEVICE_TIME: Section = Section {
    key: "device_time",
    title: "Device time",
    about: "Where the time of each device goes, from its first start to its last end: computation, \
        communication and copies that nothing hides, and idle. The four add up to the total.",
    scope: Scope::Torch,
    needs: &["device"],
    if_empty: "no kernel, copy or fill ran on a device",
    is_detail: false,
    shape: rows(500, &["gpu_events", "linked_events", "busy_time_ns"]),
    sql: "SELECT trace_id, device, gpu_events, linked_events, computation_time_ns, \
               exposed_comm_time_ns, exposed_memcpy_time_ns, busy_time_ns,
       idle_time_ns, total_time_ns, busy_pct, computation_pct, exposed_comm_pct, \
               exposed_memcpy_pct, idle_pct, unclassified_time_ns,
       exposed_comm_max_ns
FROM gpu_timeline_by_device ORDER BY trace_id, device",
};

pub const DEVICE_CLASSES: Section = Section {
    key: "device_classes",
    title: "Device time by class",
    about: "What the busy time of each device went to, by class of work. A moment in which several \
        classes run counts for one: computation before communication before copies. So the times \
        of a device add up to its busy time, of which the shares are; totals are sums of \
        durations.",
    scope: Scope::Torch,
    needs: &["device"],
    if_empty: "no kernel, copy or fill ran on a device",
    is_detail: false,
    shape: rows(
        6000,
        &["activities", "time_ns", "total_ns", "matrix_unit_ns", "matrix_unit_unclear_ns"],
    ),
    sql: "SELECT trace_id, device, class, part, activities, names, time_ns, time_pct, busy_ns, \
               union_ns, total_ns, matrix_unit_ns, matrix_unit_unclear_ns
FROM gpu_time_by_class ORDER BY trace_id, device, time_ns DESC, total_ns DESC, class",
};

pub const DEVICE_CLASSES_BY_STEP: Section = Section {
    key: "device_classes_by_step",
    title: "Device time by class and step",
    about: "The same for the work that each step launched. Where there are too many steps for a \
        bar each, neighbours are added up.",
    scope: Scope::Torch,
    needs: &["device"],
    if_empty: "no kernel, copy or fill ran on a device",
    is_detail: true,
    shape: rows(20_000, &["activities", "time_ns", "total_ns"]),
    sql: "WITH placed AS (
    SELECT *, CAST(dense_rank() OVER (PARTITION BY trace_id ORDER BY step NULLS LAST) AS BIGINT) - \
               1 AS place,
           CAST(dense_rank() OVER (ORDER BY trace_id, device) AS BIGINT) AS device_place
    FROM gpu_time_by_class_and_step
),
sized AS (
    SELECT *, max(CASE WHEN step IS NOT NULL THEN place + 1 END) OVER (PARTITION BY trace_id) AS \
               of_steps,
           least(400, greatest(24, 800 / max(device_place) OVER ())) AS bars
    FROM placed
),
binned AS (
    SELECT *, CASE WHEN step IS NOT NULL THEN place / ((of_steps + bars - 1) / bars) END AS bar \
               FROM sized
)
SELECT trace_id, device, bar, min(min(step)) OVER (PARTITION BY trace_id, device, bar) AS \
               first_step,
       max(max(step)) OVER (PARTITION BY trace_id, device, bar) AS last_step, class, \
               sum(activities) AS activities, sum(time_ns) AS time_ns,
       sum(sum(time_ns)) OVER (PARTITION BY trace_id, device, bar) AS busy_ns, sum(total_ns) AS \
               total_ns
FROM binned
GROUP BY trace_id, device, bar, class
ORDER BY trace_id, device, bar NULLS LAST, time_ns DESC, total_ns DESC, class",
};

pub const DEVICE_TIMELINE: Section = Section {
    key: "device_timeline",
    title: "Device timeline",
    about: "The same in equal stretches of time. Work that crosses a border counts in each stretch \
        with its part.",
    scope: Scope::Torch,
    needs: &["device"],
    if_empty: "no kernel, copy or fill ran on a device",
    is_detail: true,
    shape: rows(
        8000,
        &[
            "length_ns",
            "computation_time_ns",
            "exposed_comm_time_ns",
            "exposed_memcpy_time_ns",
            "busy_time_ns",
            "idle_time_ns",
        ],
    ),
    sql: "SELECT g.trace_id, g.device, g.bucket, g.start_ns - t.start_ns AS at_ns, g.length_ns, \
               g.computation_time_ns, g.exposed_comm_time_ns,
       g.exposed_memcpy_time_ns, g.busy_time_ns, g.idle_time_ns
FROM gpu_timeline_over_time g JOIN traces t ON t.trace_id = g.trace_id
ORDER BY g.trace_id, g.device, g.bucket",
};

pub const DEVICES: Section = Section {
    key: "devices",
    title: "Devices",
    about: "Utilization of each device over the steps, how full its multiprocessors were, and use \
        of tensor cores. Shares are of the time of all steps, tensor_core_pct is of kernels that \
        operators launched.",
    scope: Scope::Torch,
    needs: &["device"],
    if_empty: "no kernel ran on a device",
    is_detail: false,
    shape: rows(500, &["kernel_ns"]),
    sql: "SELECT trace_id, device, name, total_memory_bytes, compute_capability, steps_ns, \
               kernel_ns, utilization_pct, sm_efficiency_pct, occupancy_pct,
       operator_kernel_ns, tensor_core_ns, tensor_core_pct
FROM gpu_summary ORDER BY trace_id, device",
};

pub const KERNELS: Section = Section {
    key: "kernels",
    title: "Kernels",
    about: "Kernels by device and name, with their class and whether they run on tensor or matrix \
        cores; mixed is said of names whose calls differ. Shares are of the kernel time of the \
        device; blocks per multiprocessor and occupancy are means weighted by time. The short name \
        is without return type, template arguments and parameters.",
    scope: Scope::Torch,
    needs: &["device"],
    if_empty: "no kernel ran on a device",
    is_detail: false,
    shape: rows(5000, &["calls", "total_ns", "total_pct"]),
    sql: "SELECT trace_id, name, class, matrix_unit, device, calls, total_ns, total_pct, mean_ns, \
               min_ns, max_ns, blocks_per_sm, occupancy_pct,
       nullif(short_name(name), name) AS short_name
FROM kernels_by_name ORDER BY trace_id, total_ns DESC, name, device",
};

pub const COPIES: Section = Section {
    key: "copies",
    title: "Copies and fills",
    about: "Copies and fills by device and name. Sizes are sums; there is none where it was not \
        recorded for all.",
    scope: Scope::Torch,
    needs: &["device"],
    if_empty: "no copy and no fill ran on a device",
    is_detail: true,
    shape: rows(1000, &["calls", "total_ns"]),
    sql: "SELECT c.trace_id, c.name, c.class, c.device, count(*) AS calls, sum(c.dur_ns) AS \
               total_ns, min(c.dur_ns) AS min_ns, max(c.dur_ns) AS max_ns,
       CASE WHEN count(k.bytes) = count(*) THEN sum(k.bytes) END AS bytes
FROM kernel_classes c JOIN kernels k ON k.trace_id = c.trace_id AND k.event_id = c.event_id
WHERE c.kind <> 'kernel' AND c.dur_ns IS NOT NULL
GROUP BY c.trace_id, c.name, c.class, c.device
ORDER BY c.trace_id, total_ns DESC, c.name, c.device",
};
