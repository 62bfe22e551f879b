//! Calls on the host: of the CUDA runtime and driver, of libraries, of the operating system, and
//! the overhead of the profiler.

use rustc_hash::FxHashMap;

use super::names::{plain_name, wait_of};
use super::stacks::Stacks;
use super::{Event, Reader, pid_of, rest, tid_of};
use crate::error::Result;
use crate::import::columns::real_u32;
use crate::import::strings::Text;
use crate::trace::{Class, Id, NO_LINK, Track};

const TAKEN: &[&str] = &[
    "start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue",
    "callchainId",
];

/// A function: its name without a version, and what its class and waits follow from.
#[derive(Clone)]
struct Function {
    name: Text,
    /// The whole name, if it has a version.
    whole: Option<Text>,
    wait: Option<&'static str>,
    class: Class,
}

impl Reader<'_> {
    /// Reads the calls of the CUDA runtime and driver.
    pub fn api_calls(&mut self, name: &str) -> Result<()> {
        let Some(table) = self.events_of(name) else { return Ok(()) };
        let mut stacks = Stacks::read(self, "CUDA_CALLCHAINS")?;
        let column = |name: &str| table.column(name);
        let [start, end, class, tid, correlation, name, value, stack] = [
            "start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue",
            "callchainId",
        ]
        .map(column);
        let rest = rest(table, TAKEN);
        let (runtime, driver) =
            (self.writer.intern_always("cuda_runtime"), self.writer.intern_always("cuda_driver"));
        let mut functions: FxHashMap<i64, Option<Function>> = FxHashMap::default();
        let encoding = self.db.encoding();
        self.db.scan(table, |row| {
            let mut bad = false;
            let [start, end, class, tid, correlation, name, value, stack] =
                [start, end, class, tid, correlation, name, value, stack]
                    .map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let Some(times) = self.writer.times(start, end)? else { return Ok(()) };
            let function = match name.map(|name| functions.get(&name)) {
                Some(Some(known)) => known.clone(),
                _ => {
                    let function = self.function(name)?;
                    if let Some(name) = name {
                        functions.insert(name, function.clone());
                    }
                    function
                }
            };
            self.args.clear();
            self.args.maybe_int("correlation", real_u32(correlation));
            if let Some(whole) = function.as_ref().and_then(|f| f.whole.as_ref()) {
                self.args.json("function", &whole.json);
            }
            self.args.maybe_int("returnValue", value.filter(|value| *value != 0));
            if let Some(stack) = stack
                && let Some(text) = stacks.text(self, stack)?
            {
                self.args.text("Call stack", &text);
            }
            rest.push(&row, encoding, &mut self.args);
            let link = self.link(tid, correlation);
            if let Some(wait) = function.as_ref().and_then(|f| f.wait)
                && link != NO_LINK
            {
                self.waits.insert(link, wait);
            }
            let event = Event {
                ph: b'X',
                cat: if class == Some(1) { driver } else { runtime },
                name: function.as_ref().map(|f| &f.name),
                track: self.thread(tid),
                class: function.as_ref().map_or(Class::Launch, |f| f.class),
                link,
                flags: 0,
            };
            self.push(event, times)
        })
    }

    fn function(&mut self, name: Option<i64>) -> Result<Option<Function>> {
        let Some(whole) = self.text(name)? else { return Ok(None) };
        let plain = plain_name(&whole.text);
        let is_plain = plain.len() == whole.text.len() || plain.is_empty();
        Ok(Some(Function {
            wait: wait_of(&whole.text),
            class: Class::of(b"cuda_runtime", whole.text.as_bytes(), b'X'),
            name: if is_plain { whole.clone() } else { Text::new(&self.writer, plain) },
            whole: (!is_plain).then_some(whole),
        }))
    }

    /// Reads the calls of the operating system.
    pub fn os_calls(&mut self, name: &str) -> Result<()> {
        self.host_calls(name, "osrt", Some("OSRT_CALLCHAINS"), false)
    }

    /// Reads the calls of a library.
    pub fn library_calls(&mut self, name: &str, cat: &str) -> Result<()> {
        self.host_calls(name, cat, None, false)
    }

    /// Reads the overhead of the profiler.
    pub fn overheads(&mut self, name: &str) -> Result<()> {
        self.host_calls(name, "overhead", None, true)
    }

    /// Reads calls that launch nothing. Those of the profiler itself have tracks of their own,
    /// because they do not nest with those of the program.
    fn host_calls(
        &mut self,
        name: &str,
        cat: &str,
        chains: Option<&str>,
        is_own_track: bool,
    ) -> Result<()> {
        let Some(table) = self.events_of(name) else { return Ok(()) };
        let mut stacks = match chains {
            Some(chains) => Stacks::read(self, chains)?,
            None => Stacks::default(),
        };
        let [start, end, tid, name, text, stack] =
            ["start", "end", "globalTid", "nameId", "name", "callchainId"]
                .map(|name| table.column(name));
        let rest = rest(table, &["start", "end", "globalTid", "nameId", "name", "callchainId"]);
        let cat = self.writer.intern_always(cat);
        let encoding = self.db.encoding();
        self.db.scan(table, |row| {
            let mut bad = false;
            let [start, end, tid, key, stack] =
                [start, end, tid, name, stack].map(|column| row.int(column, &mut bad));
            self.note_bad(bad, table, &row);
            let Some(times) = self.writer.times(start, end)? else { return Ok(()) };
            let name = match row.text(text).filter(|_| key.is_none()) {
                Some(text) => Some(Text::new(&self.writer, &text)),
                None => self.text(key)?,
            };
            self.args.clear();
            if let Some(stack) = stack
                && let Some(text) = stacks.text(self, stack)?
            {
                self.args.text("Call stack", &text);
            }
            let track = match tid.filter(|_| is_own_track) {
                Some(tid) => {
                    self.args.int("tid", tid_of(tid));
                    let id = self.writer.intern_always(&format!("thread {}", tid_of(tid)));
                    self.writer.track(Track::Async { pid: Id::Int(pid_of(tid)), cat, id })
                }
                None => self.thread(tid),
            };
            rest.push(&row, encoding, &mut self.args);
            self.push(Event::span(cat, name.as_ref(), track, Class::Other), times)
        })
    }
}
