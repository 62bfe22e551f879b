use super::{Kind, Layout, TRACE_ID, Table, code, column, json, label, near, required};

/// Frames of the stacks of a memory snapshot.
pub const TABLE: Table = Table {
    name: "memory_stacks",
    about: "One row per frame of each distinct stack of a memory snapshot, in the order of stacks, \
            root first.",
    columns: &[
        TRACE_ID,
        required(near("stack_id", "id", "The stack.")),
        required(near("depth", "count", "Number of frames above it: 0 is the root.")),
        label("name", "Function; NULL if not recorded."),
        label("file", "Source file, ?? if the symbol was not found; NULL if not recorded."),
        column(
            "line",
            Kind::Int,
            "number",
            Layout::Repeats,
            "Line in the file; 0 if unknown, NULL if not recorded.",
        ),
        code("frame_id", "id", "Number of the frame: equal frames have the same number."),
        json("extra", Layout::Repeats, "All other keys of the frame, such as those of torch.fx."),
    ],
};
