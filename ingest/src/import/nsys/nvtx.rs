//! Ranges and marks that the program sets through NVTX.

use rustc_hash::FxHashMap;

use super::{Event, Reader, pid_of, rest};
use crate::error::Result;
use crate::import::strings::Text;
use crate::import::typed::Times;
use crate::json::{Oddities, compact_value};
use crate::trace::{Class, IS_OP, Id, MetaKind, NO_LINK, Track, step_number};

/// Maximum length of a name, in bytes. Some programs put whole dictionaries into the text.
const MAX_NAME: usize = 1 << 10;

/// The kind of a row, by its `eventType`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A range that nests with those of its thread.
    PushPop,
    /// A range that may begin and end anywhere.
    StartEnd,
    /// An instant.
    Mark,
    /// A name of a domain, category, thread or device.
    Name(&'static str),
    /// Any other row.
    Other,
}

impl Kind {
    fn of(kind: Option<i64>) -> Self {
        match kind {
            Some(59 | 70) => Self::PushPop,
            Some(60 | 71) => Self::StartEnd,
            Some(34 | 65) => Self::Mark,
            Some(75) => Self::Name("nvtx_domain_create"),
            Some(76) => Self::Name("nvtx_domain_destroy"),
            Some(33 | 64) => Self::Name("nvtx_category"),
            Some(39 | 72) => Self::Name("nvtx_thread_name"),
            Some(97) => Self::Name("nvtx_device_name"),
            Some(98) => Self::Name("nvtx_context_name"),
            Some(99) => Self::Name("nvtx_stream_name"),
            _ => Self::Other,
        }
    }
}

/// Names of domains by process and number, and of categories by process, domain and number.
#[derive(Default)]
struct Known {
    domains: FxHashMap<(i64, i64), Text>,
    categories: FxHashMap<(i64, i64, i64), Text>,
}

const COLUMNS: [&str; 13] = [
    "start", "end", "eventType", "rangeId", "category", "globalTid", "endGlobalTid", "textId",
    "domainId", "color", "jsonTextId", "text", "jsonText",
];

impl Reader<'_> {
    /// Reads ranges, marks and names.
    pub fn nvtx(&mut self, name: &str) -> Result<()> {
        let Some(table) = self.events_of(name) else { return Ok(()) };
        let known = self.nvtx_names(name)?;
        let columns = COLUMNS.map(|name| table.column(name));
        let [numbers @ .., text, json] = columns;
        let rest = rest(table, &COLUMNS);
        let cat = self.writer.intern_always("user_annotation");
        let encoding = self.db.encoding();
        let mut compact = Vec::new();
        self.db.scan(table, |row| {
            let mut bad = false;
            let [start, end, kind, range, category, tid, end_tid, text_id, domain, color, json_id]: [_; 11] =
                numbers.map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let kind = Kind::of(kind);
            let is_range = matches!(kind, Kind::PushPop | Kind::StartEnd)
                || (kind == Kind::Other && end.is_some());
            let end = if is_range { end } else { start };
            let Some(times) = self.writer.times(start, end)? else { return Ok(()) };
            let times = match times {
                Times::Whole(start, _) if !is_range => Times::At(start),
                times => times,
            };
            let mut name = match row.text(text) {
                Some(text) => Some(Text::new(&self.writer, &text)),
                None => self.text(text_id)?,
            };
            let pid = tid.map(pid_of);
            let domain_key = (pid.unwrap_or(-1), domain.unwrap_or(0));
            let domain_name = known.domains.get(&domain_key);
            self.args.clear();
            match domain_name {
                Some(domain) => self.args.json("domain", &domain.json),
                None => self.args.maybe_int("domain", domain.filter(|domain| *domain != 0)),
            }
            if let Some(category) = category {
                match known.categories.get(&(domain_key.0, domain_key.1, category)) {
                    Some(name) => self.args.json("category", &name.json),
                    None => self.args.int("category", category),
                }
            }
            self.args.maybe_int("color", color);
            self.args.maybe_int("rangeId", range);
            self.args.maybe_int("endGlobalTid", end_tid.filter(|end| Some(*end) != tid));
            let payload = match row.text(json) {
                Some(text) => Some(text.into_owned()),
                None => match json_id {
                    Some(_) => self.text(json_id)?.map(|text| text.text.to_string()),
                    None => None,
                },
            };
            if let Some(payload) = payload {
                compact.clear();
                let mut odd = Oddities::default();
                match serde_json::from_str::<serde::de::IgnoredAny>(&payload) {
                    Ok(_) => {
                        compact_value(payload.trim().as_bytes(), &mut compact, &mut odd);
                        self.args.json("payload", &compact);
                    }
                    Err(_) => self.args.text("payload", &payload),
                }
            }
            rest.push(&row, encoding, &mut self.args);
            if let Kind::Name(what) = kind {
                if let Some(name) = &name {
                    self.args.json("name", &name.json);
                    if what == "nvtx_thread_name" {
                        self.name_thread(tid, &name.text);
                    }
                }
                name = Some(Text::new(&self.writer, what));
            } else if let Some(long) = name.as_ref().filter(|name| name.text.len() > MAX_NAME) {
                self.args.json("text", &long.json);
                let end = long.text.floor_char_boundary(MAX_NAME);
                name = Some(Text::new(&self.writer, &long.text[..end]));
            }
            let step = name.as_ref().filter(|_| kind == Kind::PushPop).and_then(|name| {
                step_number(name.text.as_bytes())
            });
            let (ph, class, flags) = match kind {
                Kind::PushPop if step.is_some() => (b'X', Class::Step, 0),
                // The innermost range around a launch is what the launch belongs to.
                Kind::PushPop => (b'X', Class::Op, IS_OP),
                Kind::Name(_) => (b'M', Class::Other, 0),
                _ if is_range => (b'X', Class::Other, 0),
                _ => (b'i', Class::Other, 0),
            };
            let track = if kind == Kind::StartEnd {
                let shown = match domain_name {
                    Some(domain) => domain.text.to_string(),
                    None => format!("domain {}", domain_key.1),
                };
                let id = self.writer.intern_always(&shown);
                let nvtx = self.writer.intern_always("NVTX");
                self.writer.track(Track::Async { pid: pid.map_or(Id::None, Id::Int), cat: nvtx, id })
            } else {
                self.thread(tid)
            };
            let event =
                Event { ph, cat, name: name.as_ref(), track, class, link: NO_LINK, flags };
            self.push(event, times)?;
            if let (Some(step), Some(name), Times::Whole(..)) = (step, name, times) {
                let id = self.writer.intern_always(&name.text);
                self.writer.step(step, pid.map_or(Id::None, Id::Int), id);
            }
            Ok(())
        })
    }

    /// Reads the names of domains and categories, which may come after their first use.
    fn nvtx_names(&mut self, name: &str) -> Result<Known> {
        let mut known = Known::default();
        let Some(table) = self.db.table(name) else { return Ok(known) };
        let [kind, tid, domain, category, text_id, text] =
            ["eventType", "globalTid", "domainId", "category", "textId", "text"]
                .map(|name| table.column(name));
        self.db.scan(table, |row| {
            let kind = row.int(kind, &mut false);
            if !matches!(kind, Some(33 | 75)) {
                return Ok(());
            }
            let [tid, domain, category, text_id] =
                [tid, domain, category, text_id].map(|column| row.int(column, &mut false));
            let name = match row.text(text) {
                Some(text) => Text::new(&self.writer, &text),
                None => {
                    match text_id.map(|id| self.strings.get(&mut self.writer, id)).transpose()? {
                        Some(Some(name)) => name,
                        _ => return Ok(()),
                    }
                }
            };
            let (pid, domain) = (tid.map_or(-1, pid_of), domain.unwrap_or(0));
            match (kind, category) {
                (Some(75), _) => drop(known.domains.insert((pid, domain), name)),
                (_, Some(category)) => {
                    known.categories.insert((pid, domain, category), name);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(known)
    }

    /// Names a thread.
    pub fn name_thread(&mut self, tid: Option<i64>, name: &str) {
        if let Some(tid) = tid {
            let (pid, thread) = (Id::Int(pid_of(tid)), Id::Int(super::tid_of(tid)));
            self.writer.property(MetaKind::ThreadName, pid, thread, name);
        }
    }
}
