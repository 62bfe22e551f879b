use super::{
    Kind, Layout, TRACE_ID, Table, code, column, json, label, near, page_bounds, required,
};

/// Every element of the event list.
pub const TABLE: Table = Table {
    name: "events",
    about: "One row per element of the event list, whatever its phase, in the order of track, \
            start, longest first, file. rows + skipped elements (ingest_issues) = elements of \
            the input.",
    columns: &[
        TRACE_ID,
        required(page_bounds(near("event_id", "id", "Position in the event list, from 0."))),
        required(page_bounds(near("track_id", "id", "Track (tracks.track_id)."))),
        near("pid", "id", "Process id; NULL where the trace wrote text or none."),
        near(
            "tid",
            "id",
            "Thread id, or stream on devices; NULL where the trace wrote text, none, or a number \
             beyond 64 bits.",
        ),
        required(label(
            "ph",
            "Phase of the Chrome trace format: X complete, B/E begin/end, i instant, C counter, \
             s/t/f flow, M metadata, ….",
        )),
        label("cat", "Category as written; NULL if none."),
        label("name", "Name; NULL if none."),
        page_bounds(near(
            "ts_ns",
            "ns",
            "Start, in nanoseconds on the trace's own clock (traces.base_time_ns is its zero); \
             NULL for metadata without a time.",
        )),
        near(
            "dur_ns",
            "ns",
            "Duration; for a begin event the time to its end event; NULL if there is none.",
        ),
        page_bounds(near(
            "end_ns",
            "ns",
            "ts_ns + dur_ns, or ts_ns if dur_ns is negative; NULL without a duration.",
        )),
        page_bounds(near(
            "parent_id",
            "id",
            "Innermost event on the same track that encloses this one (events.event_id); NULL for \
             none.",
        )),
        code(
            "depth",
            "count",
            "Number of enclosing events; NULL for rows that take no part in nesting (E, C, M, \
             flows).",
        ),
        near("self_ns", "ns", "Duration less the union of the direct children."),
        required(near(
            "pre",
            "id",
            "Number within the trace in which an event comes before all that it encloses, and \
             nothing else between: its descendants are the rows with pre in (pre, post]. The \
             row number, but where events overlap.",
        )),
        required(near("post", "id", "pre of the last descendant, or the row's own.")),
        page_bounds(code(
            "step",
            "id",
            "N of the ProfilerStep#N whose time holds the start of a host row; device rows take \
             their launch's.",
        )),
        near("external_id", "id", "args `External id`; NULL for none (0, -1, 2^32-1)."),
        page_bounds(near(
            "correlation",
            "id",
            "args `correlation`, which joins launches and device work; NULL for none (0, -1, \
             2^32-1).",
        )),
        near(
            "sequence_number",
            "id",
            "args `Sequence number`, which joins forward and backward operators.",
        ),
        code("fwd_thread_id", "id", "args `Fwd thread id` of backward operators."),
        near("python_id", "id", "args `Python id` of Python frames."),
        near("python_parent_id", "id", "args `Python parent id`."),
        code("python_module_id", "id", "args `Python module id`."),
        code("device", "id", "args `device`."),
        page_bounds(code("stream", "id", "args `stream`.")),
        json("input_dims", Layout::Repeats, "args `Input Dims`: shapes of the inputs."),
        json("input_types", Layout::Repeats, "args `Input type`."),
        json("input_strides", Layout::Repeats, "args `Input Strides`."),
        json(
            "concrete_inputs",
            Layout::Repeats,
            "args `Concrete Inputs`: values of scalar inputs.",
        ),
        label(
            "call_stack",
            "args `Call stack`, as written: frames joined by `;`, leaf or root first depending on \
             the PyTorch version.",
        ),
        label("module_hierarchy", "args `Module Hierarchy`, as written."),
        required(column(
            "overlaps",
            Kind::Bool,
            "flag",
            Layout::Repeats,
            "True if it partly overlaps an earlier event on its track.",
        )),
        column(
            "id",
            Kind::Text,
            "id",
            Layout::Plain,
            "The element's `id` (flows, async events, counters), as text.",
        ),
        json(
            "args",
            Layout::Plain,
            "The complete args as compact JSON; a begin event's include those of its end event.",
        ),
        json(
            "extra",
            Layout::Plain,
            "All other keys of the element as a compact JSON object; also an `id` in quotes that \
             without them would be a number or another JSON value.",
        ),
    ],
};
