//! The outcome of checks, written for people, programs, and the services that run pipelines.

mod github;
mod json;
mod junit;
mod text;

use super::Verdict;

/// How the outcome is written.
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
    /// The style that a file's name asks for.
    pub fn of_file(path: &std::path::Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "json" => Self::Json,
            "xml" => Self::Junit,
            "txt" => Self::Text,
            _ => return None,
        })
    }
}

/// The outcome as a document; `width` is that of the terminal.
pub fn write(verdict: &Verdict, style: Style, width: usize) -> String {
    match style {
        Style::Text => text::summary(verdict, width),
        Style::Json => json::object(verdict),
        Style::Junit => junit::document(verdict),
        Style::Github => github::annotations(verdict),
    }
}
