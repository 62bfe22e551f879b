//! Checks: rules, assertions, and comparisons with a baseline.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use tracesql::check::{
    self, Assertion, Baseline, Compared, Counts, Limits, Metric, Selection, Severity, Source,
    Status, Style, Thresholds,
};
use tracesql::engine::{Engine, text};
use tracesql::environment::Environment;
use tracesql::output::{Target, write_document};
use tracesql::{Error, Result};

use crate::errors::exception;
use crate::profiles::parsed;
use crate::session::Session;
use crate::wait;

/// Metrics by the label of their trace, their name and their subject.
type Metrics = BTreeMap<(String, String, Option<String>), Metric>;

/// The outcome of checks.
#[pyclass(frozen, module = "tracesql._native")]
pub struct Verdict(check::Verdict);

const STYLES: &[(&str, Style)] = &[
    ("text", Style::Text),
    ("json", Style::Json),
    ("junit", Style::Junit),
    ("github", Style::Github),
];

const SEVERITIES: &[(&str, Severity)] = &[
    ("high", Severity::High),
    ("medium", Severity::Medium),
    ("low", Severity::Low),
    ("info", Severity::Info),
];

#[pymethods]
impl Verdict {
    /// passed, failed or error.
    #[getter]
    fn word(&self) -> &'static str {
        self.0.word()
    }

    /// The number of checks with each outcome.
    #[getter]
    fn counts(&self) -> Vec<(&'static str, usize)> {
        let counts = Counts::of_all(&self.0);
        vec![
            (Status::Passed.name(), counts.passed),
            (Status::Noted.name(), counts.noted),
            (Status::NotMeasurable.name(), counts.not_measurable),
            (Status::Failed.name(), counts.failed),
            (Status::Error.name(), counts.errors),
        ]
    }

    /// The outcome as text, json, junit or github.
    fn write(&self, style: &str, width: usize) -> PyResult<String> {
        Ok(check::write(&self.0, parsed("format", style, STYLES)?, width))
    }
}

/// What a baseline is read from.
#[derive(FromPyObject)]
pub enum Base<'py> {
    Session(Bound<'py, Session>),
    File(PathBuf),
}

/// Runs rules and assertions, and compares metrics with a baseline.
#[pyfunction]
#[pyo3(name = "check")]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (
    session, rules, skip, require, severity, assertions, baseline, thresholds, save_baseline,
    max_rows
))]
pub fn run(
    py: Python<'_>,
    session: &Bound<'_, Session>,
    rules: Vec<String>,
    skip: Vec<String>,
    require: Vec<String>,
    severity: &str,
    assertions: Vec<PathBuf>,
    baseline: Option<Base<'_>>,
    thresholds: Option<PathBuf>,
    save_baseline: Option<PathBuf>,
    max_rows: usize,
) -> PyResult<Verdict> {
    let session = session.get();
    let severity = parsed("severity", severity, SEVERITIES)?;
    let thresholds = Thresholds::load(thresholds.as_deref()).map_err(exception)?;
    let baseline = baseline.map(|b| read_baseline(py, session, b)).transpose()?;
    let selection = Selection { only: rules, skip, require, severity };
    let (engine, source) = (session.engine.clone(), session.name.clone());
    let work = async move {
        refuse_problems(&engine)?;
        let rules = selection.rules(&engine)?;
        let mut queries = Vec::new();
        for file in &assertions {
            queries.extend(Assertion::read(file, &engine)?);
        }
        if engine.traces().is_empty() {
            return Err(Error::Usage("the session has no traces, so nothing is to check".into()));
        }
        if rules.is_empty() && queries.is_empty() && baseline.is_none() && save_baseline.is_none() {
            return Err(Error::Usage(
                "there is nothing to check: no rule is chosen, and no assertions or baseline"
                    .into(),
            ));
        }
        let traces = check::sources(&engine).await?;
        let (mut compared, mut saved) = (Compared::default(), None);
        if baseline.is_some() || save_baseline.is_some() {
            let metrics = check::collect(&engine, &traces).await;
            if let (Ok(metrics), Some(path)) = (&metrics, &save_baseline) {
                let environment = Environment::read(&engine).await?;
                let document = Baseline::document(&traces, &environment, metrics)?;
                write_document(document.as_bytes(), &Target::File(path.clone()))?;
                saved = Some(format!("the figures were written to {}", path.display()));
            }
            // A failure here counts as a check, so that the others are still reported. A mistake in
            // the call ends the check.
            let found = match (metrics, baseline) {
                (Ok(metrics), Some(baseline)) => {
                    judged(&engine, &traces, baseline, &metrics, &thresholds).await
                }
                (metrics, _) => metrics.map(|_| Compared::default()),
            };
            match found {
                Ok(found) => compared = found,
                Err(e @ Error::Usage(_)) => return Err(e),
                Err(e) => compared.items.push(check::Item::new(
                    check::Kind::Metric,
                    "baseline",
                    Status::Error,
                    e.to_string(),
                )),
            }
        }
        let mut items = check::run_rules(&engine, &rules, &selection, &traces).await;
        for query in &queries {
            items.push(query.run(&engine, max_rows).await);
        }
        items.append(&mut compared.items);
        let Compared { differences, warnings, notes, .. } = compared;
        let notes = notes.into_iter().chain(saved).collect();
        let limits = Limits {
            severity,
            thresholds: (!thresholds.is_built_in).then(|| thresholds.name.clone()),
            settings: engine.settings().changed(),
        };
        Ok(check::Verdict { source, traces, items, differences, warnings, notes, limits })
    };
    wait::query(py, &session.threads, work)?.map(Verdict).map_err(exception)
}

/// The figures compared with those of a baseline.
async fn judged(
    engine: &Engine,
    traces: &[Source],
    baseline: Baseline,
    metrics: &Metrics,
    thresholds: &Thresholds,
) -> Result<Compared> {
    let rows = engine.objects("SELECT metric FROM metric_definitions").await?;
    let mut names: Vec<String> = rows.iter().filter_map(|r| text(r, "metric")).collect();
    let measured = metrics.keys().chain(baseline.metrics.keys());
    names.extend(measured.map(|(_, metric, _)| metric.clone()));
    thresholds.validate(&names)?;
    let environment = Environment::read(engine).await?;
    check::compare(baseline, traces, &environment, metrics, thresholds)
}

/// The metrics of a baseline: of another session, or of a file that a check wrote.
fn read_baseline(py: Python<'_>, session: &Session, base: Base<'_>) -> PyResult<Baseline> {
    let base = match base {
        Base::File(path) => return Baseline::read(&path).map_err(exception),
        Base::Session(base) => base,
    };
    let base = base.get();
    let is_same = base.trace_ids() == session.trace_ids();
    let (engine, name) = (base.engine.clone(), base.name.clone());
    let work = async move {
        let sources = check::sources(&engine).await?;
        let metrics = check::collect(&engine, &sources).await?;
        let mut labels: Vec<String> = sources.iter().map(|s| s.label.clone()).collect();
        labels.sort();
        labels.dedup();
        let note = is_same.then(|| format!("{name} has the same traces as the candidate"));
        let environment = Some(Environment::read(&engine).await?);
        Ok(Baseline { name, labels, metrics, environment, note })
    };
    wait::query(py, &base.threads, work)?.map_err(exception)
}

/// Refuses to judge if views or rules were left out, because they might have found something.
fn refuse_problems(engine: &Engine) -> Result<()> {
    let problems: Vec<String> =
        engine.library().problems().iter().map(ToString::to_string).collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::Usage(problems.join("\n"))) }
}
