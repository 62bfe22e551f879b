//! The descriptions of the tools. A client loads all of them into the context of its model, so they
//! are short.

use serde_json::{Map, Value, json};

/// A tool: its name, its purpose, its arguments, and the fields of its answer.
struct Tool {
    name: &'static str,
    about: &'static str,
    /// Name, type and meaning. A name with `!` must be given.
    arguments: &'static [(&'static str, &'static str, &'static str)],
    /// Name and type. A name with `?` may be missing.
    answer: &'static [(&'static str, &'static str)],
}

const TRACE: (&str, &str, &str) =
    ("trace", "string", "Only this trace: id, its beginning, or end of its path");

const TOOLS: &[Tool] = &[
    Tool {
        name: "overview",
        about: "What the open traces contain: figures of each, what was not recorded, the worst \
                findings, and the views that suit. Start here.",
        arguments: &[TRACE],
        answer: &[
            ("trace_count", "integer"),
            ("traces", "array"),
            ("not_recorded", "array"),
            ("findings", "array"),
            ("views", "array"),
            ("truncated", "boolean"),
        ],
    },
    Tool {
        name: "list_views",
        about: "Names and summaries of tables and views. Give words to search, or an area.",
        arguments: &[
            ("text", "string", "Words, such as: gpu idle"),
            ("area", "string", "Area, such as: memory"),
        ],
        answer: &[("views", "array"), ("areas", "array"), ("truncated", "boolean")],
    },
    Tool {
        name: "describe_view",
        about: "Columns with units, meaning, source and an example of a table or view.",
        arguments: &[
            ("name!", "string", "Name of the table or view"),
            ("sql", "boolean", "Also the SQL that defines it"),
        ],
        answer: &[
            ("name", "string"),
            ("area", "string"),
            ("summary", "string"),
            ("detail", "string"),
            ("columns", "array"),
            ("example", "string"),
            ("source", "string"),
            ("scope", "string|null"),
            ("sql?", "string"),
        ],
    },
    Tool {
        name: "query",
        about: "Runs one SQL query, read-only. Rows are lists in the order of columns; each column \
                has its unit. If truncated, why says so.",
        arguments: &[
            ("sql!", "string", "One statement"),
            ("parameters", "object", "Values of $name in the SQL"),
            ("max_rows", "integer", "1 to 1000; 100 if not given"),
            ("max_bytes", "integer", "1 to 40000; 20000 if not given"),
            ("columns_only", "boolean", "No rows, only columns"),
            ("summary", "boolean", "Counts, bounds and means of each column in place of rows"),
        ],
        answer: &[
            ("columns", "array"),
            ("rows", "array"),
            ("row_count", "integer"),
            ("truncated", "boolean"),
            ("why", "string|null"),
            ("elapsed_ms", "number"),
        ],
    },
    Tool {
        name: "findings",
        about: "What the rules found, worst first, each with its figure, limit, advice and the \
                query that shows the rows (evidence); and what could not be measured.",
        arguments: &[
            ("severity", "string", "Only: high, medium, low or info"),
            ("rule", "string", "Only this rule"),
            TRACE,
        ],
        answer: &[
            ("findings", "array"),
            ("not_measurable", "array"),
            ("ok", "integer"),
            ("truncated", "boolean"),
        ],
    },
    Tool {
        name: "compare",
        about: "Compares open traces: slower, faster or noise, by the spread of the steps.",
        arguments: &[
            ("base!", "string|array", "Trace or traces to compare with"),
            ("candidate!", "string|array", "Trace or traces that are compared"),
            (
                "by",
                "string",
                "step, category, op, family, kernel, kernel_type, class or module; step if not \
                 given",
            ),
            ("max_rows", "integer", "1 to 200; 20 if not given"),
        ],
        answer: &[
            ("base", "object"),
            ("candidate", "object"),
            ("rows", "array"),
            ("verdicts", "object"),
            ("differences", "array"),
            ("warnings", "array"),
            ("truncated", "boolean"),
        ],
    },
    Tool {
        name: "event",
        about: "One event: its row, what encloses it, device work and launches, arrows, args.",
        arguments: &[
            ("event_id!", "integer|string", "events.event_id"),
            ("trace", "string", "The trace, if several are open"),
        ],
        answer: &[
            ("event", "object"),
            ("parents", "array"),
            ("device_work", "array"),
            ("flows", "array"),
            ("truncated", "boolean"),
        ],
    },
    Tool {
        name: "functions",
        about: "SQL functions for traces: signature, summary, example. Those of DataFusion exist \
                too.",
        arguments: &[("text", "string", "Words or a name")],
        answer: &[("functions", "array"), ("truncated", "boolean")],
    },
];

const OPEN_TRACE: Tool = Tool {
    name: "open_trace",
    about: "Opens one more trace of the folder that the user allowed.",
    arguments: &[("path!", "string", "Path in the folder")],
    answer: &[("traces", "array"), ("truncated", "boolean")],
};

/// All tools that only read, in their order.
pub fn tools() -> Vec<Value> {
    TOOLS.iter().map(|tool| described(tool, true)).collect()
}

/// The tool that reads a trace into the cache of the user.
pub fn open_trace() -> Value {
    described(&OPEN_TRACE, false)
}

/// The names of a tool's arguments; `None` if there is no such tool.
pub fn arguments(name: &str, can_open: bool) -> Option<Vec<&'static str>> {
    let opens = can_open.then_some(&OPEN_TRACE);
    let tool = TOOLS.iter().chain(opens).find(|tool| tool.name == name)?;
    Some(tool.arguments.iter().map(|(name, ..)| name.trim_end_matches('!')).collect())
}

fn described(tool: &Tool, reads_only: bool) -> Value {
    let arguments = tool.arguments.iter().map(|(name, kind, about)| {
        let mut schema = kind_of(kind);
        schema["description"] = (*about).into();
        (name.trim_end_matches('!').to_owned(), schema)
    });
    let needed: Vec<&str> =
        tool.arguments.iter().filter_map(|(name, ..)| name.strip_suffix('!')).collect();
    let fields = tool
        .answer
        .iter()
        .map(|(name, kind)| (name.trim_end_matches('?').to_owned(), kind_of(kind)));
    let always: Vec<&str> =
        tool.answer.iter().map(|(name, _)| *name).filter(|name| !name.ends_with('?')).collect();
    let mut input = json!({
        "type": "object",
        "properties": arguments.collect::<Map<_, _>>(),
        "additionalProperties": false,
    });
    if !needed.is_empty() {
        input["required"] = json!(needed);
    }
    json!({
        "name": tool.name,
        "description": tool.about,
        "inputSchema": input,
        "outputSchema": {
            "type": "object",
            "properties": fields.collect::<Map<_, _>>(),
            "required": always,
        },
        "annotations": {
            "readOnlyHint": reads_only,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        },
    })
}

fn kind_of(kind: &str) -> Value {
    match kind.split('|').collect::<Vec<_>>()[..] {
        [one] => json!({"type": one}),
        ref several => json!({"type": several}),
    }
}
