//! Pages of `docs/` that the program can print.

/// A page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topic {
    /// Name, which no table, view, function or setting has.
    pub name: &'static str,
    /// One sentence.
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

/// A topic by name.
pub fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|t| t.name.eq_ignore_ascii_case(name))
}
