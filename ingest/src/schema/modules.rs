use super::{TRACE_ID, Table, code, label, near};

/// Modules.
pub const TABLE: Table = Table {
    name: "modules",
    about: "One row per module at its place in the module tree, from nn.Module frames of Python \
            stacks, else from Module Hierarchy.",
    columns: &[
        TRACE_ID,
        code("module_id", "id", "Number of the module; parents come before children."),
        label("name", "Instance name, for example Conv2d_0 or layer1."),
        label("class", "Class, for example Conv2d; NULL if not known."),
        code("parent_module_id", "id", "The module that calls it; NULL for a root."),
        label("path", "Names from the root, joined by `.`."),
        code("depth", "count", "Number of enclosing modules."),
        near("first_ts_ns", "ns", "Start of the first call or operator."),
        code(
            "call_count",
            "count",
            "Number of calls; for Module Hierarchy the number of operators directly in it.",
        ),
        label("source", "python (nn.Module frames) or hierarchy (Module Hierarchy)."),
    ],
};
