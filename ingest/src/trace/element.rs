//! First reading of one element: creates its [`EventRecord`], and collects properties of processes
//! and steps.

use super::category::{Class, step_number};
use super::chunk::{Chunk, MAX_ARGS, MAX_NAME, Step};
use super::event_fields::{EventFields, Refusal, written_id};
use super::event_record::*;
use super::intern::{INLINE_TEXT, Id, Local, NO_TEXT, Track, TrackNo};
use super::meta::{self, MAX_META, Meta};
use super::times::is_work;
use crate::issues::{Code, codes_of};
use crate::json::{self, Oddities};

/// Maximum number of bytes, of a text that distinguishes tracks, that are kept in memory.
const MAX_TRACK_TEXT: usize = 1 << 10;

/// An element while it is being read.
pub struct Element<'e, 'f, 't> {
    /// The element's own fields.
    pub fields: &'e EventFields<'f>,
    /// The text from the start of the element.
    pub text: &'e [u8],
    /// Position of the element in the text of its chunk.
    pub start: usize,
    /// Position of the element in the text of the trace.
    pub offset: u64,
    /// The chunk to which its record is added.
    pub chunk: &'e mut Chunk,
    /// Interned strings and tracks of the trace.
    pub local: &'e mut Local<'t>,
}

impl Element<'_, '_, '_> {
    fn issue(&mut self, code: Code) {
        self.chunk.issue(code, self.offset, self.text);
    }

    fn oddities(&mut self, odd: Oddities) {
        codes_of(odd).for_each(|code| self.issue(code));
    }

    /// Reads the element. It becomes a record, or an issue if it is skipped.
    pub fn read(&mut self) {
        let fields = self.fields;
        let (ph, mut flags) = match fields.phase() {
            Ok(Some(ph)) => (ph, 0),
            Ok(None) => {
                self.issue(Code::UnknownPhase);
                (0, WHOLE)
            }
            Err(Refusal(code)) => return self.issue(code),
        };
        if fields.repeated {
            self.issue(Code::DuplicateKey);
        }
        let ts = match fields.ts_ns() {
            Ok((ts, rounded)) => {
                if rounded {
                    self.issue(Code::TimeRounded);
                }
                ts
            }
            Err(_) if ph == b'M' => NO_TIME,
            Err(Refusal(code)) => return self.issue(code),
        };
        let dur = if ph == b'X' { self.duration(ts) } else { NO_TIME };
        if fields.other_keys || (fields.dur.is_some() && dur == NO_TIME) || ph == b'C' {
            flags |= WHOLE;
        }
        let name = self.name(ph);
        let cat = self.cat(&mut flags);
        let class = Class::of(fields.cat_text(), fields.name_text(), ph);
        if matches!(fields.cat_text(), b"cpu_op" | b"Operator") {
            flags |= IS_OP;
        }
        let track = self.track(ph, name, cat);
        self.args(ph, &mut flags);
        self.chunk.launches += usize::from(class.is_launch());
        let link = if class.is_launch() || class.is_device() {
            call_id(fields, &mut flags)
        } else {
            NO_LINK
        };
        let mut record = EventRecord {
            ts,
            dur,
            offset: self.offset,
            link,
            ord: self.chunk.elements,
            track,
            name,
            cat,
            args: fields.args_at.map_or(0, |at| (at - self.start) as u32),
            ph,
            class: class.code(),
            flags,
        };
        self.flow(&mut record);
        if ph != 0 && !b"XBEbneiIRCstfMNDOPpSTFcvV()a=".contains(&ph) {
            self.issue(Code::UnknownPhase);
        }
        if ts != NO_TIME && is_work(ph) {
            let end = ts.saturating_add(dur.max(0));
            self.chunk.times.note(ts, end, record.ord, record.offset);
        }
        if class == Class::Step && ph == b'X' && dur != NO_TIME {
            self.step(&record);
        }
        match ph {
            b'B' | b'E' => self.chunk.pairs.push(record),
            b'b' | b'e' if fields.has_id() => self.chunk.pairs.push(record),
            _ => self.chunk.records.push(record),
        }
    }

    fn duration(&mut self, ts: i64) -> i64 {
        let Ok((dur, rounded)) = self.fields.dur_ns() else {
            self.issue(Code::MissingDuration);
            return NO_TIME;
        };
        if rounded {
            self.issue(Code::TimeRounded);
        }
        if dur < 0 {
            self.issue(Code::NegativeDuration);
        }
        if ts.checked_add(dur).is_none() {
            self.issue(Code::EndOverflow);
            return NO_TIME;
        }
        dur
    }

    fn name(&mut self, ph: u8) -> u32 {
        match self.fields.name {
            Some(raw) if json::is_text(raw) => self.text_or_cut(json::unquote(raw)),
            Some(raw) if !json::is_null(raw) => {
                self.issue(Code::NameType);
                let (mut text, mut odd) = (Vec::new(), Oddities::default());
                json::compact_value(raw, &mut text, &mut odd);
                self.local.texts.intern(&String::from_utf8_lossy(&text))
            }
            _ => {
                if !matches!(ph, b'E' | b'e') {
                    self.issue(Code::NoName);
                }
                NO_TEXT
            }
        }
    }

    /// Returns the id of an interned name or category. A text that is too long is cut when its row
    /// is written.
    fn text_or_cut(&mut self, inner: &[u8]) -> u32 {
        if inner.len() > MAX_NAME {
            self.issue(Code::StringCut);
            return INLINE_TEXT;
        }
        self.text(inner)
    }

    fn text(&mut self, inner: &[u8]) -> u32 {
        if let Some(id) = self.local.seen(inner) {
            return id;
        }
        let mut odd = Oddities::default();
        let text = json::as_text(inner, &mut odd);
        let id = self.local.texts.intern(&text);
        if odd.any() {
            self.oddities(odd);
        } else {
            self.local.remember(inner, id);
        }
        id
    }

    /// Returns the id of a text that must be interned, because it distinguishes tracks or belongs
    /// to no event. For a text that is too long to be kept in memory, the id is that of its
    /// beginning and a checksum.
    fn always(&mut self, id: u32, inner: &[u8]) -> u32 {
        if id != INLINE_TEXT {
            return id;
        }
        let text = json::as_text(inner, &mut Oddities::default());
        let mut short = text[..text.floor_char_boundary(MAX_TRACK_TEXT)].to_owned();
        if short.len() < text.len() {
            short = format!("{short}… {}", &blake3::hash(text.as_bytes()).to_hex()[..16]);
        }
        self.local.texts.intern_always(&short)
    }

    fn cat(&mut self, flags: &mut u16) -> u32 {
        match self.fields.cat {
            Some(raw) if json::is_text(raw) => {
                let cat = self.text_or_cut(json::unquote(raw));
                if cat == INLINE_TEXT {
                    *flags |= WHOLE;
                }
                cat
            }
            Some(raw) if !json::is_null(raw) => {
                self.issue(Code::CategoryType);
                *flags |= WHOLE;
                NO_TEXT
            }
            _ => NO_TEXT,
        }
    }

    fn args(&mut self, ph: u8, flags: &mut u16) {
        if let Some(args) = self.fields.args {
            if args.len() > MAX_ARGS {
                *flags |= LONG_ARGS;
                self.issue(Code::ArgsCut);
            }
            if !matches!(args.first(), Some(b'{')) && !json::is_null(args) {
                self.issue(Code::ArgsType);
            }
        }
        if ph == b'M' {
            self.metadata(self.fields.args.unwrap_or(b"{}"));
        }
    }

    fn id(&mut self, raw: Option<&[u8]>) -> Id {
        let Some(raw) = raw.filter(|r| !json::is_null(r)) else { return Id::None };
        if !json::is_text(raw) {
            if !raw.contains(&b'.')
                && let Some(n) = json::int(raw)
            {
                return Id::Int(n);
            }
            return Id::Text(self.local.texts.intern_always(&String::from_utf8_lossy(raw)));
        }
        let mut odd = Oddities::default();
        let text = json::as_text(json::unquote(raw), &mut odd);
        Id::Text(self.local.texts.intern_always(&text))
    }

    fn track(&mut self, ph: u8, name: u32, cat: u32) -> TrackNo {
        let fields = self.fields;
        let track = match ph {
            b'b' | b'n' | b'e' if fields.has_id() => {
                // Ids are scoped to a process unless they are marked as global.
                let pid = self.id(fields.pid);
                let pid = if fields.has_global_id() { Id::None } else { pid };
                let cat = self.always(cat, fields.cat_text());
                Track::Async { pid, cat, id: self.local.texts.intern_always(&fields.async_id()) }
            }
            b'C' => {
                let pid = self.id(fields.pid);
                let id = if fields.has_id() {
                    self.local.texts.intern_always(&fields.async_id())
                } else {
                    NO_TEXT
                };
                Track::Counter { pid, name: self.always(name, fields.name_text()), id }
            }
            _ => {
                if matches!(ph, b'b' | b'n' | b'e') {
                    self.issue(Code::AsyncNoId);
                }
                return self.thread();
            }
        };
        self.local.track(track)
    }

    fn thread(&mut self) -> TrackNo {
        let (pid, tid) = (self.fields.pid, self.fields.tid);
        // A missing value differs from an empty one.
        let written = pid.zip(tid).filter(|(pid, tid)| !(pid.is_empty() || tid.is_empty()));
        if let Some(no) = written.and_then(|written| self.local.threads.get(written)) {
            return no;
        }
        let (pid, tid) = (self.id(pid), self.id(tid));
        let no = self.local.track(Track::Thread { pid, tid });
        if let Some(written) = written {
            self.local.threads.set(written, no);
        }
        no
    }

    fn flow(&mut self, record: &mut EventRecord) {
        let fields = self.fields;
        let id = match record.ph {
            b's' | b't' | b'f' => fields.id,
            _ if fields.bind_id.is_some() && (fields.flow_in || fields.flow_out) => {
                record.flags |= if fields.flow_in { FLOW_IN } else { 0 }
                    | if fields.flow_out { FLOW_OUT } else { 0 };
                fields.bind_id
            }
            _ => return,
        };
        if record.has(SHARES_ID) {
            record.flags &= !SHARES_ID;
            record.link = NO_LINK;
        }
        if fields.binds_enclosing {
            record.flags |= BINDS_ENCLOSING;
        }
        match id.filter(|r| !json::is_null(r)) {
            // The number that represents "no id" is stored as a text.
            Some(raw) if !json::is_text(raw) && json::int(raw).is_some_and(|id| id != NO_LINK) => {
                record.link = json::int(raw).unwrap_or(NO_LINK)
            }
            Some(raw) => {
                record.link = self.local.texts.intern_always(&written_id(raw)).into();
                record.flags |= TEXT_LINK;
            }
            None => self.issue(Code::FlowNoId),
        }
    }

    fn step(&mut self, record: &EventRecord) {
        let fields = self.fields;
        let step = Step {
            number: step_number(fields.name_text()).unwrap_or(0),
            ord: record.ord,
            pid: self.id(fields.pid),
            name: self.always(record.name, fields.name_text()),
            track: record.track,
            ts: record.ts,
            end: record.end(),
        };
        self.chunk.steps.push(step);
    }

    fn metadata(&mut self, args: &[u8]) {
        let fields = self.fields;
        let Some((kind, value)) = meta::property(fields.name_text(), args) else { return };
        let Some(raw) = value else { return self.issue(Code::MetadataValue) };
        let mut odd = Oddities::default();
        let mut value = json::as_text(json::unquote(raw), &mut odd).into_owned();
        self.oddities(odd);
        if value.len() > MAX_META {
            value.truncate(value.floor_char_boundary(MAX_META));
            self.issue(Code::StringCut);
        }
        let tid = if kind.is_of_process() { Id::None } else { self.id(fields.tid) };
        let pid = self.id(fields.pid);
        let ord = self.chunk.elements;
        self.chunk.metas.insert((kind, pid, tid), Meta { ord, value });
    }
}

/// Returns the correlation in the args of a launch or device activity, or otherwise the External
/// id. Without either, or if the id is a value that stands for "none", it returns [`NO_LINK`].
fn call_id(fields: &EventFields<'_>, flags: &mut u16) -> i64 {
    let id =
        |value: Option<&[u8]>| value.and_then(json::int).filter(|&n| is_real_id(n) && n != NO_LINK);
    if let Some(correlation) = id(fields.correlation) {
        return correlation;
    }
    let Some(external_id) = id(fields.external_id) else { return NO_LINK };
    *flags |= SHARES_ID;
    external_id
}

/// Whether an id differs from the values that profilers write for "none" (0, −1, 2³²−1).
pub fn is_real_id(id: i64) -> bool {
    !matches!(id, 0 | -1 | 0xffff_ffff)
}
