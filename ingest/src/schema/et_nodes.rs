use super::{Layout, TRACE_ID, Table, code, json, label, near};

/// Nodes of execution traces.
pub const TABLE: Table = Table {
    name: "et_nodes",
    about: "One row per node of a PyTorch execution trace (ExecutionTraceObserver, Chakra), in the \
            order of the file. Lists of inputs and outputs have one item for each argument.",
    columns: &[
        TRACE_ID,
        near("event_id", "id", "The event (events.event_id)."),
        near("node_id", "id", "Number of the node; NULL if not usable."),
        label("name", "Name of the operator, annotation or other part."),
        near("parent_id", "id", "The node that called it (node_id); its own for the root."),
        near(
            "rf_id",
            "id",
            "Record function id, which the profiler's trace of the same run has too; 0 for nodes \
             that no function made.",
        ),
        code("fw_parent_id", "id", "Node of the forward pass, for backward operators; 0 for none."),
        near("sequence_number", "id", "Sequence number; -1 for none."),
        code("scope", "id", "Scope: 0 function, 1 backward function, 7 user, and others."),
        code("tid", "id", "Thread."),
        code("fw_tid", "id", "Thread of the forward pass; 0 for none."),
        label("op_schema", "Schema of the operator; NULL for none."),
        label("kernel_backend", "Backend of a compiled kernel, such as triton; NULL for none."),
        label("kernel_file", "File of a compiled kernel; NULL for none."),
        json(
            "input_values",
            Layout::Repeats,
            "Inputs: a tensor as its id, storage, offset, and numbers of elements and bytes of each.",
        ),
        json("input_shapes", Layout::Repeats, "Shapes of the inputs."),
        json("input_types", Layout::Repeats, "Types of the inputs."),
        json("input_strides", Layout::Repeats, "Strides of the inputs; NULL before schema 1.1."),
        json("output_values", Layout::Repeats, "Outputs, as input_values."),
        json("output_shapes", Layout::Repeats, "Shapes of the outputs."),
        json("output_types", Layout::Repeats, "Types of the outputs."),
        json("output_strides", Layout::Repeats, "Strides of the outputs; NULL before schema 1.1."),
        json("attrs", Layout::Repeats, "All other attributes as an object; NULL for none."),
        json("extra", Layout::Repeats, "All other keys of the node as an object; NULL for none."),
    ],
};
