//! The rows of `kernels`.

use std::borrow::Cow;

use super::args::ArgValues;
use super::context::{Context, Link};
use super::event::Element;
use super::tables::KernelRow;
use crate::encode::TableRows;
use crate::issues::{Code, Issues};
use crate::json::{self, Oddities};
use crate::trace::{Class, NO_TIME};

/// The args of a device activity.
#[derive(Default)]
pub struct KernelArgs<'t> {
    /// A row in which only the columns that come from args are set.
    row: KernelRow<'t>,
    grid: Option<&'t [u8]>,
    block: Option<&'t [u8]>,
}

impl<'t> KernelArgs<'t> {
    /// Adds a member of the args. For repeated keys, the last one is kept.
    pub fn add(&mut self, key: &'t [u8], value: &'t [u8]) {
        let row = &mut self.row;
        match key {
            b"context" => row.context = json::int(value),
            b"queued" => row.queued = json::int(value),
            b"grid" => self.grid = Some(value),
            b"block" => self.block = Some(value),
            b"registers per thread" => row.registers_per_thread = json::int(value),
            b"shared memory" => row.shared_memory_bytes = json::int(value),
            b"blocks per SM" => row.blocks_per_sm = json::float(value),
            b"warps per SM" => row.warps_per_sm = json::float(value),
            b"est. achieved occupancy %" => row.occupancy_pct = json::float(value),
            b"bytes" => row.bytes = json::int(value),
            b"memory bandwidth (GB/s)" => row.bandwidth_gb_s = json::float(value),
            b"graph id" => row.graph_id = json::int(value),
            b"graph node id" => row.graph_node_id = json::int(value),
            b"wait_on_stream" => row.wait_on_stream = json::int(value),
            b"wait_on_cuda_event_id" => row.wait_on_event_id = json::int(value),
            b"wait_on_cuda_event_record_corr_id" => {
                row.wait_on_event_record_correlation = json::int(value)
            }
            b"In msg nelems" => row.in_msg_nelems = json::int(value),
            b"Out msg nelems" => row.out_msg_nelems = json::int(value),
            b"Group size" => row.group_size = json::int(value),
            b"kind" => row.activity_kind = plain_text(value),
            b"cuda_sync_kind" => row.sync_kind = plain_text(value),
            b"Collective name" => row.collective_name = plain_text(value),
            b"dtype" => row.collective_dtype = plain_text(value),
            b"Process Group Name" => row.process_group_name = plain_text(value),
            b"Process Group Description" => row.process_group_description = plain_text(value),
            b"Process Group Ranks" => row.process_group_ranks = plain_text(value),
            b"In split size" => row.in_split_size = plain_text(value),
            b"Out split size" => row.out_split_size = plain_text(value),
            _ => {}
        }
    }
}

/// Returns a string without its quotes, and any other value as compact JSON; `None` for null.
fn plain_text(raw: &[u8]) -> Option<Cow<'_, str>> {
    let mut odd = Oddities::default();
    if json::is_text(raw) {
        return Some(json::as_text(json::unquote(raw), &mut odd));
    }
    let mut out = Vec::new();
    json::compact_value(raw, &mut out, &mut odd);
    (!json::is_null(&out)).then(|| String::from_utf8_lossy(&out).into_owned().into())
}

/// Returns the three numbers of a grid or block, and whether the value is a list of three numbers.
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
    rows: &mut TableRows<KernelRow<'static>>,
    c: &Context<'_>,
    e: &Element<'_>,
    values: &ArgValues,
    args: KernelArgs<'_>,
    link: &Link,
    issues: &mut Issues,
) {
    let record = e.record;
    let (([grid_x, grid_y, grid_z], grid_ok), ([block_x, block_y, block_z], block_ok)) =
        (triple(args.grid), triple(args.block));
    if !(grid_ok && block_ok) {
        issues.add_at(Code::LaunchShape, record, e.args.unwrap_or_default());
    }
    if link.launch.is_none() {
        issues.add_at(Code::UnlinkedDevice, record, b"");
    }
    let ts_ns = (!c.is_unset(record)).then_some(record.ts);
    let dur_ns = (record.dur != NO_TIME).then_some(record.dur);
    rows.push(KernelRow {
        trace_id: c.trace_id,
        event_id: record.ord.into(),
        kind: match record.class() {
            Class::Memcpy => "memcpy",
            Class::Memset => "memset",
            Class::Sync => "sync",
            _ => "kernel",
        },
        name: e.name(c),
        device: values.device,
        stream: values.stream,
        track_id: c.track_id(record),
        ts_ns,
        dur_ns,
        end_ns: ts_ns.zip(dur_ns).map(|(ts, dur)| ts.saturating_add(dur.max(0))),
        correlation: values.correlation,
        external_id: values.external_id,
        launch_id: link.launch.map(i64::from),
        op_id: link.op.map(i64::from),
        link: link.way,
        link_reason: link.reason,
        step: link.step,
        grid_x,
        grid_y,
        grid_z,
        block_x,
        block_y,
        block_z,
        ..args.row
    });
}
