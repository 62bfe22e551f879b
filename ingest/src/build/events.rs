//! The tables of a document with an event list.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crossbeam_channel::bounded;

use super::small_tables::{Found, SmallTables, TrackFacts};
use super::{Built, JsonRead, Origin, devices};
use crate::arrange::*;
use crate::encode::{Effort, GROUP_ROWS};
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::rows::{Context, Group, GroupBuilder, StepTimes};
use crate::schema;
use crate::source::Reader;
use crate::store::TableFile;
use crate::threads::join;
use crate::trace::{Document, Progress, Texts, Track, Tracks};

/// Writes the tables of a document with an event list, in five phases: pairing begin and end
/// events, sorting and nesting rows, linking device work to launches, writing `events` together
/// with the tables derived from it, and writing the small tables.
pub fn write(read: JsonRead<'_>, origin: &Origin<'_>, folder: &Path) -> Result<Built> {
    let JsonRead {
        content,
        mut document,
        texts,
        tracks,
        mut records,
        pairs,
        mut typed,
        options,
        scratch,
        progress,
        mut phases,
        ..
    } = read;
    let content = &content;
    let mut clock = Clock::start(&mut phases);
    let names = Names::new(&texts, &tracks, &document);
    let ends_by_name = typed.as_ref().is_some_and(|typed| typed.facts.ends_by_name);
    let budget = options.memory_limit / 8;
    let mut paired = pair(pairs, &names.track_order, budget, ends_by_name, &mut records)?;
    document.issues.merge(std::mem::take(&mut paired.issues));
    clock.ends("pair");

    // Launches are looked up in any order, so all of them are in memory.
    let launches = document.launches * size_of::<Launch>();
    let limit = options.memory_limit.saturating_sub(launches);
    let sorted = records.sorted(&names.track_order, limit / 4)?;
    let flow_points = match &mut typed {
        Some(typed) => typed.flow_points(&paired)?,
        None => None,
    };
    let nester = Nester::new(
        SpillVec::new(scratch, limit / 8),
        flow_points.unwrap_or_else(|| Runs::new(FlowPoint::order, scratch, limit / 8)),
        document.launches,
    );
    let devices = SpillVec::new(scratch, limit / 16);
    let mut named = options.steps_from.as_ref().map(|from| NamedSteps::new(from, &names.texts));
    let Nested { nester, facts, devices, is_kineto } =
        nest(&sorted, nester, devices, &names, named.as_mut(), progress)?;
    if let Some(named) = named {
        take_steps(named, &mut document);
    }
    let Nester { nests, launches, flow_points, modules, issues, .. } = nester;
    document.issues.merge(issues);

    let flows = pair_flows(flow_points, scratch, limit / 16, &mut document.issues)?;
    let mut text = Reader::new(content, document.text_bytes)?;
    let mut device_links = link_otherwise(&devices, &launches, &flows, &sorted, &mut text)?;
    drop((devices, text));
    if let Some(typed) = &typed {
        typed.link_runs(&flows, &mut device_links)?;
    }
    let effort = Effort::of(document.text_bytes, document.elements);
    let tables = SmallTables {
        content,
        origin,
        folder,
        effort,
        texts: &names.texts,
        tracks: &names.tracks,
        track_order: &names.track_order,
        track_ids: &names.track_ids,
    };
    let mut counted = vec![("events", sorted.len() as u64)];
    tables.flows(&flows, &mut counted)?;
    drop(flows);
    clock.ends("sort and nest");

    let span = document.times.span(devices::base_time(content, &document)?);
    let context = Context {
        trace_id: &origin.trace_id,
        content,
        text_bytes: document.text_bytes,
        records: &sorted,
        nests: &nests,
        texts: &names.texts,
        tracks: &names.tracks,
        track_ids: &names.track_ids,
        launches: &launches,
        device_links: &device_links,
        steps: &StepTimes::new(&document.steps, typed.as_ref().map(|t| &t.facts.device_steps[..])),
        end_args: &paired.end_args,
        span: &span,
        has_device_steps: typed.as_ref().is_some_and(|t| !t.facts.device_steps.is_empty()),
    };
    let mut side = Side::create(folder)?;
    let issues = write_events(&context, folder, effort, options.threads, &mut side, |done| {
        progress.rows.store(done as u64, Ordering::Relaxed)
    })?;
    progress.go_on()?;
    document.issues.merge(issues);
    clock.ends("write");

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
    let rows = tables.write(&mut document, found, typed.as_mut(), &mut counted)?;
    clock.ends("finish");
    Ok(Built {
        rows,
        elements: document.elements,
        text_bytes: typed.map_or(document.input_bytes(), |typed| typed.facts.text_bytes),
        issues: document.issues,
        phases,
    })
}

/// Measures the seconds that each phase takes.
struct Clock<'a> {
    start: Instant,
    phases: &'a mut Vec<(&'static str, f64)>,
}

impl<'a> Clock<'a> {
    fn start(phases: &'a mut Vec<(&'static str, f64)>) -> Self {
        Self { start: Instant::now(), phases }
    }

    /// Records the time since the end of the previous phase.
    fn ends(&mut self, phase: &'static str) {
        self.phases.push((phase, self.start.elapsed().as_secs_f64()));
        self.start = Instant::now();
    }
}

/// Interned texts and tracks by number, and the order of tracks.
struct Names {
    texts: Vec<Arc<str>>,
    tracks: Vec<Track>,
    track_order: Vec<u32>,
    /// The `track_id` of each track number.
    track_ids: Vec<u32>,
}

impl Names {
    fn new(texts: &Texts, tracks: &Tracks, document: &Document) -> Self {
        let (texts, tracks) = (texts.snapshot(), tracks.snapshot());
        let track_order = order_tracks(&tracks, &document.on_track, &texts);
        let mut track_ids = vec![0u32; tracks.len()];
        for (id, &no) in track_order.iter().enumerate() {
            track_ids[no as usize] = id as u32;
        }
        Self { texts, tracks, track_order, track_ids }
    }
}

/// The results of one pass over the rows in order.
struct Nested {
    nester: Nester,
    /// Properties of the tracks, by track number.
    facts: Vec<TrackFacts>,
    devices: SpillVec<DeviceWork>,
    /// Whether the trace has a category that only Kineto writes.
    is_kineto: bool,
}

/// Nests the rows, and collects the properties of tracks and the device work.
fn nest(
    sorted: &SortedRecords,
    mut nester: Nester,
    mut devices: SpillVec<DeviceWork>,
    names: &Names,
    mut named: Option<&mut NamedSteps>,
    progress: &Progress,
) -> Result<Nested> {
    let mut facts = vec![TrackFacts::default(); names.tracks.len()];
    let kineto: Vec<u32> = (0..)
        .zip(&names.texts)
        .filter(|(_, text)| matches!(&***text, "cpu_op" | "cuda_runtime"))
        .map(|(id, _)| id)
        .collect();
    let (mut nested, mut is_kineto) = (0u64, false);
    sorted.for_each(|record| {
        nester.row(record)?;
        nested += 1;
        if nested.is_multiple_of(1 << 16) {
            progress.go_on()?;
            progress.nested.store(nested, Ordering::Relaxed);
        }
        facts[record.track as usize].note(record);
        if let Some(named) = &mut named {
            named.note(record, &names.tracks[record.track as usize]);
        }
        is_kineto |= kineto.contains(&record.cat);
        if record.class().is_device() {
            devices.push(DeviceWork::new(record))?;
        }
        Ok(())
    })?;
    nester.finish()?;
    progress.nested.store(nested, Ordering::Relaxed);
    Ok(Nested { nester, facts, devices, is_kineto })
}

/// Puts the steps with names of the user's choice in place of those that the trace marks.
fn take_steps(named: NamedSteps, document: &mut Document) {
    let steps = named.finish();
    if steps.is_empty() {
        document.issues.add(Code::NoNamedStep, None, None, b"");
    } else {
        document.steps = steps;
    }
}

/// The tables whose rows are derived from the rows of `events`.
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
        let mut builders = Vec::new();
        for _ in 0..threads.min(groups) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            builders.push(scope.spawn(move || {
                let mut builder = GroupBuilder::new(c, effort);
                loop {
                    let group = next.fetch_add(1, Ordering::Relaxed);
                    if group >= stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let range = group * GROUP_ROWS..rows.min((group + 1) * GROUP_ROWS);
                    if sender.send((group, builder.group(range))).is_err() {
                        return;
                    }
                }
            }));
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut turn = 0;
        let mut write = |group: Group| -> Result<()> {
            file.write(group.events)?;
            issues.merge(group.issues);
            side.take(group.side)
        };
        let mut write_all = || {
            while turn < groups {
                let Ok((group, encoded)) = results.recv() else { break };
                waiting.insert(group, encoded);
                while let Some(encoded) = waiting.remove(&turn) {
                    encoded.and_then(&mut write)?;
                    turn += 1;
                    done(rows.min(turn * GROUP_ROWS));
                }
            }
            Ok(())
        };
        let written: Result<()> = write_all();
        stop.store(0, Ordering::Relaxed);
        drop(results);
        join(builders);
        written
    });
    result?;
    file.finish()?;
    Ok(issues)
}
