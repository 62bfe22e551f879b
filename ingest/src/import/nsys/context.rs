//! Devices, names of processes and threads, and the values of the whole trace.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value as Json};

use super::{Reader, pid_of};
use crate::error::Result;
use crate::issues::Code;
use crate::sqlite::{Database, Row, Table, Value, decode};
use crate::trace::{Id, MetaKind};

/// How activities number the devices.
#[derive(Default)]
pub struct Devices {
    /// The number of the GPU by process and number in that process.
    gpus: FxHashMap<(i64, i64), i64>,
    /// Whether one number stands for several GPUs, because processes see different devices.
    is_ambiguous: bool,
    /// Whether the machine has one GPU, which all processes share.
    is_single: bool,
    /// The first process that uses each device that no table describes.
    users: FxHashMap<i64, i64>,
    /// Such a device that a second process uses.
    pub shared: Option<i64>,
}

impl Devices {
    /// Reads the table that tells which GPU a process's device is.
    pub fn read(db: &Database<'_>) -> Result<Self> {
        let mut devices = Self::default();
        let Some(table) = db.table("TARGET_INFO_CUDA_DEVICE") else {
            devices.is_single = has_one_gpu(db)?;
            return Ok(devices);
        };
        let columns = ["gpuId", "cudaId", "pid"].map(|name| table.column(name));
        let mut by_number: FxHashMap<i64, i64> = FxHashMap::default();
        db.scan(table, |row| {
            let [gpu, number, pid] = columns.map(|column| row.int(column, &mut false));
            if let (Some(gpu), Some(number), Some(pid)) = (gpu, number, pid) {
                devices.gpus.insert((pid & 0xff_ffff, number), gpu);
                devices.is_ambiguous |= *by_number.entry(number).or_insert(gpu) != gpu;
            }
            Ok(())
        })?;
        Ok(devices)
    }

    /// Returns the number of a device: the one that the process uses, or that of the GPU if
    /// processes use the same number for different GPUs.
    pub fn number(&mut self, process: Option<i64>, device: i64) -> i64 {
        if self.gpus.is_empty()
            && !self.is_single
            && let Some(process) = process
            && *self.users.entry(device).or_insert(process) != process
        {
            self.shared.get_or_insert(device);
        }
        if !self.is_ambiguous {
            return device;
        }
        let gpu = process.and_then(|process| self.gpus.get(&(pid_of(process), device)));
        gpu.copied().unwrap_or(device)
    }

    /// Returns the numbers of a GPU as a device; `None` if no table states them.
    fn of_gpu(&self, gpu: i64) -> Option<Vec<i64>> {
        if self.gpus.is_empty() || self.is_ambiguous {
            return None;
        }
        let of = self.gpus.iter().filter(|(_, id)| **id == gpu).map(|((_, number), _)| *number);
        let mut numbers: Vec<i64> = of.collect();
        numbers.sort_unstable();
        numbers.dedup();
        Some(numbers)
    }
}

/// Whether the table of GPUs has a single one. A GPU may be listed more than once.
fn has_one_gpu(db: &Database<'_>) -> Result<bool> {
    let mut gpus = FxHashSet::default();
    if let Some(table) = db.table("TARGET_INFO_GPU") {
        let id = table.column("id");
        db.scan(table, |row| {
            gpus.extend(row.int(id, &mut false));
            Ok(())
        })?;
    }
    Ok(gpus.len() == 1)
}

/// Keys of Kineto's `deviceProperties` and the columns that they come from.
const PROPERTIES: [(&str, &str); 10] = [
    ("name", "name"),
    ("totalGlobalMem", "totalMemory"),
    ("computeMajor", "computeMajor"),
    ("computeMinor", "computeMinor"),
    ("maxThreadsPerBlock", "maxThreadsPerBlock"),
    ("regsPerBlock", "maxRegistersPerBlock"),
    ("warpSize", "threadsPerWarp"),
    ("sharedMemPerBlock", "maxShmemPerBlock"),
    ("numSms", "smCount"),
    ("regsPerMultiprocessor", "maxRegistersPerSm"),
];

/// Values of the recording that are kept, without the number of the process. All others are left
/// out, because some hold the environment of the program.
const CAPTURE: [&str; 9] = [
    "START_TRIGGER",
    "STOP_TRIGGER",
    "RATE_HZ",
    "CUDA_GRAPH_TRACE_OPTIONS:MODE",
    "CUDA_SKIP_SOME_API_CALLS",
    "COMMAND",
    "COLLECT_GPU_MEMORY_USAGE",
    "RUN_DURATION_MS",
    "LINUX_PERF_OPTIONS:SAMPLING_PERIOD",
];

/// Whether an option of the exporter is on.
fn is_set(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on")
}

fn json(value: Value<'_>, db: &Database<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Int(value) => value.into(),
        Value::Real(value) => value.into(),
        Value::Text(raw) | Value::Blob(raw) => decode(raw, db.encoding()).into_owned().into(),
    }
}

impl Reader<'_> {
    /// Reads what is known of the whole trace, once all events are read.
    pub fn context(&mut self) -> Result<()> {
        let recording = self.recording()?;
        self.session(&recording)?;
        self.device_properties()?;
        if !recording.is_empty() {
            self.put("nsys", &Json::Object(recording))?;
        }
        if let Some(device) = self.devices.shared {
            let example = format!("device {device}");
            self.writer.issue(Code::SharedDevice, false, example.as_bytes());
        }
        self.process_names()?;
        self.thread_names()?;
        self.other_tables()
    }

    fn put(&mut self, key: &str, value: &Json) -> Result<()> {
        self.writer.value(key, value.to_string().as_bytes())
    }

    /// The time of day at which the clock of the events is 0; not known if the export changed the
    /// times in a way that cannot be read. `nsys export` can shift all times (`--ts-shift`) or turn
    /// them into Unix times (`--ts-normalize`), and then says so.
    fn session(&mut self, recording: &Map<String, Json>) -> Result<()> {
        let option = |name: &str| recording.get(name).and_then(Json::as_str).map(str::trim);
        let shift = option("EXPORT_PARAM_TIME_SHIFT").filter(|text| !text.is_empty());
        let Ok(shift) = shift.unwrap_or("0").parse::<i64>() else { return Ok(()) };
        if option("EXPORT_PARAM_TIME_NORMALIZE").is_some_and(is_set) {
            return self.put("baseTimeNanoseconds", &0_i64.saturating_sub(shift).into());
        }
        let Some(table) = self.db.table("TARGET_INFO_SESSION_START_TIME") else { return Ok(()) };
        let (column, mut epoch) = (table.column("utcEpochNs"), None);
        self.db.scan(table, |row| {
            epoch = epoch.or(row.int(column, &mut false));
            Ok(())
        })?;
        match epoch.and_then(|epoch| epoch.checked_sub(shift)) {
            Some(base) => self.put("baseTimeNanoseconds", &base.into()),
            None => Ok(()),
        }
    }

    fn device_properties(&mut self) -> Result<()> {
        let Some(table) = self.db.table("TARGET_INFO_GPU") else { return Ok(()) };
        let mut found: BTreeMap<i64, Map<String, Json>> = BTreeMap::new();
        let db = self.db;
        self.db.scan(table, |row| {
            let int = |name: &str| row.int(table.column(name), &mut false);
            let Some(gpu) = int("id") else { return Ok(()) };
            let numbers = match self.devices.of_gpu(gpu) {
                Some(numbers) => numbers,
                None if self.devices.is_ambiguous => vec![gpu],
                None => vec![int("cuDevice").unwrap_or(gpu)],
            };
            let mut properties = Map::new();
            for (key, column) in PROPERTIES {
                properties.insert(key.to_owned(), json(row.value(table.column(column)), db));
            }
            let warps = int("maxWarpsPerSm").and_then(|n| n.checked_mul(int("threadsPerWarp")?));
            properties.insert("maxThreadsPerMultiprocessor".to_owned(), warps.into());
            let shared = json(row.value(table.column("maxShmemPerSm")), db);
            properties.insert("sharedMemPerMultiprocessor".to_owned(), shared);
            others(table, &row, db, &mut properties);
            for number in numbers {
                // A GPU may be listed more than once; the first row counts.
                let mut properties = properties.clone();
                properties.insert("id".to_owned(), number.into());
                found.entry(number).or_insert(properties);
            }
            Ok(())
        })?;
        let list: Vec<Json> = found.into_values().map(Json::Object).collect();
        if list.is_empty() { Ok(()) } else { self.put("deviceProperties", &list.into()) }
    }

    /// The exporter and how the recording was made.
    fn recording(&self) -> Result<Map<String, Json>> {
        let mut values = Map::new();
        for (name, keep) in [
            ("META_DATA_EXPORT", None),
            ("EXPORT_META_DATA", None),
            ("META_DATA_CAPTURE", Some(&CAPTURE)),
        ] {
            let Some(table) = self.db.table(name) else { continue };
            let [key, value] = ["name", "value"].map(|name| table.column(name));
            self.db.scan(table, |row| {
                let Some(key) = row.text(key) else { return Ok(()) };
                let own = key.strip_prefix("PROCESS_").and_then(|rest| rest.split_once(':'));
                let own = own.map_or(&*key, |(_, own)| own);
                let is_kept = match keep {
                    Some(keep) => keep.contains(&own) || own.starts_with("ARGUMENT_"),
                    None => key.starts_with("EXPORT_"),
                };
                if is_kept && let Some(value) = row.text(value) {
                    values.insert(key.into_owned(), value.into_owned().into());
                }
                Ok(())
            })?;
        }
        Ok(values)
    }

    fn process_names(&mut self) -> Result<()> {
        let Some(table) = self.db.table("PROCESSES") else { return Ok(()) };
        let used: FxHashSet<i64> = self.threads.keys().map(|tid| pid_of(*tid)).collect();
        let [process, name] = ["globalPid", "name"].map(|name| table.column(name));
        self.db.scan(table, |row| {
            if let Some(process) = row.int(process, &mut false).map(pid_of)
                && used.contains(&process)
                && let Some(name) = row.text(name)
            {
                self.writer.property(MetaKind::ProcessName, Id::Int(process), Id::None, &name);
            }
            Ok(())
        })
    }

    fn thread_names(&mut self) -> Result<()> {
        let Some(table) = self.db.table("ThreadNames") else { return Ok(()) };
        let [tid, name] = ["globalTid", "nameId"].map(|name| table.column(name));
        self.db.scan(table, |row| {
            let [tid, name] = [tid, name].map(|column| row.int(column, &mut false));
            if tid.is_some_and(|tid| self.threads.contains_key(&tid))
                && let Some(name) = name
                && let Some(name) = self.strings.get(&mut self.writer, name)?
            {
                self.name_thread(tid, &name.text);
            }
            Ok(())
        })
    }

    /// Counts the rows of tables that hold neither events nor names.
    fn other_tables(&mut self) -> Result<()> {
        let mut rows = Map::new();
        for table in self.db.tables() {
            let is_private = table.name.contains("ENV") || table.name == "META_DATA_CAPTURE";
            if is_private || table.name.starts_with("ENUM_") || self.read.contains(&table.name) {
                continue;
            }
            rows.insert(table.name.clone(), self.db.count(table)?.into());
        }
        self.put("nsys_other_tables", &Json::Object(rows))
    }
}

/// Adds the other columns of a GPU under their own names.
fn others(table: &Table, row: &Row<'_>, db: &Database<'_>, properties: &mut Map<String, Json>) {
    const OTHERS: [&str; 8] = [
        "memoryBandwidth",
        "clockRate",
        "l2CacheSize",
        "maxShmemPerBlockOptin",
        "maxBlocksPerSm",
        "uuid",
        "busLocation",
        "chipName",
    ];
    for name in OTHERS {
        let value = json(row.value(table.column(name)), db);
        if !value.is_null() {
            properties.insert(name.to_owned(), value);
        }
    }
}
