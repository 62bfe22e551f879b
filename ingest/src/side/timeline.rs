//! Memory timelines that `torch.profiler` exports: single entries (`.raw.json.gz`), or sizes by
//! category over time (`.json`).

use super::flight::ends;
use super::items;
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};
use crate::json;
use crate::source::{Content, Walk};
use crate::trace::Progress;

/// Categories by their number.
pub const CATEGORIES: [&str; 8] = [
    "parameter",
    "optimizer_state",
    "input",
    "temporary",
    "activation",
    "gradient",
    "autograd_detail",
    "unknown",
];

/// Actions by their number, which counts from 1.
pub const ACTIONS: [&str; 4] = ["preexisting", "alloc", "version", "free"];

/// Sizes from this value on (9 petabytes) are not usable, because their sums would overflow.
const MAX_BYTES: u64 = 1 << 53;

/// An entry of a memory timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Position in the file.
    pub ord: u64,
    /// Time in ns; `None` for memory that was there before.
    pub ts: Option<i64>,
    /// Number in [`ACTIONS`].
    pub action: Option<u8>,
    /// Bytes that are added, or removed if negative.
    pub bytes: i64,
    /// Number in [`CATEGORIES`].
    pub category: Option<u8>,
}

/// A memory timeline that was read.
#[derive(Default)]
pub struct Raw {
    /// Entries in the order of time, those from before the recording first.
    pub entries: Vec<Entry>,
    /// Items of the file.
    pub elements: u64,
    /// Issues that were found.
    pub issues: Issues,
}

fn entry(ord: u64, raw: &[u8], issues: &mut Issues) -> Option<Entry> {
    let parts: Vec<Option<i64>> = items(raw).into_iter().map(json::int).collect();
    let [Some(ts), action, Some(bytes), category] = parts[..] else { return None };
    let one_of = |number: Option<i64>, from: i64, count: usize| {
        let at = number?.checked_sub(from)?;
        u8::try_from(at).ok().filter(|at| usize::from(*at) < count)
    };
    let entry = Entry {
        ord,
        ts: (ts >= 0).then_some(ts),
        action: one_of(action, 1, ACTIONS.len()),
        bytes: (bytes.unsigned_abs() < MAX_BYTES).then_some(bytes)?,
        category: one_of(category, 0, CATEGORIES.len()),
    };
    if entry.action.is_none() || entry.category.is_none() {
        issues.add(Code::RecordValue, Some(ord), None, raw);
    }
    Some(entry)
}

fn too_large(name: &str) -> IngestError {
    IngestError::input(
        name,
        "its entries need more memory than --memory-limit leaves for them; raise the limit",
    )
}

/// Reads single entries.
pub fn read_raw(name: &str, content: &Content, budget: usize, progress: &Progress) -> Result<Raw> {
    let mut walk = Walk::new(content)?;
    let mut read = Raw::default();
    let max = (budget / size_of::<Entry>() / 2).min(u32::MAX as usize - 1);
    let end = walk.list(|walk| {
        let raw = walk.value()?;
        match entry(read.elements, raw, &mut read.issues) {
            Some(entry) => read.entries.push(entry),
            None => read.issues.add(Code::BadRecord, Some(read.elements), None, raw),
        }
        read.elements += 1;
        if read.elements as usize > max {
            return Err(too_large(name).into());
        }
        if read.elements.is_multiple_of(1 << 14) {
            progress.go_on()?;
        }
        Ok(())
    });
    ends(name, end, &mut walk, read.elements, &mut read.issues)?;
    if read.elements == 0 {
        read.issues.add(Code::EmptyTrace, None, None, b"");
    }
    // Stable, so entries of one time keep the order of the file.
    read.entries.sort_by_key(|entry| entry.ts);
    Ok(read)
}

/// Sizes of each category at a time.
pub struct Point {
    /// Position among the times.
    pub ord: u64,
    /// Time in ns.
    pub ts: i64,
    /// Bytes of each category.
    pub bytes: [i64; CATEGORIES.len()],
}

/// Reads times and sizes. Returns the number of times, and the issues.
pub fn read_sizes(
    name: &str,
    content: &Content,
    budget: usize,
    progress: &Progress,
    mut each: impl FnMut(Point) -> Result<()>,
) -> Result<(u64, Issues)> {
    let mut walk = Walk::new(content)?;
    let mut issues = Issues::default();
    let mut times: Vec<Option<i64>> = Vec::new();
    let max = (budget / 32).min(u32::MAX as usize - 1);
    let (mut list, mut sizes) = (0, 0u64);
    let end = walk.list(|walk| {
        list += 1;
        match list {
            1 => walk.list(|walk| {
                let raw = walk.value()?;
                times.push(json::int(raw));
                if times.len() > max { Err(too_large(name).into()) } else { Ok(()) }
            }),
            2 => walk.list(|walk| {
                let raw = walk.value()?;
                let ord = sizes;
                sizes += 1;
                let Some(ts) = times.get(ord as usize).copied().flatten() else {
                    // A size without a time is an element of its own; a bad time is counted below.
                    if ord >= times.len() as u64 {
                        issues.add(Code::BadRecord, Some(ord), None, raw);
                    }
                    return Ok(());
                };
                match point(ord, ts, raw) {
                    Some(point) => each(point)?,
                    None => issues.add(Code::BadRecord, Some(ord), None, raw),
                }
                if sizes.is_multiple_of(1 << 14) {
                    progress.go_on()?;
                }
                Ok(())
            }),
            _ => walk.skip(),
        }
    });
    let elements = sizes.max(times.len() as u64);
    ends(name, end, &mut walk, elements, &mut issues)?;
    let bad_times = times.iter().take(sizes as usize).filter(|ts| ts.is_none()).count() as u64;
    let without = (times.len() as u64).saturating_sub(sizes);
    if bad_times + without > 0 {
        let detail = format!("{without} times without sizes, {bad_times} that are no numbers");
        issues.add_many(Code::BadRecord, bad_times + without, None, None, b"");
        issues.detail(Code::BadRecord, detail);
    }
    if elements == 0 {
        issues.add(Code::EmptyTrace, None, None, b"");
    }
    Ok((elements, issues))
}

/// Reads the sizes at a time: a 0, then one for each category.
fn point(ord: u64, ts: i64, raw: &[u8]) -> Option<Point> {
    let parts: Vec<Option<i64>> = items(raw).into_iter().map(json::int).collect();
    let mut bytes = [0; CATEGORIES.len()];
    if parts.len() != bytes.len() + 1 {
        return None;
    }
    for (to, from) in bytes.iter_mut().zip(&parts[1..]) {
        *to = (*from).filter(|n| n.unsigned_abs() < MAX_BYTES)?;
    }
    Some(Point { ord, ts, bytes })
}

#[cfg(test)]
mod tests {
    use super::{Entry, entry, point};
    use crate::issues::{Code, Issues};

    #[test]
    fn entries_have_four_numbers() {
        let mut issues = Issues::default();
        let read = entry(1, b"[-1, 1, 64, 0]", &mut issues);
        let want = Entry { ord: 1, ts: None, action: Some(0), bytes: 64, category: Some(0) };
        assert_eq!(read, Some(want));
        let read = entry(2, b"[7, 9, -64, 8]", &mut issues);
        let want = Entry { ord: 2, ts: Some(7), action: None, bytes: -64, category: None };
        assert_eq!(read, Some(want));
        assert_eq!(issues.count(Code::RecordValue), 1);
        for bad in
            ["[]", "[1,2,3]", "[1,2,9007199254740992,0]", "[\"a\",1,2,3]", "{}", "[1,2,3,4,5]"]
        {
            assert_eq!(entry(0, bad.as_bytes(), &mut issues), None, "{bad}");
        }
    }

    #[test]
    fn sizes_begin_with_a_zero() {
        let read = point(0, 5, b"[0,1,2,3,4,5,6,7,8]").expect("a point");
        assert_eq!(read.bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert!(point(0, 5, b"[1,2]").is_none());
    }
}
