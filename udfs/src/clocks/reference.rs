//! Steps of the reference: those that most of the clocks aligned with it show at the same time.

use super::align::{Job, Seen, Segment, UNKNOWN};
use super::fit::{between, unsure};
use super::line::{MIN_JUMP_NS, median_int};

/// A step of a clock against the reference.
#[derive(Debug, Clone, Copy)]
struct Step {
    clock: usize,
    /// The number of the segment after it.
    segment: usize,
    size: i64,
    /// Times of the reference as it was before the step, between which it lies.
    from: i64,
    to: i64,
}

impl Step {
    fn is_like(&self, other: &Self) -> bool {
        self.size.wrapping_sub(other.size).abs() as f64 <= MIN_JUMP_NS
            && self.from <= other.to
            && other.from <= self.to
    }
}

impl Job<'_> {
    /// Gives the first step that most clocks share to their reference. Returns whether there was
    /// one.
    pub(super) fn settle_reference(&mut self) -> bool {
        let references: Vec<usize> =
            (0..self.clocks.len()).filter(|&c| self.clocks[c].reference == c).collect();
        references.into_iter().any(|reference| self.settle(reference))
    }

    fn settle(&mut self, reference: usize) -> bool {
        let others: Vec<usize> = (0..self.clocks.len())
            .filter(|&c| c != reference && self.clocks[c].reference == reference)
            .collect();
        let mut steps: Vec<Step> = others.iter().flat_map(|&clock| self.steps(clock)).collect();
        steps.sort_by_key(|step| (step.to, step.clock));
        let shared = steps.iter().find_map(|step| {
            let alike: Vec<Step> = steps.iter().copied().filter(|s| s.is_like(step)).collect();
            let sees = |&&clock: &&usize| {
                let aligned = |&(at, side): &(i64, usize)| self.clocks[clock].aligned(at, side);
                let times: Vec<(i64, usize)> = self.sides(clock).collect();
                let before = times.iter().filter(|seen| aligned(seen) < step.from).count();
                let after = times.iter().filter(|seen| aligned(seen) > step.to).count();
                before > 1 && after > 1
            };
            let witnesses = others.iter().filter(sees).count().max(alike.len());
            // Of two clocks, the one whose times turn back has stepped.
            let is_shared = match others.len() {
                1 => self.others_turn[step.clock],
                _ => 2 * alike.len() > witnesses && alike.len() > 1,
            };
            is_shared.then_some(alike)
        });
        shared.is_some_and(|steps| self.give(reference, &steps))
    }

    /// Returns the steps of a clock.
    fn steps(&self, clock: usize) -> Vec<Step> {
        let own = &self.clocks[clock];
        let step = |segment: usize| {
            let size = own.segments[segment].offset.wrapping_sub(own.segments[segment - 1].offset);
            let of = |side: usize| self.sides(clock).filter(move |seen| seen.1 == side);
            let before = of(segment - 1).map(|seen| own.aligned(seen.0, segment - 1)).max()?;
            let after = of(segment).map(|seen| own.aligned(seen.0, segment - 1)).min()?;
            Some(Step { clock, segment, size, from: before.min(after), to: after.max(before) })
        };
        (1..own.segments.len()).filter_map(step).collect()
    }

    /// Takes a step from clocks and gives it to their reference.
    fn give(&mut self, reference: usize, steps: &[Step]) -> bool {
        let of = |clock: usize| steps.iter().find(|step| step.clock == clock);
        let size = median_int(&mut steps.iter().map(|step| step.size).collect::<Vec<_>>());
        // When an event was, had the reference not stepped.
        let own_before = self.clocks[reference].segments.len() - 1;
        let seen = self.seen[reference].clone();
        let unseen_from = steps.iter().map(|step| step.to).max().unwrap_or(0);
        let is_after = |&seen: &Seen| {
            let mut times: Vec<i64> = self
                .partners(seen)
                .filter(|(sight, side)| {
                    self.clocks[sight.clock].reference == reference && *side != UNKNOWN
                })
                .map(|(sight, side)| {
                    let step = of(sight.clock).filter(|step| step.segment == side);
                    let side = step.map_or(side, |step| step.segment - 1);
                    self.clocks[sight.clock].aligned(sight.at, side)
                })
                .collect();
            if times.is_empty() {
                return seen.at > unseen_from;
            }
            let ahead =
                self.clocks[reference].aligned(seen.at, own_before) - median_int(&mut times);
            ahead.wrapping_add(size).abs() < ahead.abs()
        };
        let sides: Vec<(i64, usize)> = self.sides(reference).collect();
        let sides: Vec<(i64, usize)> = sides
            .into_iter()
            .zip(&seen)
            .map(|((at, side), seen)| (at, if is_after(seen) { own_before + 1 } else { side }))
            .collect();
        let before = sides.iter().filter(|s| s.1 == own_before).map(|s| s.0).max();
        let after = sides.iter().filter(|s| s.1 > own_before).map(|s| s.0).min();
        let (Some(before), Some(after)) = (before, after) else { return false };
        self.set_sides(reference, &sides.iter().map(|side| side.1).collect::<Vec<_>>());
        let errors: Vec<i64> =
            steps.iter().map(|s| self.clocks[s.clock].segments[s.segment].error).collect();
        let last = self.clocks[reference].segments[own_before];
        self.clocks[reference].segments.push(Segment {
            from: between(before, after).max(last.from),
            unsure: unsure(before, after, -size),
            offset: last.offset.wrapping_sub(size),
            error: median_int(&mut errors.clone()),
            ..last
        });
        for step in steps {
            let segments = &mut self.clocks[step.clock].segments;
            segments.remove(step.segment);
            segments[step.segment..].iter_mut().for_each(|s| s.offset -= step.size);
            let sides: Vec<usize> = self
                .sides(step.clock)
                .map(
                    |(_, side)| {
                        if side >= step.segment && side != UNKNOWN { side - 1 } else { side }
                    },
                )
                .collect();
            self.set_sides(step.clock, &sides);
        }
        true
    }
}
