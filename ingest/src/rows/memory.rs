//! The rows of `memory` that come from `[memory]` events.

use super::context::Context;
use super::event::Element;
use crate::encode::TableRows;
use crate::issues::{Code, Issues};
use crate::json::{self, Cursor};

/// Names of c10's device types, by number.
const DEVICE_TYPES: [&str; 21] = [
    "cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan",
    "metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone",
];

/// Sizes from here on (9 petabytes) are no sizes, and their sums would not fit.
const MOST_BYTES: u64 = 1 << 53;

/// Appends the row of an allocation or free.
pub fn push(
    rows: &mut TableRows,
    c: &Context<'_>,
    e: &Element<'_>,
    step: Option<i64>,
    issues: &mut Issues,
) {
    let [mut bytes, mut addr, mut device_type, mut device, mut allocated, mut reserved] = [None; 6];
    let raw = e.args.unwrap_or_default();
    if raw.first() == Some(&b'{') {
        let _ = Cursor::new(raw, 0).object(|key, value| {
            let slot = match key {
                b"Bytes" => &mut bytes,
                b"Addr" => &mut addr,
                b"Device Type" => &mut device_type,
                b"Device Id" => &mut device,
                b"Total Allocated" => &mut allocated,
                b"Total Reserved" => &mut reserved,
                _ => return,
            };
            *slot = json::int(value);
        });
    }
    bytes = bytes.filter(|b: &i64| b.unsigned_abs() < MOST_BYTES);
    if bytes.is_none() {
        issues.add(Code::MemoryValue, Some(e.key.ord as u64), Some(e.key.offset), raw);
    }
    let number = device_type.map(|t: i64| t.to_string());
    let known = device_type
        .and_then(|t| usize::try_from(t).ok())
        .and_then(|t| DEVICE_TYPES.get(t).copied());
    rows.text(c.trace_id).int(e.key.ord as i64).int(e.key.ts);
    rows.text(bytes.map(|b| if b < 0 { "free" } else { "alloc" }));
    rows.int(addr)
        .int(bytes)
        .text(known.or(number.as_deref()))
        .int(device)
        .int(allocated)
        .int(reserved)
        .int(step);
}
