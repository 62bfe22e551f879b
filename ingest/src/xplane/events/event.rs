//! The fields and values of an event.

use crate::wire::UnknownField;
use crate::wire::{Fault, Fields};
use crate::xplane::stats::{Slot, Stat, StatName, StatNames, StatValue};

/// An event as it is written.
pub(super) struct Event<'a> {
    pub(super) name: i64,
    pub(super) offset_ps: i64,
    pub(super) duration_ps: i64,
    pub(super) occurrences: Option<i64>,
    pub(super) stats: Vec<Stat<'a>>,
}

/// Values of an event that links and columns need.
#[derive(Default)]
pub(super) struct Values<'a> {
    pub(super) correlation: Option<i64>,
    pub(super) run_id: Option<i64>,
    pub(super) step: Option<i64>,
    pub(super) is_root: bool,
    pub(super) producer: Option<i64>,
    pub(super) producer_type: i64,
    pub(super) consumer: Option<i64>,
    pub(super) consumer_type: i64,
    pub(super) flow: Option<u64>,
    pub(super) kernel: Option<&'a str>,
    pub(super) copy: Option<&'a str>,
    pub(super) fill: Option<&'a str>,
    pub(super) counter: Option<StatValue<'a>>,
    pub(super) allocator: Option<&'a str>,
    pub(super) addr: Option<i64>,
    pub(super) allocation_bytes: Option<i64>,
    pub(super) bytes_allocated: Option<i64>,
    pub(super) device_index: Option<i64>,
    /// Whether a name that args use for derived values occurs.
    pub(super) has_derived: bool,
}

impl<'a> Event<'a> {
    pub(super) fn read(
        bytes: &'a [u8],
        stats: Vec<Stat<'a>>,
        unknown: &mut Vec<UnknownField>,
    ) -> Result<Self, Fault> {
        let mut event = Self { name: 0, offset_ps: 0, duration_ps: 0, occurrences: None, stats };
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => event.name = field.int()?,
                2 => event.offset_ps = field.int()?,
                3 => event.duration_ps = field.int()?,
                4 => {
                    let stat = Stat::read(field.bytes()?, unknown);
                    event.stats.push(stat.map_err(|f| f.within(field.start()))?);
                }
                5 => event.occurrences = Some(field.int()?),
                other => unknown.push(("events", other)),
            }
        }
        Ok(event)
    }
}

/// Finds the values that links and columns need.
pub(super) fn values<'e>(
    names: &'e StatNames,
    own: &[Option<&StatName>],
    event: &Event<'e>,
) -> Values<'e> {
    let mut v = Values::default();
    for (stat, name) in event.stats.iter().zip(own) {
        let Some(name) = name else { continue };
        match name.slot {
            Slot::Other | Slot::HloCategory => {}
            Slot::Correlation => v.correlation = stat.int(),
            Slot::RunId => v.run_id = stat.int(),
            Slot::StepNum => v.step = stat.int(),
            Slot::Root => v.is_root = true,
            Slot::Producer => v.producer = bits(stat),
            Slot::ProducerType => v.producer_type = bits(stat).unwrap_or(0),
            Slot::Consumer => v.consumer = bits(stat),
            Slot::ConsumerType => v.consumer_type = bits(stat).unwrap_or(0),
            Slot::Flow => v.flow = bits(stat).map(|id| id as u64),
            Slot::KernelDetails => v.kernel = names.text_of(&stat.value),
            Slot::MemcpyDetails => v.copy = names.text_of(&stat.value),
            Slot::MemsetDetails => v.fill = names.text_of(&stat.value),
            Slot::CounterValue => v.counter = Some(stat.value),
            Slot::Allocator => v.allocator = names.text_of(&stat.value),
            Slot::Addr => v.addr = bits(stat),
            Slot::AllocationBytes => v.allocation_bytes = stat.int(),
            Slot::BytesAllocated => v.bytes_allocated = stat.int(),
            Slot::DeviceIndex => v.device_index = stat.int(),
            Slot::Derived => v.has_derived = true,
        }
    }
    v
}

/// Returns the 64 bits of an integer.
fn bits(stat: &Stat<'_>) -> Option<i64> {
    match stat.value {
        StatValue::Int(value) => Some(value),
        StatValue::Uint(value) => Some(value as i64),
        _ => None,
    }
}

/// Returns the memory of a list for another use.
pub(super) fn emptied(mut stats: Vec<Stat<'_>>) -> Vec<Stat<'static>> {
    stats.clear();
    stats.into_iter().map(|_| Stat { id: 0, value: StatValue::None }).collect()
}
