//! The rows of `counters`.

use super::context::Context;
use super::event::Element;
use crate::encode::TableRows;
use crate::issues::{Code, Issues};
use crate::json::{self, Cursor, Oddities};
use crate::trace::{NO_TEXT, Track};

/// Appends one row for each series of a counter event.
pub fn push(rows: &mut TableRows, c: &Context<'_>, e: &Element<'_>, issues: &mut Issues) {
    let raw = e.args.unwrap_or_default();
    if raw.first() != Some(&b'{') {
        return;
    }
    // The name that tells its track apart always has a number.
    let name = match c.tracks[e.key.track as usize] {
        Track::Counter { name, .. } if name != NO_TEXT => Some(name),
        _ => None,
    };
    let _ = Cursor::new(raw, 0).object(|key, value| {
        let number = json::float(value);
        if number.is_none() || json::is_text(value) {
            issues.add(Code::CounterValue, Some(e.key.ord as u64), Some(e.key.offset), raw);
        }
        let series = json::as_text(key, &mut Oddities::default());
        rows.text(c.trace_id)
            .int(e.key.ord as i64)
            .int(e.key.ts)
            .int(c.track_ids[e.key.track as usize] as i64);
        match name {
            Some(id) => rows.text_by_id(id, &c.texts[id as usize]),
            None => rows.text(None),
        };
        rows.text(&*series).float(number);
    });
}
