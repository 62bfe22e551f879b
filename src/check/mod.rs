//! Checks of a pipeline: rules, assertions in SQL, and figures against a baseline.
//!
//! The outcome of each check is an [`Item`]; [`Verdict`] adds them up. A check that could not be
//! made never counts as passed.

mod assertions;
mod baseline;
mod judge;
mod metrics;
mod report;
mod rules;
mod thresholds;

use crate::error::Result;
pub use assertions::Assertion;
pub use baseline::{Baseline, version_error};
pub use judge::{Compared, compare};
pub use metrics::{Metric, RANK, Source, collect, sources};
pub use report::{Style, write};
pub use rules::{Selection, Severity, run as run_rules};
pub use thresholds::Thresholds;

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It found nothing wrong.
    Passed,
    /// It found something that does not fail the check.
    Noted,
    /// It could not be measured, which does not count as passed.
    NotMeasurable,
    /// The check failed.
    Failed,
    /// The check could not be made, because a query failed.
    Error,
}

impl Status {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Noted => "noted",
            Self::NotMeasurable => "not_measurable",
            Self::Failed => "failed",
            Self::Error => "error",
        }
    }
}

/// What kind of check it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A rule of the library or of the user.
    Rule,
    /// A query that must return no rows.
    Assertion,
    /// A figure compared with a baseline.
    Metric,
}

impl Kind {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Assertion => "assertion",
            Self::Metric => "metric",
        }
    }
}

/// One check with its outcome.
#[derive(Debug, Clone)]
pub struct Item {
    /// What kind of check.
    pub kind: Kind,
    /// Name of the rule, assertion or metric.
    pub name: String,
    /// The part of the trace that it is about: device, operator, …
    pub subject: Option<String>,
    /// The trace that it is about; `None` for all of them.
    pub trace: Option<String>,
    /// Its outcome.
    pub status: Status,
    /// Severity of a finding.
    pub severity: Option<Severity>,
    /// One sentence with the figures.
    pub message: String,
    /// Advice.
    pub advice: Option<String>,
    /// A query for the rows that show it.
    pub evidence: Option<String>,
    /// For assertions: file and line.
    pub place: Option<(String, usize)>,
    /// For assertions: rows that show it, after a row with the names of the columns.
    pub rows: Vec<Vec<String>>,
    /// Its figures, as JSON.
    pub figures: serde_json::Map<String, serde_json::Value>,
}

impl Item {
    /// A check with its outcome and no details.
    pub fn new(kind: Kind, name: &str, status: Status, message: String) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            subject: None,
            trace: None,
            status,
            severity: None,
            message,
            advice: None,
            evidence: None,
            place: None,
            rows: Vec::new(),
            figures: serde_json::Map::new(),
        }
    }

    /// Name and subject.
    pub fn title(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{} [{subject}]", self.name),
            None => self.name.clone(),
        }
    }
}

/// All checks of a call.
#[derive(Debug)]
pub struct Verdict {
    /// The store or trace as it was named.
    pub source: String,
    /// Its traces.
    pub traces: Vec<Source>,
    /// Each check, in order.
    pub items: Vec<Item>,
    /// Remarks for the user, for example which traces were compared.
    pub notes: Vec<String>,
    /// Under what limits the checks were made.
    pub limits: Limits,
}

/// Limits of checks that the user chose.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Findings of this severity and worse fail.
    pub severity: Severity,
    /// The file of thresholds; `None` for those of the program, or without a baseline.
    pub thresholds: Option<String>,
    /// Settings that are not at their defaults.
    pub settings: Vec<(String, crate::engine::Setting)>,
}

impl Verdict {
    /// Number of checks with this outcome.
    pub fn count(&self, status: Status) -> usize {
        self.items.iter().filter(|i| i.status == status).count()
    }

    /// Whether there were checks, and not one of them could be measured.
    pub fn nothing_was_measured(&self) -> bool {
        !self.items.is_empty() && self.count(Status::NotMeasurable) == self.items.len()
    }

    /// The exit code: 4 if a check could not be made, or none could be measured; 1 if one failed;
    /// else 0.
    pub fn exit_code(&self) -> u8 {
        if self.count(Status::Error) > 0 || self.nothing_was_measured() {
            4
        } else if self.count(Status::Failed) > 0 {
            1
        } else {
            0
        }
    }

    /// The verdict in one word.
    pub fn word(&self) -> &'static str {
        match self.exit_code() {
            0 => "passed",
            1 => "failed",
            _ => "error",
        }
    }
}

/// The message of a query's error in one line of bounded length. Messages of the planner may hold
/// whole plans and all columns.
fn brief(error: &crate::error::Error) -> String {
    let text = error.to_string();
    let line = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
    let line = line.split(" Valid fields are ").next().unwrap_or_default();
    let inner = ["SQL error: ParserError(\"", "SQL error: TokenizerError(\""]
        .iter()
        .find_map(|layer| line.strip_prefix(layer));
    crate::output::clip(inner.map_or(line, |inner| inner.trim_end_matches("\")")), 400)
}

/// Reads a file that the user named. An error of reading is one of an input (exit code 3).
fn read(path: &std::path::Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|e| tracesql_ingest::IngestError::io(path, e))?;
    String::from_utf8(bytes).map_err(|_| {
        crate::error::Error::Usage(format!("{}: the file is not UTF-8 text", path.display()))
    })
}
