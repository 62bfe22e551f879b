use super::{Kind, Layout, TRACE_ID, Table, code, column, json, label, near, required};

/// Records of flight recorder dumps.
pub const TABLE: Table = Table {
    name: "flight_records",
    about: "One row per record of a flight recorder dump: a collective, send or receive that the \
            rank has scheduled. In the order of events.",
    columns: &[
        TRACE_ID,
        near("event_id", "id", "The event (events.event_id)."),
        near(
            "record_id",
            "id",
            "Number of the record since the process started; the buffer keeps the last ones.",
        ),
        code("group_id", "id", "Number of the process group on this rank (`pg_id`)."),
        label("group_name", "Name of the process group; NULL if not recorded."),
        label("group_description", "Its description, such as default_pg; NULL if not recorded."),
        near("collective_seq", "id", "Number of the collective in its group."),
        near("p2p_seq", "id", "Number of the send or receive in its group."),
        near("op_id", "id", "Number of the operation in its group, of any kind."),
        label("name", "Name, such as nccl:all_reduce."),
        required(column(
            "is_p2p",
            Kind::Bool,
            "flag",
            Layout::Repeats,
            "Whether it is a send or receive; false if not recorded.",
        )),
        label("state", "scheduled, started or completed, as written."),
        required(column(
            "retired",
            Kind::Bool,
            "flag",
            Layout::Repeats,
            "Whether the watchdog has seen its end and no longer watches it; false if not recorded.",
        )),
        near("created_ns", "ns", "When it was scheduled, as Unix time; NULL if not recorded."),
        near(
            "started_ns",
            "ns",
            "When the watchdog saw that it had started, later than the start by up to its \
             interval; NULL if it did not see that.",
        ),
        near(
            "completed_ns",
            "ns",
            "When the watchdog saw that it had completed; NULL if it did not see that.",
        ),
        near(
            "duration_ns",
            "ns",
            "Time on the device; NULL unless TORCH_NCCL_ENABLE_TIMING was set.",
        ),
        code("timeout_ns", "ns", "Timeout of the operation."),
        json("input_sizes", Layout::Repeats, "Shapes of the inputs."),
        json("input_dtypes", Layout::Repeats, "Types of the inputs."),
        json("output_sizes", Layout::Repeats, "Shapes of the outputs."),
        json("output_dtypes", Layout::Repeats, "Types of the outputs."),
        label("thread_id", "Thread that scheduled it, as written; NULL if not recorded."),
        label("thread_name", "Name of that thread; NULL if not recorded."),
    ],
};
