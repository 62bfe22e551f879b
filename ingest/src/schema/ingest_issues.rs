use super::{TRACE_ID, Table, code, label};

/// Issues that were found in the traces.
pub const TABLE: Table = Table {
    name: "ingest_issues",
    about: "One row per kind of oddity met while reading a trace.",
    columns: &[
        TRACE_ID,
        label(
            "severity",
            "info, warning (something was odd and was kept) or error (an element or bytes were not \
             kept).",
        ),
        label("code", "Kind of the issue; stable."),
        code("count", "count", "How often it was met."),
        code("skipped_count", "count", "How many elements have no row because of it."),
        code(
            "first_event_id",
            "id",
            "First element concerned, as position in the event list; NULL if none is.",
        ),
        code(
            "first_byte_offset",
            "-",
            "Where it begins in the decompressed text, from 0; NULL if not known.",
        ),
        label("example", "The text there, shortened."),
        label("detail", "What was met and what was done, with figures."),
    ],
};
