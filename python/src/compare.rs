//! Comparisons of two sessions.

use pyo3::prelude::*;
use tracesql::compare::{self, By, Condition, Side, Style};
use tracesql::engine::Engine;
use tracesql::{Error, check};

use crate::errors::exception;
use crate::profiles::parsed;
use crate::session::Session;
use crate::wait;

/// A comparison.
#[pyclass(frozen, module = "tracesql._native")]
pub struct Comparison(compare::Comparison);

const STYLES: &[(&str, Style)] = &[
    ("text", Style::Text),
    ("markdown", Style::Markdown),
    ("json", Style::Json),
    ("html", Style::Html),
];

#[pymethods]
impl Comparison {
    /// The conditions that are met, each with what meets it.
    #[getter]
    fn failures(&self) -> Vec<(String, String)> {
        self.0.failures.iter().map(|f| (f.condition.clone(), f.message.clone())).collect()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// The comparison as text, markdown, json or html.
    fn write(&self, style: &str, width: usize, limit: usize) -> PyResult<String> {
        let style = parsed("format", style, STYLES)?;
        compare::write(&self.0, style, width, limit).map_err(exception)
    }
}

/// Compares the traces of two sessions.
#[pyfunction]
#[pyo3(name = "compare")]
#[pyo3(signature = (base, cand, by, fail_on))]
pub fn run(
    py: Python<'_>,
    base: &Bound<'_, Session>,
    cand: &Bound<'_, Session>,
    by: Vec<String>,
    fail_on: Vec<String>,
) -> PyResult<Comparison> {
    let (base, cand) = (base.get(), cand.get());
    let known: Vec<(&str, By)> = By::ALL.iter().map(|by| (by.name(), *by)).collect();
    let by = by.iter().map(|by| parsed("by", by, &known)).collect::<PyResult<Vec<_>>>()?;
    let by = if by.is_empty() { By::ALL.to_vec() } else { by };
    let conditions = fail_on.iter().map(|c| c.parse::<Condition>()).collect::<Result<Vec<_>, _>>();
    let conditions = conditions.map_err(|e| exception(Error::Usage(e)))?;
    let (base_ids, cand_ids) = (base.trace_ids(), cand.trace_ids());
    let mut options = base.options.clone();
    options.settings.push(("compare_base".to_owned(), base_ids.join(";")));
    options.settings.push(("compare_candidate".to_owned(), cand_ids.join(";")));
    let sides = [
        (base.location.store(), Some(base_ids.as_slice())),
        (cand.location.store(), Some(cand_ids.as_slice())),
    ];
    let engine = Engine::open_together(&sides, &options).map_err(exception)?;
    let side = |session: &Session, traces: &[String]| Side {
        name: session.name.clone(),
        traces: traces.to_vec(),
        steps: 0,
    };
    let sides = (side(base, &base_ids), side(cand, &cand_ids));
    let work = async move { compared(&engine, by, &conditions, sides).await };
    wait::query(py, &base.threads, work)?.map(Comparison).map_err(exception)
}

async fn compared(
    engine: &Engine,
    by: Vec<By>,
    conditions: &[Condition],
    (mut base, mut cand): (Side, Side),
) -> tracesql::Result<compare::Comparison> {
    let mut needed = by.clone();
    needed.extend(conditions.iter().map(|c| c.by));
    needed.sort();
    needed.dedup();
    let rows = compare::rows(engine, &needed).await?;
    if rows.is_empty() {
        let names: Vec<&str> = needed.iter().map(|b| b.name()).collect();
        return Err(Error::Query(format!(
            "neither side has anything to compare by {}",
            names.join(", ")
        )));
    }
    if let Some(why) = compare::apart(engine, &rows).await? {
        return Err(Error::Query(format!("nothing compares: {why}")));
    }
    let mut failures = Vec::new();
    for condition in conditions {
        failures.extend(condition.failures(&rows)?);
    }
    (base.steps, cand.steps) = compare::steps(engine).await?;
    let sources = check::sources(engine).await?;
    let mut notes = lost_ranks(&sources, &base, &cand);
    if !conditions.is_empty() {
        failures.extend(notes.iter().map(|message| compare::Failure {
            condition: "ranks".to_owned(),
            message: message.clone(),
        }));
    }
    if base.traces == cand.traces {
        notes.push("both sides have the same traces".to_owned());
    }
    for side in [("the base", base.steps), ("the candidate", cand.steps)] {
        if side.1 == 0 {
            notes.push(format!(
                "{} has no steps, so no difference can be told from noise; call prof.step() at \
                 the end of each step",
                side.0
            ));
        }
    }
    if by.contains(&compare::By::Step) {
        notes.extend(compare::utilization(engine).await?);
    }
    if !rows.iter().any(|r| r.is_on_both() && r.says_what()) {
        notes.push("no name is on both sides: all that is shown is added or removed".to_owned());
    }
    let (differences, warnings) = compare::environments(engine).await?;
    Ok(compare::Comparison { base, cand, by, rows, failures, differences, warnings, notes })
}

/// Ranks that only one side has, where both sides recorded several.
fn lost_ranks(sources: &[check::Source], base: &Side, cand: &Side) -> Vec<String> {
    let ranks = |side: &Side| -> Vec<&str> {
        let of_side = sources.iter().filter(|s| side.traces.contains(&s.trace_id));
        let mut labels: Vec<&str> =
            of_side.map(|s| s.label.as_str()).filter(|l| l.starts_with(check::RANK)).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    };
    let (base, cand) = (ranks(base), ranks(cand));
    let is_one_with_one = base.len() == 1 && cand.len() == 1;
    if base.is_empty() || cand.is_empty() || is_one_with_one {
        return Vec::new();
    }
    let lost = |from: &[&str], of: &[&str], side| -> Vec<String> {
        let missing = from.iter().filter(|rank| !of.contains(rank));
        missing.map(|rank| format!("the {side} has no trace of {rank}")).collect()
    };
    [lost(&base, &cand, "candidate"), lost(&cand, &base, "base")].concat()
}
