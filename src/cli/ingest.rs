//! `tracesql ingest`: traces into a store.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use indicatif::{HumanBytes, HumanCount};
use tracesql_ingest::{IngestError, IngestOptions, Input, Outcome, Progress, Store, ingest};

use super::args::{Global, IngestArgs};
use super::progress::Shown;
use super::{say_error, say_warning};
use crate::error::{Error, Result};
use crate::messages::say_line;
pub use crate::open::inputs;
use crate::open::{self, Reader};
use crate::output::safe;

pub fn run(args: &IngestArgs, global: &Global) -> Result<()> {
    let inputs = inputs(&args.inputs);
    if inputs.iter().all(Result::is_err) {
        // No store is made for nothing.
        return all(inputs, &args.inputs, |_| Ok(())).map(drop);
    }
    let store = Store::open_or_create(&args.store)?;
    let options = global.ingest_options(args.strict, args.replace);
    let read = |input: &Input| {
        one(input, &store, &options, global.quiet)
            .and_then(|outcome| say_name(&outcome.manifest.trace_id))
    };
    all(inputs, &args.inputs, read).map(drop)
}

/// The name of a trace, for scripts; a reader that went away does not keep the other inputs from
/// being read.
fn say_name(trace_id: &str) -> Result<()> {
    match writeln!(std::io::stdout(), "{trace_id}") {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::Output("standard output".to_owned(), e))
        }
        _ => Ok(()),
    }
}

/// Reads inputs for somebody at a terminal.
pub struct Terminal {
    /// Say nothing but errors.
    pub quiet: bool,
}

impl Reader for Terminal {
    fn read(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome> {
        one(input, store, options, self.quiet)
    }

    fn left_out(&self, why: &IngestError) {
        say_warning(&format!("left out: {why}"));
    }

    fn failed(&self, why: &Error) {
        say_error(&why.to_string());
    }
}

/// Reads every input, reporting those that fail.
pub fn all<T>(
    inputs: Vec<Result<Input>>,
    names: &[String],
    read: impl Fn(&Input) -> Result<T>,
) -> Result<Vec<T>> {
    open::all(inputs, names, &Terminal { quiet: false }, read)
}

/// Ingests one input and says on standard error what came of it.
pub fn one(input: &Input, store: &Store, options: &IngestOptions, quiet: bool) -> Result<Outcome> {
    let progress = Arc::new(Progress::default());
    let start = Instant::now();
    let shown = Shown::start(input, &progress, quiet);
    let outcome = ingest(input, store, options, &progress);
    drop(shown);
    let outcome = outcome?;
    if !quiet {
        summary(&input.name(), &outcome, start.elapsed().as_secs_f64());
        if let Some(text) = open::oddities(&input.name(), &outcome) {
            say_warning(&text);
        }
    }
    Ok(outcome)
}

fn summary(name: &str, outcome: &Outcome, seconds: f64) {
    let (m, name) = (&outcome.manifest, safe(name));
    if outcome.was_there {
        say_line(&format!("{name}: the store holds these bytes already as {}", m.trace_id));
        return;
    }
    let rate = m.text_bytes as f64 / 1e6 / seconds.max(0.001);
    say_line(&format!(
        "{name}: {} events in {seconds:.2} s ({rate:.0} MB/s)",
        HumanCount(m.rows("events"))
    ));
    let tables: Vec<String> = m
        .tables
        .iter()
        .filter(|(_, t)| t.rows > 0)
        .map(|(name, t)| format!("{name} {}", HumanCount(t.rows)))
        .collect();
    say_line(&format!("  rows: {}", tables.join(", ")));
    let share = m.bytes() as f64 * 100.0 / m.input_bytes.max(1) as f64;
    say_line(&format!(
        "  size: {} from {} input ({share:.0} %), {} of JSON",
        HumanBytes(m.bytes()),
        HumanBytes(m.input_bytes),
        HumanBytes(m.text_bytes)
    ));
}
