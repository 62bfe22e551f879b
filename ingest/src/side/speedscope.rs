//! Speedscope's JSON: profiles of samples, and profiles of frames that open and close.
//!
//! Frames that open and close at times stay events. In other units, such as bytes, they have no
//! place on a timeline and become samples.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Metadata, flight::ends, items, text};
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};
use crate::json::{self, Cursor};
use crate::source::{Content, Ends, Walk};
use crate::trace::Progress;

/// An element of a profile.
#[derive(Debug, PartialEq)]
pub enum Element {
    /// A sample: the frames, root first, and what it weighs as written.
    Sample(Vec<u32>, Option<String>),
    /// A frame opens at a time in ns.
    Open(u32, i64),
    /// A frame closes at a time in ns.
    Close(u32, i64),
}

/// A profile.
#[derive(Default)]
pub struct Profile {
    pub name: Option<String>,
    /// Unit of weights and times, as written.
    pub unit: Option<String>,
    /// Start in ns, if the unit is one of time.
    pub start: Option<i64>,
    /// Elements with their positions in the file.
    pub elements: Vec<(u64, Element)>,
}

/// A file that was read.
#[derive(Default)]
pub struct Speedscope {
    /// Texts of the frames.
    pub frames: Vec<String>,
    pub profiles: Vec<Profile>,
    /// Elements of all profiles, with those that were skipped.
    pub elements: u64,
    /// Top-level keys other than frames and profiles.
    pub metadata: Metadata,
    pub issues: Issues,
}

/// The exponent that makes microseconds of a unit of time.
fn exponent(unit: &str) -> Option<&'static str> {
    match unit {
        "nanoseconds" => Some("e-3"),
        "microseconds" => Some(""),
        "milliseconds" => Some("e3"),
        "seconds" => Some("e6"),
        _ => None,
    }
}

/// Converts a number in a unit of time to ns; `None` for another unit, or beyond 64 bits.
pub fn time_ns(unit: Option<&str>, raw: &[u8]) -> Option<i64> {
    let exponent = exponent(unit?)?;
    let digits = std::str::from_utf8(raw).ok()?;
    // The text is read as a decimal number, so no digit is lost.
    if exponent.is_empty() || digits.contains(['e', 'E']) {
        let ns = json::time_ns(raw).ok()?.0;
        if exponent.is_empty() {
            return Some(ns);
        }
        let factor: f64 = format!("1{exponent}").parse().ok()?;
        let scaled = json::float(raw)? * factor * 1e3;
        return (scaled.abs() < 9e18).then_some(scaled.round() as i64);
    }
    json::time_ns(format!("{digits}{exponent}").as_bytes()).ok().map(|(ns, _)| ns)
}

/// Reads a file. Frames may stand after the profiles, so the text is walked twice.
pub fn read(
    name: &str,
    content: &Content,
    budget: usize,
    progress: &Progress,
) -> Result<Speedscope> {
    let mut file = Speedscope::default();
    let mut used = 0usize;
    let mut walk = Walk::new(content)?;
    let end = walk.object(|walk, key| match key {
        b"shared" => walk.object(|walk, key| {
            if key != b"frames" {
                return walk.skip();
            }
            walk.list(|walk| {
                let frame = frame(walk.value()?);
                used += frame.len() + size_of::<String>();
                file.frames.push(frame);
                if used > budget { Err(too_large(name).into()) } else { Ok(()) }
            })
        }),
        b"profiles" => walk.skip(),
        _ => {
            file.metadata.add(key, walk.value()?, &mut file.issues);
            Ok(())
        }
    });
    if let Err(Ends::Failed(error)) = end {
        return Err(error);
    }
    let mut walk = Walk::new(content)?;
    let mut reader = Reader { name, file, used, budget, progress };
    let end = walk.object(|walk, key| {
        if key != b"profiles" {
            return walk.skip();
        }
        walk.list(|walk| {
            let mut profile = Raw::default();
            let done = walk.object(|walk, key| profile.member(&mut reader, walk, key));
            reader.end(profile)?;
            done
        })
    });
    let mut file = reader.file;
    ends(name, end, &mut walk, file.elements, &mut file.issues)?;
    if file.elements == 0 {
        file.issues.add(Code::EmptyTrace, None, None, b"");
    }
    Ok(file)
}

fn too_large(name: &str) -> IngestError {
    IngestError::input(
        name,
        "its samples need more memory than --memory-limit leaves for them; raise the limit",
    )
}

/// Returns the text of a frame, as Kineto writes frames.
fn frame(raw: &[u8]) -> String {
    let [mut name, mut file, mut line] = [None, None, None];
    if raw.first() == Some(&b'{') {
        let _ = Cursor::new(raw, 0).object(|key, value| match key {
            b"name" => name = text(value),
            b"file" => file = text(value),
            b"line" => line = json::int(value).map(|n| n.to_string()),
            _ => {}
        });
    }
    let mut out = String::new();
    if let Some(file) = file.filter(|file| !file.is_empty()) {
        super::frame(&format!("{file}({}): ", line.as_deref().unwrap_or("0")), &mut out);
    }
    super::frame(&name.unwrap_or_default(), &mut out);
    out
}

struct Reader<'a> {
    name: &'a str,
    file: Speedscope,
    used: usize,
    budget: usize,
    progress: &'a Progress,
}

impl Reader<'_> {
    fn take(&mut self, bytes: usize) -> std::result::Result<(), Ends> {
        self.used += bytes;
        if self.used > self.budget {
            return Err(too_large(self.name).into());
        }
        Ok(self.progress.go_on()?)
    }
}

/// Frame, whether it opens, and its place as written.
type RawEvent = (u32, bool, String);

/// A profile whose members have come in any order.
#[derive(Default)]
struct Raw {
    texts: BTreeMap<&'static str, String>,
    start: Option<Vec<u8>>,
    samples: Vec<Option<Vec<u32>>>,
    weights: Vec<Option<String>>,
    events: Vec<Option<RawEvent>>,
}

fn index(raw: &[u8]) -> Option<u32> {
    json::int(raw).and_then(|n| u32::try_from(n).ok())
}

fn event(raw: &[u8]) -> Option<RawEvent> {
    let [mut kind, mut at] = [None, None];
    let mut frame = None;
    if raw.first() != Some(&b'{') {
        return None;
    }
    let _ = Cursor::new(raw, 0).object(|key, value| match key {
        b"type" => kind = Some(value),
        b"at" => at = json::float(value).map(|_| value),
        b"frame" => frame = index(value),
        _ => {}
    });
    let opens = match kind? {
        b"\"O\"" => true,
        b"\"C\"" => false,
        _ => return None,
    };
    Some((frame?, opens, String::from_utf8_lossy(at?).into_owned()))
}

impl Raw {
    fn member(
        &mut self,
        reader: &mut Reader<'_>,
        walk: &mut Walk<'_>,
        key: &[u8],
    ) -> std::result::Result<(), Ends> {
        match key {
            b"name" | b"unit" | b"type" => {
                let key = ["name", "unit", "type"].into_iter().find(|k| k.as_bytes() == key);
                if let (Some(key), Some(text)) = (key, text(walk.value()?)) {
                    self.texts.insert(key, text);
                }
                Ok(())
            }
            b"startValue" => {
                self.start = Some(walk.value()?.to_vec());
                Ok(())
            }
            b"samples" => walk.list(|walk| {
                let raw = walk.value()?;
                let frames: Option<Vec<u32>> = if raw.first() == Some(&b'[') {
                    items(raw).into_iter().map(index).collect()
                } else {
                    None
                };
                let bytes = 96 + 4 * frames.as_ref().map_or(0, Vec::len);
                self.samples.push(frames);
                reader.take(bytes)
            }),
            b"weights" => walk.list(|walk| {
                let raw = walk.value()?;
                let weight = json::float(raw).map(|_| String::from_utf8_lossy(raw).into_owned());
                self.weights.push(weight);
                reader.take(48)
            }),
            b"events" => walk.list(|walk| {
                self.events.push(event(walk.value()?));
                reader.take(144)
            }),
            _ => walk.skip(),
        }
    }
}

impl Reader<'_> {
    /// Turns the members of a profile into elements.
    fn end(&mut self, raw: Raw) -> std::result::Result<(), Ends> {
        let file = &mut self.file;
        let mut texts = raw.texts;
        let unit = texts.remove("unit");
        let start = raw.start.as_deref().and_then(|raw| time_ns(unit.as_deref(), raw));
        let mut profile = Profile { name: texts.remove("name"), unit, start, elements: Vec::new() };
        let known = file.frames.len() as u32;
        let mut weights = raw.weights.into_iter();
        for frames in raw.samples {
            let (ord, weight) = (file.elements, weights.next().flatten());
            file.elements += 1;
            match frames.filter(|frames| frames.iter().all(|frame| *frame < known)) {
                Some(frames) => {
                    if weight.is_none() {
                        file.issues.add(Code::RecordValue, Some(ord), None, b"weight");
                    }
                    profile.elements.push((ord, Element::Sample(frames, weight)));
                }
                None => file.issues.add(Code::BadRecord, Some(ord), None, b"sample"),
            }
        }
        if profile.unit.as_deref().and_then(exponent).is_some() {
            self.spans(raw.events, &mut profile);
        } else {
            self.fold(raw.events, &mut profile)?;
        }
        self.file.profiles.push(profile);
        Ok(())
    }

    /// Adds events whose places are times.
    fn spans(&mut self, events: Vec<Option<RawEvent>>, profile: &mut Profile) {
        let mut last = i64::MIN;
        for event in events {
            let placed = event.and_then(|(frame, opens, at)| {
                let ts = time_ns(profile.unit.as_deref(), at.as_bytes())?;
                (self.knows(frame) && ts >= last).then_some((frame, opens, ts))
            });
            let ord = self.count();
            let Some((frame, opens, ts)) = placed else {
                self.file.issues.add(Code::BadRecord, Some(ord), None, b"event");
                continue;
            };
            last = ts;
            let element = if opens { Element::Open(frame, ts) } else { Element::Close(frame, ts) };
            profile.elements.push((ord, element));
        }
    }

    /// Makes each event a sample of the frames that are open after it, which weighs as much as lies
    /// between it and the next event. If that is nothing, the sample has no frames.
    fn fold(
        &mut self,
        events: Vec<Option<RawEvent>>,
        profile: &mut Profile,
    ) -> std::result::Result<(), Ends> {
        let mut open = OpenFrames::default();
        let mut last: Option<(u64, Place)> = None;
        for event in events {
            let placed = event.and_then(|(frame, opens, at)| {
                let place = Place::read(at.as_bytes())?;
                let is_later = last.is_none_or(|(_, last)| !place.is_before(last));
                (self.knows(frame) && is_later).then_some((frame, opens, place))
            });
            let ord = self.count();
            let Some((frame, opens, place)) = placed else {
                self.file.issues.add(Code::BadRecord, Some(ord), None, b"event");
                continue;
            };
            if let Some((ord, from)) = last.replace((ord, place)) {
                let weight = place.after(from);
                let frames = if weight == "0" { Vec::new() } else { open.frames() };
                self.take(size_of_val(&frames[..]))?;
                profile.elements.push((ord, Element::Sample(frames, Some(weight))));
            }
            if opens {
                open.open(frame, ord);
            } else {
                open.close(frame, ord, &mut self.file.issues);
            }
        }
        if let Some((ord, _)) = last {
            profile.elements.push((ord, Element::Sample(Vec::new(), Some("0".to_owned()))));
        }
        open.end(&mut self.file.issues);
        Ok(())
    }

    fn knows(&self, frame: u32) -> bool {
        (frame as usize) < self.file.frames.len()
    }

    /// Counts an element and returns its position.
    fn count(&mut self) -> u64 {
        self.file.elements += 1;
        self.file.elements - 1
    }
}

/// A place in a unit other than one of time.
#[derive(Debug, Clone, Copy)]
enum Place {
    Whole(i64),
    Real(f64),
}

impl Place {
    fn read(raw: &[u8]) -> Option<Self> {
        json::int(raw).map(Self::Whole).or_else(|| json::float(raw).map(Self::Real))
    }

    fn real(self) -> f64 {
        match self {
            Self::Whole(at) => at as f64,
            Self::Real(at) => at,
        }
    }

    fn is_before(self, other: Self) -> bool {
        match (self, other) {
            (Self::Whole(at), Self::Whole(other)) => at < other,
            _ => self.real() < other.real(),
        }
    }

    /// Returns how far it lies after another place, as a number of JSON.
    fn after(self, other: Self) -> String {
        match (self, other) {
            (Self::Whole(at), Self::Whole(other)) => {
                (i128::from(at) - i128::from(other)).to_string()
            }
            // The difference of finite numbers may be infinite.
            _ => (self.real() - other.real()).clamp(0.0, f64::MAX).to_string(),
        }
    }
}

/// Frames that are open, root first, each with the element that opened it.
#[derive(Default)]
struct OpenFrames {
    stack: Vec<(u32, u64)>,
    /// How often each frame is open.
    counts: FxHashMap<u32, u32>,
}

impl OpenFrames {
    fn frames(&self) -> Vec<u32> {
        self.stack.iter().map(|(frame, _)| *frame).collect()
    }

    fn open(&mut self, frame: u32, ord: u64) {
        self.stack.push((frame, ord));
        *self.counts.entry(frame).or_default() += 1;
    }

    /// Closes the last open frame of this number. Frames above it have no end.
    fn close(&mut self, frame: u32, ord: u64, issues: &mut Issues) {
        if self.counts.get(&frame).copied().unwrap_or(0) == 0 {
            issues.add(Code::UnmatchedEnd, Some(ord), None, b"");
            return;
        }
        while let Some((last, opened)) = self.stack.pop() {
            if let Some(count) = self.counts.get_mut(&last) {
                *count -= 1;
            }
            if last == frame {
                return;
            }
            issues.add(Code::UnmatchedBegin, Some(opened), None, b"");
        }
    }

    /// Counts the frames that were not closed.
    fn end(self, issues: &mut Issues) {
        for (_, opened) in self.stack {
            issues.add(Code::UnmatchedBegin, Some(opened), None, b"");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, event, frame, time_ns};

    #[test]
    fn times_keep_their_digits() {
        for (unit, raw, want) in [
            ("nanoseconds", "1790000000000000123", Some(1_790_000_000_000_000_123)),
            ("microseconds", "1.5", Some(1500)),
            ("milliseconds", "0.000001", Some(1)),
            ("seconds", "1790000000.123456789", Some(1_790_000_000_123_456_789)),
            ("seconds", "1e-9", Some(1)),
            ("bytes", "5", None),
            ("seconds", "1e300", None),
        ] {
            assert_eq!(time_ns(Some(unit), raw.as_bytes()), want, "{unit} {raw}");
        }
    }

    #[test]
    fn frames_and_events() {
        assert_eq!(frame(br#"{"name":"f","file":"/a;b.py","line":3}"#), "/a:b.py(3): f");
        assert_eq!(frame(b"7"), "(empty)");
        let open = event(br#"{"type":"O","frame":1,"at":2.5}"#);
        assert_eq!(open, Some((1, true, "2.5".to_owned())));
        assert_eq!(event(br#"{"type":"X","frame":1,"at":2.5}"#), None);
        assert_eq!(event(br#"{"type":"O","frame":-1,"at":2.5}"#), None);
    }
    #[test]
    fn distances_keep_their_digits() {
        for (from, to, want) in [
            ("0", "10", "10"),
            ("9007199254740993", "9007199254740994", "1"),
            ("-9223372036854775808", "9223372036854775807", "18446744073709551615"),
            ("0.5", "2", "1.5"),
            ("0.5", "0.5", "0"),
        ] {
            let [from, to] = [from, to].map(|at| Place::read(at.as_bytes()).expect("a place"));
            assert_eq!(to.after(from), want);
            assert!(!to.is_before(from));
        }
        assert!(Place::read(b"NaN").is_none());
    }
}
