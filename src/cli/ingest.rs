//! `tracesql ingest`: traces into a store.

use std::sync::Arc;
use std::time::Instant;

use indicatif::{HumanBytes, HumanCount};
use tracesql_ingest::{IngestError, IngestOptions, Input, Outcome, Progress, Severity, Store, expand, ingest};

use super::args::{Global, IngestArgs};
use super::progress::Shown;
use super::{say_error, say_warning};
use crate::error::{Error, Result};
use crate::output::safe;

pub fn run(args: &IngestArgs, global: &Global) -> Result<()> {
    let inputs = inputs(&args.inputs);
    if inputs.iter().all(Result::is_err) {
        // No store is made for nothing.
        return all(inputs, &args.inputs, |_| Ok(())).map(drop);
    }
    let store = Store::open_or_create(&args.store)?;
    let options = global.ingest_options(args.strict, args.replace);
    let read = |input: &Input| one(input, &store, &options, global.quiet).map(|outcome| println!("{}", outcome.manifest.trace_id));
    all(inputs, &args.inputs, read).map(drop)
}

/// The inputs that names stand for, and what is wrong with names that stand for none.
pub fn inputs(names: &[String]) -> Vec<Result<Input>> {
    let mut inputs = Vec::new();
    for name in names {
        match expand(std::slice::from_ref(name)) {
            Ok(found) => inputs.extend(found.into_iter().map(Ok)),
            Err(e) => inputs.push(Err(e.into())),
        }
    }
    inputs
}

/// Reads every input, reporting those that fail. What lies in a folder or archive beside traces and is none is left out
/// with a warning, unless nothing else was there.
pub fn all<T>(inputs: Vec<Result<Input>>, names: &[String], read: impl Fn(&Input) -> Result<T>) -> Result<Vec<T>> {
    let count = inputs.len();
    let (mut done, mut failed, mut left_out) = (Vec::new(), 0, None);
    for input in inputs {
        let (is_named, outcome) = match input {
            Ok(input) => (names.contains(&input.name()), read(&input)),
            Err(e) => (true, Err(e)),
        };
        match outcome {
            Ok(outcome) => done.push(outcome),
            Err(e) if count == 1 => return Err(e),
            Err(Error::Input(e @ IngestError::NotATrace { .. })) if !is_named => {
                say_warning(&format!("left out: {e}"));
                left_out = Some(e);
            }
            Err(e) => {
                say_error(&e.to_string());
                failed += 1;
            }
        }
    }
    match left_out {
        _ if failed > 0 => Err(Error::Inputs(failed, count)),
        Some(e) if done.is_empty() => Err(e.into()),
        _ => Ok(done),
    }
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
        warnings(&input.name(), &outcome);
    }
    Ok(outcome)
}

fn summary(name: &str, outcome: &Outcome, seconds: f64) {
    let (m, name) = (&outcome.manifest, safe(name));
    if outcome.was_there {
        eprintln!("{name}: the store holds these bytes already as {}", m.trace_id);
        return;
    }
    let rate = m.text_bytes as f64 / 1e6 / seconds.max(0.001);
    eprintln!("{name}: {} events in {seconds:.2} s ({rate:.0} MB/s)", HumanCount(m.rows("events")));
    let tables: Vec<String> = m.tables.iter().filter(|(_, t)| t.rows > 0).map(|(name, t)| format!("{name} {}", HumanCount(t.rows))).collect();
    eprintln!("  rows: {}", tables.join(", "));
    let share = m.bytes() as f64 * 100.0 / m.input_bytes.max(1) as f64;
    eprintln!("  size: {} from {} input ({share:.0} %), {} of JSON", HumanBytes(m.bytes()), HumanBytes(m.input_bytes), HumanBytes(m.text_bytes));
}

fn warnings(name: &str, outcome: &Outcome) {
    let odd: Vec<_> = outcome.issues.iter().filter(|(code, _)| code.severity() > Severity::Info).collect();
    if odd.is_empty() {
        return;
    }
    let mut parts: Vec<String> = odd.iter().take(3).map(|(code, issue)| format!("{} × {}", issue.count, code.as_str())).collect();
    if odd.len() > 3 {
        let more = odd.len() - 3;
        parts.push(format!("{more} more kind{}", if more == 1 { "" } else { "s" }));
    }
    let first = odd.iter().filter_map(|(_, issue)| issue.first_byte_offset).min();
    let place = first.map_or(String::new(), |at| format!(", first at byte {at}"));
    let detail = odd.iter().find_map(|(_, issue)| issue.detail.as_deref()).map_or(String::new(), |d| format!(" ({d})"));
    say_warning(&format!("{name}: {}{place}{detail}; see SELECT * FROM ingest_issues", parts.join(", ")));
}
