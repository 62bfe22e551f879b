use proptest::prelude::*;

use super::{Builder, Counter, Event, Range, Track};

/// A track of events (start, duration, depth, parent), whose ids are their positions.
fn track(events: &[(i64, i64, u32, Option<u32>)]) -> Track {
    let mut builder = Builder::new();
    for (id, (start, duration, depth, parent)) in events.iter().enumerate() {
        builder.add(Event {
            id: id as u32,
            parent: *parent,
            depth: *depth,
            start: *start,
            end: start + duration,
            name: 7,
        });
    }
    builder.finish().expect("events in order")
}

fn lane_of(track: &Track, id: u32) -> Option<usize> {
    track.lanes.iter().position(|lane| lane.ids.contains(&id))
}

#[test]
fn without_overlaps_the_lane_is_the_depth() {
    let track = track(&[
        (0, 100, 0, None),
        (10, 50, 1, Some(0)),
        (20, 10, 2, Some(1)),
        (70, 10, 1, Some(0)),
    ]);
    let lanes: Vec<_> = (0..4).map(|id| lane_of(&track, id)).collect();
    assert_eq!(lanes, [Some(0), Some(1), Some(2), Some(1)]);
    assert_eq!(track.busy_ns(), 100);
}

#[test]
fn events_that_overlap_get_lanes_of_their_own_and_children_stay_below() {
    let track =
        track(&[(0, 100, 0, None), (50, 100, 0, None), (60, 10, 1, Some(1)), (120, 5, 1, Some(1))]);
    let lanes: Vec<_> = (0..4).map(|id| lane_of(&track, id)).collect();
    assert_eq!(lanes, [Some(0), Some(1), Some(2), Some(2)]);
    assert_eq!(track.busy_ns(), 150);
}

#[test]
fn events_out_of_order_are_refused() {
    let mut builder = Builder::new();
    let event = Event { id: 0, parent: None, depth: 0, start: 5, end: 6, name: 0 };
    builder.add(event);
    builder.add(Event { start: 4, ..event });
    assert_eq!(builder.finish(), None);
}

#[test]
fn what_reaches_into_the_picture_is_shown() {
    let track = track(&[
        (0, 1_000, 0, None),
        (100, 0, 1, Some(0)),
        (300, 2, 1, Some(0)),
        (310, 5, 1, Some(0)),
    ]);
    let shown = track.buckets(256, 512, 256);
    let ids: Vec<_> = shown.spans.iter().map(|b| (b.id, b.count)).collect();
    assert_eq!(ids, [(0, 1), (3, 2)]);
    assert!(shown.instants.is_empty());
    assert_eq!(track.buckets(0, 256, 256).instants.len(), 1);
    assert_eq!(track.find(3, 310), Some((1, 1)));
    assert_eq!(track.find(2, 310), None);
}

#[test]
fn a_counter_shows_its_extremes_and_the_value_that_holds() {
    let counter = Counter { times: vec![0, 10, 11, 12, 40], values: vec![5.0, 1.0, 9.0, 3.0, 4.0] };
    let range = |at, min, max, last| Range { at, min, max, last };
    assert_eq!(
        counter.ranges(8, 64, 16),
        [range(0, 5.0, 5.0, 5.0), range(10, 1.0, 9.0, 3.0), range(40, 4.0, 4.0, 4.0),]
    );
    assert_eq!(Counter::default().ranges(0, 10, 1), []);
}

#[test]
fn extreme_times_do_not_overflow() {
    let mut builder = Builder::new();
    let event = Event { id: 0, parent: None, depth: 0, start: i64::MIN / 2, end: 0, name: 0 };
    builder.add(event);
    builder.add(Event { id: 1, start: i64::MAX / 2, end: i64::MAX / 2 + 1, ..event });
    let track = builder.finish().expect("events in order");
    assert_eq!(track.buckets(i64::MIN / 2, i64::MAX, 1 << 62).spans.len(), 2);
}

proptest! {
    /// All events are somewhere, no lane overlaps, and buckets count each event that begins in the
    /// picture.
    #[test]
    fn lanes_hold_all_events_without_overlap(
        mut events in prop::collection::vec((0_i64..200, -1_i64..50), 0..60),
        window in (0_i64..200, 1_i64..100), step in 1_i64..40,
    ) {
        events.sort_by_key(|(start, duration)| (*start, -duration));
        let all: Vec<_> = events.iter().map(|(s, d)| (*s, *d, 0, None)).collect();
        let track = track(&all);
        prop_assert_eq!(track.events() + track.instants.len(), events.len());
        for lane in &track.lanes {
            for at in 1..lane.len() {
                prop_assert!(lane.ends[at - 1] <= lane.starts[at]);
            }
        }
        let (start, end) = (window.0, window.0 + window.1);
        let shown = track.buckets(start, end, step);
        let begins = |long: bool| events.iter()
            .filter(|(s, d)| (start..end).contains(s) && (*d > 0) == long).count();
        let count = |buckets: &[super::Bucket]| buckets.iter()
            .filter(|b| b.start >= start).map(|b| b.count as usize).sum::<usize>();
        prop_assert_eq!(count(&shown.spans), begins(true));
        prop_assert_eq!(count(&shown.instants), begins(false));
        let reaching = events.iter().filter(|(s, d)| *s < start && s + d > start).count();
        prop_assert_eq!(shown.spans.iter().filter(|b| b.start < start).count(), reaching);
        for bucket in shown.spans.iter().filter(|b| b.start >= start) {
            let lane = &track.lanes[bucket.lane as usize];
            let longest = (0..lane.len())
                .filter(|at| (start..end).contains(&lane.starts[*at]))
                .filter(|at| lane.starts[*at].div_euclid(step) == bucket.start.div_euclid(step))
                .map(|at| lane.ends[at] - lane.starts[at]).max();
            prop_assert_eq!(Some(bucket.end - bucket.start), longest);
        }
    }
}
