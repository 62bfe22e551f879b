//! Reads inputs, and shows progress, warnings and a summary on standard error.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use indicatif::{HumanBytes, HumanCount, ProgressBar};
use tracesql::open::{InputReader, oddities};
use tracesql::output::safe;
use tracesql::output::units::plural;
use tracesql::{Error, Result};
use tracesql_ingest::{IngestError, IngestOptions, Input, Outcome, Progress, Store, ingest};

use crate::global::Global;
use crate::progress::{self, Shown};
use crate::stderr;

/// The number of inputs from which on one line sums up all of them.
const MANY: usize = 4;

/// How much to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Messages {
    /// Only errors and skipped files.
    Quiet,
    /// Statistics and warnings, in one line for all inputs if there are many.
    Normal,
    /// Statistics and warnings for each input.
    Verbose,
}

impl Messages {
    /// The choice of the user.
    pub fn of(global: &Global) -> Self {
        match (global.quiet, global.verbose) {
            (true, _) => Self::Quiet,
            (_, true) => Self::Verbose,
            _ => Self::Normal,
        }
    }
}

/// Reads inputs and reports on standard error, in the order of the inputs.
pub struct Terminal {
    messages: Messages,
    /// The progress of the current input.
    progress: Arc<Progress>,
    /// The inputs that were read so far, if one line sums them up.
    total: Mutex<Option<Total>>,
    /// The number of small inputs that were read so far, on a terminal.
    counted: Mutex<Option<ProgressBar>>,
}

/// Figures of many inputs.
struct Total {
    start: Instant,
    read: u64,
    were_there: u64,
    events: u64,
    text_bytes: u64,
    /// The warning about the first input with issues, and the number of inputs with issues.
    first_oddity: Option<String>,
    odd: u64,
}

impl Terminal {
    /// Creates a reader that reports its inputs.
    pub fn new(messages: Messages) -> Self {
        Self {
            messages,
            progress: Arc::default(),
            total: Mutex::default(),
            counted: Mutex::default(),
        }
    }

    /// The progress of the current input. Its `stop` ends the reading of this and all later inputs.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    fn total(&self) -> MutexGuard<'_, Option<Total>> {
        self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counted(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes to standard error while the count of small inputs is not shown.
    fn without_count(&self, write: impl FnOnce()) {
        match &*self.counted() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn count_one(&self) {
        if let Some(bar) = &*self.counted() {
            bar.inc(1);
        }
    }

    fn report(&self, name: &str, outcome: &Outcome, seconds: f64) {
        let oddity = oddities(name, outcome);
        match &mut *self.total() {
            Some(total) => total.add(outcome, oddity),
            None => {
                summary(name, outcome, seconds);
                if let Some(text) = oddity {
                    stderr::warning(&text);
                }
            }
        }
    }
}

impl InputReader for Terminal {
    fn begin(&self, inputs: usize) {
        let is_summed_up = inputs >= MANY && self.messages == Messages::Normal;
        *self.total() = is_summed_up.then(Total::begin);
    }

    fn end(&self) {
        if let Some(total) = self.total().take() {
            total.report();
        }
    }

    fn read(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome> {
        let progress = &self.progress;
        for counter in [&progress.bytes, &progress.elements, &progress.nested, &progress.rows] {
            counter.store(0, Ordering::Relaxed);
        }
        let start = Instant::now();
        let is_hidden = self.messages == Messages::Quiet || self.counted().is_some();
        let shown = Shown::start(input, progress, is_hidden);
        let outcome = ingest(input, store, options, progress);
        drop(shown);
        let outcome = outcome?;
        self.was_read(input, &outcome, start.elapsed().as_secs_f64());
        Ok(outcome)
    }

    fn read_small(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome> {
        Ok(ingest(input, store, options, &self.progress.of_another())?)
    }

    fn was_read(&self, input: &Input, outcome: &Outcome, seconds: f64) {
        if self.messages != Messages::Quiet {
            self.without_count(|| self.report(&input.name(), outcome, seconds));
        }
        self.count_one();
    }

    fn begin_small(&self, inputs: usize) {
        if self.messages != Messages::Quiet {
            *self.counted() = progress::count(inputs);
        }
    }

    fn end_small(&self) {
        if let Some(bar) = self.counted().take() {
            bar.finish_and_clear();
        }
    }

    fn known(&self, name: &str, outcome: &Outcome) {
        if self.messages != Messages::Quiet {
            self.report(name, outcome, 0.0);
        }
    }

    fn left_out(&self, why: &IngestError) {
        self.without_count(|| stderr::warning(&format!("left out: {why}")));
        self.count_one();
    }

    fn failed(&self, why: &Error) {
        self.without_count(|| stderr::error(&why.to_string()));
        self.count_one();
    }
}

impl Total {
    fn begin() -> Self {
        Self {
            start: Instant::now(),
            read: 0,
            were_there: 0,
            events: 0,
            text_bytes: 0,
            first_oddity: None,
            odd: 0,
        }
    }

    fn add(&mut self, outcome: &Outcome, oddity: Option<String>) {
        if outcome.was_there {
            self.were_there += 1;
        } else {
            self.read += 1;
            self.events += outcome.manifest.rows("events");
            self.text_bytes += outcome.manifest.text_bytes;
        }
        self.odd += u64::from(oddity.is_some());
        self.first_oddity = self.first_oddity.take().or(oddity);
    }

    fn report(self) {
        if self.read > 0 {
            let seconds = self.start.elapsed().as_secs_f64();
            let rate = self.text_bytes as f64 / 1e6 / seconds.max(0.001);
            stderr::line(&format!(
                "{} {}: {} {} in {:.2} s ({rate:.0} MB/s)",
                HumanCount(self.read),
                plural(self.read, "trace"),
                HumanCount(self.events),
                plural(self.events, "event"),
                seconds,
            ));
        }
        if self.were_there > 0 {
            stderr::line(&format!(
                "{} {} in the store already",
                HumanCount(self.were_there),
                if self.were_there == 1 { "trace was" } else { "traces were" }
            ));
        }
        match (self.first_oddity, self.odd) {
            (Some(text), 1) => stderr::warning(&text),
            (Some(text), odd) => {
                stderr::warning(&format!("{odd} traces have issues; the first: {text}"));
            }
            (None, _) => {}
        }
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
        "{name}: {} {} in {seconds:.2} s ({rate:.0} MB/s)",
        HumanCount(m.rows("events")),
        plural(m.rows("events"), "event")
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
        "  size: {} from {} input ({share:.0} %), {} unpacked",
        HumanBytes(m.bytes()),
        HumanBytes(m.input_bytes),
        HumanBytes(m.text_bytes)
    ));
}
