//! The rows of `memory` that come from `[memory]` events.

use super::context::Context;
use super::element::Element;
use super::memory_args::MemoryArgs;
use super::tables::MemoryRow;
use crate::encode::TableRows;
use crate::issues::{Code, Issues};

/// Names of c10's device types, by number.
const DEVICE_TYPES: [&str; 21] = [
    "cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan",
    "metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone",
];

/// Sizes from this value on (9 petabytes) are treated as invalid, because their sums would
/// overflow.
const MAX_BYTES: u64 = 1 << 53;

/// Appends the row of an allocation or free.
pub fn push(
    rows: &mut TableRows<MemoryRow<'static>>,
    c: &Context<'_>,
    e: &Element<'_>,
    args: &MemoryArgs,
    step: Option<i64>,
    issues: &mut Issues,
) {
    let bytes = args.bytes.filter(|b| b.unsigned_abs() < MAX_BYTES);
    if bytes.is_none() {
        issues.add_at(Code::MemoryValue, e.record, e.args_text());
    }
    let number = args.device_type.map(|t| t.to_string());
    let known = args
        .device_type
        .and_then(|t| usize::try_from(t).ok())
        .and_then(|t| DEVICE_TYPES.get(t).copied());
    rows.push(MemoryRow {
        trace_id: c.trace_id,
        event_id: e.record.ord.into(),
        ts_ns: Some(e.record.ts),
        action: args
            .is_free
            .or(bytes.map(|b| b < 0))
            .map(|is_free| if is_free { "free" } else { "alloc" }),
        addr: args.addr,
        bytes,
        device_type: known.or(number.as_deref()),
        device: args.device,
        total_allocated_bytes: args.total_allocated,
        total_reserved_bytes: args.total_reserved,
        step,
        ..MemoryRow::default()
    });
}
