//! Checks for a pipeline: rules, assertions in SQL, and comparisons with a baseline.
//!
//! Each result is an [`Item`], and the results of a rule for a trace are one [`Check`]. A
//! [`Verdict`] sums up all checks. A check that could not be made never counts as passed.

mod assertions;
mod baseline;
mod checks;
mod judge;
mod metrics;
mod report;
mod rules;
mod thresholds;

use crate::environment::Difference;
use crate::error::Result;
pub use assertions::Assertion;
pub use baseline::{Baseline, version_error};
pub use checks::{Check, Counts, checks, findings};
pub use judge::{Compared, compare};
pub use metrics::{Metric, RANK, Source, collect, sources};
pub use report::{Detail, Style, text, write};
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
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Rule, Self::Assertion, Self::Metric];

    /// The name of the kind in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Assertion => "assertion",
            Self::Metric => "metric",
        }
    }
}

/// A result of a check.
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

    /// Whether this is a finding of a rule.
    pub fn is_finding(&self) -> bool {
        self.kind == Kind::Rule && self.severity.is_some()
    }

    /// Whether this is a metric that one side does not have, which the thresholds allow.
    pub fn is_missing_metric(&self) -> bool {
        let is_null = |side: &str| self.figures.get(side).is_some_and(serde_json::Value::is_null);
        self.kind == Kind::Metric
            && self.status == Status::Noted
            && (is_null("baseline") || is_null("value"))
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
    /// The results, in order.
    pub items: Vec<Item>,
    /// Properties of the environment in which the traces differ from those of the baseline.
    pub differences: Vec<Difference>,
    /// Reasons to doubt the comparison with the baseline as a whole.
    pub warnings: Vec<String>,
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
    /// Whether there is a result with this status.
    fn has(&self, status: Status) -> bool {
        self.items.iter().any(|i| i.status == status)
    }

    /// Whether there were checks but none of them could be measured.
    pub fn nothing_was_measured(&self) -> bool {
        !self.items.is_empty() && self.items.iter().all(|i| i.status == Status::NotMeasurable)
    }

    /// The exit code: 4 if a check could not be made or if none could be measured, else 1 if a
    /// check failed, else 0.
    pub fn exit_code(&self) -> u8 {
        if self.has(Status::Error) || self.nothing_was_measured() {
            4
        } else if self.has(Status::Failed) {
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
