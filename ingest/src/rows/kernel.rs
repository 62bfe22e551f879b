//! The rows of `kernels`.

use super::args::ArgValues;
use super::context::{Context, Link};
use super::element::Element;
use super::kernel_args::KernelArgs;
use super::tables::KernelRow;
use crate::encode::TableRows;
use crate::issues::{Code, Issues};
use crate::json;
use crate::trace::{Class, NO_TIME};

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
        issues.add_at(Code::LaunchShape, record, e.args_text());
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
