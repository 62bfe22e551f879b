//! Checks for a pipeline: rules, assertions in SQL, and comparisons with a baseline.
//!
//! The outcome of each check is an [`Item`]. A [`Verdict`] sums up all items. A check that could
//! not be made never counts as passed.

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
    /// The check found nothing wrong.
    Passed,
    /// The check found something that does not make it fail.
    Noted,
    /// The check could not be measured. This does not count as passed.
    NotMeasurable,
    /// The check failed.
    Failed,
    /// The check could not be made, because a query failed.
    Error,
}

impl Status {
    /// The name of the status in results.
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

/// The kind of a check.
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
    /// The name of the kind in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Assertion => "assertion",
            Self::Metric => "metric",
        }
    }
}

/// A check with its outcome.
#[derive(Debug, Clone)]
pub struct Item {
    /// The kind of check.
    pub kind: Kind,
    /// The name of the rule, assertion or metric.
    pub name: String,
    /// The part of the trace that the check is about, such as a device or an operator.
    pub subject: Option<String>,
    /// The trace that the check is about. `None` stands for all traces.
    pub trace: Option<String>,
    /// The outcome.
    pub status: Status,
    /// The severity of a finding.
    pub severity: Option<Severity>,
    /// A sentence that contains the figures.
    pub message: String,
    /// Advice to the user.
    pub advice: Option<String>,
    /// A query that returns the rows that show the finding.
    pub evidence: Option<String>,
    /// The file and line of an assertion.
    pub place: Option<(String, usize)>,
    /// The rows that make an assertion fail, after a row with the column names.
    pub rows: Vec<Vec<String>>,
    /// The figures as JSON.
    pub figures: serde_json::Map<String, serde_json::Value>,
}

impl Item {
    /// Creates an item without details.
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

    /// The name together with the subject.
    pub fn title(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{} [{subject}]", self.name),
            None => self.name.clone(),
        }
    }
}

/// All checks of a call of `tracesql check`.
#[derive(Debug)]
pub struct Verdict {
    /// The store or trace as the user named it.
    pub source: String,
    /// The traces of the store.
    pub traces: Vec<Source>,
    /// The outcome of each check, in order.
    pub items: Vec<Item>,
    /// Notes for the user, for example which traces were compared.
    pub notes: Vec<String>,
    /// The limits that the checks used.
    pub limits: Limits,
}

/// The limits of checks that the user chose.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Findings of this or a worse severity fail.
    pub severity: Severity,
    /// The file of thresholds. `None` stands for the built-in thresholds, or for a call without a
    /// baseline.
    pub thresholds: Option<String>,
    /// Settings that are not at their defaults.
    pub settings: Vec<(String, crate::engine::Setting)>,
}

impl Verdict {
    /// The number of checks with this status.
    pub fn count(&self, status: Status) -> usize {
        self.items.iter().filter(|i| i.status == status).count()
    }

    /// Whether there were checks but none of them could be measured.
    pub fn nothing_was_measured(&self) -> bool {
        !self.items.is_empty() && self.count(Status::NotMeasurable) == self.items.len()
    }

    /// The exit code: 4 if a check could not be made or if none could be measured, else 1 if a
    /// check failed, else 0.
    pub fn exit_code(&self) -> u8 {
        if self.count(Status::Error) > 0 || self.nothing_was_measured() {
            4
        } else if self.count(Status::Failed) > 0 {
            1
        } else {
            0
        }
    }

    /// The verdict as a single word.
    pub fn word(&self) -> &'static str {
        match self.exit_code() {
            0 => "passed",
            1 => "failed",
            _ => "error",
        }
    }
}

/// The message of a query's error in one line of bounded length. The planner's messages can contain
/// whole plans and lists of all columns.
fn brief(error: &crate::error::Error) -> String {
    let text = error.to_string();
    let line = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
    let line = line.split(" Valid fields are ").next().unwrap_or_default();
    let inner = ["SQL error: ParserError(\"", "SQL error: TokenizerError(\""]
        .iter()
        .find_map(|layer| line.strip_prefix(layer));
    crate::output::clip(inner.map_or(line, |inner| inner.trim_end_matches("\")")), 400)
}

/// Reads a file that the user named. A failure counts as an input error (exit code 3).
fn read(path: &std::path::Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|e| tracesql_ingest::IngestError::io(path, e))?;
    String::from_utf8(bytes).map_err(|_| {
        crate::error::Error::Usage(format!("{}: the file is not UTF-8 text", path.display()))
    })
}
