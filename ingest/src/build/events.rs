//! Tables of a trace of events.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crossbeam_channel::bounded;

use super::small_tables::{Found, SmallTables, TrackFacts};
use super::{Built, Origin, Read, devices};
use crate::arrange::*;
use crate::encode::{Effort, GROUP_ROWS};
use crate::error::Result;
use crate::issues::Issues;
use crate::rows::{Context, Group, GroupBuilder, StepTimes};
use crate::schema;
use crate::source::Reader;
use crate::store::TableFile;

pub fn write(read: Read<'_>, origin: &Origin<'_>, folder: &Path) -> Result<Built> {
    let Read {
        content,
        mut document,
        texts,
        tracks,
        mut records,
        pairs,
        options,
        scratch,
        progress,
        mut phases,
        ..
    } = read;
    let start = Instant::now();
    let (texts, tracks) = (texts.snapshot(), tracks.snapshot());
    let track_order = order_tracks(&tracks, &document.on_track, &texts);
    let mut track_ids = vec![0u32; tracks.len()];
    for (id, &no) in track_order.iter().enumerate() {
        track_ids[no as usize] = id as u32;
    }
    let paired = pair(pairs, &track_order, options.memory_limit / 8, &mut records)?;
    document.issues.merge(paired.issues);
    phases.push(("pair", start.elapsed().as_secs_f64()));

    let start = Instant::now();
    let sorted = records.sorted(&track_order, options.memory_limit / 4)?;
    let mut nester = Nester::new(SpillVec::new(scratch, options.memory_limit / 8));
    let mut facts = vec![TrackFacts::default(); tracks.len()];
    let mut devices = Vec::new();
    let mut nested = 0u64;
    let kineto: Vec<u32> = (0..)
        .zip(&texts)
        .filter(|(_, text)| matches!(&***text, "cpu_op" | "cuda_runtime"))
        .map(|(id, _)| id)
        .collect();
    let mut is_kineto = false;
    sorted.for_each(|record| {
        nester.row(record)?;
        nested += 1;
        if nested.is_multiple_of(1 << 16) {
            progress.go_on()?;
            progress.nested.store(nested, Ordering::Relaxed);
        }
        facts[record.track as usize].note(record);
        is_kineto |= kineto.contains(&record.cat);
        if record.class().is_device() {
            devices.push(DeviceRow::new(record));
        }
        Ok(())
    })?;
    nester.finish()?;
    progress.nested.store(nested, Ordering::Relaxed);
    let Nester { nests, launches, flow_points, modules, issues, .. } = nester;
    document.issues.merge(issues);
    let flows = pair_flows(flow_points, &mut document.issues);
    let mut text = Reader::new(content, document.text_bytes)?;
    let device_links = link_otherwise(&devices, &launches, &flows, &sorted, &mut text)?;
    drop((devices, text));
    let effort = Effort::for_text(document.text_bytes);
    let finish = SmallTables {
        content,
        origin,
        folder,
        effort,
        texts: &texts,
        tracks: &tracks,
        track_order: &track_order,
        track_ids: &track_ids,
    };
    let mut counted = vec![("events", sorted.len() as u64)];
    finish.flows(&flows, &mut counted)?;
    drop(flows);
    phases.push(("sort and nest", start.elapsed().as_secs_f64()));

    let start = Instant::now();
    let span = document.times.span(devices::base_time(content, &document)?);
    let context = Context {
        trace_id: &origin.trace_id,
        content,
        text_bytes: document.text_bytes,
        records: &sorted,
        nests: &nests,
        texts: &texts,
        tracks: &tracks,
        track_ids: &track_ids,
        launches: &launches,
        device_links: &device_links,
        steps: &StepTimes::new(&document.steps),
        end_args: &paired.end_args,
        span: &span,
    };
    let mut side = Side::create(folder)?;
    let issues = write_events(&context, folder, effort, options.threads, &mut side, |done| {
        progress.rows.store(done as u64, Ordering::Relaxed)
    })?;
    progress.go_on()?;
    document.issues.merge(issues);
    phases.push(("write", start.elapsed().as_secs_f64()));

    let start = Instant::now();
    counted.push(("kernels", side.kernels.finish()?));
    counted.push(("memory", side.memory.finish()?));
    counted.push(("counters", side.counters.finish()?));
    let found = Found {
        is_kineto,
        facts: &facts,
        span: &span,
        streams: &side.streams,
        calls: &modules,
        hierarchies: side.hierarchies,
    };
    let built_rows = finish.write(&mut document, found, &mut counted)?;
    phases.push(("finish", start.elapsed().as_secs_f64()));
    Ok(Built {
        rows: built_rows,
        elements: document.elements,
        text_bytes: document.text_bytes,
        issues: document.issues,
        phases,
    })
}

/// Tables whose rows come with the events.
struct Side {
    kernels: TableFile,
    memory: TableFile,
    counters: TableFile,
    streams: rustc_hash::FxHashMap<u32, (Option<i64>, Option<i64>)>,
    hierarchies: rustc_hash::FxHashMap<String, (i64, u64)>,
}

impl Side {
    fn create(folder: &Path) -> Result<Self> {
        Ok(Self {
            kernels: TableFile::create(folder, &schema::KERNELS)?,
            memory: TableFile::create(folder, &schema::MEMORY)?,
            counters: TableFile::create(folder, &schema::COUNTERS)?,
            streams: Default::default(),
            hierarchies: Default::default(),
        })
    }

    fn take(&mut self, rows: crate::rows::SideRows) -> Result<()> {
        rows.kernels.into_iter().try_for_each(|group| self.kernels.write(group))?;
        rows.memory.into_iter().try_for_each(|group| self.memory.write(group))?;
        rows.counters.into_iter().try_for_each(|group| self.counters.write(group))?;
        for (track, stream) in rows.streams {
            self.streams.entry(track).or_insert(stream);
        }
        for (text, (ts, n)) in rows.hierarchies {
            let entry = self.hierarchies.entry(text).or_insert((i64::MAX, 0));
            *entry = (entry.0.min(ts), entry.1 + n);
        }
        Ok(())
    }
}

/// Encodes row groups on all threads and writes them in order.
fn write_events(
    c: &Context<'_>,
    folder: &Path,
    effort: Effort,
    threads: usize,
    side: &mut Side,
    mut done: impl FnMut(usize),
) -> Result<Issues> {
    let mut file = TableFile::create(folder, &schema::EVENTS)?;
    let rows = c.records.len();
    let groups = rows.div_ceil(GROUP_ROWS);
    let next = AtomicUsize::new(0);
    let mut issues = Issues::default();
    let stop = AtomicUsize::new(groups);
    let result = std::thread::scope(|scope| {
        let (sender, results) = bounded::<(usize, Result<Group>)>(threads);
        for _ in 0..threads.min(groups) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                let mut maker = GroupBuilder::new(c, effort);
                loop {
                    let group = next.fetch_add(1, Ordering::Relaxed);
                    if group >= stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let range = group * GROUP_ROWS..rows.min((group + 1) * GROUP_ROWS);
                    if sender.send((group, maker.group(range))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut turn = 0;
        let mut write = |group: Group| -> Result<()> {
            file.write(group.events)?;
            issues.merge(group.issues);
            side.take(group.side)
        };
        while turn < groups {
            let Ok((group, encoded)) = results.recv() else { break };
            waiting.insert(group, encoded);
            while let Some(encoded) = waiting.remove(&turn) {
                if let Err(e) = encoded.and_then(&mut write) {
                    stop.store(0, Ordering::Relaxed);
                    return Err(e);
                }
                turn += 1;
                done(rows.min(turn * GROUP_ROWS));
            }
        }
        Ok(())
    });
    result?;
    file.finish()?;
    Ok(issues)
}
