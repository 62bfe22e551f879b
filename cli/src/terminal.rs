//! Reads inputs, and shows progress, warnings and a summary on standard error.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use indicatif::{HumanBytes, HumanCount};
use tracesql::open::{InputReader, oddities};
use tracesql::output::safe;
use tracesql::{Error, Result};
use tracesql_ingest::{IngestError, IngestOptions, Input, Outcome, Progress, Store, ingest};

use crate::progress::Shown;
use crate::stderr;

/// Reads inputs one after the other and reports on standard error.
pub struct Terminal {
    /// Whether to report only errors and skipped files.
    quiet: bool,
    /// The progress of the current input.
    progress: Arc<Progress>,
}

impl Terminal {
    /// Creates a reader that reports its inputs unless `quiet` is set.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, progress: Arc::default() }
    }

    /// The progress of the current input. Its `stop` ends the reading of this and all later inputs.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }
}

impl InputReader for Terminal {
    fn read(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome> {
        let progress = &self.progress;
        for counter in [&progress.bytes, &progress.elements, &progress.nested, &progress.rows] {
            counter.store(0, Ordering::Relaxed);
        }
        let start = Instant::now();
        let shown = Shown::start(input, progress, self.quiet);
        let outcome = ingest(input, store, options, progress);
        drop(shown);
        let outcome = outcome?;
        if !self.quiet {
            summary(&input.name(), &outcome, start.elapsed().as_secs_f64());
            if let Some(text) = oddities(&input.name(), &outcome) {
                stderr::warning(&text);
            }
        }
        Ok(outcome)
    }

    fn left_out(&self, why: &IngestError) {
        stderr::warning(&format!("left out: {why}"));
    }

    fn failed(&self, why: &Error) {
        stderr::error(&why.to_string());
    }
}

fn summary(name: &str, outcome: &Outcome, seconds: f64) {
    let (m, name) = (&outcome.manifest, safe(name));
    if outcome.was_there {
        stderr::line(&format!("{name}: the store holds these bytes already as {}", m.trace_id));
        return;
    }
    let rate = m.text_bytes as f64 / 1e6 / seconds.max(0.001);
    stderr::line(&format!(
        "{name}: {} events in {seconds:.2} s ({rate:.0} MB/s)",
        HumanCount(m.rows("events"))
    ));
    let tables: Vec<String> = m
        .tables
        .iter()
        .filter(|(_, t)| t.rows > 0)
        .map(|(name, t)| format!("{name} {}", HumanCount(t.rows)))
        .collect();
    stderr::line(&format!("  rows: {}", tables.join(", ")));
    let share = m.bytes() as f64 * 100.0 / m.input_bytes.max(1) as f64;
    stderr::line(&format!(
        "  size: {} from {} input ({share:.0} %), {} of JSON",
        HumanBytes(m.bytes()),
        HumanBytes(m.input_bytes),
        HumanBytes(m.text_bytes)
    ));
}
