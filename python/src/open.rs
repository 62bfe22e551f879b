//! Opens and reads traces.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// The name of the input that is being read.
    current: Mutex<Option<String>>,
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
        let progress = &self.progress;
        for counter in [&progress.bytes, &progress.elements, &progress.nested, &progress.rows] {
            counter.store(0, Ordering::Relaxed);
        }
        *self.current.lock() = Some(input.name());
        let outcome = tracesql_ingest::ingest(input, store, options, progress);
        *self.current.lock() = None;
        let outcome = outcome?;
        self.was_read(input, &outcome, 0.0);
        Ok(outcome)
    }

    fn read_small(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome> {
        // `tick` is for one input at a time.
        Ok(tracesql_ingest::ingest(input, store, options, &self.progress.of_another())?)
    }

    fn was_read(&self, input: &Input, outcome: &Outcome, _: f64) {
        if let Some(text) = oddities(&input.name(), outcome) {
            Self::note(&self.warnings, text);
        }
    }

    fn left_out(&self, why: &IngestError) {
        Self::note(&self.warnings, format!("left out: {why}"));
    }

    fn failed(&self, why: &Error) {
        Self::note(&self.failures, why.to_string());
    }
}

/// Runs work that reads inputs. Returns its result and warnings. `tick` is called with the name of
/// the input that is being read, and with its bytes, elements, nested and written rows so far.
fn read<T: Send + 'static>(
    py: Python<'_>,
    tick: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Notes) -> Result<T> + Send + 'static,
) -> PyResult<(T, Vec<String>)> {
    let notes = Arc::new(Notes::default());
    let (progress, theirs) = (notes.progress.clone(), notes.clone());
    let tick = |_: Python<'_>| {
        let (Some(tick), Some(name)) = (tick, notes.current.lock().clone()) else { return Ok(()) };
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let p = &progress;
        tick.call1((name, now(&p.bytes), now(&p.elements), now(&p.nested), now(&p.rows))).map(drop)
    };
    let stop = || progress.stop.store(true, Ordering::Relaxed);
    let outcome = wait::thread(py, stop, tick, move || work(&theirs))?;
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
#[pyo3(signature = (names, threads, memory_limit, sql, rules, settings, strict, tick))]
pub fn open(
    py: Python<'_>,
    names: Vec<String>,
    threads: usize,
    memory_limit: Option<&str>,
    sql: Vec<PathBuf>,
    rules: Vec<PathBuf>,
    settings: Vec<(String, String)>,
    strict: bool,
    tick: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Session, Vec<String>)> {
    let memory_limit = bytes(memory_limit)?;
    let name = names.join(", ");
    let options =
        EngineOptions { threads, memory_limit, sql, rules, settings, ..EngineOptions::default() };
    let of_engine = options.clone();
    let ((location, engine), mut warnings) = read(py, tick, move |notes| {
        let reading = IngestOptions { threads, memory_limit, strict, ..IngestOptions::default() };
        let location = Opener::new(reading, notes).open(&names)?;
        let engine = location.engine(&of_engine)?;
        Ok((location, engine))
    })?;
    warnings.extend(engine.library().problems().iter().map(|p| format!("left out: {p}")));
    Ok((Session::new(engine, location, options, name)?, warnings))
}

/// Reads traces into a store. Returns their names and warnings.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (names, store, threads, memory_limit, strict, replace, steps_from, tick))]
pub fn ingest(
    py: Python<'_>,
    names: Vec<String>,
    store: PathBuf,
    threads: usize,
    memory_limit: Option<&str>,
    strict: bool,
    replace: bool,
    steps_from: Option<&str>,
    tick: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<String>, Vec<String>)> {
    let memory_limit = bytes(memory_limit)?;
    let steps_from = steps_from
        .map(str::parse)
        .transpose()
        .map_err(|e| exception(Error::Usage(format!("steps_from: {e}"))))?;
    let options = IngestOptions { threads, memory_limit, strict, replace, steps_from };
    read(py, tick, move |notes| Opener::new(options, notes).ingest(&store, &names, |_| Ok(())))
}
