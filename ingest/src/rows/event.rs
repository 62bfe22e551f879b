//! The columns of `events`.

use arrow::array::ArrayRef;

use super::args::{Args, Span};
use super::columns::{Flags, Ints, Labels, Texts};
use super::context::Context;
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::json::{self, Cursor, Oddities};
use crate::order::{NO_ROW, Nest, OVERLAPS};
use crate::trace::*;

/// Rows of `events` in the making.
#[derive(Default)]
pub struct EventRows {
    rows: usize,
    event_id: Ints,
    track_id: Ints,
    pid: Ints,
    tid: Ints,
    ph: Labels,
    cat: Labels,
    name: Labels,
    ts: Ints,
    dur: Ints,
    end: Ints,
    parent: Ints,
    depth: Ints,
    self_ns: Ints,
    pre: Ints,
    post: Ints,
    step: Ints,
    external_id: Ints,
    correlation: Ints,
    sequence_number: Ints,
    fwd_thread_id: Ints,
    python_id: Ints,
    python_parent_id: Ints,
    python_module_id: Ints,
    device: Ints,
    stream: Ints,
    input_dims: Labels,
    input_types: Labels,
    input_strides: Labels,
    concrete_inputs: Labels,
    call_stack: Labels,
    module_hierarchy: Labels,
    overlaps: Flags,
    id: Texts,
    args: Texts,
    extra: Texts,
}

/// An element at hand: what is known of it, and its text.
pub struct Element<'a> {
    /// Its key.
    pub key: &'a Key,
    /// The text from its args on, if it has any.
    pub args: Option<&'a [u8]>,
    /// Its whole head, where that was needed.
    pub head: Option<&'a Head<'a>>,
    /// The text from its start on.
    pub text: &'a [u8],
}

impl EventRows {
    /// How many rows there are, and about how many bytes of args.
    pub fn size(&self) -> (usize, usize) {
        (self.rows, self.args.bytes())
    }

    /// Appends a row.
    pub fn push(&mut self, c: &Context<'_>, e: &Element<'_>, nest: &Nest, row: usize, step: Option<i64>, issues: &mut Issues) -> Args {
        let key = e.key;
        self.rows += 1;
        self.event_id.push(key.ord as i64);
        self.track_id.push(c.track_ids[key.track as usize] as i64);
        let (pid, tid) = match c.tracks[key.track as usize] {
            Track::Thread { pid, tid } => (pid, tid),
            // These tracks are not those of a thread, so its ids are read again.
            Track::Async { pid, .. } | Track::Counter { pid, .. } => {
                (e.head.map_or(pid, |h| number_of(h.pid)), e.head.map_or(Id::None, |h| number_of(h.tid)))
            }
        };
        self.pid.push_option(int_of(pid));
        self.tid.push_option(int_of(tid));
        match (key.ph, e.head.and_then(|h| h.ph)) {
            (0, Some(raw)) => self.ph.push(json::as_text(json::unquote(raw), &mut Oddities::default()).as_bytes()),
            (ph, _) => self.ph.push_id(ph as u32, || char::from(ph).encode_utf8(&mut [0; 4]).to_owned().into()),
        }
        text_or_null(&mut self.cat, c, key.cat, || e.head.and_then(|h| h.cat));
        let read_name = || {
            let mut cursor = Cursor::new(e.text, 0);
            Head::read(&mut cursor).ok().and_then(|h| h.name)
        };
        text_or_null(&mut self.name, c, key.name, read_name);
        self.ts.push_time(key.ts);
        let dur = if key.has(OPEN) { NO_TIME } else { key.dur };
        self.dur.push_time(dur);
        self.end.push_time(if dur == NO_TIME { NO_TIME } else { key.ts.saturating_add(dur) });
        self.parent.push_option((nest.parent != NO_ROW).then_some(nest.parent as i64));
        self.depth.push_option((nest.depth != NO_ROW).then_some(nest.depth as i64));
        self.self_ns.push_time(nest.self_ns);
        self.pre.push(row as i64);
        self.post.push(nest.post as i64);
        self.step.push_option(step);
        self.overlaps.push(nest.flags & OVERLAPS != 0);
        let args = self.args(c, e, issues);
        self.id_and_extra(c, e, issues);
        args
    }

    fn args(&mut self, c: &Context<'_>, e: &Element<'_>, issues: &mut Issues) -> Args {
        let (mut args, mut odd) = (Args::default(), Oddities::default());
        let end_args = e.key.has(MERGES_ARGS).then(|| c.end_args.get(&e.key.ord)).flatten();
        let out = self.args.buffer();
        let start = out.len();
        match e.args {
            Some(raw) if e.key.has(LONG_ARGS) => {
                let len = Cursor::new(raw, 0).value().map_or(0, <[u8]>::len);
                out.extend_from_slice(format!("{{\"dropped_bytes\":{len}}}").as_bytes());
            }
            Some(raw) => args.read(raw, out, &mut odd),
            None if end_args.is_some() => out.extend_from_slice(b"{}"),
            None => {}
        }
        if let Some(&at) = end_args {
            merge_end_args(c, at, &mut args, out, start, &mut odd);
        }
        let valid = out.len() > start;
        report(issues, e.key, odd, &args, &out[start..]);
        self.external_id.push_option(args.external_id);
        self.correlation.push_option(args.correlation);
        self.sequence_number.push_option(args.sequence_number);
        self.fwd_thread_id.push_option(args.fwd_thread_id);
        self.python_id.push_option(args.python_id);
        self.python_parent_id.push_option(args.python_parent_id);
        self.python_module_id.push_option(args.python_module_id);
        self.device.push_option(args.device);
        self.stream.push_option(args.stream);
        let out = self.args.buffer();
        for (column, span) in [
            (&mut self.input_dims, args.input_dims),
            (&mut self.input_types, args.input_types),
            (&mut self.input_strides, args.input_strides),
            (&mut self.concrete_inputs, args.concrete_inputs),
            (&mut self.call_stack, args.call_stack),
            (&mut self.module_hierarchy, args.module_hierarchy),
        ] {
            push_span(column, out, span);
        }
        self.args.end(valid);
        args
    }

    fn id_and_extra(&mut self, c: &Context<'_>, e: &Element<'_>, issues: &mut Issues) {
        let Some(head) = e.head else {
            self.id.push_null();
            self.extra.push_null();
            return;
        };
        let mut odd = Oddities::default();
        match head.id {
            Some(raw) if json::is_text(raw) => self.id.push(json::as_text(json::unquote(raw), &mut odd).as_bytes()),
            Some(raw) if !json::is_null(raw) => {
                json::compact_value(raw, self.id.buffer(), &mut odd);
                self.id.end(true);
            }
            _ => self.id.push_null(),
        }
        let on_thread = matches!(c.tracks[e.key.track as usize], Track::Thread { .. });
        let out = self.extra.buffer();
        let start = out.len();
        let _ = Cursor::new(e.text, 0).object(|key, value| {
            let kept = match key {
                b"ph" | b"name" | b"ts" | b"args" => true,
                b"pid" | b"tid" => on_thread || json::is_null(value) || (!json::is_text(value) && json::int(value).is_some()),
                b"cat" => json::is_text(value) || json::is_null(value),
                b"dur" => e.key.ph == b'X' && e.key.dur != NO_TIME,
                b"id" => !json::is_null(value),
                _ => false,
            };
            if !kept {
                out.push(if out.len() == start { b'{' } else { b',' });
                let mut quoted = vec![b'"'];
                quoted.extend_from_slice(key);
                quoted.push(b'"');
                json::compact_value(&quoted, out, &mut odd);
                out.push(b':');
                json::compact_value(value, out, &mut odd);
            }
        });
        let any = out.len() > start;
        if any {
            out.push(b'}');
        }
        self.extra.end(any);
        report(issues, e.key, odd, &Args::default(), b"");
    }

    /// The columns in the order of the table; the builder is empty again.
    pub fn finish(&mut self, trace_id: &str) -> Result<Vec<ArrayRef>> {
        let mut trace = Labels::default();
        for _ in 0..self.rows {
            trace.push_id(0, || trace_id.into());
        }
        self.rows = 0;
        Ok(vec![
            trace.finish()?,
            self.event_id.finish(),
            self.track_id.finish(),
            self.pid.finish(),
            self.tid.finish(),
            self.ph.finish()?,
            self.cat.finish()?,
            self.name.finish()?,
            self.ts.finish(),
            self.dur.finish(),
            self.end.finish(),
            self.parent.finish(),
            self.depth.finish(),
            self.self_ns.finish(),
            self.pre.finish(),
            self.post.finish(),
            self.step.finish(),
            self.external_id.finish(),
            self.correlation.finish(),
            self.sequence_number.finish(),
            self.fwd_thread_id.finish(),
            self.python_id.finish(),
            self.python_parent_id.finish(),
            self.python_module_id.finish(),
            self.device.finish(),
            self.stream.finish(),
            self.input_dims.finish()?,
            self.input_types.finish()?,
            self.input_strides.finish()?,
            self.concrete_inputs.finish()?,
            self.call_stack.finish()?,
            self.module_hierarchy.finish()?,
            self.overlaps.finish(),
            self.id.finish()?,
            self.args.finish()?,
            self.extra.finish()?,
        ])
    }
}

fn number_of(raw: Option<&[u8]>) -> Id {
    raw.filter(|raw| !json::is_text(raw)).and_then(json::int).map_or(Id::None, Id::Int)
}

fn int_of(id: Id) -> Option<i64> {
    match id {
        Id::Int(n) => Some(n),
        _ => None,
    }
}

/// Appends a text by its number; texts too long to have one are read again.
fn text_or_null<'a>(column: &mut Labels, c: &Context<'_>, id: TextId, read: impl FnOnce() -> Option<&'a [u8]>) {
    match id {
        NO_TEXT => column.push_null(),
        INLINE_TEXT => match read() {
            Some(raw) => {
                let inner = json::unquote(raw);
                let mut text = json::as_text(&inner[..inner.len().min(MAX_NAME)], &mut Oddities::default()).into_owned();
                while text.ends_with('\u{fffd}') && inner.len() > MAX_NAME {
                    text.pop();
                }
                column.push(text.as_bytes());
            }
            None => column.push_null(),
        },
        id => column.push_id(id, || c.texts[id as usize].clone()),
    }
}

/// Appends a part of the compact args: texts without their quotes, anything else as it stands.
fn push_span(column: &mut Labels, args: &[u8], span: Option<Span>) {
    let Some((start, end)) = span else { return column.push_null() };
    let raw = &args[start..end];
    match raw {
        b"null" => column.push_null(),
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => column.push(inner),
        [b'"', inner @ .., b'"'] => column.push(json::as_text(inner, &mut Oddities::default()).as_bytes()),
        _ => column.push(raw),
    }
}

/// Adds the args of an end event to those of its begin event, which are the compact object at `start` of `out`; where
/// both have a key the end's value holds.
fn merge_end_args(c: &Context<'_>, at: u64, args: &mut Args, out: &mut Vec<u8>, start: usize, odd: &mut Oddities) {
    let Ok(window) = c.content.map(at, c.text_bytes.min(at + MAX_ARGS as u64)) else { return };
    if window.first() != Some(&b'{') || out.get(start) != Some(&b'{') {
        return;
    }
    let mut end_args = Vec::new();
    Args::default().read(&window, &mut end_args, odd);
    let mut ends: Vec<(&[u8], &[u8])> = Vec::new();
    let _ = Cursor::new(&end_args, 0).object(|key, value| ends.push((key, value)));
    let begins = out.split_off(start);
    let mut merged = vec![b'{'];
    let mut member = |key: &[u8], value: &[u8]| {
        if merged.len() > 1 {
            merged.push(b',');
        }
        merged.push(b'"');
        merged.extend_from_slice(key);
        merged.extend_from_slice(b"\":");
        merged.extend_from_slice(value);
    };
    let _ = Cursor::new(&begins, 0).object(|key, value| {
        if !ends.iter().any(|(k, _)| *k == key) {
            member(key, value);
        }
    });
    for (key, value) in &ends {
        member(key, value);
    }
    merged.push(b'}');
    *args = Args::default();
    args.read(&merged, out, odd);
}

fn report(issues: &mut Issues, key: &Key, odd: Oddities, args: &Args, example: &[u8]) {
    if !(odd.any() || args.bad_id) {
        return;
    }
    for (met, code) in [
        (odd.invalid_utf8, Code::InvalidUtf8),
        (odd.bad_escape, Code::BadEscape),
        (odd.lone_surrogate, Code::LoneSurrogate),
        (odd.control, Code::ControlCharacter),
        (odd.non_json, Code::NonJsonValue),
        (args.bad_id, Code::IdValue),
    ] {
        if met {
            issues.add(code, Some(key.ord as u64), Some(key.offset), example);
        }
    }
}
