//! The tables of folded stacks and of speedscope profiles.
//!
//! A sample is an event with its frames in `call_stack` and its weight in the args. Frames that
//! open and close at times are begin and end events, which nest.

use super::plain::{Nest, PlainEvent, PlainEvents};
use super::{Facts, TopFacts, Writing, unix_base};
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::side::folded::{self, Line};
use crate::side::speedscope::{self, Element, Profile, time_ns};

/// Maximum length of a stack as text, in bytes.
const MAX_STACK: usize = 64 << 10;
/// The least weight that does not fit 64 bits.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

/// Whether a weight does not fit 64 bits. Whole numbers keep all digits; others are doubles.
fn is_beyond(weight: &str) -> bool {
    crate::json::int(weight.as_bytes()).is_none()
        && weight.parse().is_ok_and(|weight: f64| weight.abs() >= BEYOND)
}

impl Writing<'_> {
    /// Writes each line as an event without a time.
    pub fn folded(&mut self) -> Result<Facts> {
        let (folder, effort) = (self.tables.folder, self.tables.effort);
        let mut events = PlainEvents::create(self.trace_id(), folder, effort)?;
        let (mut elements, mut issues) = (0u64, Issues::default());
        let progress = self.read.progress;
        folded::read(self.read.content, |offset, line| {
            let ord = elements;
            elements += 1;
            if elements.is_multiple_of(4096) {
                progress.go_on()?;
            }
            let (frames, number) = match line {
                Line::Stack(frames, number) => (frames, number),
                Line::Bad(text) => {
                    issues.add(Code::BadRecord, Some(ord), Some(offset), text);
                    return Ok(());
                }
            };
            let text = String::from_utf8_lossy(frames);
            if matches!(text, std::borrow::Cow::Owned(_)) {
                issues.add(Code::InvalidUtf8, Some(ord), Some(offset), frames);
            }
            if text.len() > MAX_STACK {
                issues.add(Code::StringCut, Some(ord), Some(offset), b"");
            }
            let stack = &text[..text.floor_char_boundary(MAX_STACK)];
            let weight = String::from_utf8_lossy(number);
            let weight = weight.trim_start_matches('0');
            let weight = if weight.is_empty() || weight.starts_with('.') {
                format!("0{weight}")
            } else {
                weight.to_owned()
            };
            let weight = weight.trim_end_matches('.');
            if is_beyond(weight) {
                issues.add(Code::RecordValue, Some(ord), Some(offset), b"weight");
            }
            events.push(&sample(ord, 0, None, stack, &format!("{{\"weight\":{weight}}}")))
        })?;
        let (count, bounds) = events.finish(&mut self.counted)?;
        if elements == 0 {
            issues.add(Code::EmptyTrace, None, None, b"");
        }
        let tracks = [("folded stacks".to_owned(), "cpu_thread")];
        self.tracks("folded stacks", None, &tracks[..usize::from(count > 0)])?;
        let top = TopFacts { metadata: "{}".to_owned(), ..TopFacts::default() };
        Ok(facts(top, bounds, elements, count, issues))
    }

    /// Writes each profile as a track.
    pub fn speedscope(&mut self, budget: usize) -> Result<Facts> {
        let name = self.tables.origin.name;
        let mut file = speedscope::read(name, self.read.content, budget, self.read.progress)?;
        let (folder, effort) = (self.tables.folder, self.tables.effort);
        let mut events = PlainEvents::create(self.trace_id(), folder, effort)?;
        let mut issues = std::mem::take(&mut file.issues);
        let mut pre = 0;
        let mut tracks = Vec::new();
        for (no, profile) in file.profiles.iter().enumerate() {
            self.read.progress.go_on()?;
            let name = profile.name.clone().filter(|name| !name.is_empty());
            tracks.push((name.unwrap_or_else(|| format!("profile {no}")), "cpu_thread"));
            write_profile(&mut events, no, profile, &file.frames, &mut pre, &mut issues)?;
        }
        let (count, bounds) = events.finish(&mut self.counted)?;
        self.tracks("speedscope", None, &tracks)?;
        let top = TopFacts {
            base_time_ns: unix_base(bounds),
            metadata: std::mem::take(&mut file.metadata).object(),
            ..TopFacts::default()
        };
        Ok(facts(top, bounds, file.elements, count, issues))
    }
}

fn facts(
    top: TopFacts,
    bounds: Option<(i64, i64)>,
    elements: u64,
    events: u64,
    issues: Issues,
) -> Facts {
    Facts { format: "stacks", framework: None, top, bounds, elements, events, issues }
}

fn sample<'e>(
    ord: u64,
    track: usize,
    ts: Option<i64>,
    stack: &'e str,
    args: &'e str,
) -> PlainEvent<'e> {
    PlainEvent {
        event_id: ord,
        track: track as i64,
        ph: "i",
        cat: "sample",
        name: stack.rsplit(';').next(),
        ts,
        stack: Some(stack),
        args,
        ..PlainEvent::default()
    }
}

/// The args of a sample: its weight as written, and in the unit of a column where it has one.
fn weight_args(profile: &Profile, weight: Option<&str>) -> String {
    let mut members = Vec::new();
    let unit = profile.unit.as_deref();
    if let Some(weight) = weight {
        members.push(format!("\"weight\":{weight}"));
        if let Some(ns) = time_ns(unit, weight.as_bytes()) {
            members.push(format!("\"weight_ns\":{ns}"));
        }
        if let (Some("bytes"), Some(bytes)) = (unit, crate::json::int(weight.as_bytes())) {
            members.push(format!("\"weight_bytes\":{bytes}"));
        }
    }
    if let Some(unit) = unit {
        members.push(format!("\"unit\":{}", serde_json::Value::from(unit)));
    }
    format!("{{{}}}", members.join(","))
}

fn write_profile(
    events: &mut PlainEvents<'_>,
    track: usize,
    profile: &Profile,
    frames: &[String],
    pre: &mut i64,
    issues: &mut Issues,
) -> Result<()> {
    // Samples follow each other, so their weights are their times if they have a unit of time.
    let mut now = profile.start;
    let spans = spans(profile, pre, issues);
    let mut spans = spans.iter();
    let mut stack = String::new();
    for (ord, element) in &profile.elements {
        match element {
            Element::Sample(indices, weight) => {
                stack.clear();
                for frame in indices.iter().filter_map(|frame| frames.get(*frame as usize)) {
                    if !stack.is_empty() {
                        stack.push(';');
                    }
                    stack.push_str(frame);
                    if stack.len() > MAX_STACK {
                        issues.add(Code::StringCut, Some(*ord), None, b"");
                        stack.truncate(stack.floor_char_boundary(MAX_STACK));
                        break;
                    }
                }
                let args = weight_args(profile, weight.as_deref());
                events.push(&sample(*ord, track, now, &stack, &args))?;
                let raw = weight.as_deref().unwrap_or_default();
                if is_beyond(raw) {
                    issues.add(Code::RecordValue, Some(*ord), None, b"weight");
                }
                let length = time_ns(profile.unit.as_deref(), raw.as_bytes());
                now = now.zip(length).and_then(|(now, length)| now.checked_add(length));
            }
            Element::Open(frame, ts) | Element::Close(frame, ts) => {
                let span = spans.next().copied().unwrap_or_default();
                let is_open = matches!(element, Element::Open(..));
                events.push(&PlainEvent {
                    event_id: *ord,
                    track: track as i64,
                    ph: if is_open { "B" } else { "E" },
                    cat: "frame",
                    name: frames.get(*frame as usize).map(|frame| &frame[..]),
                    ts: Some(*ts),
                    dur: span.dur,
                    nest: Some(span.nest),
                    ..PlainEvent::default()
                })?;
            }
        }
    }
    Ok(())
}

/// Duration and nesting of an event that opens or closes a frame.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    dur: Option<i64>,
    nest: Nest,
}

/// A frame that is open.
struct Open {
    at: usize,
    ord: u64,
    frame: u32,
    ts: i64,
    /// Time of the frames that it called and that have closed, in ns.
    children: i64,
}

/// Pairs opens and closes. A close ends the last open frame of its name, and frames above it stay
/// without an end.
fn spans(profile: &Profile, pre: &mut i64, issues: &mut Issues) -> Vec<Span> {
    let placed: Vec<(u64, bool, u32, i64)> = profile
        .elements
        .iter()
        .filter_map(|(ord, element)| match element {
            Element::Open(frame, ts) => Some((*ord, true, *frame, *ts)),
            Element::Close(frame, ts) => Some((*ord, false, *frame, *ts)),
            Element::Sample(..) => None,
        })
        .collect();
    let mut spans = vec![Span::default(); placed.len()];
    let mut open: Vec<Open> = Vec::new();
    let mut by_frame: rustc_hash::FxHashMap<u32, u32> = rustc_hash::FxHashMap::default();
    for (at, &(ord, opens, frame, ts)) in placed.iter().enumerate() {
        if opens {
            spans[at].nest = Nest {
                parent: open.last().map(|open| open.ord),
                depth: open.len() as i64,
                self_ns: None,
                span: (*pre, *pre),
            };
            *pre += 1;
            *by_frame.entry(frame).or_default() += 1;
            open.push(Open { at, ord, frame, ts, children: 0 });
            continue;
        }
        if by_frame.get(&frame).copied().unwrap_or(0) == 0 {
            issues.add(Code::UnmatchedEnd, Some(ord), None, b"");
            continue;
        }
        while let Some(last) = open.pop() {
            if let Some(count) = by_frame.get_mut(&last.frame) {
                *count -= 1;
            }
            spans[last.at].nest.span.1 = *pre - 1;
            if last.frame == frame {
                let dur = ts.saturating_sub(last.ts);
                spans[last.at].dur = Some(dur);
                spans[last.at].nest.self_ns = Some(dur.saturating_sub(last.children).max(0));
                if let Some(caller) = open.last_mut() {
                    caller.children = caller.children.saturating_add(dur);
                }
                break;
            }
            issues.add(Code::UnmatchedBegin, Some(last.ord), None, b"");
        }
    }
    for last in open {
        spans[last.at].nest.span.1 = *pre - 1;
        issues.add(Code::UnmatchedBegin, Some(last.ord), None, b"");
    }
    // Ends take no part in nesting, so their numbers follow those of all begins of the profile.
    for (span, (_, opens, ..)) in spans.iter_mut().zip(&placed) {
        if !opens {
            span.nest.span = (*pre, *pre);
            *pre += 1;
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::is_beyond;

    #[test]
    fn whole_weights_have_all_of_64_bits() {
        for (weight, want) in [
            ("9223372036854775807", false),
            ("-9223372036854775808", false),
            ("9223372036854775807.0", false),
            ("1.5", false),
            ("", false),
            ("9223372036854775808", true),
            ("-9223372036854775809", true),
            ("9223372036854775807.5", true),
            ("1e30", true),
        ] {
            assert_eq!(is_beyond(weight), want, "{weight}");
        }
    }
}
