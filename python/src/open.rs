//! Opens and reads traces.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use pyo3::prelude::*;
use tracesql::engine::EngineOptions;
use tracesql::open::{InputReader, Opener, oddities};
use tracesql::{Error, Result};
use tracesql_ingest::{IngestError, IngestOptions, Input, Outcome, Progress, Store};

use crate::errors::{InputError, exception};
use crate::session::Session;
use crate::wait;

/// Reads inputs without output, and collects warnings and failures.
#[derive(Default)]
struct Notes {
    progress: Arc<Progress>,
    warnings: Mutex<Vec<String>>,
    failures: Mutex<Vec<String>>,
}

impl Notes {
    fn note(list: &Mutex<Vec<String>>, text: String) {
        list.lock().push(text);
    }

    fn taken(list: &Mutex<Vec<String>>) -> Vec<String> {
        std::mem::take(&mut list.lock())
    }
}

impl InputReader for Notes {
    fn read(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome> {
        let outcome = tracesql_ingest::ingest(input, store, options, &self.progress)?;
        if let Some(text) = oddities(&input.name(), &outcome) {
            Self::note(&self.warnings, text);
        }
        Ok(outcome)
    }

    fn left_out(&self, why: &IngestError) {
        Self::note(&self.warnings, format!("left out: {why}"));
    }

    fn failed(&self, why: &Error) {
        Self::note(&self.failures, why.to_string());
    }
}

/// Runs work that reads inputs. Returns its result and warnings.
fn read<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Notes) -> Result<T> + Send + 'static,
) -> PyResult<(T, Vec<String>)> {
    let notes = Arc::new(Notes::default());
    let (progress, theirs) = (notes.progress.clone(), notes.clone());
    let outcome =
        wait::thread(py, || progress.stop.store(true, Ordering::Relaxed), move || work(&theirs))?;
    let failures = Notes::taken(&notes.failures);
    match outcome {
        Ok(value) => Ok((value, Notes::taken(&notes.warnings))),
        Err(e @ Error::Inputs(..)) => {
            let all = failures
                .iter()
                .map(|f| format!("\n  {}", tracesql::output::safe(f)))
                .collect::<String>();
            Err(InputError::new_err(format!("{e}:{all}")))
        }
        Err(e) => Err(exception(e)),
    }
}

/// Parses a size: a number of bytes, or a text such as `1GiB`.
fn bytes(text: Option<&str>) -> PyResult<usize> {
    let size = text.map(tracesql::byte_size::bytes).transpose();
    Ok(size.map_err(|e| exception(Error::Usage(format!("memory_limit: {e}"))))?.unwrap_or(0))
}

/// Opens a store or traces. Returns a session and warnings.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (names, threads, memory_limit, sql, rules, settings, strict))]
pub fn open(
    py: Python<'_>,
    names: Vec<String>,
    threads: usize,
    memory_limit: Option<&str>,
    sql: Vec<PathBuf>,
    rules: Vec<PathBuf>,
    settings: Vec<(String, String)>,
    strict: bool,
) -> PyResult<(Session, Vec<String>)> {
    let memory_limit = bytes(memory_limit)?;
    let (engine, mut warnings) = read(py, move |notes| {
        let options = IngestOptions { threads, memory_limit, strict, replace: false };
        Opener::new(options, notes).open(&names)?.engine(&EngineOptions {
            threads,
            memory_limit,
            sql,
            rules,
            settings,
            ..EngineOptions::default()
        })
    })?;
    warnings.extend(engine.library().problems().iter().map(|p| format!("left out: {p}")));
    Ok((Session::new(engine, threads)?, warnings))
}

/// Reads traces into a store. Returns their names and warnings.
#[pyfunction]
#[pyo3(signature = (names, store, threads, memory_limit, strict, replace))]
pub fn ingest(
    py: Python<'_>,
    names: Vec<String>,
    store: PathBuf,
    threads: usize,
    memory_limit: Option<&str>,
    strict: bool,
    replace: bool,
) -> PyResult<(Vec<String>, Vec<String>)> {
    let options = IngestOptions { threads, memory_limit: bytes(memory_limit)?, strict, replace };
    read(py, move |notes| Opener::new(options, notes).ingest(&store, &names, |_| Ok(())))
}
