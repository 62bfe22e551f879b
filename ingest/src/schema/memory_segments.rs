use super::{Kind, Layout, TRACE_ID, Table, code, column, label, near, required};

/// Segments of a memory snapshot.
pub const TABLE: Table = Table {
    name: "memory_segments",
    about: "One row per segment that the allocator held when a memory snapshot was taken, in the \
            order of the file. A segment is memory that the allocator got from the driver.",
    columns: &[
        TRACE_ID,
        required(near("segment_id", "id", "Position in the file, from 0.")),
        code("device", "id", "Device number; -1 is the host."),
        near("address", "id", "Address; NULL if not recorded."),
        code("total_bytes", "bytes", "Size; NULL if not recorded."),
        code("allocated_bytes", "bytes", "Size of its allocated blocks, as the allocator counts."),
        code("active_bytes", "bytes", "Size of blocks that are allocated or wait for a stream."),
        code("requested_bytes", "bytes", "What the program asked for; NULL if not recorded."),
        code("stream", "id", "Stream that it belongs to: 0, or a pointer."),
        label("kind", "small (for allocations up to 1 MiB) or large."),
        label(
            "pool",
            "Memory pool, as a pair of numbers: (0, 0) is the default, others are private pools, \
             for example of CUDA graphs; NULL if not recorded.",
        ),
        required(column(
            "expandable",
            Kind::Bool,
            "flag",
            Layout::Repeats,
            "Whether it grows in place (expandable_segments); false if not recorded.",
        )),
        code("stack_id", "id", "Where it was made (memory_stacks.stack_id); NULL if not recorded."),
        code("block_count", "count", "Number of its blocks (memory_blocks)."),
    ],
};
