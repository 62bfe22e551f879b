use super::{Layout, TRACE_ID, Table, code, json, label};

/// The traces of a store.
pub const TABLE: Table = Table {
    name: "traces",
    about: "One row per trace.",
    columns: &[
        TRACE_ID,
        label(
            "path",
            "The input as it was named; `archive!member` for members of archives, `-` for \
             standard input.",
        ),
        label(
            "format",
            "kineto, chrome, mllm_perf, torch_memory, nsys, rocpd, rpd, rocprofv3, xplane, \
             perfetto, flight_recorder, execution_trace, memory_timeline or stacks.",
        ),
        label("content_hash", "BLAKE3 of the input's bytes, hexadecimal."),
        code("input_bytes", "bytes", "Size of the input as it lay on disk."),
        code("text_bytes", "bytes", "Size when unpacked: of its text, pickle or message."),
        code(
            "rank",
            "id",
            "distributedInfo.rank; of flight recorder dumps, the number in the file's name; NULL if \
             not recorded.",
        ),
        code(
            "world_size",
            "count",
            "distributedInfo.world_size; of flight recorder dumps, the size of the default group; \
             NULL if not recorded.",
        ),
        label("backend", "distributedInfo.backend; NULL if not recorded."),
        label("host", "host_name; NULL if not recorded."),
        label("framework", "pytorch or mllm; NULL if not known."),
        code(
            "base_time_ns",
            "ns",
            "baseTimeNanoseconds: Unix time of the clock's zero; NULL if not recorded.",
        ),
        code(
            "start_ns",
            "ns",
            "Earliest start of work, which metadata, flows and clock marks are not; work whose \
             time was not set (issue time_not_set) does not count; NULL without any.",
        ),
        code("end_ns", "ns", "Latest end of the same work; NULL without any."),
        code(
            "duration_ns",
            "ns",
            "end_ns - start_ns; NULL without work, or if it does not fit 64 bits.",
        ),
        code("element_count", "count", "Elements in the event list: event_count + skipped_count."),
        code("event_count", "count", "Rows in events."),
        code("skipped_count", "count", "Elements without a row; ingest_issues says why."),
        json(
            "metadata",
            Layout::Plain,
            "All top-level keys other than the event list, as a compact JSON object.",
        ),
    ],
};
