use super::{Kind, Layout, TRACE_ID, Table, code, column, float, json, label, near, page_bounds};

/// Work on devices.
pub const TABLE: Table = Table {
    name: "kernels",
    about: "One row per device activity (kernels, copies, fills, waits), in the order of events. \
            What a kernel does (a matrix product, communication, …) is in the view \
            kernel_classes; `tracesql docs kernel_classification` says how that is found out.",
    columns: &[
        TRACE_ID,
        page_bounds(near("event_id", "id", "The event (events.event_id).")),
        label(
            "kind",
            "kernel, memcpy, memset or sync; of MTIA's mtia_ccp_events, dma_request is memcpy, \
             event_wait and event_record are sync. A CUDA graph that was traced as a whole is one \
             kernel (activity_kind graph).",
        ),
        label("name", "Name of the kernel or activity."),
        code("device", "id", "Device number."),
        code("context", "id", "Device context."),
        page_bounds(code("stream", "id", "Stream; NULL if none was written.")),
        page_bounds(code("track_id", "id", "Track (tracks.track_id).")),
        page_bounds(near("ts_ns", "ns", "Start; NULL if it was not set (issue time_not_set).")),
        near("dur_ns", "ns", "Duration."),
        page_bounds(near(
            "end_ns",
            "ns",
            "End, exclusive; the start if dur_ns is negative, NULL if the start or the duration \
             is.",
        )),
        page_bounds(near("correlation", "id", "Correlation with the launch; NULL for none.")),
        near("external_id", "id", "External id as written; NULL for none."),
        page_bounds(near(
            "launch_id",
            "id",
            "The runtime or driver call that launched it (events.event_id); NULL if not found.",
        )),
        near(
            "op_id",
            "id",
            "The innermost operator around the launch on its thread (events.event_id), or the \
             innermost pushed range in formats that have ranges and no operators; NULL for none.",
        ),
        label(
            "link",
            "How the launch or operator was found: correlation; graph (correlation, one of many \
             of a graph launch); flow (an arrow from the launch); external_id (with launch_id: \
             neither side has a correlation, and one call has the activity's External id; \
             without: an operator has it); or none.",
        ),
        label(
            "link_reason",
            "Why there is no launch: launch_missing (no call has the correlation); no_correlation \
             (it carries none); never_correlated (it carries none, and nor does any activity of \
             its category and kind in the trace, while others do: the profiler writes none for \
             them); NULL if there is one.",
        ),
        page_bounds(code("step", "id", "Step of the launch.")),
        code("grid_x", "count", "Grid size in x, blocks."),
        code("grid_y", "count", "Grid size in y, blocks."),
        code("grid_z", "count", "Grid size in z, blocks."),
        code("block_x", "count", "Block size in x, threads."),
        code("block_y", "count", "Block size in y, threads."),
        code("block_z", "count", "Block size in z, threads."),
        code("registers_per_thread", "count", "Registers per thread."),
        code("shared_memory_bytes", "bytes", "Shared memory per block."),
        float("blocks_per_sm", "count", "Blocks per multiprocessor."),
        float("warps_per_sm", "count", "Warps per multiprocessor."),
        float(
            "occupancy_pct",
            "pct",
            "Estimated achieved occupancy, percent of the most warps a multiprocessor holds.",
        ),
        code("queued", "id", "args `queued`, as written."),
        code("bytes", "bytes", "Bytes copied or set."),
        float("bandwidth_gb_s", "GB/s", "Memory bandwidth as written, 10^9 bytes per second."),
        label(
            "activity_kind",
            "args `kind` of ROCm activities, as written; graph for a whole CUDA graph.",
        ),
        code("graph_id", "id", "args `graph id`."),
        code("graph_node_id", "id", "args `graph node id`."),
        label("sync_kind", "args `cuda_sync_kind` of waits."),
        code("wait_on_stream", "id", "args `wait_on_stream` of waits."),
        code("wait_on_event_id", "id", "args `wait_on_cuda_event_id` of waits."),
        near(
            "wait_on_event_record_correlation",
            "id",
            "args `wait_on_cuda_event_record_corr_id` of waits.",
        ),
        label("collective_name", "args `Collective name`."),
        label("collective_dtype", "args `dtype` of collectives."),
        code("in_msg_nelems", "count", "args `In msg nelems`: elements sent per rank."),
        code("out_msg_nelems", "count", "args `Out msg nelems`: elements received per rank."),
        code("group_size", "count", "args `Group size`: ranks in the process group."),
        label("process_group_name", "args `Process Group Name`."),
        label("process_group_description", "args `Process Group Description`."),
        json("process_group_ranks", Layout::Repeats, "args `Process Group Ranks`, as written."),
        json("in_split_size", Layout::Repeats, "args `In split size`, as written."),
        json("out_split_size", Layout::Repeats, "args `Out split size`, as written."),
        code(
            "collective_seq",
            "id",
            "args `Seq`: number of the collective in its process group. Sends and receives count \
             separately on each rank.",
        ),
        column(
            "comms_id",
            Kind::Text,
            "text",
            Layout::Plain,
            "args `Comms Id`: hash of group, number and ranks, an unsigned number as text.",
        ),
        code(
            "group_rank",
            "id",
            "args `Rank`: rank within the process group; of a send or receive, the rank of the \
             other side.",
        ),
        code("src_rank", "id", "args `Src Rank` of receives: global rank of the sender."),
        code("dst_rank", "id", "args `Dst Rank` of sends: global rank of the receiver."),
    ],
};
