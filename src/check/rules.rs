//! Runs rules. They run at the same time and compute shared views once. Each rule is a query of its
//! own, so that a failure can be reported with the name of the rule.

use super::{Item, Kind, RANK, Source, Status, brief};
use crate::engine::{Engine, Object, int, number, text};
use crate::error::{Error, Result};
use crate::library::{RULE_COLUMNS, View};
use crate::suggest::{hint, most_similar};

/// The severity of a finding, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// High
    High,
    /// Medium
    Medium,
    /// Low
    Low,
    /// Info
    Info,
}

impl Severity {
    /// The name of the severity in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Info => "info",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::High, Self::Medium, Self::Low, Self::Info].into_iter().find(|s| s.name() == name)
    }
}

/// Which rules run, and which of their results make the check fail.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Run only these rules. If the list is empty, all rules run.
    pub only: Vec<String>,
    /// Leave out these rules. `all` leaves out every rule.
    pub skip: Vec<String>,
    /// Rules that fail if they cannot be measured. `all` stands for every rule.
    pub require: Vec<String>,
    /// Findings of this or a worse severity fail.
    pub severity: Severity,
}

const ALL: &str = "all";

impl Selection {
    /// The rules to run. A name of a rule that does not exist is an error.
    pub fn rules<'a>(&self, engine: &'a Engine) -> Result<Vec<&'a View>> {
        let names: Vec<&str> = engine.library().rules().filter_map(View::rule_name).collect();
        let named = |option: &str, list: &[String]| {
            let unknown = list.iter().find(|n| n.as_str() != ALL && !names.contains(&rule_name(n)));
            unknown.map_or(Ok(()), |name| {
                let hint = hint(most_similar(rule_name(name), names.iter().copied()));
                Err(Error::Usage(format!(
                    "{option} {name}: there is no rule of that name{hint}; \
                     `tracesql docs rules` lists all"
                )))
            })
        };
        named("--rule", &self.only)?;
        named("--skip", &self.skip)?;
        named("--require", &self.require)?;
        let is_in =
            |list: &[String], name: &str| list.iter().any(|n| n == ALL || rule_name(n) == name);
        let chosen = |v: &&View| {
            let name = v.rule_name().unwrap_or_default();
            (self.only.is_empty() || is_in(&self.only, name)) && !is_in(&self.skip, name)
        };
        let rules: Vec<&View> = engine.library().rules().filter(chosen).collect();
        let is_run = |name: &str| {
            name == ALL || rules.iter().any(|v| v.rule_name() == Some(rule_name(name)))
        };
        if let Some(name) = self.require.iter().find(|n| !is_run(n)) {
            return Err(Error::Usage(format!(
                "--require {name}: the rule is not among those that are run"
            )));
        }
        Ok(rules)
    }

    fn is_required(&self, rule: &str) -> bool {
        self.require.iter().any(|n| n == ALL || rule_name(n) == rule)
    }
}

fn rule_name(name: &str) -> &str {
    name.strip_prefix("rule_").unwrap_or(name)
}

/// Runs rules over all traces of a session.
pub async fn run(
    engine: &Engine,
    rules: &[&View],
    selection: &Selection,
    traces: &[Source],
) -> Vec<Item> {
    let mut items = Vec::new();
    let columns: Vec<&str> = RULE_COLUMNS.iter().map(|(name, _)| *name).collect();
    let query = |view: &&View| {
        format!(
            "SELECT {} FROM {} ORDER BY trace_id, severity, step, device, subject",
            columns.join(", "),
            view.name
        )
    };
    let answers = engine.objects_of_all(&rules.iter().map(query).collect::<Vec<_>>()).await;
    for (view, answer) in rules.iter().zip(answers) {
        let name = view.rule_name().unwrap_or(&view.name);
        match answer {
            Ok(rows) => {
                items.extend(rows.iter().map(|row| item(name, row, selection, traces)));
                items.extend(
                    traces.iter().filter_map(|t| without_row(name, t, &rows, selection, traces)),
                );
            }
            Err(e) => items.push(Item::new(
                Kind::Rule,
                name,
                Status::Error,
                format!("the rule failed: {}", brief(&e)),
            )),
        }
    }
    items
}

fn item(rule: &str, row: &Object, selection: &Selection, traces: &[Source]) -> Item {
    let get = |column: &str| text(row, column);
    let status = get("status").unwrap_or_default();
    let severity = get("severity");
    let known = severity.as_deref().and_then(Severity::of);
    let message = get("message").or_else(|| get("reason")).unwrap_or_else(|| status.clone());
    let (status, message) = match (status.as_str(), known) {
        ("ok", _) => (Status::Passed, message),
        ("not_measurable", _) => {
            let why = get("reason").unwrap_or(message);
            if selection.is_required(rule) {
                (Status::Failed, format!("required, but not measurable: {why}"))
            } else {
                (Status::NotMeasurable, why)
            }
        }
        ("finding", Some(known)) => {
            (if known <= selection.severity { Status::Failed } else { Status::Noted }, message)
        }
        ("finding", None) => {
            let has = severity.as_deref().unwrap_or("NULL");
            (
                Status::Error,
                format!(
                    "the rule gives a finding the severity {has}; it must be high, medium, low or \
                    info"
                ),
            )
        }
        (other, _) => (
            Status::Error,
            format!(
                "the rule gives the status {other:?}; it must be finding, ok or not_measurable"
            ),
        ),
    };
    let trace = get("trace_id");
    let mut item = Item::new(Kind::Rule, rule, status, message);
    item.severity = known.filter(|_| matches!(status, Status::Failed | Status::Noted));
    item.trace = trace.as_ref().map(|id| {
        traces.iter().find(|t| t.trace_id == *id).map_or(id.clone(), |t| label(t, traces))
    });
    item.subject = subject(row);
    item.advice = get("advice");
    item.evidence = get("evidence");
    for column in [
        "trace_id",
        "value",
        "unit",
        "threshold",
        "numerator",
        "denominator",
        "numerator_name",
        "denominator_name",
        "rank",
        "device",
        "step",
    ] {
        if let Some(value) = row.get(column) {
            item.figures.insert(column.to_owned(), value.clone());
        }
    }
    if number(row, "value").is_none()
        && status == Status::Failed
        && !item.message.contains("required")
    {
        item.figures.insert("value".to_owned(), serde_json::Value::Null);
    }
    item
}

/// The subject, device and step of a finding.
fn subject(row: &Object) -> Option<String> {
    let mut parts: Vec<String> = text(row, "subject").into_iter().collect();
    parts.extend(int(row, "device").map(|d| format!("device {d}")));
    parts.extend(int(row, "step").map(|s| format!("step {s}")));
    if parts.is_empty() { None } else { Some(parts.join(", ")) }
}

/// The item for a trace that a rule returned no row for. It does not count as passed.
fn without_row(
    rule: &str,
    trace: &Source,
    rows: &[Object],
    selection: &Selection,
    traces: &[Source],
) -> Option<Item> {
    if rows.iter().any(|r| text(r, "trace_id").as_deref() == Some(&trace.trace_id)) {
        return None;
    }
    let status = if selection.is_required(rule) { Status::Failed } else { Status::NotMeasurable };
    let mut item =
        Item::new(Kind::Rule, rule, status, "the rule gives no row for this trace".to_owned());
    item.trace = Some(label(trace, traces));
    Some(item)
}

/// The label of a trace. If several traces have the same label, the name of the trace identifies it.
fn label(trace: &Source, traces: &[Source]) -> String {
    if traces.iter().filter(|t| t.label == trace.label).count() < 2 {
        trace.label.clone()
    } else if trace.label.starts_with(RANK) {
        format!("{} ({})", trace.trace_id, trace.label)
    } else {
        trace.trace_id.clone()
    }
}
