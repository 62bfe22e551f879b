use super::{Kind, Layout, TRACE_ID, Table, column, label, near};

/// Arrows between events.
pub const TABLE: Table = Table {
    name: "flows",
    about: "One row per arrow between two events, in the order of the flow elements that start \
            them.",
    columns: &[
        TRACE_ID,
        label("kind", "Category of the flow (ac2g, fwdbwd, …); bind_id for flows of slices."),
        label("name", "Name of the flow."),
        column("flow_id", Kind::Text, "id", Layout::Plain, "Id of the flow, as text."),
        near(
            "src_event_id",
            "id",
            "The event it starts at (events.event_id); NULL if it touches none.",
        ),
        near("dst_event_id", "id", "The event it ends at; NULL if it touches none."),
        near("src_ts_ns", "ns", "Time of its start."),
        near("dst_ts_ns", "ns", "Time of its end."),
        near("src_flow_event_id", "id", "The flow element that starts it (events.event_id)."),
        near("dst_flow_event_id", "id", "The flow element that ends it."),
    ],
};
