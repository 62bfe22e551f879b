//! The fields of a track event, and the classes of events that profilers of GPUs write.

use crate::trace::Class;
use crate::wire::{Fault, Fields};

/// A field of the older form of events.
#[derive(Debug, Default, Clone)]
pub struct Legacy<'a> {
    /// Number of the name.
    pub name_iid: u64,
    /// Phase; 0 if there is none.
    pub phase: u8,
    /// Duration, µs.
    pub duration_us: i64,
    /// Id of an async event or flow: for all processes, of its process, or not said.
    pub unscoped_id: Option<u64>,
    pub local_id: Option<u64>,
    pub global_id: Option<u64>,
    /// Scope of the id.
    pub id_scope: Option<&'a [u8]>,
    /// Id of a flow.
    pub bind_id: Option<u64>,
    /// Whether a flow ends at the enclosing event.
    pub binds_enclosing: bool,
    /// 1: the flow ends, 2: it starts, 3: both.
    pub flow_direction: u64,
    /// 1: global, 2: process, 3: thread.
    pub instant_scope: u64,
    /// Process and thread in place of those of the sequence.
    pub pid: Option<i64>,
    pub tid: Option<i64>,
}

/// A track event.
#[derive(Debug, Default, Clone)]
pub struct TrackEvent<'a> {
    /// 1: begin, 2: end, 3: instant, 4: counter, 5: state.
    pub kind: u64,
    /// Track.
    pub track: Option<u64>,
    /// Numbers of categories.
    pub category_iids: Vec<u64>,
    /// Categories.
    pub categories: Vec<&'a [u8]>,
    /// Number of the name.
    pub name_iid: u64,
    /// Name.
    pub name: Option<&'a [u8]>,
    /// Value of a counter.
    pub counter: Option<i64>,
    pub double_counter: Option<f64>,
    /// Values of other counters at the same time, and their tracks.
    pub extra_tracks: Vec<u64>,
    pub extra_values: Vec<i64>,
    pub extra_double_tracks: Vec<u64>,
    pub extra_doubles: Vec<f64>,
    /// Flows that pass through the event, and those that end there.
    pub flows: Vec<u64>,
    pub last_flows: Vec<u64>,
    /// Times of their own, in place of that of the packet.
    pub time_delta_us: Option<i64>,
    pub time_us: Option<i64>,
    /// Annotations, and their positions.
    pub annotations: Vec<&'a [u8]>,
    /// Older form.
    pub legacy: Option<Legacy<'a>>,
    /// Id that correlates events: a number, a text, or the number of one.
    pub correlation: Option<u64>,
    pub correlation_text: Option<&'a [u8]>,
    pub correlation_iid: Option<u64>,
    /// Call stack: the message, or its number.
    pub stack: Option<&'a [u8]>,
    pub stack_iid: Option<u64>,
    /// Place in source code: the message, or its number.
    pub location: Option<&'a [u8]>,
    pub location_iid: Option<u64>,
    /// A log message.
    pub log: Option<&'a [u8]>,
    /// Field numbers that are not read.
    pub unknown: Vec<u32>,
}

impl<'a> TrackEvent<'a> {
    /// Reads an event, in place of the one that was read before.
    pub fn read(&mut self, bytes: &'a [u8]) -> Result<(), Fault> {
        let mut fields = Fields::of(bytes);
        let mut old_flows = (Vec::new(), Vec::new());
        while let Some(field) = fields.next()? {
            match field.number {
                1 => self.time_delta_us = Some(field.int()?),
                3 => field.each_uint(|iid| self.category_iids.push(iid))?,
                4 => self.annotations.push(field.bytes()?),
                6 => {
                    let legacy = Legacy::read(field.bytes()?);
                    self.legacy = Some(legacy.map_err(|f| f.within(field.start()))?);
                }
                9 => self.kind = field.uint()?,
                10 => self.name_iid = field.uint()?,
                11 => self.track = Some(field.uint()?),
                12 => field.each_uint(|value| self.extra_values.push(value as i64))?,
                16 => self.time_us = Some(field.int()?),
                21 => self.log = Some(field.bytes()?),
                22 => self.categories.push(field.bytes()?),
                23 => self.name = Some(field.bytes()?),
                30 => self.counter = Some(field.int()?),
                31 => field.each_uint(|uuid| self.extra_tracks.push(uuid))?,
                33 => self.location = Some(field.bytes()?),
                34 => self.location_iid = Some(field.uint()?),
                36 => field.each_uint(|id| old_flows.0.push(id))?,
                42 => field.each_uint(|id| old_flows.1.push(id))?,
                44 => self.double_counter = Some(field.double()?),
                45 => field.each_uint(|uuid| self.extra_double_tracks.push(uuid))?,
                46 => field.each_fixed64(|v| self.extra_doubles.push(f64::from_bits(v)))?,
                47 => field.each_fixed64(|id| self.flows.push(id))?,
                48 => field.each_fixed64(|id| self.last_flows.push(id))?,
                52 => self.correlation = Some(field.uint()?),
                53 => self.correlation_text = Some(field.bytes()?),
                54 => self.correlation_iid = Some(field.uint()?),
                55 => self.stack = Some(field.bytes()?),
                56 => self.stack_iid = Some(field.uint()?),
                other => self.unknown.push(other),
            }
        }
        // The older fields count only where the newer ones are missing.
        if self.flows.is_empty() {
            self.flows = old_flows.0;
        }
        if self.last_flows.is_empty() {
            self.last_flows = old_flows.1;
        }
        Ok(())
    }

    /// Returns the phase of the Chrome trace format, or `None` if the event states none.
    pub fn phase(&self) -> Option<u8> {
        if let Some(legacy) = &self.legacy
            && legacy.phase != 0
        {
            return Some(legacy.phase);
        }
        match self.kind {
            1 => Some(b'B'),
            2 => Some(b'E'),
            3 => Some(b'i'),
            4 => Some(b'C'),
            _ => None,
        }
    }
}

impl<'a> Legacy<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut legacy = Self::default();
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => legacy.name_iid = field.uint()?,
                2 => legacy.phase = u8::try_from(field.uint()?).unwrap_or(0),
                3 => legacy.duration_us = field.int()?,
                6 => legacy.unscoped_id = Some(field.uint()?),
                7 => legacy.id_scope = Some(field.bytes()?),
                8 => legacy.bind_id = Some(field.uint()?),
                10 => legacy.local_id = Some(field.uint()?),
                11 => legacy.global_id = Some(field.uint()?),
                12 => legacy.binds_enclosing = field.uint()? != 0,
                13 => legacy.flow_direction = field.uint()?,
                14 => legacy.instant_scope = field.uint()?,
                18 => legacy.pid = Some(i64::from(field.int()? as i32)),
                19 => legacy.tid = Some(i64::from(field.int()? as i32)),
                _ => {}
            }
        }
        Ok(legacy)
    }

    /// Returns the id of an async event or flow.
    pub fn id(&self) -> Option<u64> {
        self.unscoped_id.or(self.global_id).or(self.local_id)
    }
}

/// The category that our tables use for a category of rocprofv3 or rocprof-sys, and the class of
/// its events.
pub fn gpu_category(category: &str, name: &str) -> Option<(&'static str, Class)> {
    let call = || Class::of(b"cuda_runtime", name.as_bytes(), b'X');
    match category.strip_prefix("rocm_").unwrap_or(category) {
        "kernel_dispatch" => Some(("kernel", Class::Kernel)),
        "memory_copy" => Some(("gpu_memcpy", Class::Memcpy)),
        "hip_api" | "hip_runtime_api" => Some(("cuda_runtime", call())),
        "marker_api" => Some(("user_annotation", Class::Other)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_fields_of_flows_count_more() {
        let mut both = TrackEvent::default();
        both.read(b"\xa0\x02\x05\xf9\x02\x07\0\0\0\0\0\0\0").expect("an event");
        assert_eq!(both.flows, [7]);
        let mut old = TrackEvent::default();
        old.read(b"\xa0\x02\x05").expect("an event");
        assert_eq!(old.flows, [5]);
    }

    #[test]
    fn the_older_phase_counts_more_than_the_type() {
        let mut event = TrackEvent::default();
        event.read(b"\x48\x01\x32\x02\x10\x58").expect("an event");
        assert_eq!(event.phase(), Some(b'X'));
        let mut event = TrackEvent::default();
        event.read(b"\x48\x05").expect("an event");
        assert_eq!((event.kind, event.phase()), (5, None));
    }
}
