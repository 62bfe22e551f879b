//! Writes the tables of a PyTorch memory snapshot.
//!
//! Elements are the entries of all device traces, then those of the host, then annotations, each in
//! the order of the file. Two passes over the entries are needed, because the memory that was live
//! before the history is known only at its end.

mod annotations;
mod entries;
mod history;
mod state;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::devices::TopFacts;
use super::small_tables::{Counted, SmallTables, TraceKind, in_order};
use super::{Built, Origin, SnapshotRead};
use crate::encode::{Effort, TableRows};
use crate::error::{IngestError, Result};
use crate::issues::Code;
use crate::rows::{DeviceRow, MemoryStackRow, TrackRow};
use crate::schema;
use crate::snapshot::{ABSENT, NOTHING, Snapshot, members};

use annotations::Annotations;
use entries::EntryWriter;
use history::History;

/// Writes the tables.
pub fn write(read: SnapshotRead<'_>, origin: &Origin<'_>, folder: &Path) -> Result<Built> {
    let SnapshotRead { content, mut snapshot, options, scratch, progress, mut phases } = read;
    let start = Instant::now();
    let mut issues = std::mem::take(&mut snapshot.issues);
    let effort = Effort::of(snapshot.bytes, snapshot.heap.entries.len() as u64);
    let texts: Vec<Arc<str>> = Vec::new();
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
    let mut history = History::read(&snapshot, scratch, options.memory_limit / 8, &mut issues)?;
    if history.elements >= u32::MAX.into() {
        return Err(IngestError::input(
            origin.name,
            "more than 4,294,967,294 entries in one snapshot are not supported",
        ));
    }
    let mut used = vec![false; snapshot.heap.stacks.len()];
    let state = state::State::read(&snapshot, &mut history, &mut issues);
    state.write(&tables, &snapshot, &mut used, &mut counted)?;
    phases.push(("follow", start.elapsed().as_secs_f64()));

    let start = Instant::now();
    let first = history.elements;
    let annotations = Annotations::read(&snapshot, first, &mut issues);
    history.elements += annotations.elements;
    let mut writer = EntryWriter::new(&snapshot, origin, folder, effort, &mut used)?;
    let mut tracks = TableRows::new(effort);
    let mut track_id = 0;
    let mut track = |device: i64, what: &str| {
        let of = if device == -1 { "host".to_owned() } else { format!("device {device}") };
        let name = format!("{of} {what}");
        tracks.push(TrackRow {
            trace_id: &origin.trace_id,
            track_id,
            process_name: Some("PyTorch memory snapshot"),
            thread_name: Some(&name),
            sort_index: Some(track_id),
            kind: "other",
            device: (device != ABSENT).then_some(device),
            ..TrackRow::default()
        });
        track_id += 1;
        track_id - 1
    };
    for no in 0..snapshot.layout.traces.len() {
        let device = snapshot.layout.traces[no].device;
        let id = track(device, "memory");
        writer.trace(no, id, &history, progress)?;
    }
    for (device, rows) in &annotations.by_device {
        writer.annotations(rows, track(*device, "annotations"), *device)?;
    }
    let events = writer.finish(&mut counted, &mut issues)?;
    tables.put(&schema::TRACKS, tracks.finish()?, &mut counted)?;
    write_stacks(&tables, &snapshot, &used, &mut counted)?;
    write_devices(&tables, &snapshot, &mut counted)?;
    if history.elements == 0 && snapshot.layout.segments.is_empty() {
        issues.add(Code::EmptyTrace, None, None, b"");
    }
    let top = TopFacts {
        base_time_ns: annotations.bounds(history.bounds).map(|_| 0),
        metadata: metadata(&snapshot, &state, &history),
        ..TopFacts::default()
    };
    let kind = TraceKind {
        format: "torch_memory",
        framework: Some("pytorch"),
        top: &top,
        bounds: annotations.bounds(history.bounds),
        elements: history.elements,
        events,
        text_bytes: snapshot.bytes,
    };
    tables.put_empty(&mut counted)?;
    tables.trace_and_issues(&kind, &issues, &mut counted)?;
    phases.push(("write", start.elapsed().as_secs_f64()));
    Ok(Built {
        rows: in_order(&counted),
        elements: history.elements,
        text_bytes: snapshot.bytes,
        issues,
        phases,
    })
}

/// Writes the frames of the stacks that rows refer to.
fn write_stacks(
    tables: &SmallTables<'_>,
    snapshot: &Snapshot,
    used: &[bool],
    counted: &mut Counted,
) -> Result<()> {
    let heap = &snapshot.heap;
    let mut rows = TableRows::new(tables.effort);
    for (stack, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        for (depth, &id) in heap.stacks.get(stack as u32).iter().rev().enumerate() {
            let Some(frame) = heap.frames.get(id).first() else { continue };
            let text = |no: u32| (no != NOTHING).then(|| heap.texts.text(no));
            let (name, file) = (text(frame.name), text(frame.file));
            let extra = (frame.rest != NOTHING)
                .then(|| format!("{{{}}}", members(heap, heap.rests.get(frame.rest))));
            rows.push(MemoryStackRow {
                trace_id: &tables.origin.trace_id,
                stack_id: stack as i64,
                depth: depth as i64,
                name: name.as_deref(),
                file: file.as_deref(),
                line: (frame.line != ABSENT).then_some(frame.line),
                frame_id: id.into(),
                extra: extra.as_deref(),
            });
        }
    }
    tables.put(&schema::MEMORY_STACKS, rows.finish()?, counted)
}

/// Writes the numbers of the devices, which is all that a snapshot knows of them.
fn write_devices(
    tables: &SmallTables<'_>,
    snapshot: &Snapshot,
    counted: &mut Counted,
) -> Result<()> {
    let layout = &snapshot.layout;
    let of_segments = layout
        .segments
        .iter()
        .filter(|s| !s.is_host)
        .map(|s| snapshot.heap.segments[s.segment as usize].device);
    let devices: BTreeSet<i64> =
        layout.traces.iter().map(|t| t.device).chain(of_segments).filter(|d| *d >= 0).collect();
    let mut rows = TableRows::new(tables.effort);
    for device in devices {
        rows.push(DeviceRow {
            trace_id: &tables.origin.trace_id,
            device: Some(device),
            name: None,
            total_memory_bytes: None,
            compute_major: None,
            compute_minor: None,
            sm_count: None,
            max_threads_per_block: None,
            max_threads_per_sm: None,
            registers_per_block: None,
            registers_per_sm: None,
            shared_memory_per_block_bytes: None,
            shared_memory_per_sm_bytes: None,
            warp_size: None,
            metadata: None,
        });
    }
    tables.put(&schema::DEVICES, rows.finish()?, counted)
}

/// Returns `traces.metadata`: the keys of the snapshot that have no table, and the figures of each
/// device.
fn metadata(snapshot: &Snapshot, state: &state::State, history: &History) -> String {
    let devices: Vec<String> = history
        .devices
        .iter()
        .map(|(device, facts)| {
            let ledger = &facts.ledger;
            let live = ledger.initial_bytes.saturating_add(ledger.live);
            let blocks = state.active_bytes(*device);
            format!(
                "{{\"device\":{device},\"initial_allocations\":{},\"initial_bytes\":{},\
                 \"allocated_bytes\":{},\"freed_bytes\":{},\"live_bytes\":{live},\
                 \"active_block_bytes\":{blocks},\"reserved_bytes\":{}}}",
                ledger.initial_count,
                ledger.initial_bytes,
                ledger.allocated,
                ledger.freed_bytes,
                facts.reserved_at_end,
            )
        })
        .collect();
    let mut out = format!("{{{}", snapshot.layout.metadata);
    if out.len() > 1 {
        out.push(',');
    }
    out.push_str(&format!("\"snapshot_devices\":[{}]}}", devices.join(",")));
    out
}
