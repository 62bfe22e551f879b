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
pub const TOPICS: &[Topic] = &[Topic {
    name: "kernel_classification",
    summary: "How kernels get a class, a collective and a matrix unit, what counts as \
              communication, and how to add rules.",
    file: "kernels.md",
    text: include_str!("../../docs/kernels.md"),
}];

/// The topic with this name.
pub fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|t| t.name.eq_ignore_ascii_case(name))
}
