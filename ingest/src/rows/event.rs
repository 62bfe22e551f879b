//! The rows of `events`.

use super::args::{ArgValues, OwnArgs, args_copier};
use super::context::Context;
use super::element::Element;
use super::event_columns::EventColumns;
use super::merge_args::merge_end_args;
use super::text::{set_span, set_text};
use crate::arrange::{NO_ROW, Nest};
use crate::encode::{Codec, Columns, Effort, EncodedGroup, Ints};
use crate::error::Result;
use crate::issues::{Code, Issues, codes_of};
use crate::json::{self, Copier, Cursor, Oddities};
use crate::trace::*;

/// Builds the rows of `events`, one row group at a time.
pub struct EventRows {
    row: usize,
    codec: Codec,
    copier: Copier,
    /// Values from the args of the last row.
    values: ArgValues,
    columns: EventColumns,
}

impl EventRows {
    /// Creates an empty row group.
    pub fn new(effort: Effort) -> Self {
        Self {
            row: 0,
            codec: Codec::new(effort),
            copier: args_copier(),
            values: ArgValues::default(),
            columns: EventColumns::new(effort),
        }
    }

    /// Returns the values from the args of the last row.
    pub fn values(&self) -> &ArgValues {
        &self.values
    }

    /// Appends a row. `own` receives the parts of the element's args that other tables need.
    pub fn push<'t>(
        &mut self,
        c: &Context<'_>,
        e: &Element<'t>,
        nest: &Nest,
        step: Option<i64>,
        own: &mut OwnArgs<'t>,
        issues: &mut Issues,
    ) -> Result<()> {
        self.fields(c, e)?;
        self.nesting(e.record, nest, step);
        self.args(c, e, own, issues)?;
        self.id_and_extra(c, e, issues)?;
        self.row += 1;
        if self.row.is_multiple_of(self.codec.page_rows()) {
            self.end_page()?;
        }
        Ok(())
    }

    /// Sets the columns that come from the fields that every element has.
    fn fields(&mut self, c: &Context<'_>, e: &Element<'_>) -> Result<()> {
        let (record, row) = (e.record, self.row);
        let (columns, codec) = (&mut self.columns, &mut self.codec);
        columns.event_id.set(row, record.ord.into());
        columns.track_id.set(row, c.track_id(record));
        let (pid, tid) = match c.tracks[record.track as usize] {
            Track::Thread { pid, tid } => (pid, tid),
            // These tracks do not belong to a thread, so the ids of the thread are read again.
            Track::Async { pid, .. } | Track::Counter { pid, .. } => (
                e.fields.map_or(pid, |f| number_of(f.pid)),
                e.fields.map_or(Id::None, |f| number_of(f.tid)),
            ),
        };
        set(&mut columns.pid, row, pid.number());
        set(&mut columns.tid, row, tid.number());
        match (record.ph, e.fields.and_then(|f| f.ph)) {
            (0, Some(raw)) => {
                let text = json::as_text(json::unquote(raw), &mut Oddities::default());
                columns.ph.set(row, text.as_bytes(), codec)?;
            }
            (ph, _) => {
                let mut text = [0; 4];
                let text = char::from(ph).encode_utf8(&mut text);
                columns.ph.set_id(row, ph.into(), text.as_bytes(), codec)?;
            }
        }
        let read_cat = || e.fields.and_then(|f| f.cat);
        set_text(&mut columns.cat, row, c, record.cat, read_cat, codec)?;
        let read_name = || EventFields::read(&mut Cursor::new(e.text, 0)).ok().and_then(|f| f.name);
        set_text(&mut columns.name, row, c, record.name, read_name, codec)
    }

    /// Sets the columns for time and nesting.
    fn nesting(&mut self, record: &EventRecord, nest: &Nest, step: Option<i64>) {
        let (row, columns) = (self.row, &mut self.columns);
        set_time(&mut columns.ts_ns, row, record.ts);
        if record.dur != NO_TIME && !record.has(OPEN) {
            columns.dur_ns.set(row, record.dur);
            columns.end_ns.set(row, record.ts.saturating_add(record.dur.max(0)));
        }
        set(&mut columns.parent_id, row, (nest.parent != NO_ROW).then_some(nest.parent.into()));
        set(&mut columns.depth, row, nest.depth().map(i64::from));
        set_time(&mut columns.self_ns, row, nest.self_ns);
        columns.pre.set(row, nest.pre.into());
        columns.post.set(row, nest.post.into());
        set(&mut columns.step, row, step);
        if nest.overlaps() {
            columns.overlaps.set(row);
        }
    }

    /// Sets the columns that come from args.
    fn args<'t>(
        &mut self,
        c: &Context<'_>,
        e: &Element<'t>,
        own: &mut OwnArgs<'t>,
        issues: &mut Issues,
    ) -> Result<()> {
        let values = &mut self.values;
        *values = ArgValues::default();
        let mut odd = Oddities::default();
        let end_args = match e.record.has(MERGES_ARGS).then(|| c.end_args.get(&e.record.ord)) {
            Some(Some(&at)) => Some(c.content.value(at)?).filter(|t| t.first() == Some(&b'{')),
            _ => None,
        };
        if e.args.is_none() && end_args.is_none() {
            return Ok(());
        }
        let (row, codec, columns) = (self.row, &mut self.codec, &mut self.columns);
        let out = columns.args.begin();
        let start = out.len();
        // Treat `"args": null` as absent.
        let own_args = e.args.filter(|raw| !raw.starts_with(b"null"));
        match own_args {
            Some(raw) if e.record.has(LONG_ARGS) => {
                let len = Cursor::new(raw, 0).value().map_or(0, <[u8]>::len);
                out.extend_from_slice(format!("{{\"dropped_bytes\":{len}}}").as_bytes());
                own.members.read(raw);
            }
            Some(raw) => values.read(&mut self.copier, raw, out, &mut odd, own),
            None if end_args.is_some() => out.extend_from_slice(b"{}"),
            None => {}
        }
        if let Some(text) = end_args {
            merge_end_args(&mut self.copier, &text, values, out, start, &mut odd);
        }
        report(issues, e.record, odd, values.bad_id, &out[start..]);
        for (column, span) in [
            (&mut columns.input_dims, values.input_dims),
            (&mut columns.input_types, values.input_types),
            (&mut columns.input_strides, values.input_strides),
            (&mut columns.concrete_inputs, values.concrete_inputs),
            (&mut columns.call_stack, values.call_stack),
            (&mut columns.module_hierarchy, values.module_hierarchy),
        ] {
            if let Some((from, to)) = span {
                set_span(column, row, &out[from..to], codec)?;
            }
        }
        if out.len() > start {
            columns.args.end(start, row, codec)?;
        } else {
            columns.args.drop_begun(start);
        }
        for (column, value) in [
            (&mut columns.external_id, values.external_id),
            (&mut columns.correlation, values.correlation),
            (&mut columns.sequence_number, values.sequence_number),
            (&mut columns.fwd_thread_id, values.fwd_thread_id),
            (&mut columns.python_id, values.python_id),
            (&mut columns.python_parent_id, values.python_parent_id),
            (&mut columns.python_module_id, values.python_module_id),
            (&mut columns.device, values.device),
            (&mut columns.stream, values.stream),
        ] {
            set(column, row, value);
        }
        Ok(())
    }

    /// Sets the element's `id`, and `extra` with all keys that have no column.
    fn id_and_extra(
        &mut self,
        c: &Context<'_>,
        e: &Element<'_>,
        issues: &mut Issues,
    ) -> Result<()> {
        let Some(fields) = e.fields else { return Ok(()) };
        let (row, codec, columns) = (self.row, &mut self.codec, &mut self.columns);
        let mut odd = Oddities::default();
        match fields.id {
            Some(raw) if json::is_text(raw) => {
                let text = json::as_text(json::unquote(raw), &mut odd);
                columns.id.set(row, text.as_bytes(), codec)?;
            }
            Some(raw) if !json::is_null(raw) => {
                let out = columns.id.begin();
                let start = out.len();
                json::compact_value(raw, out, &mut odd);
                columns.id.end(start, row, codec)?;
            }
            _ => {}
        }
        let on_thread = matches!(c.tracks[e.record.track as usize], Track::Thread { .. });
        let has_column = |key: &[u8], value: &[u8]| has_column(e.record, on_thread, key, value);
        let read: [(&[u8], _); 5] = [
            (b"pid", fields.pid),
            (b"tid", fields.tid),
            (b"cat", fields.cat),
            (b"dur", fields.dur),
            (b"id", fields.id),
        ];
        let all_have_columns =
            read.iter().all(|&(key, value)| value.is_none_or(|value| has_column(key, value)));
        if all_have_columns && !fields.extra_keys && !fields.repeated {
            report(issues, e.record, odd, false, b"");
            return Ok(());
        }
        let out = columns.extra.begin();
        let start = out.len();
        let _ = Cursor::new(e.text, 0).object(|key, value| {
            if !has_column(key, value) {
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
            columns.extra.end(start, row, codec)?;
        } else {
            columns.extra.drop_begun(start);
        }
        report(issues, e.record, odd, false, b"");
        Ok(())
    }

    fn end_page(&mut self) -> Result<()> {
        let (row, codec) = (self.row, &mut self.codec);
        // The first column, `trace_id`, has a single page, which `finish` writes.
        self.columns.each().into_iter().skip(1).try_for_each(|c| c.end_page(row, codec))
    }

    /// Returns all rows as a row group and empties the columns.
    pub fn finish(&mut self, trace_id: &str) -> Result<EncodedGroup> {
        let rows = std::mem::take(&mut self.row);
        self.columns.trace_id.set_all(rows, trace_id.as_bytes(), &mut self.codec)?;
        self.columns.end_group(rows, &mut self.codec)
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

/// Whether a column other than `extra` preserves this key and value of an element.
fn has_column(record: &EventRecord, on_thread: bool, key: &[u8], value: &[u8]) -> bool {
    match key {
        b"ph" | b"name" | b"ts" | b"args" => true,
        b"pid" | b"tid" => {
            on_thread
                || json::is_null(value)
                || (!json::is_text(value) && json::int(value).is_some())
        }
        b"cat" => json::is_text(value) || json::is_null(value),
        b"dur" => record.ph == b'X' && record.dur != NO_TIME,
        // Without its quotes, a text such as "7" would be a different id.
        b"id" => {
            !(json::is_null(value)
                || (json::is_text(value) && json::reads_as_value(written_id(value).as_bytes())))
        }
        _ => false,
    }
}

fn report(issues: &mut Issues, record: &EventRecord, odd: Oddities, bad_id: bool, example: &[u8]) {
    if !(odd.any() || bad_id) {
        return;
    }
    for code in codes_of(odd).chain(bad_id.then_some(Code::IdValue)) {
        issues.add_at(code, record, example);
    }
}
