use super::{TRACE_ID, Table, code, label};

/// Tracks.
pub const TABLE: Table = Table {
    name: "tracks",
    about: "One row per track: a thread, a device stream, a counter, or the async events of one \
            id.",
    columns: &[
        TRACE_ID,
        code("track_id", "id", "Number of the track, in the order of process and thread."),
        code("pid", "id", "Process id; NULL where the trace wrote text or none."),
        code(
            "tid",
            "id",
            "Thread id or stream; NULL where the trace wrote text, none, or a number beyond 64 \
             bits.",
        ),
        label("pid_text", "Process id as written; NULL if none."),
        label("tid_text", "Thread id as written; NULL if none."),
        label("process_name", "process_name metadata, the last one."),
        label(
            "thread_name",
            "thread_name metadata, the last one; the name of a counter; the id of async events.",
        ),
        label("labels", "process_labels metadata, the last one."),
        code("sort_index", "id", "thread_sort_index metadata, else process_sort_index."),
        label(
            "kind",
            "cpu_thread, gpu_stream, counter, span (async events and the profiler's own rows) or \
             other.",
        ),
        code("device", "id", "Device of a gpu_stream."),
        code("stream", "id", "Stream of a gpu_stream."),
    ],
};
