use super::{TRACE_ID, Table, code, label, near};

/// Allocations and frees.
pub const TABLE: Table = Table {
    name: "memory",
    about: "One row per allocation or free ([memory] events, both ends of an MLLM memory blob) and \
            per entry of a memory snapshot's history or of a raw memory timeline, in the order of \
            events.",
    columns: &[
        TRACE_ID,
        near("event_id", "id", "The event (events.event_id)."),
        near("ts_ns", "ns", "Time; NULL in memory snapshots without times."),
        label(
            "action",
            "alloc or free. Snapshots also have free_requested, segment_alloc, segment_free, \
             segment_map, segment_unmap, snapshot, oom, annotate and unknown texts as written. \
             Memory timelines also have preexisting and version.",
        ),
        near("addr", "id", "Address (`Addr`); the blob's uuid for MLLM."),
        code(
            "bytes",
            "bytes",
            "Size, negative for a free, segment_free or segment_unmap; NULL if not usable. \
             Allocations of snapshots state what the program asked for.",
        ),
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
        code("stream", "id", "Stream of the entry: 0, or a pointer; NULL if not recorded."),
        code("stack_id", "id", "Where it happened (memory_stacks.stack_id); NULL if not recorded."),
        near(
            "allocation_id",
            "id",
            "The allocation that an entry of a snapshot concerns: the event of its alloc, or a \
             negative number if it was allocated before the history; NULL if unknown.",
        ),
        label("pool", "Memory pool of the entry, as in memory_segments; NULL if not recorded."),
        label(
            "category",
            "What a memory timeline says the memory is for: parameter, optimizer_state, input, \
             temporary, activation, gradient, autograd_detail or unknown; NULL in other formats.",
        ),
    ],
};
