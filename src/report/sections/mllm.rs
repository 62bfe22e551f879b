//! Sections about MLLM's `perf.json`.

use super::{Scope, Section, rows};

pub const MLLM_SUMMARY: Section = Section {
    key: "mllm_summary",
    title: "perf.json",
    about: "A recording of MLLM at a glance: blobs, peak of memory, operations, and what is still \
        alive at the end.",
    scope: Scope::Mllm,
    needs: &[],
    if_empty: "the recording holds no blob and no operation",
    is_detail: false,
    shape: rows(500, &[]),
    sql: "SELECT trace_id, devices, blobs, memory_duration_ns, peak_bytes, peak_ts_ns, lanes, \
               alive_blobs, alive_bytes, operations
FROM mllm_summary ORDER BY trace_id",
};

pub const MLLM_MEMORY_CURVE: Section = Section {
    key: "mllm_memory_curve",
    title: "Memory over time",
    about: "What is allocated on each device. Of each of at most 400 stretches of time: the \
        highest value with its time, and the last.",
    scope: Scope::Mllm,
    needs: &[],
    if_empty: "the recording holds no memory blob",
    is_detail: true,
    shape: rows(8000, &["changes"]),
    sql: "WITH placed AS (
    SELECT m.*, m.ts_ns - t.start_ns AS at_ns, (m.ts_ns - t.start_ns) / greatest((t.duration_ns + \
               399) / 400, 1) AS bucket
    FROM mllm_memory_curve m JOIN traces t ON t.trace_id = m.trace_id
)
SELECT trace_id, device_name, bucket, sum(allocations + frees) AS changes,
       first_value(at_ns ORDER BY allocated_bytes DESC, at_ns) AS peak_at_ns, max(allocated_bytes) \
               AS peak_allocated_bytes,
       last_value(at_ns ORDER BY at_ns) AS last_at_ns, last_value(allocated_bytes ORDER BY at_ns) \
               AS last_allocated_bytes
FROM placed
GROUP BY trace_id, device_name, bucket
ORDER BY trace_id, device_name, bucket",
};

pub const MLLM_BLOBS: Section = Section {
    key: "mllm_blobs",
    title: "Memory blobs",
    about: "The largest blobs: lifetime, size and the lane they are drawn in.",
    scope: Scope::Mllm,
    needs: &[],
    if_empty: "the recording holds no memory blob",
    is_detail: true,
    shape: rows(4000, &["bytes"]),
    sql: "SELECT b.trace_id, b.name, b.device_name, b.bytes, b.start_ns - t.start_ns AS at_ns, \
               b.end_ns - b.start_ns AS lifetime_ns, b.is_alive, b.is_at_peak, b.lane
FROM mllm_blobs b JOIN traces t ON t.trace_id = b.trace_id
ORDER BY b.trace_id, b.bytes DESC, b.start_ns, b.event_id",
};

pub const MLLM_OPERATIONS: Section = Section {
    key: "mllm_operations",
    title: "Operations",
    about: "The longest operations: when each ran, and the lane it is drawn in.",
    scope: Scope::Mllm,
    needs: &[],
    if_empty: "the recording holds no operation",
    is_detail: true,
    shape: rows(4000, &["duration_ns"]),
    sql: "SELECT o.trace_id, o.name, o.device_name, o.start_ns - t.start_ns AS at_ns, o.end_ns - \
               o.start_ns AS duration_ns, o.lane
FROM mllm_operations o JOIN traces t ON t.trace_id = o.trace_id
ORDER BY o.trace_id, duration_ns DESC NULLS LAST, o.start_ns, o.event_id",
};

pub const MLLM_OPERATION_TOTALS: Section = Section {
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
};
