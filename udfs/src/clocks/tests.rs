//! Sequences and clocks that are made with a known shift, offset, drift and step.

use super::align::{Aligned, Sight, align};
use super::sequence::shifts;

/// Numbers that look random and are always the same.
fn noise(seed: u64, at: u64, below: u64) -> i64 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ at.wrapping_mul(0xD1B5_4A32_D192_ED03);
    x ^= x >> 29;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 32;
    (x % below) as i64
}

/// Times of events: irregular, as calls of a training step are.
fn times(count: u64) -> Vec<i64> {
    let mut now = 0;
    let mut next = |at| {
        now += 100_000 + noise(7, at, 400_000);
        now
    };
    (0..count).map(&mut next).collect()
}

#[test]
fn a_recording_that_begins_later_is_shifted() {
    let all = times(40);
    let late: Vec<i64> = all[13..]
        .iter()
        .enumerate()
        .map(|(i, t)| t + 86_400_000_000_000 + noise(1, i as u64, 900))
        .collect();
    let cut = all[..31].to_vec();
    assert_eq!(shifts(&[all, late, cut]), [Some(0), Some(13), Some(0)]);
}

#[test]
fn recordings_that_overlap_in_part_are_shifted_either_way() {
    let all = times(60);
    let (early, late) = (all[..30].to_vec(), all[14..54].to_vec());
    assert_eq!(shifts(&[early.clone(), late.clone()]), [Some(-14), Some(0)]);
    assert_eq!(shifts(&[all[..40].to_vec(), all[20..59].to_vec()]), [Some(0), Some(20)]);
}

#[test]
fn a_shift_that_is_not_clear_is_none() {
    let even: Vec<i64> = (0..20).map(|at| at * 1_000_000).collect();
    let fewer: Vec<i64> = (0..15).map(|at| at * 1_000_000 + noise(3, at as u64, 500)).collect();
    assert_eq!(shifts(&[even.clone(), fewer]), [Some(0), None]);
    let as_many: Vec<i64> = even.iter().map(|at| at + 5_000).collect();
    assert_eq!(shifts(&[even, as_many]), [Some(0), Some(0)]);
    assert_eq!(shifts(&[vec![1, 2], vec![9]]), [Some(0), None]);
}

#[test]
fn a_step_of_a_clock_does_not_hide_the_shift() {
    let all = times(50);
    let mut late = all[9..].to_vec();
    late[20..].iter_mut().for_each(|t| *t += 1_500_000);
    assert_eq!(shifts(&[all, late]), [Some(0), Some(9)]);
}

#[test]
fn offset_drift_and_step_are_found() {
    let day = 86_400_000_000_000_i64;
    let events: Vec<Vec<Sight>> = times(400)
        .into_iter()
        .enumerate()
        .map(|(i, t)| {
            let jitter = |clock| noise(clock, i as u64, 600);
            let step = if t > 60_000_000 { 1_500_000 } else { 0 };
            let drifted = (t as f64 * 40e-6).round() as i64;
            vec![
                Sight { clock: 0, at: t + jitter(0) },
                Sight { clock: 1, at: t + 3 * day + drifted + jitter(1) },
                Sight { clock: 2, at: t - 5_000_000 + step + jitter(2) },
            ]
        })
        .collect();
    let Aligned { clocks, .. } = align(4, &events);
    let error = |clock: usize, at: i64, truth: i64| {
        (clocks[clock].aligned(at, clocks[clock].segment(at)) - truth).abs()
    };
    for t in [1_000_000, 30_000_000, 100_000_000] {
        let drifted = (t as f64 * 40e-6).round() as i64;
        let step = if t > 60_000_000 { 1_500_000 } else { 0 };
        assert!(error(1, t + 3 * day + drifted, t) < 200, "{t}: {:?}", clocks[1]);
        assert!(error(2, t - 5_000_000 + step, t) < 200, "{t}: {:?}", clocks[2]);
    }
    assert_eq!(clocks.iter().map(|c| c.segments.len()).collect::<Vec<_>>(), [1, 1, 2, 1]);
    assert!((clocks[1].segments[0].drift * 1e6 - 40.0).abs() < 2.0);
    assert!((clocks[2].segments[1].from - 55_750_000).abs() < 800_000, "{:?}", clocks[2]);
    // A clock without common events is its own reference.
    assert_eq!(clocks.iter().map(|c| c.reference).collect::<Vec<_>>(), [0, 0, 0, 3]);
}

#[test]
fn clocks_that_meet_in_pairs_only_are_aligned_along_the_chain() {
    let offsets = [0, 700_000, -9_000_000, 123_456, 1_000];
    let events: Vec<Vec<Sight>> = times(400)
        .into_iter()
        .enumerate()
        .map(|(i, t)| {
            let pair = [i % 4, i % 4 + 1];
            pair.map(|clock| Sight {
                clock,
                at: t + offsets[clock] + noise(clock as u64, i as u64, 600),
            })
            .to_vec()
        })
        .collect();
    let Aligned { clocks, .. } = align(5, &events);
    for (clock, offset) in offsets.into_iter().enumerate() {
        let found = clocks[clock].segments[0];
        assert!((found.offset - offset).abs() <= 300, "{clock}: {found:?}");
    }
    assert!(clocks[4].segments[0].error > clocks[1].segments[0].error);
}

#[test]
fn a_step_is_that_of_the_clock_that_all_others_see_step() {
    // Clocks 1 and 2 meet most often, so each is fitted to the other first of all.
    let events: Vec<Vec<Sight>> = times(300)
        .into_iter()
        .enumerate()
        .map(|(i, t)| {
            let step = if t > 45_000_000 { -800_000 } else { 0 };
            let sight = |clock: usize| Sight {
                clock,
                at: t + noise(clock as u64, i as u64, 600) + if clock == 1 { step } else { 0 },
            };
            let members: &[usize] = match i % 10 {
                0 => &[0, 1],
                1 | 2 => &[0, 2],
                3 => &[0, 1, 2, 3],
                4 => &[0, 3],
                _ => &[1, 2],
            };
            members.iter().copied().map(sight).collect()
        })
        .collect();
    let Aligned { clocks, .. } = align(4, &events);
    let segments: Vec<usize> = clocks.iter().map(|clock| clock.segments.len()).collect();
    assert_eq!(segments, [1, 2, 1, 1], "{clocks:?}");
    let change = clocks[1].segments[1].offset - clocks[1].segments[0].offset;
    assert!((change + 800_000).abs() < 500, "{change}");
}

#[test]
fn steps_that_repeat_almost_exactly_are_told_apart() {
    // Four steps of 16 events each; the later recording has the last one only. Events of a step are
    // as far apart as those of the others, within 5 µs.
    let mut all = Vec::new();
    let mut now = 0;
    for at in 0..64_u64 {
        now += 200_000 + 40_000 * (at as i64 % 16) + noise(5, at, 5_000);
        all.push(now);
    }
    let late: Vec<i64> =
        all[48..].iter().enumerate().map(|(i, t)| t - 77 + noise(2, i as u64, 900)).collect();
    assert_eq!(shifts(&[all, late]), [Some(0), Some(48)]);
}
