//! One plane: its tables are indexed first, because they come after the lines.

use rustc_hash::FxHashSet;

use super::PlaneRange;
use super::events::{LineReader, PlaneTables, Runs};
use super::facts::{PlaneFacts, SpaceFacts};
use super::lines::{LineKind, PlaneKind};
use super::metadata::EventNames;
use super::stats::{Stat, StatNames};
use crate::error::{IngestError, Result};
use crate::issues::Code;
use crate::trace::{Id, MetaKind, Reading, Track};
use crate::typed::{TrackFacts, TypedElements};
use crate::wire::UnknownFields;
use crate::wire::{Bad, Failure, Fault, Part, Stream};

/// The parts of a plane.
#[derive(Default)]
struct Parts {
    id: i64,
    name: String,
    lines: Vec<Part>,
    event_names: Vec<Part>,
    stat_names: Vec<Part>,
    stats: Vec<Part>,
}

/// The properties of a line, which may come after its events.
#[derive(Default)]
struct Line {
    id: i64,
    name: String,
    display_name: String,
    timestamp_ns: i64,
    events: u64,
}

/// Reads a plane. `no` is its position in the file.
pub fn read(
    elements: &mut TypedElements<'_>,
    reading: &Reading<'_>,
    no: usize,
    range: PlaneRange,
    budget: usize,
    facts: &mut SpaceFacts,
) -> Result<(), Failure> {
    let mut stream = Stream::of(reading.content, range.start, range.end)?.cut(range.is_cut);
    let parts = index(&mut stream, elements, &mut facts.unknown, budget)?;
    let kind = PlaneKind::of(&parts.name);
    if kind.device().is_some_and(|device| facts.has_device(device)) {
        elements.issues.add(Code::SharedDevice, None, Some(range.start), parts.name.as_bytes());
    }
    let too_large = |at| {
        let reason = "the names of a plane need more memory than --memory-limit leaves for them; \
                      raise the limit";
        Failure::from(IngestError::input_at(reading.name, reason, at))
    };
    let mut stat_names = StatNames::default();
    for part in &parts.stat_names {
        let bytes = stream.bytes(part.start, part.end)?;
        stat_names.add(bytes).map_err(|f| f.within(part.start))?;
        if stat_names.memory > budget {
            return Err(too_large(part.at));
        }
    }
    let mut event_names = EventNames::default();
    for part in &parts.event_names {
        event_names.add(*part, &mut stream, &stat_names, elements)?;
        if stat_names.memory + event_names.memory > budget {
            return Err(too_large(part.at));
        }
    }
    let pid = Id::Int(no as i64);
    if !parts.name.is_empty() {
        elements.meta(MetaKind::ProcessName, pid, Id::None, &parts.name);
    }
    let tables = PlaneTables { no: no as i64, kind, stats: &stat_names, names: &event_names };
    let before = elements.count();
    let mut runs = Runs::default();
    let (mut ids, mut lines) = (FxHashSet::default(), 0);
    for part in &parts.lines {
        let mut stream = Stream::of(reading.content, part.start, part.end)?.cut(part.is_cut);
        let line = index_line(&mut stream, elements, &mut facts.unknown)?;
        if line.events > 0 {
            facts.stamp(line.timestamp_ns);
        }
        let shown = if line.display_name.is_empty() { &line.name } else { &line.display_name };
        let line_kind = LineKind::of(kind, &line.name);
        // Lines of equal numbers stay apart.
        lines += 1;
        let tid = if !ids.insert(line.id) {
            let text = format!("{} ({lines})", line.id);
            Id::Text(elements.short_text(&text))
        } else {
            Id::Int(line.id)
        };
        let track = elements.track(Track::Thread { pid, tid });
        if !shown.is_empty() {
            elements.meta(MetaKind::ThreadName, pid, tid, shown);
        }
        let track_facts = TrackFacts {
            kind: line_kind.track_kind(),
            sort_index: Some((no as i64) << 20 | lines),
            ..TrackFacts::default()
        };
        elements.facts.tracks.insert(track, track_facts);
        stream.seek(part.start, part.end);
        let reader = LineReader::new(&tables, track, line.timestamp_ns, line_kind, &line.name);
        reader.read(&mut stream, elements, &mut runs, &mut facts.unknown)?;
    }
    runs.finish(elements);
    // The values of the plane borrow from its bytes.
    let mut bytes: Vec<Vec<u8>> = Vec::with_capacity(parts.stats.len());
    for part in &parts.stats {
        bytes.push(stream.bytes(part.start, part.end)?.to_vec());
    }
    let mut stats: Vec<Stat<'_>> = Vec::with_capacity(bytes.len());
    for (bytes, part) in bytes.iter().zip(&parts.stats) {
        stats.push(Stat::read(bytes, &mut Vec::new()).map_err(|f| f.within(part.start))?);
    }
    if kind == PlaneKind::Metadata {
        event_names.each(|name| facts.program(name));
    }
    facts.plane(&PlaneFacts {
        name: &parts.name,
        id: parts.id,
        kind,
        lines: parts.lines.len(),
        events: elements.count() - before,
        event_names: event_names.len(),
        stat_names: stat_names.len(),
        names: &stat_names,
        stats: &stats,
    });
    Ok(())
}

/// Finds the parts of a plane without reading them.
fn index(
    stream: &mut Stream<'_>,
    elements: &mut TypedElements<'_>,
    unknown: &mut UnknownFields,
    budget: usize,
) -> Result<Parts, Failure> {
    let (mut parts, mut memory) = (Parts::default(), 0);
    while let Some(part) = stream.next()? {
        memory += size_of::<Part>();
        if memory > budget {
            return Err(Fault { bad: Bad::TooMany, at: part.at }.into());
        }
        match part.number {
            1 => parts.id = part.uint()? as i64,
            3 => parts.lines.push(part.must_have_bytes()?),
            // A message that is cut has no use without its end.
            2 | 4 | 5 | 6 if part.is_cut => {}
            2 => {
                let part = part.must_have_bytes()?;
                let bytes = stream.bytes(part.start, part.end)?;
                note_text(elements, bytes, part.at);
                parts.name = String::from_utf8_lossy(bytes).into_owned();
            }
            4 => parts.event_names.push(part.must_have_bytes()?),
            5 => parts.stat_names.push(part.must_have_bytes()?),
            6 => parts.stats.push(part.must_have_bytes()?),
            number => {
                elements.issues.add(Code::UnknownField, None, Some(part.at), b"");
                unknown.add(("planes", number));
            }
        }
    }
    Ok(parts)
}

/// Reads the properties of a line and counts its events.
fn index_line(
    stream: &mut Stream<'_>,
    elements: &mut TypedElements<'_>,
    unknown: &mut UnknownFields,
) -> Result<Line, Failure> {
    let mut line = Line::default();
    while let Some(part) = stream.next()? {
        match part.number {
            1 => line.id = part.uint()? as i64,
            3 => line.timestamp_ns = part.uint()? as i64,
            4 => line.events += 1,
            9 | 10 => {}
            2 | 11 if part.is_cut => {}
            2 | 11 => {
                let part = part.must_have_bytes()?;
                let bytes = stream.bytes(part.start, part.end)?;
                note_text(elements, bytes, part.at);
                let text = String::from_utf8_lossy(bytes).into_owned();
                *(if part.number == 2 { &mut line.name } else { &mut line.display_name }) = text;
            }
            number => {
                elements.issues.add(Code::UnknownField, None, Some(part.at), b"");
                unknown.add(("lines", number));
            }
        }
    }
    Ok(line)
}

fn note_text(elements: &mut TypedElements<'_>, bytes: &[u8], at: u64) {
    if std::str::from_utf8(bytes).is_err() {
        elements.issues.add(Code::InvalidUtf8, None, Some(at), bytes);
    }
}
