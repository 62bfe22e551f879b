//! Counters: events that are values of a counter, and values that other events carry.

use super::{EventWriter, Target};
use crate::error::Result;
use crate::issues::Code;
use crate::perfetto::sequence::Sequence;
use crate::perfetto::track_event::TrackEvent;
use crate::perfetto::tracks::{Counter, TrackTable};
use crate::trace::*;
use crate::typed::{JsonText, TypedElement, TypedElements};

/// A value of a counter.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Int(i64),
    Double(f64),
}

impl Number {
    fn double(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Double(value) => value,
        }
    }
}

impl EventWriter {
    /// Writes the value of a counter.
    pub(super) fn counter(
        &mut self,
        value: Option<Number>,
        target: &Target,
        (ts, at): (i64, u64),
        name: &str,
        elements: &mut TypedElements<'_>,
    ) -> Result<()> {
        let members = &mut self.members;
        members.clear();
        self.args.close(b'}');
        if self.args.len() > 2 {
            members.key("annotations");
            members.ready(self.args.bytes());
        }
        let mut args = JsonText::default();
        args.open(b'{');
        match value {
            Some(Number::Int(value)) => {
                args.key("value");
                args.int(value);
            }
            Some(Number::Double(value)) => {
                args.key("value");
                args.double(value);
            }
            None => {}
        }
        args.close(b'}');
        let own = elements.facts.tracks.get(&target.track).and_then(|facts| facts.name.clone());
        let shown = own.unwrap_or_else(|| name.to_owned());
        let cat =
            if self.category.is_empty() { NO_TEXT } else { elements.short_text(&self.category) };
        let e = TypedElement {
            ph: b'C',
            ts,
            track: target.track,
            name: if shown.is_empty() { NO_TEXT } else { elements.text(&shown) },
            long_name: &shown,
            cat,
            offset: at,
            args: args.bytes(),
            members: members.bytes(),
            ..TypedElement::default()
        };
        elements.push(e)?;
        Ok(())
    }

    /// Writes the extra counters of an event.
    pub(super) fn extra_counters(
        &mut self,
        event: &TrackEvent<'_>,
        sequence: &Sequence,
        no: usize,
        tracks: &mut TrackTable,
        (ts, at): (i64, u64),
        elements: &mut TypedElements<'_>,
    ) -> Result<()> {
        let or = |own: &[u64], default: &[u64]| {
            if own.is_empty() { default.to_vec() } else { own.to_vec() }
        };
        let ints = event.extra_values.iter().map(|value| Number::Int(*value));
        let doubles = event.extra_doubles.iter().map(|value| Number::Double(*value));
        if event.extra_values.is_empty() && event.extra_doubles.is_empty() {
            return Ok(());
        }
        let of_ints = or(&event.extra_tracks, &sequence.defaults.counters);
        let of_doubles = or(&event.extra_double_tracks, &sequence.defaults.double_counters);
        let ints = ints.enumerate().map(|(i, value)| (of_ints.get(i).copied(), value));
        let doubles = doubles.enumerate().map(|(i, value)| (of_doubles.get(i).copied(), value));
        for (uuid, value) in ints.chain(doubles) {
            let Some(uuid) = uuid else {
                elements.skip(Code::BadMessage, at, b"")?;
                continue;
            };
            let resolved = tracks.resolve(uuid, true, "", elements);
            let value = self.scaled(value, resolved.counter, (no, uuid), sequence.cleared);
            let target = Target {
                ph: b'C',
                dur: NO_TIME,
                track: resolved.track,
                pid: None,
                tid: None,
                stream: None,
                link: NO_LINK,
                flags: 0,
            };
            self.args.clear();
            self.args.open(b'{');
            self.category.clear();
            self.counter(Some(value), &target, (ts, at), "", elements)?;
        }
        Ok(())
    }

    pub(super) fn counter_value(
        &mut self,
        event: &TrackEvent<'_>,
        counter: Counter,
        key: (usize, u64),
        cleared: u64,
    ) -> Option<Number> {
        let value = match (event.counter, event.double_counter) {
            (Some(value), _) => Number::Int(value),
            (None, value) => Number::Double(value?),
        };
        Some(self.scaled(value, counter, key, cleared))
    }

    /// Multiplies a value, or adds it to the sum of its sequence and counter since the state of the
    /// sequence was `cleared` so many times.
    pub(super) fn scaled(
        &mut self,
        value: Number,
        counter: Counter,
        key: (usize, u64),
        cleared: u64,
    ) -> Number {
        let value = match value {
            value if counter.multiplier <= 1 => value,
            Number::Int(value) => match value.checked_mul(counter.multiplier) {
                Some(value) => Number::Int(value),
                None => Number::Double(value as f64 * counter.multiplier as f64),
            },
            Number::Double(value) => Number::Double(value * counter.multiplier as f64),
        };
        if !counter.is_incremental {
            return value;
        }
        let (since, sum) = self.sums.entry(key).or_insert((cleared, Number::Int(0)));
        if *since != cleared {
            (*since, *sum) = (cleared, Number::Int(0));
        }
        *sum = match (*sum, value) {
            (Number::Int(sum), Number::Int(value)) => match sum.checked_add(value) {
                Some(sum) => Number::Int(sum),
                None => Number::Double(sum as f64 + value as f64),
            },
            (sum, value) => Number::Double(sum.double() + value.double()),
        };
        *sum
    }
}
