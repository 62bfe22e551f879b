use super::{TRACE_ID, Table, code, label, near, required};

/// Blocks of a memory snapshot.
pub const TABLE: Table = Table {
    name: "memory_blocks",
    about: "One row per block of the segments of a memory snapshot, in the order of the file. \
            The blocks of a segment follow each other without gaps.",
    columns: &[
        TRACE_ID,
        required(near("segment_id", "id", "The segment (memory_segments.segment_id).")),
        required(near("block_id", "id", "Number within the trace, from 0.")),
        code("device", "id", "Device number; -1 is the host."),
        near(
            "address",
            "id",
            "Address. In snapshots of 2023, which have none, the sum of the sizes before it.",
        ),
        code("bytes", "bytes", "Size; NULL if not usable."),
        code("requested_bytes", "bytes", "What the program asked for; NULL if not recorded."),
        label(
            "state",
            "active_allocated, active_pending_free (its free waits for a stream) or \
                        inactive.",
        ),
        code("stack_id", "id", "Where it was allocated (memory_stacks.stack_id); NULL if unknown."),
        near(
            "allocation_id",
            "id",
            "The allocation that it holds (memory.allocation_id); NULL if inactive or unknown.",
        ),
    ],
};
