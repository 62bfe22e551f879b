//! Writes one row of `events` as the JSON text of an element.

use crate::error::Result;
use arrow::array::RecordBatch;

use super::columns::{Columns, int};
use super::merge::Merge;
use super::order::Elements;
use super::text::{members, push_int, push_string, push_time_us, reads_as_value};

/// The columns of `events` from which elements are built.
pub const COLUMNS: &[&str] = &[
    "event_id", "track_id", "pid", "tid", "ph", "cat", "name", "ts_ns", "dur_ns", "id", "args",
    "extra",
];

/// The process and the thread of a track, from the table `tracks`.
#[derive(Debug, Clone, Default)]
pub struct TrackIds {
    /// The process id, if it is a number.
    pub pid: Option<i64>,
    /// The process id as the trace wrote it.
    pub pid_text: Option<String>,
    /// The thread id as the trace wrote it.
    pub tid_text: Option<String>,
}

/// Settings for writing the rows of one trace.
#[derive(Debug, Default)]
pub struct Shape {
    /// The tracks by `track_id`.
    pub tracks: Vec<TrackIds>,
    /// Nanoseconds to add to each time.
    pub shift_ns: i64,
    /// Whether the end of each begin event is computed from the begin event, because the rows
    /// contain no end events.
    pub make_ends: bool,
    /// The rows to write; `None` for all of them.
    pub only: Option<Ids>,
    /// Keeps the ids of this trace apart from those of other traces in the same file.
    pub merge: Option<Merge>,
}

/// A set of `event_id`s, stored as one bit per id.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    bits: Vec<u64>,
    ends: Option<(i64, i64)>,
}

impl Ids {
    /// Adds an id.
    pub fn add(&mut self, id: i64) {
        let Ok(at) = u32::try_from(id) else { return };
        let word = at as usize / 64;
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << (at % 64);
        self.ends = Some(self.ends.map_or((id, id), |(a, b)| (a.min(id), b.max(id))));
    }

    /// Whether the set contains an id.
    pub fn has(&self, id: i64) -> bool {
        u32::try_from(id).is_ok_and(|at| {
            self.bits.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
        })
    }

    /// Returns the lowest and the highest id.
    pub fn ends(&self) -> Option<(i64, i64)> {
        self.ends
    }
}

/// The keys in `extra` that also have a column, with their values as the trace wrote them.
#[derive(Default)]
struct Own<'a> {
    pid: Option<&'a str>,
    tid: Option<&'a str>,
    id: Option<&'a str>,
    /// Whether `extra` has any such key, including `cat` and `dur`.
    any: bool,
}

impl<'a> Own<'a> {
    fn of(extra: &'a str) -> Self {
        let mut own = Self::default();
        for (key, value) in members(extra) {
            match key {
                "pid" => own.pid = Some(value),
                "tid" => own.tid = Some(value),
                "id" => own.id = Some(value),
                "cat" | "dur" => {}
                _ => continue,
            }
            own.any = true;
        }
        own
    }
}

impl Shape {
    /// Writes the rows of a batch and returns the number of elements written.
    ///
    /// # Errors
    ///
    /// Fails if a column of [`COLUMNS`] is missing or has the wrong type, and returns the errors of
    /// [`Elements`].
    pub fn write(&self, batch: &RecordBatch, elements: &Elements) -> Result<u64> {
        let columns = Columns::of(batch)?;
        let (mut text, mut ids, mut count) = (Vec::new(), RowIds::default(), 0);
        for row in 0..batch.num_rows() {
            if self.only.as_ref().is_some_and(|only| !only.has(columns.event_id.value(row))) {
                continue;
            }
            text.clear();
            let written = self.row(&columns, row, &mut text, &mut ids);
            if written > 0 {
                count += written;
                elements.add(columns.event_id.value(row), &text)?;
            }
        }
        elements.spill_if_full()?;
        Ok(count)
    }

    /// Appends the element of a row. For a begin event without an end, it also appends the end
    /// event. Returns the number of elements.
    fn row(&self, c: &Columns<'_>, row: usize, out: &mut Vec<u8>, ids: &mut RowIds) -> u64 {
        let ph = c.ph.get(row).unwrap_or_default();
        if ph == "M"
            && self.merge.is_some()
            && matches!(c.name.get(row), Some("process_name" | "process_sort_index"))
        {
            // The merged file contains its own process names.
            return 0;
        }
        let extra = c.extra.get(row);
        let own = extra.map(Own::of).unwrap_or_default();
        self.find_ids(c, row, &own, ids);
        let element = Element { shape: self, c, row, extra, own, ids };
        let (ts, dur) = (int(c.ts_ns, row), int(c.dur_ns, row));
        element.head(ph, ts, dur.filter(|_| ph == "X"), out);
        if let Some(args) = c.args.get(row) {
            push_key("args", out);
            match &self.merge {
                Some(merge) => merge.args(args, out),
                None => out.extend_from_slice(args.as_bytes()),
            }
        }
        out.push(b'}');
        let end_ph = match ph {
            "B" => "E",
            "b" => "e",
            _ => return 1,
        };
        match (self.make_ends, ts, dur) {
            (true, Some(ts), Some(dur)) => {
                out.extend_from_slice(b",\n");
                element.head(end_ph, Some(ts.saturating_add(dur)), None, out);
                out.push(b'}');
                2
            }
            _ => 1,
        }
    }

    /// Finds the process and the thread of a row: in its columns, then in its own keys, then in its
    /// track.
    fn find_ids(&self, c: &Columns<'_>, row: usize, own: &Own<'_>, ids: &mut RowIds) {
        ids.pid.clear();
        ids.tid.clear();
        let track = usize::try_from(c.track_id.value(row)).ok().and_then(|at| self.tracks.get(at));
        match (int(c.pid, row), own.pid) {
            // The tracks of async events and counters hold the process id as the trace wrote it,
            // for example 1.0.
            (Some(pid), None) => match track
                .filter(|t| t.pid.is_none())
                .and_then(|t| t.pid_text.as_deref())
                .filter(|t| reads_as_value(t))
            {
                Some(text) => ids.pid.extend_from_slice(text.as_bytes()),
                None => push_int(pid, &mut ids.pid),
            },
            (Some(pid), Some(_)) => push_int(pid, &mut ids.pid),
            (None, Some(_)) => {}
            (None, None) => {
                if let Some(text) = track.and_then(|t| t.pid_text.as_deref()) {
                    push_string(text, &mut ids.pid);
                }
            }
        }
        match (int(c.tid, row), own.tid) {
            (Some(tid), _) => push_int(tid, &mut ids.tid),
            (None, Some(_)) => {}
            (None, None) => {
                if let Some(text) = track.and_then(|t| t.tid_text.as_deref()) {
                    push_string(text, &mut ids.tid);
                }
            }
        }
        if let Some(merge) = &self.merge {
            if ids.pid.is_empty() {
                ids.pid.extend_from_slice(own.pid.unwrap_or_default().as_bytes());
            }
            merge.pid(&mut ids.pid);
        }
    }
}

/// The process and the thread of a row as JSON; empty if the row has none.
#[derive(Default)]
struct RowIds {
    pid: Vec<u8>,
    tid: Vec<u8>,
}

/// A row that becomes one or two elements.
struct Element<'a> {
    shape: &'a Shape,
    c: &'a Columns<'a>,
    row: usize,
    extra: Option<&'a str>,
    own: Own<'a>,
    ids: &'a RowIds,
}

impl Element<'_> {
    /// Appends everything except the args and the closing brace.
    fn head(&self, ph: &str, ts: Option<i64>, dur: Option<i64>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"ph\":");
        push_string(ph, out);
        // JSON readers keep the last value of a repeated key, so the value of a column is written
        // after the one in `extra`.
        if self.own.any {
            self.other_keys(out);
        }
        for (key, value) in [("cat", self.c.cat.get(self.row)), ("name", self.c.name.get(self.row))]
        {
            if let Some(value) = value {
                push_key(key, out);
                push_string(value, out);
            }
        }
        for (key, value) in [("pid", &self.ids.pid), ("tid", &self.ids.tid)] {
            if !value.is_empty() {
                push_key(key, out);
                out.extend_from_slice(value);
            }
        }
        for (key, value) in
            [("ts", ts.map(|ts| ts.saturating_add(self.shape.shift_ns))), ("dur", dur)]
        {
            if let Some(value) = value {
                push_key(key, out);
                push_time_us(value, out);
            }
        }
        self.id(out);
        if !self.own.any {
            self.other_keys(out);
        }
    }

    fn id(&self, out: &mut Vec<u8>) {
        let Some(id) = self.c.id.get(self.row) else { return };
        let mut json = Vec::new();
        if reads_as_value(id) {
            // `extra` holds the same text in quotes, so the id is written from there.
            if self.own.id.is_some_and(|own| own.starts_with('"')) {
                return;
            }
            json.extend_from_slice(id.as_bytes());
        } else {
            push_string(id, &mut json);
        }
        push_key("id", out);
        match (&self.shape.merge, std::str::from_utf8(&json)) {
            (Some(merge), Ok(json)) => merge.id(json, out),
            _ => out.extend_from_slice(&json),
        }
    }

    /// Appends the keys of `extra`.
    fn other_keys(&self, out: &mut Vec<u8>) {
        let Some(extra) = self.extra.filter(|e| e.len() > 2) else { return };
        let Some(merge) = &self.shape.merge else {
            out.push(b',');
            out.extend_from_slice(&extra.as_bytes()[1..extra.len() - 1]);
            return;
        };
        for (key, value) in members(extra).filter(|(key, _)| *key != "pid") {
            push_key(key, out);
            match key {
                "id" | "bind_id" => merge.id(value, out),
                "id2" => merge.id2(value, out),
                _ => out.extend_from_slice(value.as_bytes()),
            }
        }
    }
}

/// Appends a comma, the key and a colon. The key must be escaped already or need no escapes.
fn push_key(key: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

#[cfg(test)]
mod tests {
    use super::Ids;

    #[test]
    fn a_set_holds_the_added_ids_and_knows_its_ends() {
        let mut ids = Ids::default();
        assert_eq!(ids.ends(), None);
        for id in [64, 3, 63, -1, 1 << 40, 1000] {
            ids.add(id);
        }
        let found: Vec<i64> = (-2..2000).filter(|id| ids.has(*id)).collect();
        assert_eq!((found, ids.ends()), (vec![3, 63, 64, 1000], Some((3, 1000))));
    }
}
