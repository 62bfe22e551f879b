//! The final order of tracks, and their ids and texts as strings.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::trace::{Id, NO_TEXT, TextId, Track};

/// Returns the numbers of all tracks that have elements, in the order of `track_id`: threads by
/// process and thread, then counters, then async events.
pub fn order_tracks(tracks: &[Track], on_track: &[bool], texts: &[Arc<str>]) -> Vec<u32> {
    let mut order: Vec<u32> =
        (0..tracks.len() as u32).filter(|&no| on_track.get(no as usize) == Some(&true)).collect();
    order.sort_by(|&a, &b| compare(&tracks[a as usize], &tracks[b as usize], texts));
    order
}

fn compare(a: &Track, b: &Track, texts: &[Arc<str>]) -> Ordering {
    let rank = |t: &Track| match t {
        Track::Thread { .. } => 0,
        Track::Counter { .. } => 1,
        Track::Async { .. } => 2,
    };
    let text = |id: TextId| texts.get(id as usize).map(|t| &**t);
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (Track::Thread { pid: p, tid: t }, Track::Thread { pid: q, tid: u }) => {
            compare_ids(*p, *q, texts).then_with(|| compare_ids(*t, *u, texts))
        }
        (Track::Counter { pid: p, name: n, id: i }, Track::Counter { pid: q, name: m, id: j })
        | (Track::Async { pid: p, cat: n, id: i }, Track::Async { pid: q, cat: m, id: j }) => {
            compare_ids(*p, *q, texts)
                .then_with(|| text(*n).cmp(&text(*m)))
                .then_with(|| text(*i).cmp(&text(*j)))
        }
        _ => Ordering::Equal,
    })
}

fn compare_ids(a: Id, b: Id, texts: &[Arc<str>]) -> Ordering {
    match (a, b) {
        (Id::Int(a), Id::Int(b)) => a.cmp(&b),
        (Id::Text(a), Id::Text(b)) => texts[a as usize].cmp(&texts[b as usize]),
        (Id::None, Id::None) => Ordering::Equal,
        (Id::Int(_), _) | (Id::Text(_), Id::None) => Ordering::Less,
        _ => Ordering::Greater,
    }
}

/// Returns the text of an id as the trace wrote it.
pub fn id_text(id: Id, texts: &[Arc<str>]) -> Option<String> {
    match id {
        Id::None => None,
        Id::Int(n) => Some(n.to_string()),
        Id::Text(t) => texts.get(t as usize).map(|t| t.to_string()),
    }
}

/// Returns an interned text; `None` for [`NO_TEXT`].
pub fn text_of(id: TextId, texts: &[Arc<str>]) -> Option<&str> {
    if id == NO_TEXT { None } else { texts.get(id as usize).map(|t| &**t) }
}
