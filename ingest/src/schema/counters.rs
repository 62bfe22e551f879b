use super::{TRACE_ID, Table, code, float, label, near};

/// Values of counters over time.
pub const TABLE: Table = Table {
    name: "counters",
    about: "One row per series of each counter event, in the order of events.",
    columns: &[
        TRACE_ID,
        near("event_id", "id", "The event (events.event_id)."),
        near("ts_ns", "ns", "Time."),
        code("track_id", "id", "Track (tracks.track_id)."),
        label("name", "Name of the counter; of one beyond 16 KiB the beginning and a checksum."),
        label("series", "Name of the series: a key of the args."),
        float("value", "-", "Value; NULL if it is not a number."),
    ],
};
