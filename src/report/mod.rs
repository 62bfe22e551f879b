//! Reports on a store, as text, Markdown, JSON or one HTML page.
//!
//! A report is a list of sections ([`SECTIONS`]). Each section is one query over public views, and
//! all formats show the same answers. Nothing is measured here: every figure can be queried in SQL,
//! and every section contains its query.

mod answer;
mod bounded_rows;
mod classes;
mod collect;
mod column_unit;
mod flight_facts;
mod html;
mod job;
mod json;
mod markdown;
mod missing;
mod sections;
mod snapshot_facts;
mod stack_tree;
mod table;
mod text;

use std::path::Path;
use std::time::Duration;

pub use answer::{Answer, Column, Missing, Rest};
pub use collect::collect;
pub use sections::{SECTIONS, Section};

/// The format of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// Short, for a terminal.
    #[default]
    Text,
    /// For a comment on a pull request.
    Markdown,
    /// For programs.
    Json,
    /// One page that needs no network.
    Html,
}

impl Format {
    /// The format that matches the extension of a file name; `None` if the extension is unknown.
    pub fn of_file(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "html" | "htm" => Self::Html,
            "md" | "markdown" => Self::Markdown,
            "json" => Self::Json,
            "txt" => Self::Text,
            _ => return None,
        })
    }
}

/// A trace of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The name of the trace in the store.
    pub trace_id: String,
    /// The path of the input as the user gave it.
    pub path: String,
    /// The rank; `None` if it was not recorded.
    pub rank: Option<i64>,
    /// The format, such as `kineto`; `traces.format` lists them.
    pub format: String,
}

/// A setting that is not at its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSetting {
    /// Name.
    pub name: String,
    /// Its current value.
    pub value: Option<String>,
    /// Its default.
    pub default: Option<String>,
}

/// The answers of all sections for the traces of a store.
#[derive(Debug, Clone)]
pub struct Report {
    /// The traces in the report. Those of a job are ordered by rank.
    pub traces: Vec<Trace>,
    /// The names of the traces in the store that the report leaves out.
    pub left_out: Vec<String>,
    /// The settings that were changed.
    pub settings: Vec<ChangedSetting>,
    /// The answers of the sections that the format shows, in the order of [`SECTIONS`].
    pub answers: Vec<Answer>,
    /// The time that planning all queries took.
    pub planning: Duration,
}

impl Report {
    /// Writes the report in the format that it was collected for, or in a format that shows fewer
    /// sections. `width` is the width of the terminal for text.
    pub fn write(&self, format: Format, width: usize) -> String {
        match format {
            Format::Text => text::write(self, width),
            Format::Markdown => markdown::write(self),
            Format::Json => json::write(self),
            Format::Html => html::write(self),
        }
    }

    /// The data of the report's page as JSON, bounded like the page.
    pub fn page_data(&self) -> String {
        html::bounded(self)
    }

    /// The answer of a section.
    pub fn answer(&self, key: &str) -> Option<&Answer> {
        self.answers.iter().find(|a| a.section.key == key)
    }

    /// The keys of the sections whose query failed, with the error.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.answers.iter().filter_map(|a| Some((a.section.key, a.error.as_deref()?)))
    }
}
