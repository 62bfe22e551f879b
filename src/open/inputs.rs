//! Finds the inputs that names stand for, and reads them.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use tracesql_ingest::{IngestError, Input, Outcome, Severity, expand, expand_copy};

use super::elsewhere::{self, RemoteInput};
use super::{InputReader, ahead, mistakes};
use crate::error::{Error, Result};
use crate::output::units::plural;

/// An input that was found by a name.
#[derive(Debug, Clone)]
pub enum Found {
    /// It is on this machine.
    Here(Input),
    /// It is elsewhere, and is copied before it is read.
    Elsewhere(RemoteInput),
}

impl Found {
    /// The name of the file or object that contains the input. Members of one archive have the
    /// same.
    pub fn container(&self) -> String {
        match self {
            Self::Here(Input::ZipMember { archive, .. } | Input::TarMember { archive, .. }) => {
                archive.display().to_string()
            }
            Self::Here(input) => input.name(),
            Self::Elsewhere(input) => input.url.clone(),
        }
    }

    /// The size of that file or object in bytes; `None` if it is not known before it is read.
    pub fn bytes(&self) -> Option<u64> {
        let size = |path: &PathBuf| {
            path.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| about.len())
        };
        match self {
            Self::Here(Input::ZipMember { archive, .. } | Input::TarMember { archive, .. }) => {
                size(archive)
            }
            Self::Here(Input::File(path)) => size(path),
            Self::Here(_) => None,
            Self::Elsewhere(input) => Some(input.bytes),
        }
    }
}

/// The inputs that names stand for, and an error for each name that matches no input.
pub(super) fn inputs(names: &[String]) -> Vec<Result<Found>> {
    let mut inputs = Vec::new();
    for name in names {
        match inputs_of(name) {
            Ok(found) => inputs.extend(found.into_iter().map(Ok)),
            Err(e) => inputs.push(Err(e)),
        }
    }
    inputs
}

fn inputs_of(name: &String) -> Result<Vec<Found>> {
    if let Some(source) = elsewhere::source(name) {
        return Ok(source.find(name)?.into_iter().map(Found::Elsewhere).collect());
    }
    mistakes::refuse(name)?;
    let inputs = expand(std::slice::from_ref(name)).map_err(|e| mistakes::explain(name, e))?;
    Ok(inputs.into_iter().map(Found::Here).collect())
}

/// What is done with each input.
pub(super) struct Work<'a, A, T> {
    /// Looks up an input that is elsewhere, before it is copied. `None` if it must be read.
    pub known: &'a dyn Fn(&RemoteInput) -> Result<Option<T>>,
    /// The number of small files that are read at the same time.
    pub readers: usize,
    /// Whether a small file must be read, as far as that is known without reading it.
    pub is_new: &'a dyn Fn(&Input) -> bool,
    /// Reads one of these files, on any thread.
    pub ahead: &'a (dyn Fn(&Input) -> A + Sync),
    /// Reads an input, or takes what `ahead` read. It is called in the order of the inputs.
    pub read: &'a dyn Fn(&Input, Option<A>) -> Result<T>,
}

/// Inputs that are read together.
enum Run {
    /// Any input.
    One(Result<Found>),
    /// Several small files.
    Small(Vec<Input>),
}

/// The inputs in their order, with small new files that follow each other as one run.
fn runs<A, T>(inputs: Vec<Result<Found>>, work: &Work<'_, A, T>) -> Vec<Run> {
    let is_small =
        |input: &Input| work.readers > 1 && ahead::is_small(input) && (work.is_new)(input);
    let mut runs = Vec::new();
    for found in inputs {
        match found {
            Ok(Found::Here(input)) if is_small(&input) => match runs.last_mut() {
                Some(Run::Small(files)) => files.push(input),
                _ => runs.push(Run::Small(vec![input])),
            },
            other => runs.push(Run::One(other)),
        }
    }
    runs
}

/// Reads every input and reports those that fail. Files in a folder or archive that are not traces
/// are skipped with a warning, unless there are no other inputs.
pub(super) fn read_all<A: Send, T>(
    inputs: Vec<Result<Found>>,
    names: &[String],
    reader: &dyn InputReader,
    work: &Work<'_, A, T>,
) -> Result<Vec<T>> {
    reader.begin(inputs.len());
    let done = read_each(inputs, names, reader, work);
    reader.end();
    done
}

fn read_each<A: Send, T>(
    inputs: Vec<Result<Found>>,
    names: &[String],
    reader: &dyn InputReader,
    work: &Work<'_, A, T>,
) -> Result<Vec<T>> {
    let mut outcomes = Outcomes::of(reader, inputs.len());
    for run in runs(inputs, work) {
        match run {
            Run::One(found) => {
                let read = read_found(found, names, work);
                outcomes.count += read.len() - 1;
                read.into_iter()
                    .try_for_each(|(is_named, outcome)| outcomes.add(is_named, outcome))?;
            }
            Run::Small(files) if files.len() == 1 => {
                outcomes.add(is_named(&files[0], names), (work.read)(&files[0], None))?;
            }
            Run::Small(files) => {
                reader.begin_small(files.len());
                let read = ahead::each(&files, work.readers, work.ahead, |input, early| {
                    outcomes.add(is_named(input, names), (work.read)(input, early))
                });
                reader.end_small();
                read?;
            }
        }
    }
    outcomes.end()
}

/// What became of the inputs so far.
struct Outcomes<'a, T> {
    reader: &'a dyn InputReader,
    /// The number of all inputs.
    count: usize,
    done: Vec<T>,
    failed: usize,
    left_out: Option<IngestError>,
}

impl<'a, T> Outcomes<'a, T> {
    fn of(reader: &'a dyn InputReader, count: usize) -> Self {
        Self { reader, count, done: Vec::new(), failed: 0, left_out: None }
    }

    /// Adds what became of an input. Fails if no other input shall be read.
    fn add(&mut self, is_named: bool, outcome: Result<T>) -> Result<()> {
        match outcome {
            Ok(outcome) => self.done.push(outcome),
            // If the user stops the reading, the other inputs are not read either.
            Err(e @ (Error::Cancelled | Error::Input(IngestError::Stopped))) => return Err(e),
            // The store refuses all other traces too.
            Err(e @ Error::Refused(_)) => return Err(e),
            Err(e) if self.count == 1 => return Err(e),
            Err(Error::Input(e @ IngestError::NotATrace { .. })) if !is_named => {
                self.reader.left_out(&e);
                self.left_out = Some(e);
            }
            Err(e) => {
                self.reader.failed(&e);
                self.failed += 1;
            }
        }
        Ok(())
    }

    fn end(self) -> Result<Vec<T>> {
        match self.left_out {
            _ if self.failed > 0 => Err(Error::Inputs(self.failed, self.count)),
            Some(e) if self.done.is_empty() => Err(e.into()),
            _ => Ok(self.done),
        }
    }
}

/// Whether the user named an input, in place of a folder or an archive that contains it.
fn is_named(input: &Input, names: &[String]) -> bool {
    names.contains(&input.name())
}

/// Reads one input, or the members of an archive that is elsewhere. Returns at least one outcome,
/// each with a flag that states whether the user named the input.
fn read_found<A, T>(
    found: Result<Found>,
    names: &[String],
    work: &Work<'_, A, T>,
) -> Vec<(bool, Result<T>)> {
    let read = |input: &Input| (is_named(input, names), (work.read)(input, None));
    match found {
        Err(e) => vec![(true, Err(of_input(e)))],
        Ok(Found::Here(input)) => vec![read(&input)],
        Ok(Found::Elsewhere(remote)) => {
            match (work.known)(&remote) {
                Ok(None) => {}
                Ok(Some(outcome)) => return vec![(true, Ok(outcome))],
                Err(e) => return vec![(true, Err(e))],
            }
            // The copy is kept until its last member is read.
            let copied = elsewhere::copy(&remote).and_then(|file| {
                let inputs = expand_copy(&path_of(&file), &remote.url, remote.etag.as_deref())?;
                Ok((file, inputs))
            });
            match copied {
                Ok((_file, inputs)) => inputs.iter().map(read).collect(),
                Err(e) => vec![(names.contains(&remote.url), Err(of_input(e)))],
            }
        }
    }
}

/// An error about one input. A refusal of its server does not concern the other inputs.
fn of_input(error: Error) -> Error {
    match error {
        Error::Refused(reason) => Error::Elsewhere(reason),
        other => other,
    }
}

/// A path of an open file without a name.
fn path_of(file: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
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
