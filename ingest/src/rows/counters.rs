//! The rows of `counters`.

use super::context::Context;
use super::element::Element;
use super::tables::CounterRow;
use crate::encode::{Interned, TableRows};
use crate::issues::{Code, Issues};
use crate::json::{self, Oddities};
use crate::trace::{NO_TEXT, Track};

/// Appends one row per series of a counter event. `series` contains the members of its args.
pub fn push(
    rows: &mut TableRows<CounterRow<'static>>,
    c: &Context<'_>,
    e: &Element<'_>,
    series: &[(&[u8], &[u8])],
    issues: &mut Issues,
) {
    // The name that distinguishes a counter's track is always interned.
    let name = match c.tracks[e.record.track as usize] {
        Track::Counter { name, .. } if name != NO_TEXT => Some(name),
        _ => None,
    };
    for &(key, value) in series {
        let number = json::float(value);
        if number.is_none() || json::is_text(value) {
            issues.add_at(Code::CounterValue, e.record, value);
        }
        rows.push(CounterRow {
            trace_id: c.trace_id,
            event_id: e.record.ord.into(),
            ts_ns: e.record.ts,
            track_id: c.track_id(e.record),
            name: name.map(|id| Interned::Numbered(id, &c.texts[id as usize])),
            series: json::as_text(key, &mut Oddities::default()),
            value: number,
        });
    }
}
