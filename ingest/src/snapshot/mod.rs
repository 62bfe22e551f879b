//! Reads PyTorch's CUDA memory snapshots, pickles that `torch.cuda.memory._dump_snapshot` writes, and
//! the pickles of the flight recorder.
//!
//! Nothing in a pickle is executed: the reader knows only opcodes for texts, numbers and
//! containers, and refuses all others (`machine`). Dicts become records of fixed size as soon as
//! they are complete (`heap`). `layout` finds the parts of a snapshot in the result, and `ledger`
//! follows the allocations of a device through its history.

mod heap;
mod keys;
mod layout;
mod ledger;
mod machine;
mod metadata;
mod opcode;
mod records;
mod source;
mod values;

use std::path::Path;

pub use heap::{Dict, Heap, List};
pub use layout::{Layout, Trace};
pub use ledger::{Action, Ledger};
pub use metadata::{long_members, members, stack_text, top_members};
pub use records::*;
pub use values::{Code, Value};

use machine::{Fault, Machine};
use source::Bytes;

use crate::counted::counted;
use crate::error::{IngestError, Result};
use crate::issues::{Code as IssueCode, Issues};
use crate::source::Content;
use crate::trace::Progress;

/// The key of entries whose value names a memory pool.
pub const POOL_ID: u32 = keys::POOL_ID;

/// A snapshot that was read.
pub struct Snapshot {
    /// All containers of the pickle.
    pub heap: Heap,
    /// The parts of the snapshot.
    pub layout: Layout,
    /// Whether the input was cut, so that the history or the state may be incomplete.
    pub is_cut: bool,
    /// Issues that were found.
    pub issues: Issues,
    /// Length of the pickle in bytes.
    pub bytes: u64,
}

/// A dump of the flight recorder as a pickle that was read.
pub struct FlightPickle {
    /// All containers of the pickle.
    pub heap: Heap,
    /// The top-level dict, as a number in [`Heap::others`].
    pub top: u32,
    /// Issues that were found.
    pub issues: Issues,
    /// Length of the pickle in bytes.
    pub bytes: u64,
}

/// A pickle of one of the kinds that are read.
pub enum Pickle {
    /// A memory snapshot.
    Snapshot(Snapshot),
    /// A dump of the flight recorder.
    Flight(FlightPickle),
}

/// The key of the records of a flight recorder dump.
pub const ENTRIES: u32 = keys::ENTRIES;
/// The key of the stack of a record.
pub const FRAMES: u32 = keys::FRAMES;

/// Whether a content is a pickle of a binary protocol. JSON never begins with these bytes.
pub fn is_pickle(content: &Content) -> Result<bool> {
    let (len, _) = content.wait(4)?;
    let head = content.map(0, len.min(4))?;
    // Protocol 1 does not state itself: it begins with an empty container and its memo index.
    Ok(matches!(&head[..], [0x80, 0..=32, ..] | [b'}' | b']', b'q' | b'r', ..]))
}

/// Reads a snapshot or a dump of the flight recorder. `scratch` is a folder for temporary files.
///
/// Fails if the content is neither of them, if it is cut before anything whole, or if its values
/// need more memory than `memory_limit`.
pub fn read(
    name: &str,
    content: &Content,
    scratch: &Path,
    memory_limit: usize,
    progress: &Progress,
) -> Result<Pickle> {
    let outcome = read_pickle(name, content, scratch, memory_limit, progress);
    if outcome.is_err() {
        content.abandon();
    }
    outcome
}

fn read_pickle(
    name: &str,
    content: &Content,
    scratch: &Path,
    memory_limit: usize,
    progress: &Progress,
) -> Result<Pickle> {
    let heap = Heap::new(scratch, memory_limit / 4);
    let mut machine = Machine::new(Bytes::new(content)?, heap, memory_limit / 2, progress);
    let mut issues = Issues::default();
    let (top, cut) = match machine.run() {
        Ok(top) => (top, None),
        Err((fault @ Fault::Ends { .. }, at)) => match machine.close() {
            Some(top) => (top, Some((fault, at))),
            None => return Err(refusal(name, fault, at)),
        },
        Err((fault, at)) => return Err(refusal(name, fault, at)),
    };
    let end = machine.offset();
    let is_frame_cut = machine.frame_cut;
    let heap = machine.heap;
    let flight = layout::flight(&heap, top);
    let layout = match (flight, layout::find(&heap, top)) {
        (Some(_), _) => Layout::default(),
        (None, Ok(layout)) => layout,
        (None, Err(reason)) => {
            return Err(match cut {
                Some((fault, at)) => refusal(name, fault, at),
                None => not_a_snapshot(name, &reason),
            });
        }
    };
    let (bytes, _) = content.wait(u64::MAX)?;
    match cut {
        Some((fault, at)) if flight.is_none() && layout.is_empty(&heap) => {
            return Err(refusal(name, fault, at));
        }
        Some((_, at)) => {
            issues.add(IssueCode::TruncatedInput, None, Some(at), b"");
        }
        None if is_frame_cut => {
            issues.add(IssueCode::TruncatedInput, None, Some(end), b"");
            let detail = "a frame claims more bytes than the input has";
            issues.detail(IssueCode::TruncatedInput, detail.to_owned());
        }
        None if bytes > end => {
            let example = content.map(end, bytes.min(end + 60))?;
            issues.add(IssueCode::TrailingData, None, Some(end), &example);
            let detail = format!("{} after the pickle", counted(bytes - end, "byte"));
            issues.detail(IssueCode::TrailingData, detail);
        }
        None => {}
    }
    if layout.odd_segments > 0 {
        issues.add_many(IssueCode::SnapshotSegment, layout.odd_segments, None, None, b"");
    }
    let (repeated, first) = heap.repeated_keys;
    if repeated > 0 {
        issues.add_many(IssueCode::DuplicateKey, repeated, None, first, b"");
    }
    issues.merge(content.issues());
    let is_cut = issues.count(IssueCode::TruncatedInput) > 0;
    Ok(match flight {
        Some(top) => Pickle::Flight(FlightPickle { heap, top, issues, bytes }),
        None => Pickle::Snapshot(Snapshot { heap, layout, is_cut, issues, bytes }),
    })
}

fn not_a_snapshot(name: &str, reason: &str) -> IngestError {
    let reason = format!(
        "this is a Python pickle, but neither a PyTorch memory snapshot nor a dump of the flight \
         recorder: {reason}; \
         nothing in it was executed"
    );
    IngestError::not_a_trace(name, reason, 0)
}

fn refusal(name: &str, fault: Fault, at: u64) -> IngestError {
    match fault {
        Fault::Failed(error) => *error,
        Fault::Refused(opcode) => IngestError::not_a_trace(
            name,
            format!(
                "a pickle with the opcode {} (0x{opcode:02x}), which neither a memory snapshot nor a dump of the \
                 flight recorder needs; \
                 nothing in it was executed",
                opcode::refused_name(opcode)
            ),
            at,
        ),
        Fault::Ends { wanted, left } => IngestError::input_at(
            name,
            format!(
                "the pickle ends before a whole segment or entry: {} needed, {left} left",
                counted(wanted, "byte")
            ),
            at,
        ),
        Fault::Bad(what) => {
            IngestError::input_at(name, format!("not a pickle that can be read: {what}"), at)
        }
        Fault::TooMany => {
            IngestError::input_at(name, "a pickle of more than 536,870,911 values", at)
        }
        Fault::TooLarge => IngestError::input_at(
            name,
            "its values need more memory than --memory-limit leaves for them; raise the limit",
            at,
        ),
    }
}
