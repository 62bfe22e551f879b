//! Sections about memory: peaks, the curve over time, and the composition of the peak.

use super::{Scope, Section, rows};

pub const MEMORY_PEAKS: Section = Section {
    key: "memory_peaks",
    title: "Memory peaks",
    about: "The most that was allocated on each device, and when.",
    scope: Scope::Torch,
    needs: &["memory"],
    if_empty: "no allocation was recorded",
    is_detail: false,
    shape: rows(500, &["allocations", "frees"]),
    sql: "SELECT m.trace_id, m.device_type, m.device, m.peak_allocated_bytes,
       CASE WHEN m.peak_ts_ns >= t.start_ns THEN m.peak_ts_ns - t.start_ns END AS peak_at_ns, \
               m.peak_step, m.peak_reserved_bytes,
       m.start_allocated_bytes, m.end_allocated_bytes, m.allocations, m.frees, \
               m.total_memory_bytes, m.peak_pct
FROM memory_peak m JOIN traces t ON t.trace_id = m.trace_id
WHERE t.format NOT IN ('mllm_perf', 'torch_memory')
ORDER BY m.trace_id, m.peak_allocated_bytes DESC, m.device_type, m.device",
};

pub const MEMORY_CURVE: Section = Section {
    key: "memory_curve",
    title: "Memory over time",
    about: "What is allocated and reserved on each device. Of each of at most 400 stretches of \
        time: the highest value with its time, and the last.",
    scope: Scope::Torch,
    needs: &["memory"],
    if_empty: "no allocation was recorded",
    is_detail: true,
    shape: rows(12_000, &["records"]),
    sql: "WITH placed AS (
    SELECT m.*, m.ts_ns - t.start_ns AS at_ns, (m.ts_ns - t.start_ns) / greatest((t.duration_ns + \
               399) / 400, 1) AS bucket
    FROM memory_curve m JOIN traces t ON t.trace_id = m.trace_id
    WHERE t.format NOT IN ('mllm_perf', 'torch_memory') AND m.ts_ns >= t.start_ns
)
SELECT trace_id, device_type, device, bucket, count(*) AS records,
       first_value(at_ns ORDER BY allocated_bytes DESC, record) AS peak_at_ns, \
               max(allocated_bytes) AS peak_allocated_bytes,
       first_value(reserved_bytes ORDER BY allocated_bytes DESC, record) AS peak_reserved_bytes,
       last_value(at_ns ORDER BY record) AS last_at_ns, last_value(allocated_bytes ORDER BY \
               record) AS last_allocated_bytes,
       last_value(reserved_bytes ORDER BY record) AS last_reserved_bytes
FROM placed
GROUP BY trace_id, device_type, device, bucket
ORDER BY trace_id, device_type, device, bucket",
};

pub const MEMORY_AT_PEAK: Section = Section {
    key: "memory_at_peak",
    title: "Memory at the peak",
    about: "What held the memory when each device reached its peak, by operator and module. Shares \
        are of the peak.",
    scope: Scope::Torch,
    needs: &["memory"],
    if_empty: "no allocation was recorded",
    is_detail: false,
    shape: rows(1000, &["allocations", "bytes", "share_pct"]),
    sql: "SELECT p.trace_id, p.device_type, p.device, p.kind, p.op_name, p.module_path, \
               p.alloc_step AS step, p.allocations, p.bytes, p.largest_bytes, p.share_pct
FROM peak_composition p JOIN traces t ON t.trace_id = p.trace_id
WHERE t.format NOT IN ('mllm_perf', 'torch_memory')
ORDER BY p.trace_id, p.bytes DESC, p.op_name, p.module_path, p.device_type, p.device, p.kind, \
               p.alloc_step, p.allocations",
};
