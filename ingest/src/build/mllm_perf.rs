//! Writes the tables of an MLLM `perf.json`: memory blobs and operator blobs, with times in
//! microseconds of one clock.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::devices::{self, TopFacts};
use super::small_tables::{SmallTables, TraceKind, in_order};
use super::{Built, JsonRead, Origin};
use crate::encode::{Codec, Effort, EncodedGroup, RowGroups, TableRows};
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};
use crate::json::{self, Bad, Cursor, Oddities, TimeError};
use crate::rows::{EventColumns, MemoryRow, TrackRow};
use crate::schema;
use crate::source::Content;
use crate::trace::Document;

/// One blob; its times are in nanoseconds of the recording's clock.
struct Blob {
    ord: i64,
    is_memory: bool,
    name: Option<String>,
    device: Option<String>,
    uuid: Option<i64>,
    bytes: Option<i64>,
    start: i64,
    end: Option<i64>,
    is_live: bool,
    args: String,
}

pub fn write(read: JsonRead<'_>, origin: &Origin<'_>, folder: &Path) -> Result<Built> {
    let JsonRead { content, mut document, options, phases, .. } = read;
    let mut reader = Reader {
        blobs: Vec::new(),
        memory: 0,
        max_memory: options.memory_limit,
        elements: 0,
        issues: Issues::default(),
        uuids: FxHashMap::default(),
        total_bytes: 0,
    };
    let mut init = None;
    for top in &document.top {
        let list = match &top.key[..] {
            b"memory_blobs" => true,
            b"op_blobs" => false,
            b"init_time" => {
                let raw = content.map(top.start, top.end)?;
                init = time(&raw).ok();
                continue;
            }
            _ => continue,
        };
        let raw = content.map(top.start, top.end)?;
        match raw.first() {
            Some(b'[') => reader.list(&raw, top.start, list),
            _ if json::is_null(&raw) => {}
            _ => {
                let name = String::from_utf8_lossy(&top.key).into_owned();
                return Err(IngestError::input_at(
                    origin.name,
                    format!("`{name}` is not a list"),
                    top.start,
                ));
            }
        }
        if reader.memory > reader.max_memory {
            let reason = "its blobs need more memory than --memory-limit leaves for them; \
                          raise the limit or split the file";
            return Err(IngestError::input_at(origin.name, reason, top.start));
        }
    }
    document.top.retain(|t| !matches!(&t.key[..], b"memory_blobs" | b"op_blobs"));
    let Reader { mut blobs, elements, issues, .. } = reader;
    document.issues.merge(issues);
    document.elements = elements;
    if blobs.is_empty() {
        document.issues.add(Code::EmptyTrace, None, None, b"");
    }
    let first = blobs.iter().map(|b| b.start).min();
    let base = init.or(first).unwrap_or(0);
    if init.is_none() || first.is_some_and(|f| f < base) {
        document.issues.add(Code::BlobInitTime, None, None, b"");
    }
    let last = blobs.iter().map(|b| b.end.unwrap_or(b.start).max(b.start)).max();
    for blob in &mut blobs {
        if blob.is_live {
            blob.end = last;
        }
        blob.start -= base;
        blob.end = blob.end.map(|e| e - base);
    }
    write_tables(&content, &mut document, origin, folder, &blobs, base, phases)
}

/// Memory in bytes that a blob takes in addition to its texts: its record, its positions in the
/// orders of rows, and its encoded rows.
const BLOB_MEMORY: usize = 512;

struct Reader {
    blobs: Vec<Blob>,
    /// Approximate memory that the blobs take, in bytes. `max_memory` is the limit.
    memory: usize,
    max_memory: usize,
    elements: u64,
    issues: Issues,
    uuids: FxHashMap<i64, u64>,
    /// Total size of all memory blobs in bytes. It is kept within 64 bits, so that no partial sum
    /// overflows.
    total_bytes: i64,
}

/// Parses a time of a blob, in ns. Only half of the 64-bit range is accepted, so that the
/// difference of any two times fits.
fn time(raw: &[u8]) -> std::result::Result<i64, TimeError> {
    let (ns, _) = json::time_ns(raw)?;
    if ns.unsigned_abs() < 1 << 62 { Ok(ns) } else { Err(TimeError::OutOfRange) }
}

impl Reader {
    /// Reads the blobs of a list, and stops at a blob that was cut off.
    fn list(&mut self, raw: &[u8], offset: u64, is_memory: bool) {
        let mut c = Cursor::new(raw, 1);
        while let Ok(token) = c.next_token() {
            let start = c.pos;
            match token {
                b',' => c.pos += 1,
                b']' => return,
                _ => {
                    let value = match c.value() {
                        Ok(value) if !value.is_empty() => value,
                        Err(Bad::End) => return,
                        _ => {
                            return self.note(
                                Code::MalformedEvent,
                                offset + start as u64,
                                &raw[start..],
                            );
                        }
                    };
                    let at = offset + start as u64;
                    if token == b'{' {
                        self.blob(value, at, is_memory);
                    } else {
                        self.note(Code::NotAnObject, at, value);
                    }
                    self.elements += 1;
                    if self.memory > self.max_memory {
                        return;
                    }
                }
            }
        }
    }

    fn note(&mut self, code: Code, at: u64, example: &[u8]) {
        self.issues.add(code, Some(self.elements), Some(at), example);
    }

    fn blob(&mut self, raw: &[u8], at: u64, is_memory: bool) {
        let [mut start, mut end, mut usage, mut uuid, mut device, mut op_name] = [None; 6];
        let _ = Cursor::new(raw, 0).object(|key, value| {
            let slot = match key {
                b"start_time" => &mut start,
                b"end_time" => &mut end,
                b"memory_usage" => &mut usage,
                b"uuid" => &mut uuid,
                b"device_type" => &mut device,
                b"op_name" => &mut op_name,
                _ => return,
            };
            *slot = Some(value);
        });
        let start_ns = match start.map(time) {
            Some(Ok(ns)) if ns != 0 => ns,
            Some(Err(TimeError::OutOfRange)) => return self.note(Code::TimestampRange, at, raw),
            _ => return self.note(Code::BlobNoStart, at, raw),
        };
        let end_time = end.map(time);
        if [start, end, usage].iter().flatten().any(|r| json::is_text(r)) {
            self.note(Code::BlobValue, at, raw);
        }
        let is_live = is_memory && end_time == Some(Ok(0));
        let mut end_ns = end_time.and_then(|t| t.ok()).filter(|_| !is_live);
        if end_time == Some(Err(TimeError::OutOfRange)) {
            self.note(Code::EndOverflow, at, raw);
        } else if end_ns.is_some_and(|e| e < start_ns) {
            self.note(Code::BlobEnd, at, raw);
            end_ns = None;
        } else if end_ns.is_none() && !is_live {
            self.note(Code::BlobValue, at, raw);
        }
        let mut odd = Oddities::default();
        let mut text = |raw: Option<&[u8]>| {
            raw.filter(|r| json::is_text(r))
                .map(|r| json::as_text(json::unquote(r), &mut odd).into_owned())
        };
        let (device, op_name) = (text(device), text(op_name));
        let uuid = uuid.and_then(json::int);
        let bytes = usage
            .filter(|_| is_memory)
            .and_then(json::int)
            .filter(|b| *b >= 0 && self.total_bytes.checked_add(*b).is_some());
        self.total_bytes += bytes.unwrap_or(0);
        let missing = device.is_none()
            || if is_memory { bytes.is_none() || uuid.is_none() } else { op_name.is_none() };
        if missing {
            self.note(Code::BlobValue, at, raw);
        }
        if let Some(uuid) = uuid.filter(|_| is_memory) {
            let seen = self.uuids.entry(uuid).or_default();
            *seen += 1;
            if *seen > 1 {
                self.note(Code::BlobRepeatedUuid, at, raw);
            }
        }
        let mut args = Vec::new();
        json::compact_value(raw, &mut args, &mut odd);
        if odd.any() {
            self.note(Code::NonJsonValue, at, raw);
        }
        let name = if is_memory { uuid.map(|u| format!("Memory {u}")) } else { op_name };
        let args = String::from_utf8_lossy(&args).into_owned();
        self.memory += BLOB_MEMORY + 2 * args.len();
        self.blobs.push(Blob {
            ord: self.elements as i64,
            is_memory,
            name,
            device,
            uuid,
            bytes,
            start: start_ns,
            end: end_ns,
            is_live,
            args,
        });
    }
}

fn write_tables(
    content: &Content,
    document: &mut Document,
    origin: &Origin<'_>,
    folder: &Path,
    blobs: &[Blob],
    base: i64,
    phases: Vec<(&'static str, f64)>,
) -> Result<Built> {
    let texts: Vec<Arc<str>> = Vec::new();
    let effort = Effort::of(document.text_bytes, document.elements);
    let tables = SmallTables {
        content,
        origin,
        folder,
        effort,
        texts: &texts,
        tracks: &[],
        track_order: &[],
        track_ids: &[],
    };
    let mut counted = Vec::new();
    let mut device_rows = TableRows::new(effort);
    let top = devices::read(content, document, &origin.trace_id, &mut device_rows)?;
    let top = TopFacts { base_time_ns: Some(base), ..top };
    tables.put(&schema::DEVICES, device_rows.finish()?, &mut counted)?;

    let mut names: Vec<(bool, Option<&str>)> =
        blobs.iter().map(|b| (!b.is_memory, b.device.as_deref())).collect();
    names.sort();
    names.dedup();
    let mut tracks = TableRows::new(effort);
    for (id, (is_op, device)) in names.iter().enumerate() {
        let what = if *is_op { "operators" } else { "memory" };
        let name = format!("{} {what}", device.unwrap_or("unknown device"));
        tracks.push(TrackRow {
            trace_id: &origin.trace_id,
            track_id: id as i64,
            process_name: Some("MLLM"),
            thread_name: Some(&name),
            kind: "span",
            ..TrackRow::default()
        });
    }
    tables.put(&schema::TRACKS, tracks.finish()?, &mut counted)?;

    let mut order: Vec<(usize, &Blob)> = blobs
        .iter()
        .map(|b| (names.binary_search(&(!b.is_memory, b.device.as_deref())).unwrap_or(0), b))
        .collect();
    order.sort_by_key(|(track, b)| (*track, b.start, std::cmp::Reverse(b.end), b.ord));
    let mut events = RowGroups::new(EventColumns::new(effort), effort);
    for (track, blob) in &order {
        events.push(|columns, row, codec| event(columns, row, codec, origin, blob, *track))?;
    }
    tables.put(&schema::EVENTS, events.finish()?, &mut counted)?;

    tables.put(&schema::MEMORY, memory(origin, &order, effort)?, &mut counted)?;
    tables.put_empty(&mut counted)?;
    let end = |b: &Blob| b.end.unwrap_or(b.start).max(b.start);
    let bounds = blobs.iter().map(|b| b.start).min().zip(blobs.iter().map(end).max());
    let kind = TraceKind {
        format: "mllm_perf",
        framework: Some("mllm"),
        top: &top,
        bounds,
        elements: document.elements,
        events: blobs.len() as u64,
        text_bytes: document.text_bytes,
    };
    tables.trace_and_issues(&kind, &document.issues, &mut counted)?;
    let issues = std::mem::take(&mut document.issues);
    Ok(Built {
        rows: in_order(&counted),
        elements: document.elements,
        text_bytes: document.text_bytes,
        issues,
        phases,
    })
}

/// Sets the columns of a blob's event. The columns of Kineto, Python and devices stay NULL.
fn event(
    columns: &mut EventColumns,
    row: usize,
    codec: &mut Codec,
    origin: &Origin<'_>,
    blob: &Blob,
    track: usize,
) -> Result<()> {
    let cat = if blob.is_memory { "memory_blob" } else { "op_blob" };
    columns.trace_id.set(row, origin.trace_id.as_bytes(), codec)?;
    columns.event_id.set(row, blob.ord);
    columns.track_id.set(row, track as i64);
    columns.ph.set(row, b"X", codec)?;
    columns.cat.set(row, cat.as_bytes(), codec)?;
    if let Some(name) = &blob.name {
        columns.name.set(row, name.as_bytes(), codec)?;
    }
    columns.ts_ns.set(row, blob.start);
    columns.depth.set(row, 0);
    if let Some(end) = blob.end {
        columns.dur_ns.set(row, end - blob.start);
        columns.end_ns.set(row, end);
        columns.self_ns.set(row, end - blob.start);
    }
    columns.pre.set(row, row as i64);
    columns.post.set(row, row as i64);
    columns.args.set(row, blob.args.as_bytes(), codec)
}

/// Creates the rows of allocations and frees in the order of time. At equal times frees come first,
/// except frees of blobs that are held for no time. A blob that was never freed has no free.
fn memory(
    origin: &Origin<'_>,
    order: &[(usize, &Blob)],
    effort: Effort,
) -> Result<Vec<EncodedGroup>> {
    let mut points = Vec::new();
    for (track, blob) in order.iter().filter(|(_, b)| b.is_memory) {
        points.push((*track, blob.start, 1, *blob));
        // A blob that ends before it starts holds its memory for no time.
        if !blob.is_live {
            let end = blob.end.unwrap_or(blob.start);
            points.push((*track, end, if end > blob.start { 0 } else { 2 }, *blob));
        }
    }
    points.sort_by_key(|(track, ts, rank, blob)| (*track, *ts, *rank, blob.ord));
    let mut rows = TableRows::new(effort);
    for (_, ts_ns, rank, blob) in points {
        let (action, sign) = if rank == 1 { ("alloc", 1) } else { ("free", -1) };
        rows.push(MemoryRow {
            trace_id: &origin.trace_id,
            event_id: blob.ord,
            ts_ns: Some(ts_ns),
            action: Some(action),
            addr: blob.uuid,
            bytes: blob.bytes.and_then(|b| b.checked_mul(sign)),
            device_type: blob.device.as_deref(),
            ..MemoryRow::default()
        });
    }
    rows.finish()
}
