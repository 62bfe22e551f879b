//! Reads XPlane files, which the profilers of JAX, TensorFlow, PyTorch/XLA and TPUs write
//! (`*.xplane.pb`).
//!
//! A file holds planes (the host, devices, metadata), a plane holds lines (threads, streams), and a
//! line holds events. Names and other values of events are in tables of their plane, which are
//! written after its lines. So each plane is indexed first (`plane`), and its events are read after
//! that (`events`). Elements are all events in the order of the file.

mod details;
mod events;
mod facts;
mod lines;
mod metadata;
mod plane;
mod stats;

use crate::error::{IngestError, Result};
use crate::issues::Code;
use crate::source::Content;
use crate::trace::Reading;
use crate::typed::TypedElements;
use crate::wire::{Bad, Failure, Fault, Fields, Stream, Value, varint};

use facts::SpaceFacts;

/// Number of bytes that are looked at to recognise a file.
const HEAD: u64 = 64 << 10;
/// The bytes that stand for invalid UTF-8 after a text tool damaged a binary file.
const REPLACEMENT: &[u8] = b"\xef\xbf\xbd";
/// Maximum number of planes.
const MAX_PLANES: usize = 100_000;
/// Beginnings of the names of planes.
const PLANE_NAMES: &[&[u8]] = &[
    b"/host:",
    b"/device:",
    b"/virtualdevice:",
    b"Task Environment",
    b"#Chip",
    b"Host CPUs",
    b"Syscalls",
];

/// Whether a content is an XPlane file: a plane with a name that profilers use comes first.
pub fn is_xplane(content: &Content) -> Result<bool> {
    let (len, _) = content.wait(256)?;
    let head = content.map(0, len.min(256))?;
    if head.first() != Some(&0x0a) {
        return Ok(false);
    }
    let mut at = 1;
    if varint(&head, &mut at).is_err() {
        return Ok(false);
    }
    // The number and the name of the plane come first. The plane may be longer than the head, but
    // these fields are not.
    let mut fields = Fields::of(&head[at..]);
    for _ in 0..2 {
        match fields.next() {
            Ok(Some(field)) => match (field.number, field.value) {
                (1, Value::Varint(_)) => {}
                (2, Value::Bytes(name)) => {
                    return Ok(PLANE_NAMES.iter().any(|n| name.starts_with(n)));
                }
                _ => return Ok(false),
            },
            _ => return Ok(false),
        }
    }
    Ok(false)
}

/// Reads an XPlane file. `budget` bytes of memory are for the tables of a plane.
pub fn read(elements: &mut TypedElements<'_>, reading: &Reading<'_>, budget: usize) -> Result<()> {
    let outcome = read_space(elements, reading, budget);
    outcome.or_else(|failure| {
        if is_mangled(reading.content)? {
            return Err(mangled(reading.name));
        }
        Err(failure.of(reading.name, "XPlane file"))
    })
}

/// Whether the bytes of a file that are not UTF-8 were replaced by a text tool.
fn is_mangled(content: &Content) -> Result<bool> {
    let (len, _) = content.wait(HEAD)?;
    let head = content.map(0, len.min(HEAD))?;
    Ok(memchr::memmem::find_iter(&head, REPLACEMENT).take(4).count() == 4)
}

fn mangled(name: &str) -> IngestError {
    let reason = "a text tool damaged this XPlane file: the bytes EF BF BD stand where bytes were \
                  not valid UTF-8; fetch the file again as binary data";
    IngestError::input_at(name, reason, 0)
}

/// A plane of the file.
#[derive(Debug, Clone, Copy)]
struct PlaneRange {
    start: u64,
    end: u64,
    /// Whether the file ends within the plane.
    is_cut: bool,
}

fn read_space(
    elements: &mut TypedElements<'_>,
    reading: &Reading<'_>,
    budget: usize,
) -> Result<(), Failure> {
    let content = reading.content;
    let (len, _) = content.wait(u64::MAX)?;
    let mut facts = SpaceFacts::default();
    let mut planes: Vec<PlaneRange> = Vec::new();
    let mut stream = Stream::of(content, 0, len)?.cut(true);
    let mut last_whole = 0;
    while let Some(part) = stream.next()? {
        if part.is_cut && is_mangled(content)? {
            return Err(mangled(reading.name).into());
        }
        let (start, end, is_cut) = (part.start, part.end, part.is_cut);
        match part.number {
            1 => {
                part.must_have_bytes()?;
                if planes.len() == MAX_PLANES {
                    return Err(Fault { bad: Bad::TooMany, at: part.at }.into());
                }
                planes.push(PlaneRange { start, end, is_cut });
            }
            2..=4 if !is_cut => {
                part.must_have_bytes()?;
                let text = String::from_utf8_lossy(stream.bytes(start, end)?).into_owned();
                facts.text(part.number, text);
            }
            number => {
                elements.issues.add(Code::UnknownField, None, Some(part.at), b"");
                facts.unknown.add(("file", number));
            }
        }
        if is_cut {
            cut(elements, part.at, len);
        } else {
            last_whole = part.end;
        }
    }
    if planes.is_empty() {
        let at = 0;
        return Err(Fault { bad: Bad::Ends { wanted: 1, left: 0 }, at }.into());
    }
    if last_whole < len && !planes.iter().any(|p| p.is_cut) {
        cut(elements, last_whole, len);
    }
    for (no, range) in planes.iter().enumerate() {
        reading.progress.go_on()?;
        plane::read(elements, reading, no, *range, budget, &mut facts)?;
        let done = std::sync::atomic::Ordering::Relaxed;
        reading.progress.bytes.store(range.end, done);
    }
    facts.unknown.list(&mut elements.issues);
    facts.finish(&mut elements.facts);
    Ok(())
}

/// Notes that the input ends within the plane or value at `at`.
fn cut(elements: &mut TypedElements<'_>, at: u64, len: u64) {
    elements.issues.add(Code::TruncatedInput, None, Some(at), b"");
    let detail = format!("the input ends at byte {len}, within a value");
    elements.issues.detail(Code::TruncatedInput, detail);
}
