use super::{TRACE_ID, Table, code, label, near};

/// Allocations and frees.
pub const TABLE: Table = Table {
    name: "memory",
    about: "One row per allocation or free ([memory] events, or both ends of an MLLM memory \
            blob), in the order of events.",
    columns: &[
        TRACE_ID,
        near("event_id", "id", "The event (events.event_id)."),
        near("ts_ns", "ns", "Time."),
        label("action", "alloc or free."),
        near("addr", "id", "Address (`Addr`); the blob's uuid for MLLM."),
        code("bytes", "bytes", "Size, negative for a free; NULL if not usable."),
        label("device_type", "cpu, cuda, … or the number as written; the device's name for MLLM."),
        code("device", "id", "Device number; -1 is the host."),
        code(
            "total_allocated_bytes",
            "bytes",
            "Allocated on the device after this; NULL if not recorded.",
        ),
        code(
            "total_reserved_bytes",
            "bytes",
            "Reserved by the allocator after this; NULL if not recorded.",
        ),
        code("step", "id", "Step at this time."),
    ],
};
