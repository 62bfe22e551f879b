//! Stacks as profiles: pprof, folded stacks, flame graphs, speedscope.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tracesql::explain::{Audience, explained_within};
use tracesql::output::{Target, write_document};
use tracesql::stacks::{self, Direction, Request, Rule};
use tracesql::{Error, Result};

use crate::errors::exception;
use crate::session::Session;
use crate::wait;

/// A profile in one of the formats, written to a file if one is named, else returned. Also returns
/// notes about properties that may surprise the user.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (
    session, format, path, sql, filter, step, rank, by_thread, merge_steps, full_names, rule, base,
    measure, title, direction
))]
pub fn profile<'py>(
    py: Python<'py>,
    session: &Bound<'py, Session>,
    format: &str,
    path: Option<PathBuf>,
    sql: Option<String>,
    filter: Option<String>,
    step: Option<i64>,
    rank: Option<i64>,
    by_thread: bool,
    merge_steps: Option<bool>,
    full_names: bool,
    rule: &str,
    base: Option<&Bound<'py, Session>>,
    measure: Option<String>,
    title: Option<String>,
    direction: &str,
) -> PyResult<(Option<Bound<'py, PyBytes>>, Vec<String>)> {
    let session = session.get();
    let rule = parsed("rule", rule, RULES)?;
    let direction = parsed("direction", direction, DIRECTIONS)?;
    let format = parsed("format", format, FORMATS)?;
    let request = Request {
        rule,
        sql,
        filter,
        step,
        rank,
        by_thread,
        merge_steps,
        full_names,
        // Colours of a difference show the change, others the class of a kernel.
        classes: matches!(format, Format::Flamegraph) && base.is_none(),
    };
    // Places in errors are those of the query or the condition.
    let (text, part) = request.statement();
    let engine = session.engine.clone();
    let base = base.map(|base| base.get().engine.clone());
    let work = async move {
        let samples = stacks::collect(&engine, base.as_deref(), &request).await?;
        let (profile, measure, compared) = (&samples.profile, measure.as_deref(), base.is_some());
        let bytes = match format {
            Format::Pprof => stacks::pprof(profile, &samples.header)?,
            Format::Folded => stacks::folded(profile, measure, compared)?.into_bytes(),
            Format::Speedscope => stacks::speedscope(profile, &samples.header.source)?,
            Format::Flamegraph => {
                let source = &samples.header.source;
                let title = title.unwrap_or_else(|| match &samples.base_source {
                    Some(base) => format!("{source} compared with {base}"),
                    None => source.clone(),
                });
                stacks::flamegraph(profile, measure, &title, direction, compared)?
            }
        };
        let none = profile.is_empty().then(|| "there are no samples".to_owned());
        let notes: Vec<String> = samples.notes.iter().cloned().chain(none).collect();
        Ok(match path {
            Some(path) => {
                write_document(&bytes, &Target::File(path))?;
                (None, notes)
            }
            None => (Some(bytes), notes),
        })
    };
    let done: Result<_> = wait::query(py, &session.threads, work)?;
    let (bytes, notes) = done.map_err(|e| {
        let engine = session.engine.clone();
        exception(py.detach(move || explained_within(e, &text, part, &engine, Audience::Python)))
    })?;
    Ok((bytes.map(|bytes| PyBytes::new(py, &bytes)), notes))
}

#[derive(Clone, Copy)]
enum Format {
    Pprof,
    Folded,
    Flamegraph,
    Speedscope,
}

const FORMATS: &[(&str, Format)] = &[
    ("pprof", Format::Pprof),
    ("folded", Format::Folded),
    ("flamegraph", Format::Flamegraph),
    ("speedscope", Format::Speedscope),
];

const RULES: &[(&str, Rule)] = &[
    ("linked", Rule::Linked),
    ("self", Rule::SelfTime),
    ("inclusive", Rule::Inclusive),
    ("flat", Rule::Flat),
];

const DIRECTIONS: &[(&str, Direction)] =
    &[("icicle", Direction::Icicle), ("flame", Direction::Flame)];

/// The value of an option that has a few names.
pub fn parsed<T: Copy>(option: &str, name: &str, values: &[(&str, T)]) -> PyResult<T> {
    values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        exception(Error::Usage(format!(
            "{option} {name:?} is unknown; use one of {}",
            names.join(", ")
        )))
    })
}
