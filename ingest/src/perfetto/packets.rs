//! The packets of a trace, also of compressed ones, in the order of the file.

use std::io::Read;
use std::sync::atomic::Ordering;

use super::kinds::is_header;
use crate::counted::counted;
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::trace::Reading;
use crate::wire::UnknownFields;
use crate::wire::{Failure, Fault, Fields, Stream};

/// Maximum length of a packet that is read, bytes.
const MAX_PACKET: u64 = 256 << 20;

/// A packet.
#[derive(Debug, Default, Clone, Copy)]
pub struct Packet<'a> {
    /// Time on the packet's clock.
    pub timestamp: Option<u64>,
    /// The clock.
    pub clock: Option<u32>,
    /// The sequence of packets of one writer.
    pub sequence: u64,
    /// 1: state was cleared before this packet; 2: the packet needs state.
    pub flags: u64,
    /// Whether packets before this one were lost.
    pub dropped: bool,
    /// Names and texts.
    pub interned: Option<&'a [u8]>,
    /// Defaults of the packets that follow.
    pub defaults: Option<&'a [u8]>,
    /// The payload and its field number; 0 if there is none.
    pub payload: &'a [u8],
    /// The field number of the payload.
    pub kind: u32,
    /// Offset of the packet in the input. For packets that were compressed, that of the packet
    /// which holds them.
    pub at: u64,
}

impl<'a> Packet<'a> {
    /// Reads the fields of a packet.
    pub fn read(bytes: &'a [u8], at: u64) -> Result<Self, Fault> {
        let mut packet = Self { at, ..Self::default() };
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                8 => packet.timestamp = Some(field.uint()?),
                10 => packet.sequence = field.uint()?,
                12 => packet.interned = Some(field.bytes()?),
                13 => packet.flags |= field.uint()?,
                41 => packet.flags |= field.uint()?.min(1),
                42 => packet.dropped = field.uint()? != 0,
                58 => packet.clock = u32::try_from(field.uint()?).ok(),
                59 => packet.defaults = Some(field.bytes()?),
                number if is_header(number) => {}
                // Only one payload is allowed; the last one counts, as in all protobuf readers.
                number => {
                    if let Ok(payload) = field.bytes() {
                        (packet.kind, packet.payload) = (number, payload);
                    }
                }
            }
        }
        Ok(packet)
    }
}

/// Calls a function for the bytes of each packet. Compressed packets are unpacked to at most
/// `budget` bytes each.
///
/// A trace that cannot be read from some byte on is kept up to there.
pub fn for_each(
    reading: &Reading<'_>,
    budget: usize,
    issues: &mut Issues,
    unknown: &mut UnknownFields,
    each: &mut dyn FnMut(&[u8], u64) -> Result<()>,
) -> Result<(), Failure> {
    let content = reading.content;
    let (len, _) = content.wait(u64::MAX)?;
    let mut stream = Stream::of(content, 0, len)?;
    let mut packets = 0u64;
    loop {
        let from = stream.offset();
        let part = match stream.next() {
            Ok(Some(part)) => part,
            Ok(None) => return Ok(()),
            Err(Failure::Wire(fault)) if packets > 0 => {
                issues.add(Code::TruncatedInput, None, Some(from), b"");
                let lost = counted(len - from, "byte");
                let detail = format!("{lost} from byte {from} on were lost: {}", fault.bad);
                issues.detail(Code::TruncatedInput, detail);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        if part.number != 1 {
            issues.add(Code::UnknownField, None, Some(part.at), b"");
            unknown.add(("trace", part.number));
            continue;
        }
        if !part.has_bytes || part.len() > MAX_PACKET {
            issues.add(Code::UnreadMessage, None, Some(part.at), b"");
            continue;
        }
        packets += 1;
        if packets.is_multiple_of(1 << 14) {
            reading.progress.go_on()?;
            reading.progress.bytes.store(part.end, Ordering::Relaxed);
        }
        let bytes = stream.bytes(part.start, part.end)?;
        match compressed(bytes) {
            Some((kind, packed)) => match unpack(kind, packed, budget) {
                Some(unpacked) => inner(&unpacked, part.at, issues, unknown, each)?,
                None => issues.add(Code::UnreadMessage, None, Some(part.at), b""),
            },
            None => each(bytes, part.at)?,
        }
    }
}

/// Returns the compressed packets that a packet holds, and how they are compressed.
fn compressed(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut fields = Fields::of(bytes);
    let mut found = None;
    while let Ok(Some(field)) = fields.next() {
        match field.number {
            50 | 133 => found = Some((field.number, field.bytes().ok()?)),
            number if is_header(number) => {}
            _ => return None,
        }
    }
    found
}

/// Unpacks compressed packets. What could be unpacked of damaged ones is kept. Returns `None` if
/// they are larger than `budget` bytes or cannot be unpacked at all.
fn unpack(kind: u32, packed: &[u8], budget: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let max = budget as u64;
    let done = match kind {
        50 => flate2::read::ZlibDecoder::new(packed).take(max + 1).read_to_end(&mut out),
        _ => zstd::stream::read::Decoder::new(packed)
            .and_then(|decoder| std::io::Read::take(decoder, max + 1).read_to_end(&mut out)),
    };
    (out.len() as u64 <= max && (done.is_ok() || !out.is_empty())).then_some(out)
}

/// Calls a function for each packet of an unpacked list.
fn inner(
    bytes: &[u8],
    at: u64,
    issues: &mut Issues,
    unknown: &mut UnknownFields,
    each: &mut dyn FnMut(&[u8], u64) -> Result<()>,
) -> Result<()> {
    let mut fields = Fields::of(bytes);
    loop {
        match fields.next() {
            Ok(None) => return Ok(()),
            Ok(Some(field)) if field.number == 1 => match field.bytes() {
                // Packets are compressed once.
                Ok(packet) if compressed(packet).is_none() => each(packet, at)?,
                _ => issues.add(Code::UnreadMessage, None, Some(at), b""),
            },
            Ok(Some(field)) => {
                issues.add(Code::UnknownField, None, Some(at), b"");
                unknown.add(("trace", field.number));
            }
            Err(_) => {
                issues.add(Code::UnreadMessage, None, Some(at), b"");
                return Ok(());
            }
        }
    }
}
