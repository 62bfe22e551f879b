//! Finds the inputs that names stand for, and reads them one by one.

use tracesql_ingest::{IngestError, Input, Outcome, Severity, expand};

use super::{InputReader, mistakes};
use crate::error::{Error, Result};
use crate::output::units::plural;

/// The inputs that names stand for, and an error for each name that matches no input.
pub(super) fn inputs(names: &[String]) -> Vec<Result<Input>> {
    let mut inputs = Vec::new();
    for name in names {
        match inputs_of(name) {
            Ok(found) => inputs.extend(found.into_iter().map(Ok)),
            Err(e) => inputs.push(Err(e.into())),
        }
    }
    inputs
}

fn inputs_of(name: &String) -> Result<Vec<Input>, IngestError> {
    mistakes::refuse(name)?;
    expand(std::slice::from_ref(name)).map_err(|e| mistakes::explain(name, e))
}

/// Reads every input and reports those that fail. Files in a folder or archive that are not traces
/// are skipped with a warning, unless there are no other inputs.
pub(super) fn read_all<T>(
    inputs: Vec<Result<Input>>,
    names: &[String],
    reader: &dyn InputReader,
    read: impl Fn(&Input) -> Result<T>,
) -> Result<Vec<T>> {
    reader.begin(inputs.len());
    let done = read_each(inputs, names, reader, read);
    reader.end();
    done
}

fn read_each<T>(
    inputs: Vec<Result<Input>>,
    names: &[String],
    reader: &dyn InputReader,
    read: impl Fn(&Input) -> Result<T>,
) -> Result<Vec<T>> {
    let count = inputs.len();
    let (mut done, mut failed, mut left_out) = (Vec::new(), 0, None);
    for input in inputs {
        let (is_named, outcome) = match input {
            Ok(input) => (names.contains(&input.name()), read(&input)),
            Err(e) => (true, Err(e)),
        };
        match outcome {
            Ok(outcome) => done.push(outcome),
            // If the user stops the reading, the other inputs are not read either.
            Err(e @ (Error::Cancelled | Error::Input(IngestError::Stopped))) => return Err(e),
            Err(e) if count == 1 => return Err(e),
            Err(Error::Input(e @ IngestError::NotATrace { .. })) if !is_named => {
                reader.left_out(&e);
                left_out = Some(e);
            }
            Err(e) => {
                reader.failed(&e);
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

/// A sentence about the issues of an input that was read; `None` if none of them is worse than a
/// note.
pub fn oddities(name: &str, outcome: &Outcome) -> Option<String> {
    let odd: Vec<_> =
        outcome.issues.iter().filter(|(code, _)| code.severity() > Severity::Info).collect();
    if odd.is_empty() {
        return None;
    }
    let mut parts: Vec<String> = odd
        .iter()
        .take(3)
        .map(|(code, issue)| format!("{} × {}", issue.count, code.as_str()))
        .collect();
    if odd.len() > 3 {
        let more = odd.len() - 3;
        parts.push(format!("{more} more {}", plural(more, "kind")));
    }
    let first = odd.iter().filter_map(|(_, issue)| issue.first_byte_offset).min();
    let place = first.map_or(String::new(), |at| format!(", first at byte {at}"));
    let detail = odd
        .iter()
        .find_map(|(_, issue)| issue.detail.as_deref())
        .map_or(String::new(), |d| format!(" ({d})"));
    Some(format!("{name}: {}{place}{detail}; see SELECT * FROM ingest_issues", parts.join(", ")))
}
