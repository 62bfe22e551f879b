//! The sections of a report: each one a query over public views, and what to say where it has no
//! rows.
//!
//! The first column of each answer is `trace_id`; rows come in the order of their weight within a
//! trace, because those beyond `most` are folded into a rest. Other times than those of `traces`
//! count from the start of the trace.

use super::Trace;

/// Which traces a section is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All.
    Any,
    /// All but MLLM's perf.json.
    Torch,
    /// MLLM's perf.json.
    Mllm,
    /// The ranks of a job.
    Job,
}

impl Scope {
    /// Whether a section is about a trace of a report on so many of them.
    pub fn holds(self, trace: &Trace, traces: usize) -> bool {
        match self {
            Self::Any => true,
            Self::Torch => trace.format != "mllm_perf",
            Self::Mllm => trace.format == "mllm_perf",
            Self::Job => trace.format != "mllm_perf" && traces > 1,
        }
    }
}

/// What an answer looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Rows: at most this many over all traces; columns named are added up over the others.
    Rows {
        /// How many rows.
        most: usize,
        /// Columns with a sum in the rest.
        add: &'static [&'static str],
    },
    /// Stacks with values, below their thread if there is such a column, as a tree of at most this
    /// many frames over all traces; small ones become `(other)`.
    Stacks {
        /// How many frames.
        most: usize,
    },
}

/// A section.
#[derive(Debug)]
pub struct Section {
    /// Its name in JSON; stable.
    pub key: &'static str,
    /// Title.
    pub title: &'static str,
    /// What it shows, in a sentence or two.
    pub about: &'static str,
    /// Which traces it is about.
    pub scope: Scope,
    /// Kinds of information (coverage.information) without which it has no rows.
    pub needs: &'static [&'static str],
    /// What to say where nothing is missing and there are no rows all the same.
    pub if_empty: &'static str,
    /// Whether only the page and JSON show it.
    pub is_detail: bool,
    /// What its answer looks like.
    pub shape: Shape,
    /// The query.
    pub sql: &'static str,
}

const fn rows(most: usize, add: &'static [&'static str]) -> Shape {
    Shape::Rows { most, add }
}

/// All sections, in the order of a report.
pub static SECTIONS: &[Section] = &[
    Section {
        key: "traces",
        title: "Inputs",
        about: "What was read: files, their content, and how much of it is in the tables.",
        scope: Scope::Any,
        needs: &[],
        if_empty: "",
        is_detail: false,
        shape: rows(2000, &[]),
        sql: "SELECT trace_id, path, format, framework, rank, world_size, backend, host, content_hash, input_bytes, text_bytes, base_time_ns,
       start_ns, duration_ns, element_count, event_count, skipped_count
FROM traces ORDER BY trace_id",
    },
    Section {
        key: "overview",
        title: "Overview",
        about: "What was recorded, where, for how long.",
        scope: Scope::Any,
        needs: &[],
        if_empty: "",
        is_detail: false,
        shape: rows(2000, &[]),
        sql: "SELECT trace_id, device_type, device_names, devices_used, streams_used, duration_ns, profiled_ns, events, steps, host_threads, operators,
       runtime_calls, kernels, kernel_names, copies, fills, collectives, memory_events
FROM overview ORDER BY trace_id",
    },
    Section {
        key: "findings",
        title: "Findings",
        about: "What each rule found, with the figures behind it, what to do, and a query that shows the evidence. Rules that could not be \
                measured say why.",
        scope: Scope::Any,
        needs: &[],
        if_empty: "no rule gave a row for this trace",
        is_detail: false,
        shape: rows(2000, &[]),
        sql: "SELECT trace_id, rule, status, severity, rank, device, step, subject, value, unit, threshold, numerator, denominator, numerator_name,
       denominator_name, message, advice, evidence, reason
FROM findings
ORDER BY trace_id, CASE status WHEN 'finding' THEN 0 WHEN 'not_measurable' THEN 1 ELSE 2 END,
         CASE severity WHEN 'high' THEN 0 WHEN 'medium' THEN 1 WHEN 'low' THEN 2 ELSE 3 END, rule, value DESC NULLS LAST, subject, device, step, message",
    },
    Section {
        key: "device_time",
        title: "Device time",
        about: "Where the time of each device goes, from its first start to its last end: computation, communication and copies that nothing hides, \
                and idle. The four add up to the total.",
        scope: Scope::Torch,
        needs: &["device"],
        if_empty: "no kernel, copy or fill ran on a device",
        is_detail: false,
        shape: rows(500, &["gpu_events", "linked_events", "busy_time_ns"]),
        sql: "SELECT trace_id, device, gpu_events, linked_events, computation_time_ns, exposed_comm_time_ns, exposed_memcpy_time_ns, busy_time_ns,
       idle_time_ns, total_time_ns, busy_pct, computation_pct, exposed_comm_pct, exposed_memcpy_pct, idle_pct, unclassified_time_ns,
       exposed_comm_max_ns
FROM gpu_timeline_by_device ORDER BY trace_id, device",
    },
    Section {
        key: "device_classes",
        title: "Device time by class",
        about: "What the busy time of each device went to, by class of work. A moment in which several classes run counts for one: computation before \
                communication before copies. So the times of a device add up to its busy time, of which the shares are; totals are sums of durations.",
        scope: Scope::Torch,
        needs: &["device"],
        if_empty: "no kernel, copy or fill ran on a device",
        is_detail: false,
        shape: rows(6000, &["activities", "time_ns", "total_ns", "matrix_unit_ns", "matrix_unit_unclear_ns"]),
        sql: "SELECT trace_id, device, class, part, activities, names, time_ns, time_pct, busy_ns, union_ns, total_ns, matrix_unit_ns, matrix_unit_unclear_ns
FROM gpu_time_by_class ORDER BY trace_id, device, time_ns DESC, total_ns DESC, class",
    },
    Section {
        key: "device_classes_by_step",
        title: "Device time by class and step",
        about: "The same for the work that each step launched. Where there are too many steps for a bar each, neighbours are added up.",
        scope: Scope::Torch,
        needs: &["device"],
        if_empty: "no kernel, copy or fill ran on a device",
        is_detail: true,
        shape: rows(20_000, &["activities", "time_ns", "total_ns"]),
        sql: "WITH placed AS (
    SELECT *, CAST(dense_rank() OVER (PARTITION BY trace_id ORDER BY step NULLS LAST) AS BIGINT) - 1 AS place,
           CAST(dense_rank() OVER (ORDER BY trace_id, device) AS BIGINT) AS device_place
    FROM gpu_time_by_class_and_step
),
sized AS (
    SELECT *, max(CASE WHEN step IS NOT NULL THEN place + 1 END) OVER (PARTITION BY trace_id) AS of_steps,
           least(400, greatest(24, 800 / max(device_place) OVER ())) AS bars
    FROM placed
),
binned AS (
    SELECT *, CASE WHEN step IS NOT NULL THEN place / ((of_steps + bars - 1) / bars) END AS bar FROM sized
)
SELECT trace_id, device, bar, min(min(step)) OVER (PARTITION BY trace_id, device, bar) AS first_step,
       max(max(step)) OVER (PARTITION BY trace_id, device, bar) AS last_step, class, sum(activities) AS activities, sum(time_ns) AS time_ns,
       sum(sum(time_ns)) OVER (PARTITION BY trace_id, device, bar) AS busy_ns, sum(total_ns) AS total_ns
FROM binned
GROUP BY trace_id, device, bar, class
ORDER BY trace_id, device, bar NULLS LAST, time_ns DESC, total_ns DESC, class",
    },
    Section {
        key: "device_timeline",
        title: "Device timeline",
        about: "The same in equal stretches of time. Work that crosses a border counts in each stretch with its part.",
        scope: Scope::Torch,
        needs: &["device"],
        if_empty: "no kernel, copy or fill ran on a device",
        is_detail: true,
        shape: rows(8000, &["length_ns", "computation_time_ns", "exposed_comm_time_ns", "exposed_memcpy_time_ns", "busy_time_ns", "idle_time_ns"]),
        sql: "SELECT g.trace_id, g.device, g.bucket, g.start_ns - t.start_ns AS at_ns, g.length_ns, g.computation_time_ns, g.exposed_comm_time_ns,
       g.exposed_memcpy_time_ns, g.busy_time_ns, g.idle_time_ns
FROM gpu_timeline_over_time g JOIN traces t ON t.trace_id = g.trace_id
ORDER BY g.trace_id, g.device, g.bucket",
    },
    Section {
        key: "devices",
        title: "Devices",
        about: "Utilization of each device over the steps, how full its multiprocessors were, and use of tensor cores. Shares are of the time of all \
                steps, tensor_core_pct is of kernels that operators launched.",
        scope: Scope::Torch,
        needs: &["device"],
        if_empty: "no kernel ran on a device",
        is_detail: false,
        shape: rows(500, &["kernel_ns"]),
        sql: "SELECT trace_id, device, name, total_memory_bytes, compute_capability, steps_ns, kernel_ns, utilization_pct, sm_efficiency_pct, occupancy_pct,
       operator_kernel_ns, tensor_core_ns, tensor_core_pct
FROM gpu_summary ORDER BY trace_id, device",
    },
    Section {
        key: "steps",
        title: "Steps",
        about: "What each moment of a step went to: each counts once, for the first that applies, so the parts add up to the total. Of more than 400 \
                steps, neighbours are added up.",
        scope: Scope::Torch,
        needs: &[],
        if_empty: "no steps, operators or device work to divide",
        is_detail: false,
        shape: rows(6400, &["steps", "total_ns"]),
        sql: "WITH numbered AS (
    SELECT *, row_number() OVER (PARTITION BY trace_id ORDER BY start_ns, step) - 1 AS place, count(*) OVER (PARTITION BY trace_id) AS of_steps
    FROM step_time
)
SELECT n.trace_id, n.place / ((n.of_steps + 399) / 400) AS bar, min(n.step) AS first_step, max(n.step) AS last_step, count(*) AS steps,
       min(n.start_ns) - t.start_ns AS at_ns, sum(n.total_ns) AS total_ns, sum(n.kernel_ns) AS kernel_ns, sum(n.memcpy_ns) AS memcpy_ns,
       sum(n.memset_ns) AS memset_ns, sum(n.communication_ns) AS communication_ns, sum(n.runtime_ns) AS runtime_ns,
       sum(n.dataloader_ns) AS dataloader_ns, sum(n.cpu_exec_ns) AS cpu_exec_ns, sum(n.other_ns) AS other_ns
FROM numbered n JOIN traces t ON t.trace_id = n.trace_id
GROUP BY n.trace_id, n.place / ((n.of_steps + 399) / 400), t.start_ns
ORDER BY n.trace_id, bar",
    },
    Section {
        key: "operators",
        title: "Operators",
        about: "Operators by name. Self time is without the operators that are called inside; device time is that of the work launched. Shares are of \
                the sums over all operators of the trace.",
        scope: Scope::Torch,
        needs: &["operators"],
        if_empty: "no operator was recorded",
        is_detail: false,
        shape: rows(5000, &["calls", "host_self_ns", "host_self_pct", "device_self_ns", "device_self_pct", "tensor_core_self_ns"]),
        sql: "SELECT trace_id, name, calls, host_self_ns, host_self_pct, host_total_ns, device_self_ns, device_self_pct, device_total_ns, tensor_core_eligible,
       tensor_core_self_ns, tensor_core_self_pct
FROM operators
ORDER BY trace_id, greatest(coalesce(host_self_pct, 0), coalesce(device_self_pct, 0)) DESC, name",
    },
    Section {
        key: "kernels",
        title: "Kernels",
        about: "Kernels by device and name, with their class and whether they run on tensor or matrix cores; mixed is said of names whose calls \
                differ. Shares are of the kernel time of the device; blocks per multiprocessor and occupancy are means weighted by time.",
        scope: Scope::Torch,
        needs: &["device"],
        if_empty: "no kernel ran on a device",
        is_detail: false,
        shape: rows(5000, &["calls", "total_ns", "total_pct"]),
        sql: "SELECT trace_id, name, class, matrix_unit, device, calls, total_ns, total_pct, mean_ns, min_ns, max_ns, blocks_per_sm, occupancy_pct
FROM kernels_by_name ORDER BY trace_id, total_ns DESC, name, device",
    },
    Section {
        key: "copies",
        title: "Copies and fills",
        about: "Copies and fills by device and name. Sizes are sums; there is none where it was not recorded for all.",
        scope: Scope::Torch,
        needs: &["device"],
        if_empty: "no copy and no fill ran on a device",
        is_detail: true,
        shape: rows(1000, &["calls", "total_ns"]),
        sql: "SELECT c.trace_id, c.name, c.class, c.device, count(*) AS calls, sum(c.dur_ns) AS total_ns, min(c.dur_ns) AS min_ns, max(c.dur_ns) AS max_ns,
       CASE WHEN count(k.bytes) = count(*) THEN sum(k.bytes) END AS bytes
FROM kernel_classes c JOIN kernels k ON k.trace_id = c.trace_id AND k.event_id = c.event_id
WHERE c.kind <> 'kernel' AND c.dur_ns IS NOT NULL
GROUP BY c.trace_id, c.name, c.class, c.device
ORDER BY c.trace_id, total_ns DESC, c.name, c.device",
    },
    Section {
        key: "memory_peaks",
        title: "Memory peaks",
        about: "The most that was allocated on each device, and when.",
        scope: Scope::Torch,
        needs: &["memory"],
        if_empty: "no allocation was recorded",
        is_detail: false,
        shape: rows(500, &["allocations", "frees"]),
        sql: "SELECT m.trace_id, m.device_type, m.device, m.peak_allocated_bytes,
       CASE WHEN m.peak_ts_ns >= t.start_ns THEN m.peak_ts_ns - t.start_ns END AS peak_at_ns, m.peak_step, m.peak_reserved_bytes,
       m.start_allocated_bytes, m.end_allocated_bytes, m.allocations, m.frees, m.total_memory_bytes, m.peak_pct
FROM memory_peak m JOIN traces t ON t.trace_id = m.trace_id
WHERE t.format <> 'mllm_perf'
ORDER BY m.trace_id, m.peak_allocated_bytes DESC, m.device_type, m.device",
    },
    Section {
        key: "memory_curve",
        title: "Memory over time",
        about: "What is allocated and reserved on each device. Of each of at most 400 stretches of time: the highest value with its time, and the last.",
        scope: Scope::Torch,
        needs: &["memory"],
        if_empty: "no allocation was recorded",
        is_detail: true,
        shape: rows(12_000, &["records"]),
        sql: "WITH placed AS (
    SELECT m.*, m.ts_ns - t.start_ns AS at_ns, (m.ts_ns - t.start_ns) / greatest((t.duration_ns + 399) / 400, 1) AS bucket
    FROM memory_curve m JOIN traces t ON t.trace_id = m.trace_id
    WHERE t.format <> 'mllm_perf' AND m.ts_ns >= t.start_ns
)
SELECT trace_id, device_type, device, bucket, count(*) AS records,
       first_value(at_ns ORDER BY allocated_bytes DESC, record) AS peak_at_ns, max(allocated_bytes) AS peak_allocated_bytes,
       first_value(reserved_bytes ORDER BY allocated_bytes DESC, record) AS peak_reserved_bytes,
       last_value(at_ns ORDER BY record) AS last_at_ns, last_value(allocated_bytes ORDER BY record) AS last_allocated_bytes,
       last_value(reserved_bytes ORDER BY record) AS last_reserved_bytes
FROM placed
GROUP BY trace_id, device_type, device, bucket
ORDER BY trace_id, device_type, device, bucket",
    },
    Section {
        key: "memory_at_peak",
        title: "Memory at the peak",
        about: "What held the memory when each device reached its peak, by operator and module. Shares are of the peak.",
        scope: Scope::Torch,
        needs: &["memory"],
        if_empty: "no allocation was recorded",
        is_detail: false,
        shape: rows(1000, &["allocations", "bytes", "share_pct"]),
        sql: "SELECT p.trace_id, p.device_type, p.device, p.kind, p.op_name, p.module_path, p.alloc_step AS step, p.allocations, p.bytes, p.largest_bytes, p.share_pct
FROM peak_composition p JOIN traces t ON t.trace_id = p.trace_id
WHERE t.format <> 'mllm_perf'
ORDER BY p.trace_id, p.bytes DESC, p.op_name, p.module_path, p.device_type, p.device, p.kind, p.alloc_step, p.allocations",
    },
    Section {
        key: "modules",
        title: "Modules",
        about: "Modules of the model as a tree: calls, host time and device time. The totals of a module hold those of the modules inside it.",
        scope: Scope::Torch,
        needs: &["modules"],
        if_empty: "no module was called",
        is_detail: true,
        shape: rows(5000, &["calls", "host_exclusive_ns", "device_self_ns"]),
        sql: "SELECT trace_id, path, parent_path, name, class, depth, calls, operators, host_total_ns, host_exclusive_ns, device_total_ns, device_self_ns,
       device_total_pct
FROM module_tree
WHERE path IS NOT NULL
ORDER BY trace_id, greatest(coalesce(host_total_ns, 0), coalesce(device_total_ns, 0)) DESC, depth, first_ts_ns, path",
    },
    Section {
        key: "flame",
        title: "Flame graph",
        about: "Stacks of each thread: host time where it was spent, device time and memory at the stack that launched or allocated it. Steps \
                are one frame, and frames that are small in every measure are merged into (other), so totals stay exact.",
        scope: Scope::Torch,
        needs: &[],
        if_empty: "no event on a thread has a duration",
        is_detail: true,
        shape: Shape::Stacks { most: 6000 },
        sql: "SELECT trace_id AS trace, coalesce(thread, '(no thread)') AS thread, stack, cpu_ns AS host_ns, gpu_ns AS device_ns,
       alloc_space_bytes AS allocated_bytes
FROM stack_samples",
    },
    Section {
        key: "call_graph",
        title: "Sunburst",
        about: "The call graph of the host from steps down to runtime calls, by name; numbers of steps and module instances are left out of names, so \
                that repetitions are one.",
        scope: Scope::Torch,
        needs: &["operators"],
        if_empty: "no operator, annotation or runtime call was recorded",
        is_detail: true,
        shape: Shape::Stacks { most: 3000 },
        sql: "SELECT unfold_stack(path) AS stack, host_self_ns AS host_ns, device_self_ns AS device_ns, trace_id AS trace
FROM call_graph",
    },
    Section {
        key: "ranks",
        title: "Ranks",
        about: "Computation and communication of each rank of a job: what computation hides, what is exposed, and how much of it is waiting for other ranks.",
        scope: Scope::Job,
        needs: &["rank", "device"],
        if_empty: "no kernel ran on a device",
        is_detail: false,
        shape: rows(2000, &[]),
        sql: "SELECT c.trace_id, c.job, c.rank, j.world_size, j.ranks, j.is_complete, j.host, c.busy_ns, c.computation_ns, c.communication_ns, c.overlap_ns,
       c.overlap_pct, c.exposed_communication_ns, c.exposed_communication_pct, c.transfer_ns, c.wait_ns
FROM rank_communication c JOIN job_ranks j ON j.trace_id = c.trace_id
ORDER BY c.trace_id",
    },
    Section {
        key: "stragglers",
        title: "Stragglers",
        about: "How long each rank waited for others in collectives that all ranks recorded, how often it came last, and how long others waited for it then.",
        scope: Scope::Job,
        needs: &["rank"],
        if_empty: "no collective could be matched between ranks",
        is_detail: true,
        shape: rows(2000, &["waited_for_ns"]),
        sql: "SELECT trace_id, job, rank, place, calls, communication_ns, transfer_ns, wait_ns, wait_pct, last_calls, last_pct, waited_for_ns, waited_for_pct
FROM stragglers ORDER BY trace_id, place",
    },
    Section {
        key: "collectives",
        title: "Collectives",
        about: "Collectives of each rank by name: sizes, time in which a call was under way, and the bandwidth of the exchange.",
        scope: Scope::Torch,
        needs: &["rank"],
        if_empty: "no collective was recorded",
        is_detail: true,
        shape: rows(2000, &["calls"]),
        sql: "SELECT trace_id, rank, name, calls, size_bytes, latency_ns, transfer_ns, transfer_bandwidth_gb_s
FROM collective_operators ORDER BY trace_id, latency_ns DESC, name",
    },
    Section {
        key: "categories",
        title: "Categories",
        about: "Events by category. Self time is without the events inside, and shares are of the self time of all events of the trace.",
        scope: Scope::Any,
        needs: &[],
        if_empty: "no event",
        is_detail: false,
        shape: rows(1000, &["events", "total_ns", "self_ns", "self_pct"]),
        sql: "SELECT trace_id, coalesce(cat, '(none)') AS name, events, total_ns, self_ns, self_pct, min_ns, mean_ns, max_ns
FROM category_totals ORDER BY trace_id, self_ns DESC NULLS LAST, name",
    },
    Section {
        key: "mllm_summary",
        title: "perf.json",
        about: "A recording of MLLM at a glance: blobs, peak of memory, operations, and what is still alive at the end.",
        scope: Scope::Mllm,
        needs: &[],
        if_empty: "the recording holds no blob and no operation",
        is_detail: false,
        shape: rows(500, &[]),
        sql: "SELECT trace_id, devices, blobs, memory_duration_ns, peak_bytes, peak_ts_ns, lanes, alive_blobs, alive_bytes, operations
FROM mllm_summary ORDER BY trace_id",
    },
    Section {
        key: "mllm_memory_curve",
        title: "Memory over time",
        about: "What is allocated on each device. Of each of at most 400 stretches of time: the highest value with its time, and the last.",
        scope: Scope::Mllm,
        needs: &[],
        if_empty: "the recording holds no memory blob",
        is_detail: true,
        shape: rows(8000, &["changes"]),
        sql: "WITH placed AS (
    SELECT m.*, m.ts_ns - t.start_ns AS at_ns, (m.ts_ns - t.start_ns) / greatest((t.duration_ns + 399) / 400, 1) AS bucket
    FROM mllm_memory_curve m JOIN traces t ON t.trace_id = m.trace_id
)
SELECT trace_id, device_name, bucket, sum(allocations + frees) AS changes,
       first_value(at_ns ORDER BY allocated_bytes DESC, at_ns) AS peak_at_ns, max(allocated_bytes) AS peak_allocated_bytes,
       last_value(at_ns ORDER BY at_ns) AS last_at_ns, last_value(allocated_bytes ORDER BY at_ns) AS last_allocated_bytes
FROM placed
GROUP BY trace_id, device_name, bucket
ORDER BY trace_id, device_name, bucket",
    },
    Section {
        key: "mllm_blobs",
        title: "Memory blobs",
        about: "The largest blobs: lifetime, size and the lane they are drawn in.",
        scope: Scope::Mllm,
        needs: &[],
        if_empty: "the recording holds no memory blob",
        is_detail: true,
        shape: rows(4000, &["bytes"]),
        sql: "SELECT b.trace_id, b.name, b.device_name, b.bytes, b.start_ns - t.start_ns AS at_ns, b.end_ns - b.start_ns AS lifetime_ns, b.is_alive, b.is_at_peak, b.lane
FROM mllm_blobs b JOIN traces t ON t.trace_id = b.trace_id
ORDER BY b.trace_id, b.bytes DESC, b.start_ns, b.event_id",
    },
    Section {
        key: "mllm_operations",
        title: "Operations",
        about: "The longest operations: when each ran, and the lane it is drawn in.",
        scope: Scope::Mllm,
        needs: &[],
        if_empty: "the recording holds no operation",
        is_detail: true,
        shape: rows(4000, &["duration_ns"]),
        sql: "SELECT o.trace_id, o.name, o.device_name, o.start_ns - t.start_ns AS at_ns, o.end_ns - o.start_ns AS duration_ns, o.lane
FROM mllm_operations o JOIN traces t ON t.trace_id = o.trace_id
ORDER BY o.trace_id, duration_ns DESC NULLS LAST, o.start_ns, o.event_id",
    },
    Section {
        key: "mllm_operation_totals",
        title: "Operations by name",
        about: "How often each operation ran and how long.",
        scope: Scope::Mllm,
        needs: &[],
        if_empty: "the recording holds no operation",
        is_detail: false,
        shape: rows(2000, &["calls", "total_ns", "total_pct"]),
        sql: "SELECT trace_id, name, device_name, calls, total_ns, total_pct, min_ns, max_ns
FROM mllm_operation_totals ORDER BY trace_id, total_ns DESC NULLS LAST, name, device_name",
    },
    Section {
        key: "coverage",
        title: "Coverage",
        about: "What the trace tells and what it does not, and how to record what is missing.",
        scope: Scope::Torch,
        needs: &[],
        if_empty: "",
        is_detail: false,
        shape: rows(4000, &[]),
        sql: "SELECT trace_id, information, status, events, candidates, views, how_to_record
FROM coverage
ORDER BY trace_id, CASE status WHEN 'missing' THEN 0 WHEN 'partial' THEN 1 WHEN 'present' THEN 2 ELSE 3 END, information",
    },
    Section {
        key: "issues",
        title: "Ingest issues",
        about: "What was odd about the input. Skipped elements have no row in the tables; all others were kept.",
        scope: Scope::Any,
        needs: &[],
        if_empty: "nothing was odd about the input",
        is_detail: false,
        shape: rows(2000, &["count", "skipped_count"]),
        sql: "SELECT trace_id, severity, code, count, skipped_count, first_event_id, first_byte_offset, example, detail
FROM ingest_issues
ORDER BY trace_id, CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, count DESC, code",
    },
];
