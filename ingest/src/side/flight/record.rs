//! A record of the flight recorder.

use std::rc::Rc;

use crate::issues::{Code, Issues};
use crate::json::{self, Cursor};
use crate::side::{items, text};

/// Milliseconds beyond this (a century) are not usable.
const MAX_MS: i64 = 100 * 366 * 86_400_000;

/// A collective, send or receive that a rank has scheduled. Values are `None` where the dump has
/// none, or none of the right type.
#[derive(Debug, Default)]
pub struct Record {
    /// Position among the entries.
    pub ord: u64,
    /// Number of the record.
    pub record_id: Option<i64>,
    /// Number of the process group.
    pub group_id: Option<i64>,
    /// Name of the process group.
    pub group_name: Option<String>,
    /// Description of the process group.
    pub group_description: Option<String>,
    /// Number of the collective in its group.
    pub collective_seq: Option<i64>,
    /// Number of the send or receive in its group.
    pub p2p_seq: Option<i64>,
    /// Number of the operation in its group.
    pub op_id: Option<i64>,
    /// Name.
    pub name: Option<String>,
    /// Whether it is a send or receive.
    pub is_p2p: bool,
    /// State, as written.
    pub state: Option<String>,
    /// Whether the watchdog no longer watches it.
    pub retired: bool,
    /// Unix time at which it was scheduled, in ns.
    pub created: Option<i64>,
    /// Unix time at which it was seen to have started, in ns.
    pub started: Option<i64>,
    /// Unix time at which it was seen to have completed, in ns.
    pub completed: Option<i64>,
    /// Time on the device in ns.
    pub duration: Option<i64>,
    /// Timeout in ns.
    pub timeout: Option<i64>,
    /// Shapes of the inputs, as JSON.
    pub input_sizes: Option<String>,
    /// Types of the inputs, as JSON.
    pub input_dtypes: Option<String>,
    /// Shapes of the outputs, as JSON.
    pub output_sizes: Option<String>,
    /// Types of the outputs, as JSON.
    pub output_dtypes: Option<String>,
    /// Thread, as written.
    pub thread_id: Option<String>,
    /// Name of the thread.
    pub thread_name: Option<String>,
    /// Frames as one text, root first.
    pub stack: Option<Rc<str>>,
    /// The whole entry as compact JSON, without its frames.
    pub args: String,
}

impl Record {
    /// Reads a record from the compact JSON of an entry.
    pub fn read(ord: u64, args: String, stack: Option<Rc<str>>, issues: &mut Issues) -> Self {
        let mut record = Self { ord, stack, ..Self::default() };
        let mut odd: Option<Vec<u8>> = None;
        let _ = Cursor::new(args.as_bytes(), 0).object(|key, value| {
            if !record.set(key, value) && odd.is_none() {
                odd = Some([key, b": ", value].concat());
            }
        });
        if let Some(example) = odd {
            issues.add(Code::RecordValue, Some(ord), None, &example);
        }
        if record.group_name.is_none() {
            record.group_name = default_group(record.group_id);
            if let (None, Some(id)) = (&record.group_name, record.group_id) {
                let example = format!("process group {id}");
                issues.add(Code::MissingReference, Some(ord), None, example.as_bytes());
            }
        }
        record.args = args;
        record
    }

    /// Sets a value; returns whether it can be used.
    fn set(&mut self, key: &[u8], raw: &[u8]) -> bool {
        if raw == b"null" {
            return true;
        }
        match key {
            b"record_id" => int(raw, &mut self.record_id),
            b"pg_id" => int(raw, &mut self.group_id),
            b"collective_seq_id" => int(raw, &mut self.collective_seq),
            b"p2p_seq_id" => int(raw, &mut self.p2p_seq),
            b"op_id" => int(raw, &mut self.op_id),
            // Dumps of version 1 count collectives and sends together.
            b"seq_id" if self.collective_seq.is_none() => int(raw, &mut self.collective_seq),
            b"time_created_ns" => time(raw, &mut self.created),
            b"time_discovered_started_ns" => time(raw, &mut self.started),
            b"time_discovered_completed_ns" => time(raw, &mut self.completed),
            b"timeout_ms" => {
                let ms = json::int(raw).filter(|ms| (0..=MAX_MS).contains(ms));
                self.timeout = ms.map(|ms| ms * 1_000_000);
                ms.is_some()
            }
            b"duration_ms" => {
                let ms = json::float(raw).filter(|ms| (0.0..=MAX_MS as f64).contains(ms));
                self.duration = ms.map(|ms| (ms * 1e6).round() as i64);
                ms.is_some()
            }
            b"profiling_name" => string(raw, &mut self.name),
            b"state" => string(raw, &mut self.state),
            b"thread_id" => {
                self.thread_id = text(raw).or_else(|| json::int(raw).map(|n| n.to_string()));
                self.thread_id.is_some()
            }
            b"thread_name" => string(raw, &mut self.thread_name),
            b"retired" => flag(raw, &mut self.retired),
            b"is_p2p" => flag(raw, &mut self.is_p2p),
            b"input_sizes" => list(raw, &mut self.input_sizes),
            b"output_sizes" => list(raw, &mut self.output_sizes),
            b"input_dtypes" => list(raw, &mut self.input_dtypes),
            b"output_dtypes" => list(raw, &mut self.output_dtypes),
            b"process_group" => {
                let pair: Vec<Option<String>> = items(raw).into_iter().map(text).collect();
                match &pair[..] {
                    [Some(name), Some(description)] => {
                        self.group_name = Some(name.clone());
                        self.group_description = Some(description.clone());
                        true
                    }
                    _ => false,
                }
            }
            b"pg_name" if self.group_name.is_none() => string(raw, &mut self.group_name),
            _ => true,
        }
    }

    /// Whether it was seen to have completed.
    pub fn is_completed(&self) -> bool {
        self.completed.is_some()
    }

    /// Returns the approximate memory of the record in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + 3 * self.args.len()
    }
}

/// The name of a group in dumps of versions before 2, which number groups. Number 0 is the default
/// group. Each process counts the other ones for itself, so their numbers name no group of the job.
fn default_group(id: Option<i64>) -> Option<String> {
    (id == Some(0)).then(|| "0".to_owned())
}

fn int(raw: &[u8], to: &mut Option<i64>) -> bool {
    *to = json::int(raw);
    to.is_some()
}

/// Reads a Unix time. JSON dumps write 0 for a time that is not known.
fn time(raw: &[u8], to: &mut Option<i64>) -> bool {
    let time = json::int(raw);
    *to = time.filter(|time| *time > 0);
    time.is_some_and(|time| time >= 0)
}

fn string(raw: &[u8], to: &mut Option<String>) -> bool {
    *to = text(raw);
    to.is_some()
}

fn flag(raw: &[u8], to: &mut bool) -> bool {
    *to = raw == b"true";
    matches!(raw, b"true" | b"false")
}

fn list(raw: &[u8], to: &mut Option<String>) -> bool {
    *to = (raw.first() == Some(&b'[')).then(|| String::from_utf8_lossy(raw).into_owned());
    to.is_some()
}

#[cfg(test)]
mod tests {
    use super::Record;
    use crate::issues::{Code, Issues};

    #[test]
    fn values_of_other_types_are_counted() {
        let mut issues = Issues::default();
        let good = r#"{"record_id":3,"process_group":["0","default_pg"],"duration_ms":0.5,
            "time_created_ns":5,"time_discovered_started_ns":0,"is_p2p":false,"new":[1]}"#;
        let record = Record::read(0, good.to_owned(), None, &mut issues);
        assert_eq!(record.group_description.as_deref(), Some("default_pg"));
        assert_eq!(
            (record.duration, record.created, record.started),
            (Some(500_000), Some(5), None)
        );
        assert_eq!(issues.count(Code::RecordValue), 0);
        let bad = r#"{"record_id":"x","process_group":7,"time_created_ns":-5,"timeout_ms":1e300}"#;
        let record = Record::read(1, bad.to_owned(), None, &mut issues);
        assert_eq!((record.record_id, record.created, record.timeout), (None, None, None));
        assert_eq!(issues.count(Code::RecordValue), 1);
    }

    #[test]
    fn groups_without_a_name_are_the_default_group_or_are_counted() {
        let mut issues = Issues::default();
        let mut name =
            |id: i64| Record::read(0, format!("{{\"pg_id\":{id}}}"), None, &mut issues).group_name;
        assert_eq!((name(0).as_deref(), name(1)), (Some("0"), None));
        assert_eq!(issues.count(Code::MissingReference), 1);
    }
}
