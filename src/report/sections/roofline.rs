//! Sections about the distance of device work from what the device could do.

use super::{Scope, Section, rows};

pub const MFU: Section = Section {
    key: "mfu",
    title: "Utilization of the peak",
    about: "Operations of products, convolutions and attention by what the device could have \
        computed in the time of each step. hfu_pct counts all of them at the peak of their type; \
        mfu_pct leaves out what checkpointing computes again, if that is known. mbu_pct is bytes \
        by bandwidth. Where operations are not known for all work the figures are lower bounds.",
    scope: Scope::Torch,
    needs: &["device", "shapes"],
    if_empty: "no device work belongs to a step",
    is_detail: false,
    shape: rows(2000, &["step_ns", "device_busy_ns"]),
    sql: "SELECT trace_id, step, device, step_ns, device_busy_ns, tflop_s, peak_dtype, \
               peak_tflop_s, mfu_pct, hfu_pct, mbu_pct, modelled_pct, reason
FROM step_mfu ORDER BY trace_id, step, device",
};

/// The points of the pictures. The page draws the first ones of each device.
pub const ROOFLINE_POINTS: Section = Section {
    key: "roofline_points",
    title: "Points of the roofline",
    about: "Operators by operations per byte and operations per second, the longest first. \
        Operators that compute nothing, or whose operations are not known, are not here.",
    scope: Scope::Torch,
    needs: &["device", "shapes"],
    if_empty: "no operator has operations on a device whose peaks are known",
    is_detail: true,
    shape: rows(200, &["calls", "device_ns"]),
    sql: "SELECT trace_id, device, point_number, name, left(input_shapes, 200) AS input_shapes, \
               family, dtype, calls, device_ns, device_pct, flop_per_byte, tflop_s, gb_s, \
               roof_tflop_s, roofline_pct, bound, is_exact, cause, figure
FROM roofline_points WHERE point_number <= 60
ORDER BY trace_id, device_ns DESC, device, point_number",
};

/// The points of the strip beside the pictures.
pub const BANDWIDTH_POINTS: Section = Section {
    key: "bandwidth_points",
    title: "Points of the bandwidth",
    about: "Operators that compute nothing, or whose operations are not known, by bytes per \
        second, the longest first.",
    scope: Scope::Torch,
    needs: &["device", "shapes"],
    if_empty: "no operator only moves bytes on a device whose bandwidth is known",
    is_detail: true,
    shape: rows(200, &["calls", "device_ns"]),
    sql: "SELECT trace_id, device, point_number, name, left(input_shapes, 200) AS input_shapes, \
               family, calls, device_ns, device_pct, gb_s, bandwidth_gb_s, roofline_pct, computes, \
               is_exact, cause, figure
FROM bandwidth_points WHERE point_number <= 40
ORDER BY trace_id, device_ns DESC, device, point_number",
};

/// The lines above the points.
pub const ROOFLINE_ROOFS: Section = Section {
    key: "roofline_roofs",
    title: "Roofs of the roofline",
    about: "Peaks of the devices for the types that occur, with the operations per byte at which \
        arithmetic and memory take the same time. modelled_pct is the share of the device time \
        whose operations are known.",
    scope: Scope::Torch,
    needs: &["device", "shapes"],
    if_empty: "no operator has operations on a device whose peaks are known",
    is_detail: true,
    shape: rows(200, &["calls", "device_ns"]),
    sql:
        "SELECT r.trace_id, r.device, r.unit, r.dtype, r.peak_tflop_s, r.bandwidth_gb_s, r.ridge, \
               r.calls, r.device_ns, c.device_pct AS modelled_pct
FROM roofline_roofs r
LEFT JOIN roofline_coverage c
    ON c.trace_id = r.trace_id AND (c.device IS NOT DISTINCT FROM r.device)
        AND c.coverage = 'modelled'
ORDER BY r.trace_id, r.device_ns DESC, r.device, r.unit, r.dtype, r.peak_tflop_s",
};

pub const ROOFLINE: Section = Section {
    key: "roofline",
    title: "Roofline",
    about: "Operators by the device time that their roofline does not need: the time at the peak \
        of arithmetic or of memory, whichever is longer. Of several likely causes the first is \
        shown, and further_causes lists the others. Operators without figures, and devices whose \
        peaks are not known, are not here.",
    scope: Scope::Torch,
    needs: &["device", "shapes"],
    if_empty: "no operator has figures on a device whose peaks are known",
    is_detail: false,
    shape: rows(1000, &["calls", "device_ns", "roofline_ns", "lost_ns"]),
    sql: "SELECT trace_id, device, name, left(input_shapes, 200) AS input_shapes, family, dtype, \
               calls, device_ns, device_pct, tflop_s, gb_s, flop_per_byte, peak_tflop_s, \
               peak_gb_s, roofline_ns, roofline_pct, bound, lost_ns, quality, cause, figure, \
               further_causes
FROM lost_time ORDER BY trace_id, lost_ns DESC, name, input_shapes, device",
};
