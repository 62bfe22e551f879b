//! Pages of `docs/` that the program can print.

/// A page of documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topic {
    /// The name. No table, view, function or setting has the same name.
    pub name: &'static str,
    /// A summary of one sentence.
    pub summary: &'static str,
    /// The file in `docs/`.
    pub file: &'static str,
    /// Its text, in Markdown.
    pub text: &'static str,
}

/// All topics.
pub const TOPICS: &[Topic] = &[
    Topic {
        name: "kernel_classification",
        summary: "How kernels get a class, a collective and a matrix unit, what counts as \
                  communication, and how to add rules.",
        file: "kernels.md",
        text: include_str!("../../docs/kernels.md"),
    },
    Topic {
        name: "critical_paths",
        summary: "How the critical path of a step is found, its kinds, and how it differs from \
                  HTA's.",
        file: "critical-path.md",
        text: include_str!("../../docs/critical-path.md"),
    },
    Topic {
        name: "roofline",
        summary: "What operators compute and move, peaks of devices, lost time and MFU.",
        file: "roofline.md",
        text: include_str!("../../docs/roofline.md"),
    },
    Topic {
        name: "formats",
        summary: "Which tables are read from which format.",
        file: "formats.md",
        text: include_str!("../../docs/formats.md"),
    },
    Topic {
        name: "memory_snapshots",
        summary: "PyTorch memory snapshots: why memory ran out, in three queries.",
        file: "memory-snapshots.md",
        text: include_str!("../../docs/memory-snapshots.md"),
    },
    Topic {
        name: "nsight_and_amd",
        summary: "Files of Nsight Systems, rocprofv3 and rocmProfileData: what is read, and how.",
        file: "nsight-and-amd.md",
        text: include_str!("../../docs/nsight-and-amd.md"),
    },
    Topic {
        name: "files_beside_traces",
        summary: "What a job hangs on (flight recorder), execution traces, memory timelines, stacks \
                  of samples, and jobs of many files.",
        file: "beside-traces.md",
        text: include_str!("../../docs/beside-traces.md"),
    },
    Topic {
        name: "recording",
        summary: "How to record traces that contain what the tables need.",
        file: "recording.md",
        text: include_str!("../../docs/recording.md"),
    },
    Topic {
        name: "recipes",
        summary: "Stores, scripts, and the use of results in other tools.",
        file: "recipes.md",
        text: include_str!("../../docs/recipes.md"),
    },
    Topic {
        name: "shell",
        summary: "The shell: its commands, completion, results and errors.",
        file: "repl.md",
        text: include_str!("../../docs/repl.md"),
    },
    Topic {
        name: "pipelines",
        summary: "Checks, baselines and comparisons in continuous integration.",
        file: "ci.md",
        text: include_str!("../../docs/ci.md"),
    },
    Topic {
        name: "exports",
        summary: "Chrome traces and files of tables for other tools.",
        file: "export.md",
        text: include_str!("../../docs/export.md"),
    },
    Topic {
        name: "questions",
        summary: "Questions about traces, each with a query, its answer and advice.",
        file: "questions.md",
        text: include_str!("../../docs/questions.md"),
    },
    Topic {
        name: "troubleshooting",
        summary: "Empty tables, missing ranks, the cache, memory, and other surprises.",
        file: "troubleshooting.md",
        text: include_str!("../../docs/troubleshooting.md"),
    },
];

/// The topic with this name.
pub fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|t| t.name.eq_ignore_ascii_case(name))
}
