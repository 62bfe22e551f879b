//! Reads traces in Perfetto's protobuf format (`.pftrace`, `.perfetto-trace`).
//!
//! A trace is a list of packets of several sequences. The first pass over the packets collects what
//! later packets state about earlier ones: tracks, clocks, names of processes. The second pass
//! reads events. Elements are track events, their extra counters, stages of GPUs, and packets of
//! data that is not read, in the order of the file.

mod annotations;
mod clocks;
mod events;
mod gpu;
mod gpu_args;
mod kinds;
mod packets;
mod reader;
mod sequence;
mod track_event;
mod tracks;

use crate::error::Result;
use crate::issues::Issues;
use crate::source::Content;
use crate::trace::Reading;
use crate::typed::TypedElements;
use crate::wire::UnknownFields;
use crate::wire::{Failure, Fields, Value, varint};

use kinds::{is_header, kind};
use reader::Reader;

/// Number of bytes that are looked at to recognise a trace.
const HEAD: u64 = 64 << 10;

/// Whether a content is a trace in Perfetto's protobuf format: its first message is a packet.
pub fn is_perfetto(content: &Content) -> Result<bool> {
    let (len, _) = content.wait(HEAD)?;
    let head = content.map(0, len.min(HEAD))?;
    let mut at = 1;
    if head.first() != Some(&0x0a) {
        return Ok(false);
    }
    let Ok(packet_len) = varint(&head, &mut at) else { return Ok(false) };
    let is_whole = packet_len <= (head.len() - at) as u64;
    let end = if is_whole { at + packet_len as usize } else { head.len() };
    let mut fields = Fields::of(&head[at..end]);
    let mut is_packet = false;
    loop {
        match fields.next() {
            Ok(Some(field)) => match (field.number, field.value) {
                (8 | 10 | 13 | 41 | 58, Value::Varint(_)) => is_packet = true,
                (12 | 59, Value::Bytes(_)) => is_packet = true,
                (number, _) if is_header(number) => {}
                (6 | 11 | 33 | 36 | 50 | 60 | 133, Value::Bytes(_)) => is_packet = true,
                (number, Value::Bytes(_)) if kind(number).0 != "unknown" => {}
                // Extensions have numbers that are not known.
                (64.., Value::Bytes(_)) => {}
                _ => return Ok(false),
            },
            Ok(None) => return Ok(is_packet),
            Err(_) => return Ok(is_packet && !is_whole),
        }
    }
}

/// Reads a trace. `budget` bytes of memory are for names and tracks.
pub fn read(elements: &mut TypedElements<'_>, reading: &Reading<'_>, budget: usize) -> Result<()> {
    let failed = |failure: Failure| failure.of(reading.name, "Perfetto trace");
    let mut reader = Reader::new(elements, reading, budget);
    // Damage is counted by the second pass.
    let (mut ignored, mut unlisted) = (Issues::default(), UnknownFields::default());
    packets::for_each(reading, budget, &mut ignored, &mut unlisted, &mut |bytes, at| {
        reader.announce(bytes, at)
    })
    .map_err(failed)?;
    reader.announced();
    let (mut issues, mut unknown) = (Issues::default(), UnknownFields::default());
    packets::for_each(reading, budget, &mut issues, &mut unknown, &mut |bytes, at| {
        reader.packet(bytes, at)
    })
    .map_err(failed)?;
    reader.finish(issues, unknown);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn is_recognised(bytes: &[u8]) -> bool {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        let name = std::path::Path::new("test");
        let content = Content::of_copy(file, name, Default::default()).expect("content");
        is_perfetto(&content).expect("a head")
    }

    #[test]
    fn a_trace_is_recognised_by_its_first_packet() {
        assert!(is_recognised(b"\x0a\x04\x40\x05\x50\x07"));
        assert!(is_recognised(b"\x0a\x7f\x50\x07\x5a\x10cut"));
        // A profile of pprof, and a plane of XPlane.
        assert!(!is_recognised(b"\x0a\x04\x08\x01\x10\x02\x12\x02\x08\x01"));
        assert!(!is_recognised(b"\x0a\x0b\x08\x01\x12\x07/host:x"));
        assert!(!is_recognised(b""));
    }

    #[test]
    fn json_after_a_line_end_is_no_trace() {
        let event = r#"{"name":"x","ph":"X","ts":1,"dur":2,"pid":1,"tid":1},"#.repeat(20);
        for start in ["\n{\"traceEvents\":[", "\n[", "\n\n{\"traceEvents\": [", "\n  [", "\n\t["] {
            assert!(!is_recognised(format!("{start}{event}").as_bytes()), "{start:?}");
        }
    }
}
