//! The rows of `kernels`.

use super::args::Args;
use super::context::{Context, Link};
use super::event::Element;
use crate::encode::TableRows;
use crate::issues::{Code, Issues};
use crate::json::{self, Cursor, Oddities};
use crate::trace::{Class, NO_TIME};

#[derive(Default)]
struct Fields<'a> {
    context: Option<i64>,
    queued: Option<i64>,
    grid: Option<&'a [u8]>,
    block: Option<&'a [u8]>,
    registers: Option<i64>,
    shared_memory: Option<i64>,
    blocks_per_sm: Option<f64>,
    warps_per_sm: Option<f64>,
    occupancy: Option<f64>,
    bytes: Option<i64>,
    bandwidth: Option<f64>,
    graph: Option<i64>,
    graph_node: Option<i64>,
    wait_on_stream: Option<i64>,
    wait_on_event: Option<i64>,
    wait_on_record: Option<i64>,
    in_nelems: Option<i64>,
    out_nelems: Option<i64>,
    group_size: Option<i64>,
    activity_kind: Option<String>,
    sync_kind: Option<String>,
    collective: Option<String>,
    dtype: Option<String>,
    group_name: Option<String>,
    group_description: Option<String>,
    group_ranks: Option<String>,
    in_split: Option<String>,
    out_split: Option<String>,
}

impl<'a> Fields<'a> {
    fn read(raw: &'a [u8]) -> Self {
        let mut f = Self::default();
        if raw.first() != Some(&b'{') {
            return f;
        }
        let _ = Cursor::new(raw, 0).object(|key, value| match key {
            b"context" => f.context = json::int(value),
            b"queued" => f.queued = json::int(value),
            b"grid" => f.grid = Some(value),
            b"block" => f.block = Some(value),
            b"registers per thread" => f.registers = json::int(value),
            b"shared memory" => f.shared_memory = json::int(value),
            b"blocks per SM" => f.blocks_per_sm = json::float(value),
            b"warps per SM" => f.warps_per_sm = json::float(value),
            b"est. achieved occupancy %" => f.occupancy = json::float(value),
            b"bytes" => f.bytes = json::int(value),
            b"memory bandwidth (GB/s)" => f.bandwidth = json::float(value),
            b"graph id" => f.graph = json::int(value),
            b"graph node id" => f.graph_node = json::int(value),
            b"wait_on_stream" => f.wait_on_stream = json::int(value),
            b"wait_on_cuda_event_id" => f.wait_on_event = json::int(value),
            b"wait_on_cuda_event_record_corr_id" => f.wait_on_record = json::int(value),
            b"In msg nelems" => f.in_nelems = json::int(value),
            b"Out msg nelems" => f.out_nelems = json::int(value),
            b"Group size" => f.group_size = json::int(value),
            b"kind" => f.activity_kind = plain_text(value),
            b"cuda_sync_kind" => f.sync_kind = plain_text(value),
            b"Collective name" => f.collective = plain_text(value),
            b"dtype" => f.dtype = plain_text(value),
            b"Process Group Name" => f.group_name = plain_text(value),
            b"Process Group Description" => f.group_description = plain_text(value),
            b"Process Group Ranks" => f.group_ranks = plain_text(value),
            b"In split size" => f.in_split = plain_text(value),
            b"Out split size" => f.out_split = plain_text(value),
            _ => {}
        });
        f
    }
}

fn plain_text(raw: &[u8]) -> Option<String> {
    let mut odd = Oddities::default();
    if json::is_text(raw) {
        return Some(json::as_text(json::unquote(raw), &mut odd).into_owned());
    }
    let mut out = Vec::new();
    json::compact_value(raw, &mut out, &mut odd);
    (!json::is_null(&out)).then(|| String::from_utf8_lossy(&out).into_owned())
}

/// The three numbers of a grid or block; false if they are not that.
fn triple(raw: Option<&[u8]>) -> ([Option<i64>; 3], bool) {
    let mut out = [None; 3];
    let Some(raw) = raw else { return (out, true) };
    let inner = json::unquote(raw).trim_ascii();
    let Some(inner) = inner.strip_prefix(b"[").and_then(|r| r.strip_suffix(b"]")) else {
        return (out, false);
    };
    let mut n = 0;
    for part in inner.split(|&b| b == b',') {
        if n < 3 {
            out[n] = json::int(part.trim_ascii());
        }
        n += 1;
    }
    (out, n == 3 && out.iter().all(Option::is_some) && !json::is_text(raw))
}

/// Appends the row of a device activity.
pub fn push(
    rows: &mut TableRows,
    c: &Context<'_>,
    e: &Element<'_>,
    args: &Args,
    link: &Link,
    issues: &mut Issues,
) {
    let key = e.key;
    let f = Fields::read(e.args.unwrap_or_default());
    let ((grid, grid_ok), (block, block_ok)) = (triple(f.grid), triple(f.block));
    if !(grid_ok && block_ok) {
        issues.add(
            Code::LaunchShape,
            Some(key.ord as u64),
            Some(key.offset),
            e.args.unwrap_or_default(),
        );
    }
    if link.launch.is_none() {
        issues.add(Code::UnlinkedDevice, Some(key.ord as u64), Some(key.offset), b"");
    }
    let kind = match key.class() {
        Class::Memcpy => "memcpy",
        Class::Memset => "memset",
        Class::Sync => "sync",
        _ => "kernel",
    };
    let dur = (key.dur != NO_TIME).then_some(key.dur);
    rows.text(c.trace_id).int(key.ord as i64).text(kind);
    e.push_name(c, rows);
    rows.int(args.device)
        .int(f.context)
        .int(args.stream)
        .int(c.track_ids[key.track as usize] as i64);
    let ts = (!c.is_unset(key)).then_some(key.ts);
    rows.int(ts).int(dur).int(ts.zip(dur).map(|(ts, dur)| ts.saturating_add(dur.max(0))));
    rows.int(args.correlation).int(args.external_id);
    rows.int(link.launch.map(i64::from))
        .int(link.op.map(i64::from))
        .text(link.way)
        .text(link.reason)
        .int(link.step);
    rows.int(grid[0]).int(grid[1]).int(grid[2]).int(block[0]).int(block[1]).int(block[2]);
    rows.int(f.registers)
        .int(f.shared_memory)
        .float(f.blocks_per_sm)
        .float(f.warps_per_sm)
        .float(f.occupancy);
    rows.int(f.queued).int(f.bytes).float(f.bandwidth);
    rows.text(f.activity_kind.as_deref()).int(f.graph).int(f.graph_node);
    rows.text(f.sync_kind.as_deref())
        .int(f.wait_on_stream)
        .int(f.wait_on_event)
        .int(f.wait_on_record);
    rows.text(f.collective.as_deref())
        .text(f.dtype.as_deref())
        .int(f.in_nelems)
        .int(f.out_nelems)
        .int(f.group_size);
    rows.text(f.group_name.as_deref())
        .text(f.group_description.as_deref())
        .text(f.group_ranks.as_deref());
    rows.text(f.in_split.as_deref()).text(f.out_split.as_deref());
}
