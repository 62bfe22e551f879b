//! The events that a picture of several tracks shows. Lanes are independent of each other, so that a
//! large picture is made by several threads.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tracesql_udfs::lanes::{Buckets, Spans, Track as Lanes};

use super::MAX_BUCKETS;

/// Fewer events than this are read faster than a thread starts.
const EVENTS_OF_A_THREAD: usize = 50_000;

/// One lane of the picture.
struct Part<'t> {
    track: usize,
    /// `None` for the events without a duration.
    lane: Option<u32>,
    spans: &'t Spans,
    events: usize,
}

/// What each of some tracks shows from `start` to `end` with columns of `step` nanoseconds; `None`
/// if that is more than [`MAX_BUCKETS`].
pub fn pictures(tracks: &[&Lanes], window: &Range<i64>, step: i64) -> Option<Vec<Buckets>> {
    let parts = parts_of(tracks, window);
    let events: usize = parts.iter().map(|part| part.events).sum();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let workers = cores.min(events.div_ceil(EVENTS_OF_A_THREAD)).min(parts.len()).max(1);
    let (next, buckets) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut made = Vec::new();
        // A part is taken by one thread, whatever the order in which they see the number.
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut shown = Vec::new();
            part.spans.add_buckets(&mut shown, part.lane.unwrap_or(0), window.clone(), step);
            if buckets.fetch_add(shown.len(), Ordering::Relaxed) + shown.len() > MAX_BUCKETS {
                break;
            }
            made.push((part, shown));
        }
        made
    };
    let mut made = thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut made = work();
        for other in others {
            // A thread that panicked has said so; its panic goes on here.
            made.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        made
    });
    if buckets.into_inner() > MAX_BUCKETS {
        return None;
    }
    made.sort_unstable_by_key(|(part, _)| (part.track, part.lane));
    let mut pictures = vec![Buckets::default(); tracks.len()];
    for (part, shown) in made {
        let picture = &mut pictures[part.track];
        match part.lane {
            Some(_) => picture.spans.extend(shown),
            None => picture.instants = shown,
        }
    }
    Some(pictures)
}

/// The lanes of all tracks, those with the most events first, so that the last ones end together.
fn parts_of<'t>(tracks: &[&'t Lanes], window: &Range<i64>) -> Vec<Part<'t>> {
    let mut parts = Vec::new();
    for (track, lanes) in tracks.iter().enumerate() {
        let numbered = lanes.lanes.iter().zip(0..).map(|(spans, lane)| (Some(lane), spans));
        for (lane, spans) in numbered.chain([(None, &lanes.instants)]) {
            parts.push(Part { track, lane, spans, events: spans.within(window).len() });
        }
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.events));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(lanes: usize, events: i64) -> Lanes {
        let spans = |lane: i64| Spans {
            starts: (0..events).map(|at| 10 * at + lane).collect(),
            ends: (0..events).map(|at| 10 * at + lane + 1 + at % 7).collect(),
            ids: (0..events as u32).collect(),
            names: vec![0; events as usize],
        };
        Lanes { lanes: (0..lanes as i64).map(spans).collect(), instants: spans(0) }
    }

    #[test]
    fn threads_show_what_one_shows() {
        let tracks = [track(3, 40_000), track(0, 0), track(5, 20_000), track(1, 10)];
        let tracks: Vec<&Lanes> = tracks.iter().collect();
        for (window, step) in [(0..400_000, 64), (1_003..150_000, 256), (5..6, 1), (9..9, 8)] {
            let alone: Vec<Buckets> =
                tracks.iter().map(|t| t.buckets(window.start, window.end, step)).collect();
            assert_eq!(pictures(&tracks, &window, step), Some(alone), "{window:?}");
        }
    }

    #[test]
    fn pictures_have_a_limit() {
        let large = track(30, 40_000);
        assert_eq!(pictures(&[&large], &(0..400_000), 1), None);
    }
}
