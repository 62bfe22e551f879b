//! Speedscope's JSON: profiles of samples, and profiles of frames that open and close.

use std::collections::BTreeMap;

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

/// Converts a number in a unit of time to ns; `None` for another unit, or beyond 64 bits.
pub fn time_ns(unit: Option<&str>, raw: &[u8]) -> Option<i64> {
    let exponent = match unit? {
        "nanoseconds" => "e-3",
        "microseconds" => "",
        "milliseconds" => "e3",
        "seconds" => "e6",
        _ => return None,
    };
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

/// A profile whose members have come in any order.
#[derive(Default)]
struct Raw {
    texts: BTreeMap<&'static str, String>,
    start: Option<Vec<u8>>,
    samples: Vec<Option<Vec<u32>>>,
    weights: Vec<Option<String>>,
    /// Frame, whether it opens, and the time as written.
    events: Vec<Option<(u32, bool, String)>>,
}

fn index(raw: &[u8]) -> Option<u32> {
    json::int(raw).and_then(|n| u32::try_from(n).ok())
}

fn event(raw: &[u8]) -> Option<(u32, bool, String)> {
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
        let mut last = i64::MIN;
        for event in raw.events {
            let ord = file.elements;
            file.elements += 1;
            let placed = event.and_then(|(frame, opens, at)| {
                // Frames of other units than time have no place on a timeline.
                let ts = time_ns(profile.unit.as_deref(), at.as_bytes())?;
                (frame < known && ts >= last).then_some((frame, opens, ts))
            });
            let Some((frame, opens, ts)) = placed else {
                file.issues.add(Code::BadRecord, Some(ord), None, b"event");
                continue;
            };
            last = ts;
            let element = if opens { Element::Open(frame, ts) } else { Element::Close(frame, ts) };
            profile.elements.push((ord, element));
        }
        file.profiles.push(profile);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{event, frame, time_ns};

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
}
