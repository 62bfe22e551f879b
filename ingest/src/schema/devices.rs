use super::{Layout, TRACE_ID, Table, code, json, label};

/// Devices.
pub const TABLE: Table = Table {
    name: "devices",
    about: "One row per device of deviceProperties.",
    columns: &[
        TRACE_ID,
        code("device", "id", "Device number (`id`)."),
        label("name", "Name."),
        code("total_memory_bytes", "bytes", "totalGlobalMem."),
        code("compute_major", "id", "computeMajor."),
        code("compute_minor", "id", "computeMinor."),
        code("sm_count", "count", "numSms: multiprocessors."),
        code("max_threads_per_block", "count", "maxThreadsPerBlock."),
        code("max_threads_per_sm", "count", "maxThreadsPerMultiprocessor."),
        code("registers_per_block", "count", "regsPerBlock."),
        code("registers_per_sm", "count", "regsPerMultiprocessor."),
        code("shared_memory_per_block_bytes", "bytes", "sharedMemPerBlock."),
        code("shared_memory_per_sm_bytes", "bytes", "sharedMemPerMultiprocessor."),
        code("warp_size", "count", "warpSize."),
        json("metadata", Layout::Plain, "All its properties as written, as a compact JSON object."),
    ],
};
