//! A session over traces.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::execution::SendableRecordBatchStream;
use futures::TryStreamExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tracesql::docs::{Reference, Style};
use tracesql::engine::Engine;
use tracesql::explain::{Audience, explained, explained_within};
use tracesql::output::{Target, write_document};
use tracesql::report;
use tracesql::stacks::{self, Request};
use tracesql::{Error, Result};

use crate::errors::exception;
use crate::result::Rows;
use crate::stream::Stream;
use crate::threads::Threads;
use crate::{values, wait};

/// An engine with its threads.
#[pyclass(frozen, module = "tracesql._native")]
pub struct Session {
    engine: Arc<Engine>,
    threads: Arc<Threads>,
}

impl Session {
    pub fn new(engine: Engine, threads: usize) -> PyResult<Self> {
        let threads = Threads::new(threads).map_err(exception)?;
        Ok(Self { engine: Arc::new(engine), threads: Arc::new(threads) })
    }

    /// Runs all statements of a text except the last one, and starts the last one.
    fn start(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: &Bound<'_, PyDict>,
    ) -> PyResult<SendableRecordBatchStream> {
        let parameters = values::parameters(parameters)?;
        let (engine, sql) = (self.engine.clone(), text.to_owned());
        let started =
            wait::query(py, &self.threads, async move { last(&engine, &sql, &parameters).await })?;
        self.explained(py, text, started)
    }

    fn explained<T>(&self, py: Python<'_>, text: &str, outcome: Result<T>) -> PyResult<T> {
        outcome.map_err(|e| {
            let engine = self.engine.clone();
            exception(py.detach(move || explained(e, text, &engine, Audience::Python)))
        })
    }
}

async fn last(
    engine: &Engine,
    sql: &str,
    parameters: &[(String, ScalarValue)],
) -> Result<SendableRecordBatchStream> {
    let mut statements = engine.parse(sql)?;
    let Some(last) = statements.pop() else {
        return Err(Error::Usage("there is no SQL to run".into()));
    };
    for statement in statements {
        let _: Vec<_> = engine.run(statement, parameters).await?.try_collect().await?;
    }
    engine.run(last, parameters).await
}

#[pymethods]
impl Session {
    /// Runs SQL to its end and keeps the rows.
    fn sql(&self, py: Python<'_>, text: &str, parameters: &Bound<'_, PyDict>) -> PyResult<Rows> {
        let stream = self.start(py, text, parameters)?;
        let schema = stream.schema();
        let work = async move { Ok(stream.try_collect::<Vec<_>>().await?) };
        let batches = wait::query(py, &self.threads, work)?;
        Ok(Rows::new(schema, self.explained(py, text, batches)?))
    }

    /// Starts SQL whose rows are produced while they are read.
    fn stream(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: &Bound<'_, PyDict>,
    ) -> PyResult<Stream> {
        Ok(Stream::new(self.start(py, text, parameters)?, self.threads.clone()))
    }

    /// The names of the open traces.
    #[getter]
    fn trace_ids(&self) -> Vec<String> {
        self.engine.traces().iter().map(|t| t.trace_id.clone()).collect()
    }

    /// The whole reference, or the part about one name.
    fn docs(&self, name: Option<&str>, style: &str) -> PyResult<String> {
        let style = match style {
            "text" => Style::Text,
            "markdown" => Style::Markdown,
            "json" => Style::Json,
            other => {
                return Err(exception(Error::Usage(format!(
                    "{other:?} is no format of the reference; use text, markdown or json"
                ))));
            }
        };
        let mut reference = Reference::of(&self.engine);
        if let Some(name) = name {
            reference = reference.named(name).map_err(exception)?;
        }
        Ok(reference.write(style, name.is_none()))
    }

    /// Makes a report. It is written to a file if one is named, else returned as text. Also returns
    /// the sections that failed.
    fn report(
        &self,
        py: Python<'_>,
        format: &str,
        path: Option<PathBuf>,
        width: usize,
    ) -> PyResult<(Option<String>, Vec<String>)> {
        let format = match format {
            "text" => report::Format::Text,
            "markdown" => report::Format::Markdown,
            "json" => report::Format::Json,
            "html" => report::Format::Html,
            other => {
                return Err(exception(Error::Usage(format!(
                    "{other:?} is no format of a report; use text, markdown, json or html"
                ))));
            }
        };
        let engine = self.engine.clone();
        let work = async move {
            let report = report::collect(&engine, Vec::new(), format).await?;
            let failures =
                report.failures().map(|(name, why)| format!("section {name}: {why}")).collect();
            let text = report.write(format, width);
            match path {
                Some(path) => {
                    write_document(text.as_bytes(), &Target::File(path)).map(|()| (None, failures))
                }
                None => Ok((Some(text), failures)),
            }
        };
        wait::query(py, &self.threads, work)?.map_err(exception)
    }

    /// Writes stacks as a profile. Returns notes about properties that may surprise the user.
    #[allow(clippy::too_many_arguments)]
    fn pprof(
        &self,
        py: Python<'_>,
        path: PathBuf,
        sql: Option<String>,
        filter: Option<String>,
        step: Option<i64>,
        rank: Option<i64>,
        by_thread: bool,
    ) -> PyResult<Vec<String>> {
        let request = Request { sql, filter, step, rank, by_thread, ..Request::default() };
        let (text, part) = request.statement();
        let engine = self.engine.clone();
        let work = async move {
            let samples = stacks::collect(&engine, None, &request).await?;
            write_document(
                &stacks::pprof(&samples.profile, &samples.header)?,
                &Target::File(path),
            )?;
            let none = samples.profile.is_empty().then(|| "there are no samples".to_owned());
            Ok(samples.notes.into_iter().chain(none).collect())
        };
        wait::query(py, &self.threads, work)?.map_err(|e| {
            let engine = self.engine.clone();
            exception(
                py.detach(move || explained_within(e, &text, part, &engine, Audience::Python)),
            )
        })
    }
}
