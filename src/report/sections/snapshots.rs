//! Sections about PyTorch memory snapshots.

use super::{Scope, Section, Shape, rows};

pub const SNAPSHOT_DEVICES: Section = Section {
    key: "snapshot_devices",
    title: "Allocator",
    about: "Live and reserved memory of each device: before the history, at its peak, and at the \
        end, with free blocks that the allocator keeps.",
    scope: Scope::Snapshot,
    needs: &[],
    if_empty: "the snapshot holds no segment and no history",
    is_detail: false,
    shape: rows(200, &["entries", "segments"]),
    sql:
        "SELECT trace_id, device, entries, ooms, initial_bytes, peak_bytes, peak_entry, end_bytes, \
               segments, reserved_bytes, allocated_bytes, pending_bytes, inactive_bytes, \
               largest_inactive_bytes
FROM snapshot_peaks ORDER BY trace_id, peak_bytes DESC NULLS LAST, device",
};

pub const SNAPSHOT_OOMS: Section = Section {
    key: "snapshot_ooms",
    title: "Out of memory",
    about: "Allocations that failed: what each needed, what there was, and why it did not fit.",
    scope: Scope::Snapshot,
    needs: &[],
    if_empty: "no allocation failed",
    is_detail: false,
    shape: rows(200, &[]),
    sql: "SELECT trace_id, device, event_id, verdict, requested_bytes, segment_bytes, \
               device_free_bytes, live_bytes, reserved_bytes, unused_bytes, \
               largest_inactive_bytes, is_at_end, site
FROM snapshot_ooms ORDER BY trace_id, event_id",
};

pub const SNAPSHOT_CURVE: Section = Section {
    key: "snapshot_curve",
    title: "Memory over time",
    about: "What is live and reserved on each device. Of each of at most 400 stretches of time: \
        the highest value with its time, and the last.",
    scope: Scope::Snapshot,
    needs: &[],
    if_empty: "the history has no entries, or they have no times",
    is_detail: true,
    shape: rows(12_000, &["entries"]),
    sql: "WITH placed AS (
    SELECT m.*, (m.ts_ns - t.start_ns) / greatest((t.duration_ns + 399) / 400, 1) AS bucket
    FROM snapshot_timeline m JOIN traces t ON t.trace_id = m.trace_id
    WHERE m.at_ns IS NOT NULL AND m.live_bytes IS NOT NULL
)
SELECT trace_id, device, bucket, count(*) AS entries,
       first_value(at_ns ORDER BY live_bytes DESC, entry) AS peak_at_ns, \
               max(live_bytes) AS peak_allocated_bytes,
       first_value(reserved_bytes ORDER BY live_bytes DESC, entry) AS peak_reserved_bytes,
       last_value(at_ns ORDER BY entry) AS last_at_ns, last_value(live_bytes ORDER BY entry) \
               AS last_allocated_bytes,
       last_value(reserved_bytes ORDER BY entry) AS last_reserved_bytes
FROM placed
GROUP BY trace_id, device, bucket
ORDER BY trace_id, device, bucket",
};

pub const SNAPSHOT_AT_PEAK: Section = Section {
    key: "snapshot_at_peak",
    title: "Live at the peak, by stack",
    about: "What held the memory when each device reached its peak. Shares are of the peak.",
    scope: Scope::Snapshot,
    needs: &[],
    if_empty: "nothing was live",
    is_detail: false,
    shape: rows(1000, &["allocations", "bytes", "share_pct"]),
    sql: "SELECT trace_id, device, site, category, allocations, bytes, largest_bytes, \
               live_at_end_bytes, share_pct, stack_id
FROM snapshot_peak_by_stack
ORDER BY trace_id, bytes DESC, stack_id, device",
};

pub const SNAPSHOT_CATEGORIES: Section = Section {
    key: "snapshot_categories",
    title: "Live at the peak, by category",
    about: "The same by category, which follows from the frames of the stacks.",
    scope: Scope::Snapshot,
    needs: &[],
    if_empty: "nothing was live",
    is_detail: false,
    shape: rows(1000, &["allocations", "bytes", "share_pct"]),
    sql: "SELECT trace_id, device, category, allocations, bytes, largest_bytes, share_pct
FROM snapshot_peak_by_category ORDER BY trace_id, bytes DESC, category, device",
};

pub const SNAPSHOT_POOLS: Section = Section {
    key: "snapshot_pools",
    title: "Fragmentation",
    about: "Reserved memory by pool and kind of segment, and the free blocks in it.",
    scope: Scope::Snapshot,
    needs: &[],
    if_empty: "the snapshot holds no segment",
    is_detail: false,
    shape: rows(1000, &["segments", "reserved_bytes", "inactive_bytes"]),
    sql: "SELECT trace_id, device, pool, is_private, kind, segments, free_segments, \
               reserved_bytes, allocated_bytes, inactive_bytes, largest_inactive_bytes, \
               unusable_bytes, external_pct
FROM snapshot_pools ORDER BY trace_id, reserved_bytes DESC, device, pool, kind",
};

pub const SNAPSHOT_FLAME: Section = Section {
    key: "snapshot_flame",
    title: "Flame graph of live memory",
    about: "Stacks of what was live at the peak of each device. Small frames are merged into \
        (other), so totals stay exact.",
    scope: Scope::Snapshot,
    needs: &[],
    if_empty: "nothing was live",
    is_detail: true,
    shape: Shape::Stacks { max_frames: 16_000 },
    sql: "SELECT trace_id AS trace, concat('device ', device) AS thread, stack, bytes AS live_bytes
FROM snapshot_live_at_peak",
};
