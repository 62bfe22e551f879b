//! Facts about a memory snapshot, for texts: peaks, and why memory ran out.

use super::answer::Row;
use super::{Report, Trace};
use crate::output::units as human;

/// The maximum number of lines of each kind.
const MAX_LINES: usize = 3;

/// Facts, one line each. Other traces have none.
pub fn facts(report: &Report, trace: &Trace) -> Vec<(&'static str, String)> {
    let of = |key: &str| {
        let rows = report.answer(key).into_iter().flat_map(|a| a.of(&trace.trace_id));
        rows.take(MAX_LINES).collect::<Vec<Row>>()
    };
    let mut facts: Vec<_> =
        of("snapshot_devices").into_iter().map(|row| ("Memory peak", peak(row))).collect();
    facts.extend(of("snapshot_ooms").into_iter().map(|row| ("OOM", oom(row))));
    facts
}

fn bytes(row: Row, name: &str) -> String {
    human::value(row.get(name), "bytes")
}

fn peak(row: Row) -> String {
    format!(
        "{}: {} live, {} at the end; {} reserved in {}, {} of it free, largest block {}",
        device(row),
        bytes(row, "peak_bytes"),
        bytes(row, "end_bytes"),
        bytes(row, "reserved_bytes"),
        human::many(row.int("segments").unwrap_or(0), "segment"),
        bytes(row, "inactive_bytes"),
        bytes(row, "largest_inactive_bytes")
    )
}

fn oom(row: Row) -> String {
    let why = match row.text("verdict") {
        Some("limit") => "the driver has enough, so a limit of the process refused it",
        Some("too_big") => "more than the program and the driver have together",
        Some("fragmented") => "free memory would suffice, but not in one piece",
        Some("other_pool") => "free memory would suffice, but in another pool or stream",
        Some("full") => "free memory is too little",
        Some("unclear") => "free memory may suffice, but the pool or the blocks are not known",
        _ => "the snapshot does not record why",
    };
    let (requested, segment) = (bytes(row, "requested_bytes"), bytes(row, "segment_bytes"));
    let needed =
        if requested == segment { String::new() } else { format!(" in a segment of {segment}") };
    format!(
        "{}: {requested} asked for{needed}, the driver had {}, {} reserved and not live: {why}",
        device(row),
        bytes(row, "device_free_bytes"),
        bytes(row, "unused_bytes")
    )
}

fn device(row: Row) -> String {
    match row.int("device") {
        Some(-1) => "host".to_owned(),
        Some(device) => format!("device {device}"),
        None => "device without number".to_owned(),
    }
}
