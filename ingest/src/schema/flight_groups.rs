use super::{Layout, TRACE_ID, Table, code, json, label};

/// Process groups of flight recorder dumps.
pub const TABLE: Table = Table {
    name: "flight_groups",
    about: "One row per process group of a flight recorder dump, in the order of the file.",
    columns: &[
        TRACE_ID,
        code("group_id", "id", "Number of the group on this rank; NULL if no record names it."),
        label("group_name", "Name; NULL if only its status is known."),
        label("description", "Description; NULL if not recorded."),
        json(
            "ranks",
            Layout::Repeats,
            "Ranks of the group, in ascending order; NULL if not known.",
        ),
        code("size", "count", "Number of ranks; NULL if not known."),
        code(
            "last_enqueued_seq",
            "id",
            "Last collective that was scheduled; -1 for none, NULL if not recorded.",
        ),
        code(
            "last_started_seq",
            "id",
            "Last collective that had started; -1 for none, NULL if not recorded.",
        ),
        code(
            "last_completed_seq",
            "id",
            "Last collective that had completed; -1 for none, NULL if not recorded.",
        ),
    ],
};
