//! A session over traces.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::sql::parser::Statement;
use futures::TryStreamExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tracesql::docs::{Reference, Style};
use tracesql::engine::{Engine, EngineOptions};
use tracesql::explain::{Audience, explained};
use tracesql::open::Location;
use tracesql::output::{Target, write_document};
use tracesql::report;
use tracesql::{Error, Result};

use crate::errors::exception;
use crate::frames::{Registered, Scanned};
use crate::result::Rows;
use crate::statements::{expand_lists, rewritten};
use crate::stream::Stream;
use crate::threads::Threads;
use crate::values::Parameters;
use crate::{choose, wait};

/// An engine with its threads.
#[pyclass(frozen, module = "tracesql._native")]
pub struct Session {
    pub engine: Arc<Engine>,
    pub threads: Arc<Threads>,
    /// The traces on disk.
    pub location: Location,
    /// The options of the engine, for engines over other traces.
    pub options: EngineOptions,
    /// The traces as the user named them.
    pub name: String,
    registered: Registered,
}

impl Session {
    pub fn new(
        engine: Engine,
        location: Location,
        options: EngineOptions,
        name: String,
    ) -> PyResult<Self> {
        let threads = Threads::new(options.threads).map_err(exception)?;
        Ok(Self {
            engine: Arc::new(engine),
            threads: Arc::new(threads),
            location,
            options,
            name,
            registered: Registered::default(),
        })
    }

    /// Runs all statements of a text except the last one, and starts the last one.
    fn start(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: &Parameters,
        find: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<SendableRecordBatchStream> {
        let parsed = self.engine.parse(text);
        let mut statements = self.explained(py, text, parsed)?;
        statements.iter_mut().for_each(|s| expand_lists(s, &parameters.lists));
        let _scanned = Scanned::new(&self.engine, &mut statements, find)?;
        let (engine, values) = (self.engine.clone(), parameters.values.clone());
        let started =
            wait::query(
                py,
                &self.threads,
                async move { last(&engine, statements, &values).await },
            )?;
        self.explained(py, text, started)
    }

    /// The result of work on SQL. Errors name the place in the text.
    pub fn explained<T>(&self, py: Python<'_>, text: &str, outcome: Result<T>) -> PyResult<T> {
        outcome.map_err(|e| {
            let engine = self.engine.clone();
            exception(py.detach(move || explained(e, text, &engine, Audience::Python)))
        })
    }
}

async fn last(
    engine: &Engine,
    mut statements: Vec<Statement>,
    values: &[(String, ScalarValue)],
) -> Result<SendableRecordBatchStream> {
    let Some(last) = statements.pop() else {
        return Err(Error::Usage("there is no SQL to run".into()));
    };
    for statement in statements {
        let _: Vec<_> = engine.run(statement, values).await?.try_collect().await?;
    }
    engine.run(last, values).await
}

#[pymethods]
impl Session {
    /// Runs SQL to its end and keeps the rows. The first `unnamed` parameters have numbers as
    /// names. `find` returns the data frame of a name, or None.
    #[pyo3(signature = (text, parameters, unnamed, find))]
    fn sql(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: &Bound<'_, PyDict>,
        unnamed: usize,
        find: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Rows> {
        let parameters = Parameters::new(parameters, unnamed)?;
        let text = rewritten(text, &parameters).map_err(exception)?;
        let stream = self.start(py, &text, &parameters, find)?;
        let schema = stream.schema();
        let work = async move { Ok(stream.try_collect::<Vec<_>>().await?) };
        let batches = wait::query(py, &self.threads, work)?;
        Ok(Rows::new(schema, self.explained(py, &text, batches)?))
    }

    /// Starts SQL whose rows are produced while they are read.
    #[pyo3(signature = (text, parameters, unnamed, find))]
    fn stream(
        &self,
        py: Python<'_>,
        text: &str,
        parameters: &Bound<'_, PyDict>,
        unnamed: usize,
        find: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Stream> {
        let parameters = Parameters::new(parameters, unnamed)?;
        let text = rewritten(text, &parameters).map_err(exception)?;
        Ok(Stream::new(self.start(py, &text, &parameters, find)?, self.threads.clone()))
    }

    /// Makes a data frame a table.
    fn register(&self, name: &str, frame: &Bound<'_, PyAny>) -> PyResult<()> {
        self.registered.add(&self.engine, name, frame)
    }

    /// Removes a table that `register` made.
    fn unregister(&self, name: &str) -> PyResult<()> {
        self.registered.remove(&self.engine, name)
    }

    /// The names of the open traces.
    #[getter]
    pub fn trace_ids(&self) -> Vec<String> {
        self.engine.traces().iter().map(|t| t.trace_id.clone()).collect()
    }

    /// The number of rows in each table, by trace.
    fn row_counts(&self) -> Vec<(String, Vec<(String, u64)>)> {
        let counts = |t: &tracesql_ingest::Manifest| {
            t.tables.iter().map(|(name, facts)| (name.clone(), facts.rows)).collect()
        };
        self.engine.traces().iter().map(|t| (t.trace_id.clone(), counts(t))).collect()
    }

    /// The whole reference, or the part about one name.
    fn docs(&self, name: Option<&str>, style: &str) -> PyResult<String> {
        let style = match style {
            "text" => Style::Text,
            "markdown" => Style::Markdown,
            "json" => Style::Json,
            other => {
                return Err(exception(Error::Usage(format!(
                    "{other:?} is not a format of the reference; use text, markdown or json"
                ))));
            }
        };
        let mut reference = Reference::of(&self.engine);
        if let Some(name) = name {
            reference = reference.named(name).map_err(exception)?;
        }
        Ok(reference.write(style, name.is_none()))
    }

    /// Makes a report on some traces, or on all of them without names. It is written to a file if
    /// one is named, else returned as text. Also returns the sections that failed.
    #[pyo3(signature = (format, path, width, traces))]
    fn report(
        &self,
        py: Python<'_>,
        format: &str,
        path: Option<PathBuf>,
        width: usize,
        traces: Vec<String>,
    ) -> PyResult<(Option<String>, Vec<String>)> {
        let format = match format {
            "text" => report::Format::Text,
            "markdown" => report::Format::Markdown,
            "json" => report::Format::Json,
            "html" => report::Format::Html,
            other => {
                return Err(exception(Error::Usage(format!(
                    "{other:?} is not a format of a report; use text, markdown, json or html"
                ))));
            }
        };
        let left_out = choose::others(&self.engine, &traces).map_err(exception)?;
        let engine = self.engine.clone();
        let work = async move {
            let mut report = report::collect(&engine, left_out, format).await?;
            // The user left the others out by naming some.
            report.left_out.clear();
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
}
