//! Writes the outcome of checks for people, for programs and for CI services.

mod github;
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

/// The outcome as a document. `width` is the width of the terminal.
pub fn write(verdict: &Verdict, style: Style, width: usize) -> String {
    match style {
        Style::Text => text::summary(verdict, width),
        Style::Json => json::object(verdict),
        Style::Junit => junit::document(verdict),
        Style::Github => github::annotations(verdict),
    }
}
