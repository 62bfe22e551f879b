use super::{TRACE_ID, Table, code, label, near};

/// Steps.
pub const TABLE: Table = Table {
    name: "steps",
    about: "One row per step on the host, in the order of their starts: ProfilerStep#N annotations, or \
            ranges with a name that --steps-from gives.",
    columns: &[
        TRACE_ID,
        code("step", "id", "Number of the step: N of ProfilerStep#N."),
        label("name", "Name of the annotation or range."),
        near("event_id", "id", "The event (events.event_id)."),
        code("track_id", "id", "Track (tracks.track_id)."),
        near("start_ns", "ns", "Start."),
        near("end_ns", "ns", "End, exclusive."),
        near("dur_ns", "ns", "Duration: end_ns - start_ns."),
    ],
};
