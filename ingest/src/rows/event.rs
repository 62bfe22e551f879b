//! The columns of `events`.

use rustc_hash::FxHashSet;

use super::args::Args;
use super::context::Context;
use crate::encode::{
    Codec, Effort, EncodedGroup, Flags, Ints, Labels, TableRows, Texts, descriptors,
};
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::json::{self, Cursor, Oddities};
use crate::order::{NO_ROW, Nest};
use crate::schema;
use crate::trace::*;

/// Rows of `events` in the making: one row group.
pub struct EventRows {
    row: usize,
    codec: Codec,
    /// What the args of the last row hold.
    found: Args,
    trace: Labels,
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

impl Element<'_> {
    /// Appends its name to the row of another table.
    pub fn push_name(&self, c: &Context<'_>, rows: &mut TableRows) {
        match self.key.name {
            NO_TEXT => rows.text(None),
            INLINE_TEXT => {
                let head = Head::read(&mut Cursor::new(self.text, 0)).ok();
                rows.text(head.map(|head| cut(head.name_text())).as_deref())
            }
            id => rows.text_by_id(id, &c.texts[id as usize]),
        };
    }
}

impl EventRows {
    /// No rows yet.
    pub fn new(effort: Effort) -> Self {
        let column = |name: &str| {
            schema::EVENTS
                .columns
                .iter()
                .find(|c| c.name == name)
                .unwrap_or(&schema::EVENTS.columns[0])
        };
        let int = |name: &str| Ints::of(&schema::EVENTS, column(name), effort);
        let label = |name: &str| Labels::new(column(name));
        let text = |name: &str| Texts::new(column(name));
        Self {
            row: 0,
            codec: Codec::new(effort),
            found: Args::default(),
            trace: label("trace_id"),
            event_id: int("event_id"),
            track_id: int("track_id"),
            pid: int("pid"),
            tid: int("tid"),
            ph: label("ph"),
            cat: label("cat"),
            name: label("name"),
            ts: int("ts_ns"),
            dur: int("dur_ns"),
            end: int("end_ns"),
            parent: int("parent_id"),
            depth: int("depth"),
            self_ns: int("self_ns"),
            pre: int("pre"),
            post: int("post"),
            step: int("step"),
            external_id: int("external_id"),
            correlation: int("correlation"),
            sequence_number: int("sequence_number"),
            fwd_thread_id: int("fwd_thread_id"),
            python_id: int("python_id"),
            python_parent_id: int("python_parent_id"),
            python_module_id: int("python_module_id"),
            device: int("device"),
            stream: int("stream"),
            input_dims: label("input_dims"),
            input_types: label("input_types"),
            input_strides: label("input_strides"),
            concrete_inputs: label("concrete_inputs"),
            call_stack: label("call_stack"),
            module_hierarchy: label("module_hierarchy"),
            overlaps: Flags::default(),
            id: text("id"),
            args: text("args"),
            extra: text("extra"),
        }
    }

    /// What the args of the last row hold.
    pub fn found(&self) -> &Args {
        &self.found
    }

    /// Appends a row.
    pub fn push(
        &mut self,
        c: &Context<'_>,
        e: &Element<'_>,
        nest: &Nest,
        step: Option<i64>,
        issues: &mut Issues,
    ) -> Result<()> {
        let (key, row) = (e.key, self.row);
        self.event_id.set(row, key.ord as i64);
        self.track_id.set(row, c.track_ids[key.track as usize] as i64);
        let (pid, tid) = match c.tracks[key.track as usize] {
            Track::Thread { pid, tid } => (pid, tid),
            // These tracks are not those of a thread, so its ids are read again.
            Track::Async { pid, .. } | Track::Counter { pid, .. } => (
                e.head.map_or(pid, |h| number_of(h.pid)),
                e.head.map_or(Id::None, |h| number_of(h.tid)),
            ),
        };
        set(&mut self.pid, row, int_of(pid));
        set(&mut self.tid, row, int_of(tid));
        match (key.ph, e.head.and_then(|h| h.ph)) {
            (0, Some(raw)) => self.ph.set(
                row,
                json::as_text(json::unquote(raw), &mut Oddities::default()).as_bytes(),
                &mut self.codec,
            )?,
            (ph, _) => self.ph.set_id(
                row,
                ph as u32,
                char::from(ph).encode_utf8(&mut [0; 4]).as_bytes(),
                &mut self.codec,
            )?,
        }
        set_text(&mut self.cat, row, c, key.cat, || e.head.and_then(|h| h.cat), &mut self.codec)?;
        let read_name = || {
            let mut cursor = Cursor::new(e.text, 0);
            Head::read(&mut cursor).ok().and_then(|h| h.name)
        };
        set_text(&mut self.name, row, c, key.name, read_name, &mut self.codec)?;
        set_time(&mut self.ts, row, key.ts);
        if key.dur != NO_TIME && !key.has(OPEN) {
            self.dur.set(row, key.dur);
            self.end.set(row, key.ts.saturating_add(key.dur.max(0)));
        }
        set(&mut self.parent, row, (nest.parent != NO_ROW).then_some(nest.parent as i64));
        set(&mut self.depth, row, nest.depth().map(i64::from));
        set_time(&mut self.self_ns, row, nest.self_ns);
        self.pre.set(row, nest.pre as i64);
        self.post.set(row, nest.post as i64);
        set(&mut self.step, row, step);
        if nest.overlaps() {
            self.overlaps.set(row);
        }
        self.args(c, e, issues)?;
        self.id_and_extra(c, e, issues)?;
        self.row += 1;
        if self.row.is_multiple_of(self.codec.page_rows()) {
            self.end_page()?;
        }
        Ok(())
    }

    fn args(&mut self, c: &Context<'_>, e: &Element<'_>, issues: &mut Issues) -> Result<()> {
        let args = &mut self.found;
        *args = Args::default();
        let mut odd = Oddities::default();
        let end_args = match e.key.has(MERGES_ARGS).then(|| c.end_args.get(&e.key.ord)).flatten() {
            Some(&at) => Some(c.content.value(at)?).filter(|text| text.first() == Some(&b'{')),
            None => None,
        };
        if e.args.is_none() && end_args.is_none() {
            return Ok(());
        }
        let (row, codec) = (self.row, &mut self.codec);
        let out = self.args.begin();
        let start = out.len();
        // Args that are null are none.
        let own_args = e.args.filter(|raw| !raw.starts_with(b"null"));
        match own_args {
            Some(raw) if e.key.has(LONG_ARGS) => {
                let len = Cursor::new(raw, 0).value().map_or(0, <[u8]>::len);
                out.extend_from_slice(format!("{{\"dropped_bytes\":{len}}}").as_bytes());
            }
            Some(raw) => args.read(raw, out, &mut odd),
            None if end_args.is_some() => out.extend_from_slice(b"{}"),
            None => {}
        }
        if let Some(text) = end_args {
            merge_end_args(&text, args, out, start, &mut odd);
        }
        report(issues, e.key, odd, args, &out[start..]);
        for (column, span) in [
            (&mut self.input_dims, args.input_dims),
            (&mut self.input_types, args.input_types),
            (&mut self.input_strides, args.input_strides),
            (&mut self.concrete_inputs, args.concrete_inputs),
            (&mut self.call_stack, args.call_stack),
            (&mut self.module_hierarchy, args.module_hierarchy),
        ] {
            if let Some((from, to)) = span {
                set_span(column, row, &out[from..to], codec)?;
            }
        }
        if out.len() > start {
            self.args.end(start, row, codec)?;
        } else {
            self.args.drop_begun(start);
        }
        for (column, value) in [
            (&mut self.external_id, args.external_id),
            (&mut self.correlation, args.correlation),
            (&mut self.sequence_number, args.sequence_number),
            (&mut self.fwd_thread_id, args.fwd_thread_id),
            (&mut self.python_id, args.python_id),
            (&mut self.python_parent_id, args.python_parent_id),
            (&mut self.python_module_id, args.python_module_id),
            (&mut self.device, args.device),
            (&mut self.stream, args.stream),
        ] {
            set(column, row, value);
        }
        Ok(())
    }

    fn id_and_extra(
        &mut self,
        c: &Context<'_>,
        e: &Element<'_>,
        issues: &mut Issues,
    ) -> Result<()> {
        let Some(head) = e.head else { return Ok(()) };
        let (row, codec) = (self.row, &mut self.codec);
        let mut odd = Oddities::default();
        match head.id {
            Some(raw) if json::is_text(raw) => {
                self.id.set(row, json::as_text(json::unquote(raw), &mut odd).as_bytes(), codec)?
            }
            Some(raw) if !json::is_null(raw) => {
                let out = self.id.begin();
                let start = out.len();
                json::compact_value(raw, out, &mut odd);
                self.id.end(start, row, codec)?;
            }
            _ => {}
        }
        let on_thread = matches!(c.tracks[e.key.track as usize], Track::Thread { .. });
        let out = self.extra.begin();
        let start = out.len();
        let _ = Cursor::new(e.text, 0).object(|key, value| {
            let kept = match key {
                b"ph" | b"name" | b"ts" | b"args" => true,
                b"pid" | b"tid" => {
                    on_thread
                        || json::is_null(value)
                        || (!json::is_text(value) && json::int(value).is_some())
                }
                b"cat" => json::is_text(value) || json::is_null(value),
                b"dur" => e.key.ph == b'X' && e.key.dur != NO_TIME,
                // Without its quotes a text such as "7" would be another id.
                b"id" => {
                    !(json::is_null(value)
                        || (json::is_text(value)
                            && json::reads_as_value(written_id(value).as_bytes())))
                }
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
        if out.len() > start {
            out.push(b'}');
            self.extra.end(start, row, codec)?;
        } else {
            self.extra.drop_begun(start);
        }
        report(issues, e.key, odd, &Args::default(), b"");
        Ok(())
    }

    fn end_page(&mut self) -> Result<()> {
        let (row, codec) = (self.row, &mut self.codec);
        let ints = [
            &mut self.event_id,
            &mut self.track_id,
            &mut self.pid,
            &mut self.tid,
            &mut self.ts,
            &mut self.dur,
            &mut self.end,
            &mut self.parent,
            &mut self.depth,
            &mut self.self_ns,
            &mut self.pre,
            &mut self.post,
            &mut self.step,
            &mut self.external_id,
            &mut self.correlation,
            &mut self.sequence_number,
            &mut self.fwd_thread_id,
            &mut self.python_id,
            &mut self.python_parent_id,
            &mut self.python_module_id,
            &mut self.device,
            &mut self.stream,
        ];
        ints.into_iter().try_for_each(|c| c.end_page(row, codec))?;
        let labels = [
            &mut self.ph,
            &mut self.cat,
            &mut self.name,
            &mut self.input_dims,
            &mut self.input_types,
            &mut self.input_strides,
            &mut self.concrete_inputs,
            &mut self.call_stack,
            &mut self.module_hierarchy,
        ];
        labels.into_iter().try_for_each(|c| c.end_page(row, codec))?;
        [&mut self.id, &mut self.args, &mut self.extra]
            .into_iter()
            .try_for_each(|c| c.end_page(row, codec))?;
        self.overlaps.end_page(row, codec)
    }

    /// The row group of all rows; there are none afterwards.
    pub fn finish(&mut self, trace_id: &str) -> Result<EncodedGroup> {
        let rows = std::mem::take(&mut self.row);
        let (z, descriptors) = (&mut self.codec, descriptors(&schema::EVENTS)?);
        self.trace.set_all(rows, trace_id.as_bytes(), z)?;
        let mut chunks = Vec::with_capacity(schema::EVENTS.columns.len());
        let d = |at: usize| descriptors.column(at);
        chunks.push(self.trace.finish(rows, z, &d(0))?);
        chunks.push(self.event_id.finish(rows, z, &d(1))?);
        chunks.push(self.track_id.finish(rows, z, &d(2))?);
        chunks.push(self.pid.finish(rows, z, &d(3))?);
        chunks.push(self.tid.finish(rows, z, &d(4))?);
        chunks.push(self.ph.finish(rows, z, &d(5))?);
        chunks.push(self.cat.finish(rows, z, &d(6))?);
        chunks.push(self.name.finish(rows, z, &d(7))?);
        chunks.push(self.ts.finish(rows, z, &d(8))?);
        chunks.push(self.dur.finish(rows, z, &d(9))?);
        chunks.push(self.end.finish(rows, z, &d(10))?);
        chunks.push(self.parent.finish(rows, z, &d(11))?);
        chunks.push(self.depth.finish(rows, z, &d(12))?);
        chunks.push(self.self_ns.finish(rows, z, &d(13))?);
        chunks.push(self.pre.finish(rows, z, &d(14))?);
        chunks.push(self.post.finish(rows, z, &d(15))?);
        chunks.push(self.step.finish(rows, z, &d(16))?);
        chunks.push(self.external_id.finish(rows, z, &d(17))?);
        chunks.push(self.correlation.finish(rows, z, &d(18))?);
        chunks.push(self.sequence_number.finish(rows, z, &d(19))?);
        chunks.push(self.fwd_thread_id.finish(rows, z, &d(20))?);
        chunks.push(self.python_id.finish(rows, z, &d(21))?);
        chunks.push(self.python_parent_id.finish(rows, z, &d(22))?);
        chunks.push(self.python_module_id.finish(rows, z, &d(23))?);
        chunks.push(self.device.finish(rows, z, &d(24))?);
        chunks.push(self.stream.finish(rows, z, &d(25))?);
        chunks.push(self.input_dims.finish(rows, z, &d(26))?);
        chunks.push(self.input_types.finish(rows, z, &d(27))?);
        chunks.push(self.input_strides.finish(rows, z, &d(28))?);
        chunks.push(self.concrete_inputs.finish(rows, z, &d(29))?);
        chunks.push(self.call_stack.finish(rows, z, &d(30))?);
        chunks.push(self.module_hierarchy.finish(rows, z, &d(31))?);
        chunks.push(self.overlaps.finish(rows, z, &d(32))?);
        chunks.push(self.id.finish(rows, z, &d(33))?);
        chunks.push(self.args.finish(rows, z, &d(34))?);
        chunks.push(self.extra.finish(rows, z, &d(35))?);
        Ok(EncodedGroup { rows, chunks })
    }
}

#[inline(always)]
fn set(column: &mut Ints, row: usize, value: Option<i64>) {
    if let Some(value) = value {
        column.set(row, value);
    }
}

#[inline(always)]
fn set_time(column: &mut Ints, row: usize, value: i64) {
    if value != NO_TIME {
        column.set(row, value);
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

/// Sets a text by its number; texts too long to have one are read again.
#[inline]
fn set_text<'a>(
    column: &mut Labels,
    row: usize,
    c: &Context<'_>,
    id: TextId,
    read: impl FnOnce() -> Option<&'a [u8]>,
    codec: &mut Codec,
) -> Result<()> {
    match id {
        NO_TEXT => Ok(()),
        INLINE_TEXT => {
            let Some(raw) = read() else { return Ok(()) };
            column.set(row, cut(json::unquote(raw)).as_bytes(), codec)
        }
        id => column.set_id(row, id, c.texts[id as usize].as_bytes(), codec),
    }
}

/// The text of a name or category, cut where it is too long.
fn cut(inner: &[u8]) -> String {
    let mut text = json::as_text(json::cut(inner, MAX_NAME), &mut Oddities::default()).into_owned();
    while text.ends_with('\u{fffd}') && inner.len() > MAX_NAME {
        text.pop();
    }
    text
}

/// Sets a part of the compact args: texts without their quotes, anything else as it stands.
fn set_span(column: &mut Labels, row: usize, raw: &[u8], codec: &mut Codec) -> Result<()> {
    match raw {
        b"null" => Ok(()),
        [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => {
            column.set(row, inner, codec)
        }
        [b'"', inner @ .., b'"'] => {
            column.set(row, json::as_text(inner, &mut Oddities::default()).as_bytes(), codec)
        }
        _ => column.set(row, raw, codec),
    }
}

/// Adds the args of an end event, at the start of `text`, to those of its begin event, which are
/// the compact object at `start` of `out`; where both have a key the end's value holds.
fn merge_end_args(
    text: &[u8],
    args: &mut Args,
    out: &mut Vec<u8>,
    start: usize,
    odd: &mut Oddities,
) {
    if out.get(start) != Some(&b'{') {
        return;
    }
    let mut end_args = Vec::new();
    Args::default().read(text, &mut end_args, odd);
    let mut ends: Vec<(&[u8], &[u8])> = Vec::new();
    let _ = Cursor::new(&end_args, 0).object(|key, value| ends.push((key, value)));
    let replaced: FxHashSet<&[u8]> = ends.iter().map(|&(key, _)| key).collect();
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
        if !replaced.contains(key) {
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
