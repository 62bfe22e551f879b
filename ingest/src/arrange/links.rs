//! Links between device work and the host for device work whose correlation matches no launch.

use bytemuck::{Pod, Zeroable};
use rustc_hash::{FxHashMap, FxHashSet};

use super::flows::Flows;
use super::launches::{Launch, Launches};
use super::nest::NO_ROW;
use super::sort::SortedRecords;
use super::spill::SpillVec;
use crate::error::Result;
use crate::json::{self, Cursor};
use crate::source::Reader;
use crate::trace::{EventFields, EventRecord, IS_OP, NO_LINK, is_real_id};

/// A device activity.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct DeviceWork {
    /// Correlation, or [`NO_LINK`].
    correlation: i64,
    /// External id of an activity without a correlation, or [`NO_LINK`].
    shared_id: i64,
    /// Start, ns.
    ts: i64,
    /// Byte offset of the activity's args in the text.
    args_at: u64,
    /// Position in the event list.
    ord: u32,
    /// Category, as the id of an interned text.
    cat: u32,
    /// Code of its class.
    class: u32,
    unused: u32,
}

impl DeviceWork {
    /// Creates the activity of a record.
    pub fn new(record: &EventRecord) -> Self {
        Self {
            correlation: record.correlation(),
            shared_id: record.shared_id(),
            ts: record.ts,
            args_at: record.offset + record.args as u64,
            ord: record.ord,
            cat: record.cat,
            class: record.class.into(),
            unused: 0,
        }
    }
}

/// A link that was found without the correlation.
#[derive(Debug, Clone, Copy)]
pub struct OtherLink {
    /// The launch, as a position in the event list.
    pub launch: Option<u32>,
    /// The operator, as a position in the event list.
    pub op: Option<u32>,
    /// The value of `kernels.link`.
    pub way: &'static str,
    /// The track and the start of the launch or operator.
    pub at: Option<(u32, i64)>,
}

impl OtherLink {
    fn to(launch: &Launch, way: &'static str) -> Self {
        let op = (launch.op != NO_ROW).then_some(launch.op);
        Self { launch: Some(launch.ord), op, way, at: Some((launch.track, launch.ts)) }
    }
}

/// The links that do not use a correlation, and the kinds of device work that have correlations.
#[derive(Debug, Default)]
pub struct DeviceLinks {
    /// The links, by the activity's position in the event list.
    links: FxHashMap<u32, OtherLink>,
    /// Categories and classes with at least one correlation.
    correlated: FxHashSet<(u32, u8)>,
}

impl DeviceLinks {
    /// Returns the link of an activity whose correlation matches no launch.
    pub fn get(&self, ord: u32) -> Option<&OtherLink> {
        self.links.get(&ord)
    }

    /// Adds the link of an activity that has none.
    pub fn add(&mut self, ord: u32, link: OtherLink) {
        self.links.entry(ord).or_insert(link);
    }

    /// Whether no activity of this category and class has a correlation although others have one.
    pub fn never_correlated(&self, record: &EventRecord) -> bool {
        !self.correlated.is_empty() && !self.correlated.contains(&(record.cat, record.class))
    }
}

type Links = FxHashMap<u32, OtherLink>;

/// Links device work without a launch. The flow of the work is tried first, then an External id
/// that it shares with one call, and then an External id that identifies its operator reliably.
pub fn link_otherwise(
    rows: &SpillVec<DeviceWork>,
    launches: &Launches,
    flows: &Flows,
    records: &SortedRecords,
    text: &mut Reader<'_>,
) -> Result<DeviceLinks> {
    let mut correlated = FxHashSet::default();
    let mut left: Vec<DeviceWork> = Vec::new();
    let (mut last, mut near) = (None, 0);
    rows.for_each(|row| {
        let kind = (row.cat, row.class as u8);
        if row.correlation != NO_LINK && last.replace(kind) != Some(kind) {
            correlated.insert(kind);
        }
        if row.correlation == NO_LINK || launches.find(&mut near, row.correlation, row.ts).is_none()
        {
            left.push(*row);
        }
        Ok(())
    })?;
    let mut links = Links::default();
    if !left.is_empty() {
        by_flow(&left, launches, flows, &mut links)?;
        left.retain(|r| !links.contains_key(&r.ord));
        by_shared_id(&left, launches, records, text, &mut links)?;
        left.retain(|r| !links.contains_key(&r.ord));
        by_external_id(&left, launches, records, text, &mut links)?;
    }
    Ok(DeviceLinks { links, correlated })
}

fn by_flow(
    rows: &[DeviceWork],
    launches: &Launches,
    flows: &Flows,
    links: &mut Links,
) -> Result<()> {
    let wanted: FxHashSet<u32> = rows.iter().map(|r| r.ord).collect();
    let mut arrows: Vec<(u32, u32)> = Vec::new();
    flows.for_each(|arrow| {
        arrows.extend(arrow.events().filter(|(_, dst)| wanted.contains(dst)));
        Ok(())
    })?;
    let sources: FxHashSet<u32> = arrows.iter().map(|&(src, _)| src).collect();
    let by_ord: FxHashMap<u32, &Launch> = launches
        .correlated()
        .chain(launches.uncorrelated().map(|(_, launch)| launch))
        .filter(|launch| sources.contains(&launch.ord))
        .map(|launch| (launch.ord, launch))
        .collect();
    for (src, dst) in arrows {
        if let Some(launch) = by_ord.get(&src) {
            links.insert(dst, OtherLink::to(launch, "flow"));
        }
    }
    Ok(())
}

/// Some profilers write no correlation, but give a call and the work that it launched the same
/// External id.
fn by_shared_id(
    rows: &[DeviceWork],
    launches: &Launches,
    records: &SortedRecords,
    text: &mut Reader<'_>,
    links: &mut Links,
) -> Result<()> {
    let mut calls: FxHashMap<i64, Option<&Launch>> = FxHashMap::default();
    for (id, launch) in launches.uncorrelated().filter(|&(id, _)| id != NO_LINK) {
        calls.entry(id).and_modify(|call| *call = None).or_insert(Some(launch));
    }
    let mut found: FxHashMap<i64, (&Launch, Vec<u32>)> = FxHashMap::default();
    for row in rows {
        if let Some(Some(call)) = calls.get(&row.shared_id)
            && call.ts <= row.ts
        {
            found.entry(row.shared_id).or_insert((call, Vec::new())).1.push(row.ord);
        }
    }
    // A call with a correlation may have the same id, which makes the id ambiguous.
    if !found.is_empty() {
        for launch in launches.correlated() {
            if let Some(id) = call_ids(launch, text)?.0 {
                found.remove(&id);
            }
        }
    }
    // All calls of an operator share its id, and so does work whose calls are missing from the
    // trace.
    if found.values().any(|(call, rows)| rows.len() > 1 && !call.graph) {
        records.for_each(|record| {
            if record.has(IS_OP)
                && record.args != 0
                && let Some(id) = external_id(text.from(record.offset + record.args as u64)?)
                && found.get(&id).is_some_and(|(call, rows)| rows.len() > 1 && !call.graph)
            {
                found.remove(&id);
            }
            Ok(())
        })?;
    }
    for (call, rows) in found.into_values() {
        links.extend(rows.into_iter().map(|ord| (ord, OtherLink::to(call, "external_id"))));
    }
    Ok(())
}

fn by_external_id(
    rows: &[DeviceWork],
    launches: &Launches,
    records: &SortedRecords,
    text: &mut Reader<'_>,
    links: &mut Links,
) -> Result<()> {
    let mut wanted: FxHashMap<i64, Vec<(u32, i64, u32)>> = FxHashMap::default();
    let mut rows_by_id = Vec::new();
    for row in rows {
        if let Some(id) = external_id(text.from(row.args_at)?).filter(|&id| id != row.correlation) {
            wanted.entry(id).or_default();
            rows_by_id.push((id, *row));
        }
    }
    // In older traces, the External id of a launch repeats its correlation and does not identify an
    // operator.
    if wanted.is_empty() || !any_trustworthy(launches, text)? {
        return Ok(());
    }
    records.for_each(|record| {
        if record.has(IS_OP)
            && record.args != 0
            && let Some(ops) = external_id(text.from(record.offset + record.args as u64)?)
                .and_then(|id| wanted.get_mut(&id))
        {
            ops.push((record.ord, record.ts, record.track));
        }
        Ok(())
    })?;
    for ops in wanted.values_mut() {
        ops.sort_unstable_by_key(|&(op, ts, _)| (ts, op));
    }
    for (id, row) in rows_by_id {
        let ops = wanted.get(&id).map_or(&[][..], Vec::as_slice);
        // Ids may repeat, so take the last operator that started before the work.
        let before = &ops[..ops.partition_point(|&(_, ts, _)| ts <= row.ts)];
        if let Some(&(op, ts, track)) = before.last() {
            links.insert(
                row.ord,
                OtherLink { launch: None, op: Some(op), way: "external_id", at: Some((track, ts)) },
            );
        }
    }
    Ok(())
}

/// Whether the External id of any launch differs from its correlation.
fn any_trustworthy(launches: &Launches, text: &mut Reader<'_>) -> Result<bool> {
    for launch in launches.correlated() {
        let (external_id, correlation) = call_ids(launch, text)?;
        if external_id.is_some() && external_id != correlation {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the External id and the correlation of a call.
fn call_ids(launch: &Launch, text: &mut Reader<'_>) -> Result<(Option<i64>, Option<i64>)> {
    let Ok(head) = EventFields::read(&mut Cursor::new(text.from(launch.offset)?, 0)) else {
        return Ok((None, None));
    };
    Ok(head.args.map_or((None, None), |args| (external_id(args), value_of(args, b"correlation"))))
}

/// Returns the External id of the args at the start of a text.
fn external_id(args: &[u8]) -> Option<i64> {
    value_of(args, b"External id")
        .or_else(|| value_of(args, b"external id"))
        .filter(|&id| is_real_id(id))
}

fn value_of(args: &[u8], wanted: &[u8]) -> Option<i64> {
    if args.first() != Some(&b'{') {
        return None;
    }
    let mut found = None;
    let _ = Cursor::new(args, 0).object(|key, value| {
        if key == wanted {
            found = json::int(value);
        }
    });
    found
}
