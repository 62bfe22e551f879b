//! Reads rocpd databases (schema 3), which rocprofv3 and rocprof-sys write.
//!
//! The names of tables end in the id of a process (`rocpd_region_<uuid>`). A file of several
//! processes becomes one trace: the processes come one after the other, in the order of their ids.
//! Events of a process come as regions, samples, dispatches, copies, allocations and counters, each
//! in the order of its rows. Process, thread, agent, queue and stream of an event are numbers of
//! rows in tables of their own. Dispatches belong to the call of their process with the same
//! `stack_id`. The environment of the process is not read.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value as Json};

use super::devices::{Devices, Processes};
use super::rocpd_info::Info;
use super::tracks::{Allocations, Made, Streams};
use crate::error::Result;
use crate::import::strings::{Strings, Text};
use crate::import::typed::{Args, Times, TypedRead, TypedWriter};
use crate::import::{Source, issues};
use crate::issues::Code;
use crate::sqlite::{Column, Database, Lookup, Row, Table};
use crate::trace::{Class, EventRecord, NO_LINK, NO_TEXT, TextId, is_real_id};

/// Tables of which each file has at least one.
const MARKS: [&str; 2] = ["rocpd_kernel_dispatch", "rocpd_region"];

/// Tables whose rows are linked by their stack.
const LINKED: [&str; 3] = ["rocpd_region", "rocpd_kernel_dispatch", "rocpd_memory_copy"];

/// Returns the end of the name that all tables of a process have, if the table is one of these.
fn suffix_of(table: &Table) -> Option<&str> {
    let rest = MARKS.iter().find_map(|mark| table.name.strip_prefix(mark))?;
    (rest.is_empty() || rest.starts_with('_')).then_some(rest)
}

/// Whether a database is a rocpd database.
pub fn is_rocpd(db: &Database<'_>) -> bool {
    db.tables().any(|table| suffix_of(table).is_some())
}

/// Reads a rocpd database.
pub fn read(source: &Source<'_>, db: &Database<'_>) -> Result<TypedRead> {
    let mut suffixes: Vec<&str> = db.tables().filter_map(suffix_of).collect();
    suffixes.sort_unstable();
    suffixes.dedup();
    let mut shared = Shared {
        writer: source.writer("rocpd", db.bytes())?,
        args: Args::default(),
        streams: Streams::default(),
        devices: Devices::default(),
        processes: Processes::default(),
        owners: FxHashMap::default(),
        values: Map::new(),
        made: Made::default(),
        read: FxHashSet::default(),
    };
    for (process, suffix) in suffixes.iter().enumerate() {
        let of = |base: &str| format!("{base}{suffix}");
        let info = Info::read(db, suffix, &mut shared)?;
        let (events, columns) = event_columns(db, &of("rocpd_event"))?;
        let mut linked = LINKED.into_iter().filter_map(|base| db.table(&of(base)));
        let tells_processes =
            info.processes.len() > 1 && linked.all(|table| table.column("pid").exists());
        let mut reader = Reader {
            db,
            suffix,
            process: process as i64,
            tells_processes,
            strings: Strings::new(db, &of("rocpd_string"), "id", "string")?,
            info,
            events,
            columns,
            allocations: Allocations::default(),
            counted: FxHashSet::default(),
            started: FxHashMap::default(),
            max_started: source.options.memory_limit / 8 / 48,
            shared: &mut shared,
        };
        reader.counted_events()?;
        reader.regions()?;
        reader.samples()?;
        reader.dispatches()?;
        reader.copies()?;
        reader.allocations()?;
        reader.counters()?;
    }
    shared.finish(db)?;
    shared.writer.finish(issues(source, db))
}

/// What the processes of a file share.
pub struct Shared<'a> {
    pub writer: TypedWriter<'a>,
    /// The args of the current event.
    pub args: Args,
    pub streams: Streams,
    pub devices: Devices,
    pub processes: Processes,
    /// Numbers of the processes, by their number in the file and the row that describes them.
    owners: FxHashMap<(i64, Option<i64>), i64>,
    /// Values of the whole trace.
    pub values: Map<String, Json>,
    pub made: Made,
    /// Tables that were read.
    pub read: FxHashSet<String>,
}

impl Shared<'_> {
    fn finish(&mut self, db: &Database<'_>) -> Result<()> {
        self.devices.finish(&mut self.writer)?;
        if let Some(Json::String(host)) = self.values.remove("host") {
            self.writer.value("host_name", Json::String(host).to_string().as_bytes())?;
        }
        let values = Json::Object(std::mem::take(&mut self.values)).to_string();
        self.writer.value("rocpd", values.as_bytes())?;
        let mut rows = Map::new();
        for table in db.tables().filter(|table| !self.read.contains(&table.name)) {
            rows.insert(table.name.clone(), db.count(table)?.into());
        }
        self.writer.value("rocpd_other_tables", Json::Object(rows).to_string().as_bytes())
    }
}

/// The columns of `rocpd_event`.
#[derive(Clone, Copy)]
struct EventColumns {
    category: Column,
    stack: Column,
    parent: Column,
    correlation: Column,
    extra: Column,
}

fn event_columns<'d>(
    db: &'d Database<'_>,
    table: &str,
) -> Result<(Option<Lookup<'d>>, EventColumns)> {
    let lookup = db.lookup(table, "id")?;
    let column = |name: &str| lookup.as_ref().map_or(Column::NONE, |l| l.column(name));
    let columns = EventColumns {
        category: column("category_id"),
        stack: column("stack_id"),
        parent: column("parent_stack_id"),
        correlation: column("correlation_id"),
        extra: column("extdata"),
    };
    Ok((lookup, columns))
}

/// What `rocpd_event` tells of an event.
#[derive(Default)]
pub struct Facts {
    /// The kind of the event, such as `HIP_RUNTIME_API_EXT`.
    pub category: Option<Text>,
    /// The number that a call shares with the work that it launched.
    pub stack: Option<i64>,
    /// The number of the call around the event; 0 if there is none.
    pub parent: Option<i64>,
    /// The number that the program gave; usually 0.
    pub correlation: Option<i64>,
    /// More values as JSON; empty if there are none.
    pub extra: String,
}

/// The events of the tables with one suffix: of one process, seldom of several.
pub struct Reader<'a, 'd, 's> {
    pub db: &'d Database<'d>,
    pub suffix: &'d str,
    /// The number of the tables in the file.
    process: i64,
    /// Whether there are several processes and all rows that are linked tell theirs.
    tells_processes: bool,
    pub strings: Strings<'d>,
    pub info: Info<'d>,
    events: Option<Lookup<'d>>,
    columns: EventColumns,
    pub allocations: Allocations,
    /// Events that have values of counters.
    pub counted: FxHashSet<i64>,
    /// Their start and device.
    pub started: FxHashMap<i64, (i64, Option<i64>)>,
    pub max_started: usize,
    pub shared: &'s mut Shared<'a>,
}

impl<'d> Reader<'_, 'd, '_> {
    /// Returns a table of the process.
    pub fn table(&mut self, base: &str) -> Option<&'d Table> {
        let table = self.db.table(&format!("{base}{}", self.suffix))?;
        self.shared.read.insert(table.name.clone());
        Some(table)
    }

    /// Returns a text by its number. A number without a text is counted.
    pub fn text(&mut self, key: Option<i64>) -> Result<Option<Text>> {
        let Some(key) = key else { return Ok(None) };
        let text = self.strings.get(&mut self.shared.writer, key)?;
        if text.is_none() {
            self.missing("rocpd_string", key);
        }
        Ok(text)
    }

    /// Counts a number that refers to no row.
    pub fn missing(&mut self, table: &str, key: i64) {
        let example = format!("{table} {key}");
        self.shared.writer.issue(Code::MissingReference, true, example.as_bytes());
    }

    /// Returns what is known of an event.
    pub fn facts(&mut self, event: Option<i64>) -> Result<Facts> {
        let Some(event) = event else { return Ok(Facts::default()) };
        let Some(lookup) = &mut self.events else { return Ok(Facts::default()) };
        let Some(row) = lookup.find(event)? else {
            self.missing("rocpd_event", event);
            return Ok(Facts::default());
        };
        let mut bad = false;
        let columns = self.columns;
        let [category, stack, parent, correlation] =
            [columns.category, columns.stack, columns.parent, columns.correlation]
                .map(|column| row.int(column, &mut bad));
        let extra = row.text(columns.extra).filter(|text| text.len() > 2).unwrap_or_default();
        let extra = extra.into_owned();
        Ok(Facts { category: self.text(category)?, stack, parent, correlation, extra })
    }

    /// Returns the number of a process by the number of its row.
    pub fn owner(&mut self, process: Option<i64>) -> i64 {
        let is_told = |row: &i64| self.tells_processes && self.info.processes.contains_key(row);
        let key = (self.process, process.filter(is_told));
        let next = self.shared.owners.len() as i64;
        *self.shared.owners.entry(key).or_insert(next)
    }

    /// Returns the link of a stack id, which is unique only within a process.
    pub fn link(&mut self, process: Option<i64>, stack: Option<i64>) -> i64 {
        let owner = self.owner(process);
        match stack {
            Some(id) if is_real_id(id) && (0..1 << 48).contains(&id) && owner < 1 << 15 => {
                owner << 48 | id
            }
            _ => NO_LINK,
        }
    }

    /// Adds the values of an event that have no column to the args.
    pub fn push_facts(&mut self, facts: &Facts) {
        let args = &mut self.shared.args;
        if let Some(category) = &facts.category {
            args.json("category", &category.json);
        }
        args.maybe_int("parent_stack_id", facts.parent.filter(|id| *id != 0));
        args.maybe_int("correlation_id", facts.correlation.filter(|id| *id != 0));
        if !facts.extra.is_empty() {
            push_json(args, "extdata", &facts.extra);
        }
    }

    /// Counts a row with values of another type than its columns have.
    pub fn note_bad(&mut self, bad: bool, table: &Table, row: &Row<'_>) {
        if bad {
            let example = format!("{} row {}", table.name, row.rowid);
            self.shared.writer.issue(Code::ColumnType, true, example.as_bytes());
        }
    }

    /// Adds an event with the current args.
    pub fn push(&mut self, event: Event<'_>, times: Times) -> Result<()> {
        event.push(&mut self.shared.writer, times, &self.shared.args)
    }
}

/// Adds a text that should be JSON: as JSON if it is, else as text.
pub fn push_json(args: &mut Args, key: &'static str, text: &str) {
    match serde_json::from_str::<Json>(text) {
        Ok(value) => args.json(key, value.to_string().as_bytes()),
        Err(_) => args.text(key, text),
    }
}

/// An event without its times and args.
pub struct Event<'t> {
    pub ph: u8,
    pub cat: TextId,
    pub name: Option<&'t Text>,
    pub track: u32,
    pub class: Class,
    pub link: i64,
    pub flags: u16,
}

impl Event<'_> {
    /// Adds the event. An event without a name is counted.
    pub fn push(self, writer: &mut TypedWriter<'_>, times: Times, args: &Args) -> Result<()> {
        let (name, text) = match self.name {
            Some(name) => (name.id, &*name.text),
            None => {
                writer.issue(Code::NoName, true, b"");
                (NO_TEXT, "")
            }
        };
        let record = EventRecord {
            ts: 0,
            dur: 0,
            offset: 0,
            link: self.link,
            ord: 0,
            track: self.track,
            name,
            cat: self.cat,
            args: 0,
            ph: self.ph,
            class: self.class.code(),
            flags: self.flags,
        };
        writer.push(record, times, text, args)
    }
}
