//! Writes the outcome of checks for people, for programs and for CI services.

mod github;
mod groups;
mod json;
mod junit;
mod text;

use super::Verdict;

/// The output format of the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// JUnit's XML
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

impl Style {
    /// The style that matches the extension of a file name.
    pub fn of_file(path: &std::path::Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "json" => Self::Json,
            "xml" => Self::Junit,
            "txt" => Self::Text,
            _ => return None,
        })
    }
}

/// How much the text lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Counts, and the names of some failed checks
    Brief,
    /// Every check that did not pass, with the results of several traces together
    Normal,
    /// Every result that did not pass
    Full,
}

/// The outcome as text. `width` is the width of the terminal.
pub fn text(verdict: &Verdict, width: usize, detail: Detail) -> String {
    text::summary(verdict, width, detail)
}

/// The outcome as a document. `width` is the width of the terminal.
pub fn write(verdict: &Verdict, style: Style, width: usize) -> String {
    match style {
        Style::Text => text(verdict, width, Detail::Normal),
        Style::Json => json::object(verdict),
        Style::Junit => junit::document(verdict),
        Style::Github => github::annotations(verdict),
    }
}
