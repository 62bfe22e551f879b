//! Device rows whose launch is not found by correlation: other ways to the host.

use rustc_hash::{FxHashMap, FxHashSet};

use super::flows::Flows;
use super::launches::{Launch, Launches};
use super::nest::NO_ROW;
use super::sort::SortedKeys;
use crate::error::Result;
use crate::json::{self, Cursor};
use crate::source::Reader;
use crate::trace::{Head, IS_OP, NO_LINK, is_real_id};

/// A device row.
#[derive(Debug, Clone, Copy)]
pub struct DeviceRow {
    /// Position in the event list.
    pub ord: u32,
    /// Correlation, or [`NO_LINK`].
    pub link: i64,
    /// Start, ns.
    pub ts: i64,
    /// Where its args begin in the text.
    pub args_at: u64,
}

/// A link found without the correlation.
#[derive(Debug, Clone, Copy)]
pub struct OtherLink {
    /// The launch.
    pub launch: Option<u32>,
    /// The operator.
    pub op: Option<u32>,
    /// Value of `kernels.link`.
    pub way: &'static str,
    /// Track and start of the launch or operator.
    pub at: Option<(u32, i64)>,
}

/// Such links by the device row's position in the event list.
pub type DeviceLinks = FxHashMap<u32, OtherLink>;

/// Links device rows without a launch by their flow, else to their operator by an External id that can be trusted.
pub fn link_otherwise(rows: &[DeviceRow], launches: &Launches, flows: &Flows, keys: &SortedKeys, text: &mut Reader<'_>) -> Result<DeviceLinks> {
    let unlinked: Vec<&DeviceRow> = rows.iter().filter(|r| r.link == NO_LINK || launches.find(r.link, r.ts).is_none()).collect();
    let mut links = DeviceLinks::default();
    if unlinked.is_empty() {
        return Ok(links);
    }
    by_flow(&unlinked, launches, flows, &mut links);
    let left: Vec<&DeviceRow> = unlinked.into_iter().filter(|r| !links.contains_key(&r.ord)).collect();
    by_external_id(&left, launches, keys, text, &mut links)?;
    Ok(links)
}

fn by_flow(rows: &[&DeviceRow], launches: &Launches, flows: &Flows, links: &mut DeviceLinks) {
    let wanted: FxHashSet<u32> = rows.iter().map(|r| r.ord).collect();
    let by_ord: FxHashMap<u32, &Launch> = launches.iter().map(|l| (l.ord, l)).collect();
    for (src, dst) in flows.iter() {
        let (Some(src), Some(dst)) = (src.slice, dst.slice) else { continue };
        if wanted.contains(&dst)
            && let Some(launch) = by_ord.get(&src)
        {
            let op = (launch.op != NO_ROW).then_some(launch.op);
            links.insert(dst, OtherLink { launch: Some(src), op, way: "flow", at: Some((launch.track, launch.ts)) });
        }
    }
}

fn by_external_id(rows: &[&DeviceRow], launches: &Launches, keys: &SortedKeys, text: &mut Reader<'_>, links: &mut DeviceLinks) -> Result<()> {
    let mut wanted: FxHashMap<i64, Vec<(u32, i64, u32)>> = FxHashMap::default();
    let mut rows_by_id = Vec::new();
    for row in rows {
        if let Some(id) = external_id(text.from(row.args_at)?).filter(|&id| id != row.link) {
            wanted.entry(id).or_default();
            rows_by_id.push((id, *row));
        }
    }
    // In older traces the External id of launches is their correlation and says nothing about operators.
    if wanted.is_empty() || !any_trustworthy(launches, text)? {
        return Ok(());
    }
    keys.for_each(|key| {
        if key.has(IS_OP)
            && key.args != 0
            && let Some(ops) = external_id(text.from(key.offset + key.args as u64)?).and_then(|id| wanted.get_mut(&id))
        {
            ops.push((key.ord, key.ts, key.track));
        }
        Ok(())
    })?;
    for ops in wanted.values_mut() {
        ops.sort_unstable_by_key(|&(op, ts, _)| (ts, op));
    }
    for (id, row) in rows_by_id {
        let ops = wanted.get(&id).map_or(&[][..], Vec::as_slice);
        // Ids may repeat; the operator that started last before the work is the one.
        let before = &ops[..ops.partition_point(|&(_, ts, _)| ts <= row.ts)];
        if let Some(&(op, ts, track)) = before.last() {
            links.insert(row.ord, OtherLink { launch: None, op: Some(op), way: "external_id", at: Some((track, ts)) });
        }
    }
    Ok(())
}

/// Whether the External id of some launch is not just its correlation.
fn any_trustworthy(launches: &Launches, text: &mut Reader<'_>) -> Result<bool> {
    for launch in launches.iter() {
        let Ok(head) = Head::read(&mut Cursor::new(text.from(launch.offset)?, 0)) else { continue };
        let Some(args) = head.args else { continue };
        let id = value_of(args, b"External id").or_else(|| value_of(args, b"external id"));
        if id.is_some_and(|id| is_real_id(id) && Some(id) != value_of(args, b"correlation")) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The External id of the args at the start of a text.
fn external_id(args: &[u8]) -> Option<i64> {
    value_of(args, b"External id").or_else(|| value_of(args, b"external id")).filter(|&id| is_real_id(id))
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
