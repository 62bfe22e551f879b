//! First reading of a stretch of the event list: every element becomes a [`Key`] or a counted
//! issue.

use super::category::{Class, step_number};
use super::frame::resume;
use super::head::{Head, Refusal, written_id};
use super::intern::{INLINE_TEXT, Id, Local, NO_TEXT, Track, TrackNo};
use super::key::*;
use super::meta::{self, MAX_META, Meta, Metas};
use super::times::{WorkTimes, is_work};
use crate::issues::{Code, Issues};
use crate::json::{self, Bad, Cursor, Oddities};

/// Longest element that is read.
pub const MAX_ELEMENT: usize = 256 << 20;
/// Longest args that are kept.
pub const MAX_ARGS: usize = 64 << 20;
/// Longest name that is kept.
pub const MAX_NAME: usize = 1 << 20;
/// Longest text that is kept in memory whole because tracks are told apart by it.
const LONGEST_KEY: usize = 1 << 10;

/// How a stretch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All bytes were read; the flag says whether an element was read since the last comma.
    Cut {
        /// Whether a comma must come before the next element.
        after_element: bool,
    },
    /// The list was closed; the byte after its bracket.
    Closed(u64),
    /// The element that begins here does not end within the stretch.
    Incomplete(u64),
}

/// A `ProfilerStep#N` annotation.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// N.
    pub number: i64,
    /// Position in the event list.
    pub ord: u32,
    /// Its name, as a text number.
    pub name: u32,
    /// Process.
    pub pid: Id,
    /// Track number.
    pub track: TrackNo,
    /// Start, ns.
    pub ts: i64,
    /// End, ns.
    pub end: i64,
}

/// What a stretch held. Positions in the event list count from the start of the stretch.
pub struct Chunk {
    /// How it ended.
    pub end: End,
    /// How many elements it held.
    pub elements: u32,
    /// Elements whose extent is known.
    pub keys: Vec<Key>,
    /// Begin and end events, to be paired.
    pub pairs: Vec<Key>,
    /// Properties of processes and threads.
    pub metas: Metas,
    /// Steps.
    pub steps: Vec<Step>,
    /// When its work starts and ends.
    pub times: WorkTimes,
    /// What was odd.
    pub issues: Issues,
}

impl Chunk {
    /// Moves all positions from the start of the stretch to the start of the event list.
    pub fn rebase(&mut self, base: u32) {
        for key in self.keys.iter_mut().chain(&mut self.pairs) {
            key.ord += base;
        }
        for step in &mut self.steps {
            step.ord += base;
        }
        for meta in self.metas.values_mut() {
            meta.ord += base;
        }
        self.times.rebase(base);
        self.issues.rebase(base as u64);
    }
}

/// Reads the elements in `bytes`, which begin at `offset` of the text. `after_element` says whether
/// a comma must come first; `keys` is an empty list whose memory is used.
pub fn read(
    bytes: &[u8],
    offset: u64,
    local: &mut Local<'_>,
    after_element: bool,
    mut keys: Vec<Key>,
) -> Chunk {
    keys.reserve(bytes.len() / 250);
    let chunk = Chunk {
        end: End::Cut { after_element: false },
        elements: 0,
        keys,
        pairs: Vec::new(),
        metas: Metas::default(),
        steps: Vec::new(),
        times: WorkTimes::default(),
        issues: Issues::default(),
    };
    let mut reader = Reader { bytes, offset, local, chunk };
    reader.chunk.end = reader.run(after_element);
    reader.chunk
}

struct Reader<'a, 'l, 't> {
    bytes: &'a [u8],
    offset: u64,
    local: &'l mut Local<'t>,
    chunk: Chunk,
}

impl Reader<'_, '_, '_> {
    fn run(&mut self, mut after_element: bool) -> End {
        let mut c = Cursor::new(self.bytes, 0);
        loop {
            let Ok(token) = c.next_token() else { return End::Cut { after_element } };
            let start = c.pos;
            match token {
                b',' => {
                    if !after_element {
                        self.issue_at(Code::ExtraComma, start);
                    }
                    after_element = false;
                    c.pos += 1;
                    continue;
                }
                b']' => return End::Closed(self.offset + start as u64 + 1),
                _ if after_element => self.issue_at(Code::MissingComma, start),
                _ => {}
            }
            let outcome = match token {
                b'{' => Head::read(&mut c).map(|head| {
                    if c.pos - start <= MAX_ELEMENT {
                        self.element(&head, start);
                    }
                }),
                // No value begins so; stepping over one would not move on.
                b'}' | b':' => Err(Bad::Syntax(start)),
                _ => c.value().map(|_| self.skip(Code::NotAnObject, start)),
            };
            let outcome = match outcome {
                Err(Bad::End) if self.bytes.len() - start <= MAX_ELEMENT => {
                    return End::Incomplete(self.offset + start as u64);
                }
                Ok(()) if c.pos - start > MAX_ELEMENT => Err(Code::EventTooLarge),
                Ok(()) => Ok(()),
                Err(Bad::End) => Err(Code::EventTooLarge),
                Err(Bad::Deep) => Err(Code::TooDeep),
                Err(Bad::Syntax(_)) => Err(Code::MalformedEvent),
            };
            after_element = outcome.is_ok();
            if let Err(code) = outcome {
                self.skip(code, start);
            }
            self.chunk.elements += 1;
            if outcome.is_err() {
                match resume(self.bytes, start + 1) {
                    Some(next) => c.pos = next,
                    None => return End::Cut { after_element: false },
                }
            }
        }
    }

    fn issue_at(&mut self, code: Code, start: usize) {
        let example = &self.bytes[start..self.bytes.len().min(start + 200)];
        self.chunk.issues.add(
            code,
            Some(self.chunk.elements as u64),
            Some(self.offset + start as u64),
            example,
        );
    }

    fn skip(&mut self, code: Code, start: usize) {
        self.issue_at(code, start);
    }

    fn oddities(&mut self, odd: Oddities, start: usize) {
        for (met, code) in [
            (odd.invalid_utf8, Code::InvalidUtf8),
            (odd.bad_escape, Code::BadEscape),
            (odd.lone_surrogate, Code::LoneSurrogate),
            (odd.control, Code::ControlCharacter),
            (odd.non_json, Code::NonJsonValue),
        ] {
            if met {
                self.issue_at(code, start);
            }
        }
    }

    fn element(&mut self, head: &Head<'_>, start: usize) {
        let (ph, mut flags) = match head.phase() {
            Ok(Some(ph)) => (ph, 0),
            Ok(None) => {
                self.issue_at(Code::UnknownPhase, start);
                (0, WHOLE)
            }
            Err(Refusal(code)) => return self.skip(code, start),
        };
        if head.repeated {
            self.issue_at(Code::DuplicateKey, start);
        }
        let ts = match head.ts_ns() {
            Ok((ts, rounded)) => {
                if rounded {
                    self.issue_at(Code::TimeRounded, start);
                }
                ts
            }
            Err(_) if ph == b'M' => NO_TIME,
            Err(Refusal(code)) => return self.skip(code, start),
        };
        let dur = if ph == b'X' { self.duration(head, ts, start) } else { NO_TIME };
        if head.other_keys || (head.dur.is_some() && dur == NO_TIME) || ph == b'C' {
            flags |= WHOLE;
        }
        let name = self.name(head, ph, start);
        let cat = self.cat(head, start, &mut flags);
        let class = Class::of(head.cat_text(), head.name_text(), ph);
        if matches!(head.cat_text(), b"cpu_op" | b"Operator") {
            flags |= IS_OP;
        }
        let track = self.track(head, ph, name, cat, start);
        if let Some(args) = head.args {
            if args.len() > MAX_ARGS {
                flags |= LONG_ARGS;
                self.issue_at(Code::ArgsCut, start);
            }
            if !matches!(args.first(), Some(b'{')) && !json::is_null(args) {
                self.issue_at(Code::ArgsType, start);
            }
            if ph == b'M' {
                self.metadata(head, args, start);
            }
        } else if ph == b'M' {
            self.metadata(head, b"{}", start);
        }
        let link = match (class.is_launch() || class.is_device(), head.args) {
            (true, Some(args)) => call_id(args, &mut flags),
            _ => NO_LINK,
        };
        let mut key = Key {
            ts,
            dur,
            offset: self.offset + start as u64,
            link,
            ord: self.chunk.elements,
            track,
            name,
            cat,
            args: head.args_at.map_or(0, |at| (at - start) as u32),
            ph,
            class: class.code(),
            flags,
        };
        self.flow(head, ph, &mut key, start);
        self.known_phase(ph, start);
        if ts != NO_TIME && is_work(ph) {
            self.chunk.times.note(ts, ts.saturating_add(dur.max(0)), key.ord, key.offset);
        }
        if class == Class::Step && ph == b'X' && dur != NO_TIME {
            let number = step_number(head.name_text()).unwrap_or(0);
            let (pid, name) = (self.id(head.pid), self.always(name, head.name_text()));
            self.chunk.steps.push(Step {
                number,
                ord: key.ord,
                name,
                pid,
                track,
                ts,
                end: key.end(),
            });
        }
        match ph {
            b'B' | b'E' => self.chunk.pairs.push(key),
            b'b' | b'e' if head.has_id() => self.chunk.pairs.push(key),
            _ => self.chunk.keys.push(key),
        }
    }

    fn duration(&mut self, head: &Head<'_>, ts: i64, start: usize) -> i64 {
        let Ok((dur, rounded)) = head.dur_ns() else {
            self.issue_at(Code::MissingDuration, start);
            return NO_TIME;
        };
        if rounded {
            self.issue_at(Code::TimeRounded, start);
        }
        if dur < 0 {
            self.issue_at(Code::NegativeDuration, start);
        }
        if ts.checked_add(dur).is_none() {
            self.issue_at(Code::EndOverflow, start);
            return NO_TIME;
        }
        dur
    }

    fn name(&mut self, head: &Head<'_>, ph: u8, start: usize) -> u32 {
        match head.name {
            Some(raw) if json::is_text(raw) => self.text_or_cut(json::unquote(raw), start),
            Some(raw) if !json::is_null(raw) => {
                self.issue_at(Code::NameType, start);
                let (mut text, mut odd) = (Vec::new(), Oddities::default());
                json::compact_value(raw, &mut text, &mut odd);
                self.local.texts.intern(&String::from_utf8_lossy(&text))
            }
            _ => {
                if !matches!(ph, b'E' | b'e') {
                    self.issue_at(Code::NoName, start);
                }
                NO_TEXT
            }
        }
    }

    /// The number of a name or category; one that is too long is cut when its row is written.
    fn text_or_cut(&mut self, inner: &[u8], start: usize) -> u32 {
        if inner.len() > MAX_NAME {
            self.issue_at(Code::StringCut, start);
            return INLINE_TEXT;
        }
        self.text(inner, start)
    }

    fn text(&mut self, inner: &[u8], start: usize) -> u32 {
        if let Some(id) = self.local.seen(inner) {
            return id;
        }
        let mut odd = Oddities::default();
        let text = json::as_text(inner, &mut odd);
        let id = self.local.texts.intern(&text);
        if odd.any() {
            self.oddities(odd, start);
        } else {
            self.local.remember(inner, id);
        }
        id
    }

    /// The number of a text that must have one, because it tells tracks apart or is no event's: of
    /// one that is not kept, the number of its beginning and a checksum.
    fn always(&mut self, id: u32, inner: &[u8]) -> u32 {
        if id != INLINE_TEXT {
            return id;
        }
        let text = json::as_text(inner, &mut Oddities::default());
        let mut key = text[..text.floor_char_boundary(LONGEST_KEY)].to_owned();
        if key.len() < text.len() {
            key = format!("{key}… {}", &blake3::hash(text.as_bytes()).to_hex()[..16]);
        }
        self.local.texts.intern_always(&key)
    }

    fn cat(&mut self, head: &Head<'_>, start: usize, flags: &mut u16) -> u32 {
        match head.cat {
            Some(raw) if json::is_text(raw) => {
                let cat = self.text_or_cut(json::unquote(raw), start);
                if cat == INLINE_TEXT {
                    *flags |= WHOLE;
                }
                cat
            }
            Some(raw) if !json::is_null(raw) => {
                self.issue_at(Code::CategoryType, start);
                *flags |= WHOLE;
                NO_TEXT
            }
            _ => NO_TEXT,
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

    fn track(&mut self, head: &Head<'_>, ph: u8, name: u32, cat: u32, start: usize) -> TrackNo {
        let pid = self.id(head.pid);
        let track = match ph {
            b'b' | b'n' | b'e' if head.has_id() => {
                // Ids belong to a process unless they say that they do not.
                let pid = if head.has_global_id() { Id::None } else { pid };
                let cat = self.always(cat, head.cat_text());
                Track::Async { pid, cat, id: self.local.texts.intern_always(&head.async_id()) }
            }
            b'C' => {
                let id = if head.has_id() {
                    self.local.texts.intern_always(&head.async_id())
                } else {
                    NO_TEXT
                };
                Track::Counter { pid, name: self.always(name, head.name_text()), id }
            }
            _ => {
                if matches!(ph, b'b' | b'n' | b'e') {
                    self.issue_at(Code::AsyncNoId, start);
                }
                Track::Thread { pid, tid: self.id(head.tid) }
            }
        };
        self.local.track(track)
    }

    fn flow(&mut self, head: &Head<'_>, ph: u8, key: &mut Key, start: usize) {
        let id = match ph {
            b's' | b't' | b'f' => head.id,
            _ if head.bind_id.is_some() && (head.flow_in || head.flow_out) => {
                key.flags |= if head.flow_in { FLOW_IN } else { 0 }
                    | if head.flow_out { FLOW_OUT } else { 0 };
                head.bind_id
            }
            _ => return,
        };
        if key.has(SHARES_ID) {
            key.flags &= !SHARES_ID;
            key.link = NO_LINK;
        }
        if head.binds_enclosing {
            key.flags |= BINDS_ENCLOSING;
        }
        match id.filter(|r| !json::is_null(r)) {
            // The number that stands for none is kept as a text.
            Some(raw) if !json::is_text(raw) && json::int(raw).is_some_and(|id| id != NO_LINK) => {
                key.link = json::int(raw).unwrap_or(NO_LINK)
            }
            Some(raw) => {
                let text = self.local.texts.intern_always(&written_id(raw));
                key.link = text as i64;
                key.flags |= TEXT_LINK;
            }
            None => self.issue_at(Code::FlowNoId, start),
        }
    }

    fn known_phase(&mut self, ph: u8, start: usize) {
        if ph != 0 && !b"XBEbneiIRCstfMNDOPpSTFcvV()a=".contains(&ph) {
            self.issue_at(Code::UnknownPhase, start);
        }
    }

    fn metadata(&mut self, head: &Head<'_>, args: &[u8], start: usize) {
        let Some((kind, value)) = meta::property(head.name_text(), args) else { return };
        let Some(raw) = value else { return self.issue_at(Code::MetadataValue, start) };
        let mut odd = Oddities::default();
        let mut value = json::as_text(json::unquote(raw), &mut odd).into_owned();
        self.oddities(odd, start);
        if value.len() > MAX_META {
            value.truncate(value.floor_char_boundary(MAX_META));
            self.issue_at(Code::StringCut, start);
        }
        let tid = if kind.is_of_process() { Id::None } else { self.id(head.tid) };
        let pid = self.id(head.pid);
        let ord = self.chunk.elements;
        self.chunk.metas.insert((kind, pid, tid), Meta { ord, value });
    }
}

/// The correlation in the args of a launch or device activity, else the External id, else
/// [`NO_LINK`]; so are ids that stand for none.
fn call_id(args: &[u8], flags: &mut u16) -> i64 {
    let (mut correlation, mut external_id) = (None, None);
    if args.first() == Some(&b'{') {
        let _ = Cursor::new(args, 0).object(|key, value| match key {
            b"correlation" => correlation = Some(value),
            b"External id" | b"external id" => external_id = Some(value),
            _ => {}
        });
    }
    let id =
        |value: Option<&[u8]>| value.and_then(json::int).filter(|&n| is_real_id(n) && n != NO_LINK);
    if let Some(correlation) = id(correlation) {
        return correlation;
    }
    let Some(external_id) = id(external_id) else { return NO_LINK };
    *flags |= SHARES_ID;
    external_id
}

/// Whether an id is one, and none of the values that stand for none (0, −1, 2³²−1).
pub fn is_real_id(id: i64) -> bool {
    !matches!(id, 0 | -1 | 0xffff_ffff)
}
