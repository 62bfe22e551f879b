//! Values from the top-level keys: properties of the trace, and the rows of `devices`.

use serde_json::{Map, Value};

use crate::encode::TableRows;
use crate::error::Result;
use crate::issues::{Code, Issues, codes_of};
use crate::json::{self, Oddities};
use crate::rows::DeviceRow;
use crate::source::Content;
use crate::trace::{Document, TopLevel};

/// Maximum total size of the top-level values that are kept as metadata, in bytes.
const MAX_METADATA: usize = 256 << 20;
/// Maximum size of a top-level value that is parsed, in bytes.
const MAX_FACTS: usize = 4 << 20;

/// Properties of a trace from its top-level keys.
#[derive(Default)]
pub struct TopFacts {
    pub rank: Option<i64>,
    pub world_size: Option<i64>,
    pub backend: Option<String>,
    pub host: Option<String>,
    pub base_time_ns: Option<i64>,
    pub is_kineto: bool,
    pub metadata: String,
}

/// Keys that only Kineto writes.
const KINETO_KEYS: &[&[u8]] = &[
    b"schemaVersion",
    b"deviceProperties",
    b"distributedInfo",
    b"baseTimeNanoseconds",
    b"traceName",
];

const BASE_TIME: &[u8] = b"baseTimeNanoseconds";

/// Returns the Unix time of the clock's zero in ns; `None` if the trace does not contain it.
pub fn base_time(content: &Content, document: &Document) -> Result<Option<i64>> {
    let mut base = None;
    for top in document.top.iter().filter(|top| top.key == BASE_TIME) {
        base = json::int(&content.map(top.start, top.end)?);
    }
    Ok(base)
}

/// Reads the properties, and appends the rows of `devices`.
pub fn read(
    content: &Content,
    document: &mut Document,
    trace_id: &str,
    devices: &mut TableRows<DeviceRow<'static>>,
) -> Result<TopFacts> {
    let mut facts = TopFacts::default();
    let mut metadata = vec![b'{'];
    for top in std::mem::take(&mut document.top) {
        let raw = content.map(top.start, top.end)?;
        facts.is_kineto |= KINETO_KEYS.contains(&&top.key[..]);
        if metadata.len() + max_bytes(&raw) + max_bytes(&top.key) > MAX_METADATA {
            note(&mut document.issues, &top, "too much metadata; this value was not kept");
            continue;
        }
        let value = compact(&raw, &top, &mut document.issues);
        match &top.key[..] {
            b"deviceProperties" | b"distributedInfo" if value.len() > MAX_FACTS => {
                note(
                    &mut document.issues,
                    &top,
                    "longer than 4 MiB; it was kept, but not looked into",
                );
            }
            b"deviceProperties" => {
                device_rows(&value, &top, trace_id, devices, &mut document.issues)
            }
            b"distributedInfo" => distributed(&value, &top, &mut facts, &mut document.issues),
            BASE_TIME => facts.base_time_ns = json::int(&raw),
            b"host_name" => facts.host = serde_json::from_slice(&value).ok(),
            _ => {}
        }
        if metadata.len() > 1 {
            metadata.push(b',');
        }
        let mut key = vec![b'"'];
        key.extend_from_slice(&top.key);
        key.push(b'"');
        json::compact_value(&key, &mut metadata, &mut Oddities::default());
        metadata.push(b':');
        metadata.extend_from_slice(&value);
    }
    metadata.push(b'}');
    facts.metadata = String::from_utf8_lossy(&metadata).into_owned();
    Ok(facts)
}

fn note(issues: &mut Issues, top: &TopLevel, what: &str) {
    issues.add(Code::TopLevelValue, None, Some(top.start), &top.key);
    issues.detail(Code::TopLevelValue, what.to_owned());
}

/// Estimates the maximum size of a text as compact JSON, in bytes: control characters become
/// escapes.
fn max_bytes(raw: &[u8]) -> usize {
    raw.len() + 5 * raw.iter().filter(|b| b.is_ascii_control() && !b.is_ascii_whitespace()).count()
}

fn compact(raw: &[u8], top: &TopLevel, issues: &mut Issues) -> Vec<u8> {
    let (mut value, mut odd) = (Vec::with_capacity(raw.len()), Oddities::default());
    json::compact_value(raw, &mut value, &mut odd);
    for code in codes_of(odd) {
        issues.add(code, None, Some(top.start), raw);
    }
    value
}

/// Returns an integer, even if it is written as a string.
fn int(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| json::int(value.as_str()?.as_bytes()))
}

fn distributed(value: &[u8], top: &TopLevel, facts: &mut TopFacts, issues: &mut Issues) {
    let Ok(info) = serde_json::from_slice::<Map<String, Value>>(value) else {
        return note(issues, top, "distributedInfo is not an object");
    };
    facts.rank = info.get("rank").and_then(int);
    facts.world_size = info.get("world_size").and_then(int);
    facts.backend = info.get("backend").and_then(Value::as_str).map(str::to_owned);
}

fn device_rows(
    value: &[u8],
    top: &TopLevel,
    trace_id: &str,
    rows: &mut TableRows<DeviceRow<'static>>,
    issues: &mut Issues,
) {
    let Ok(list) = serde_json::from_slice::<Vec<Map<String, Value>>>(value) else {
        return note(issues, top, "deviceProperties is not a list of objects");
    };
    for device in &list {
        let field = |name: &str| device.get(name).and_then(int);
        let metadata = serde_json::to_string(device).ok();
        rows.push(DeviceRow {
            trace_id,
            device: field("id"),
            name: device.get("name").and_then(Value::as_str),
            total_memory_bytes: field("totalGlobalMem"),
            compute_major: field("computeMajor"),
            compute_minor: field("computeMinor"),
            sm_count: field("numSms"),
            max_threads_per_block: field("maxThreadsPerBlock"),
            max_threads_per_sm: field("maxThreadsPerMultiprocessor"),
            registers_per_block: field("regsPerBlock"),
            registers_per_sm: field("regsPerMultiprocessor"),
            shared_memory_per_block_bytes: field("sharedMemPerBlock"),
            shared_memory_per_sm_bytes: field("sharedMemPerMultiprocessor"),
            warp_size: field("warpSize"),
            metadata: metadata.as_deref(),
        });
    }
}
