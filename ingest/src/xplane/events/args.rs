//! The args of an event.

use super::LineReader;
use super::event::{Event, Values};
use crate::issues::Code;
use crate::trace::Class;
use crate::typed::TypedElements;
use crate::xplane::details::{KernelDetails, copied_bytes};
use crate::xplane::lines::LineKind;
use crate::xplane::metadata::EventName;
use crate::xplane::stats::{Stat, StatValue};

/// A value that is derived from the values of an event.
enum Derived<'a> {
    Int(Option<i64>),
    Text(&'a str),
    Sizes([i64; 3]),
}

impl LineReader<'_> {
    /// Writes the args: the values of the event, those of its name, and those from which columns
    /// are filled.
    pub(super) fn args(
        &mut self,
        event: &Event<'_>,
        entry: Option<&EventName>,
        values: &Values<'_>,
        class: Class,
        at: u64,
        elements: &mut TypedElements<'_>,
    ) {
        let (plane, names, out) = (self.plane, &self.names, &mut self.args);
        out.clear();
        out.open(b'{');
        let is_complete = plane.stats.members(&event.stats, names, out, |_, _| {});
        if let Some(entry) = entry {
            let present = |name: u32| names.iter().flatten().any(|own| own.same == name);
            plane.names.write(entry, present, out);
        }
        let own =
            |key: &str| values.has_derived && names.iter().flatten().any(|name| *name.name == *key);
        let mut put = |key: &str, value: Derived<'_>| {
            if own(key) {
                return;
            }
            match value {
                Derived::Int(None) => {}
                Derived::Int(Some(value)) => {
                    out.key(key);
                    out.int(value);
                }
                Derived::Text(value) => {
                    out.key(key);
                    out.text(value);
                }
                Derived::Sizes(sizes) => {
                    out.key(key);
                    out.open(b'[');
                    sizes.iter().for_each(|n| out.int(*n));
                    out.close(b']');
                }
            }
        };
        if class.is_launch() || class.is_device() {
            put("correlation", Derived::Int(values.correlation));
        }
        put("External id", Derived::Int(values.run_id));
        if class.is_device() {
            put("device", Derived::Int(plane.kind.device()));
            if let LineKind::Stream(stream) = self.kind {
                put("stream", Derived::Int(stream));
            }
        }
        if class == Class::Memory {
            let (kind, device) = memory_device(values.allocator, values.device_index);
            let is_free = entry.is_some_and(|entry| *entry.text == *"MemoryDeallocation");
            let sign = if is_free { -1 } else { 1 };
            let bytes = values.allocation_bytes.and_then(|n| n.checked_mul(sign));
            put("Action", Derived::Text(if is_free { "free" } else { "alloc" }));
            for (key, value) in [
                ("Bytes", bytes),
                ("Addr", values.addr),
                ("Device Type", kind),
                ("Device Id", device),
                ("Total Allocated", values.bytes_allocated),
            ] {
                put(key, Derived::Int(value));
            }
        }
        let mut is_odd = false;
        if let Some(details) = values.kernel.filter(|_| class.is_device()) {
            let details = KernelDetails::read(details);
            is_odd = details.is_odd;
            put("registers per thread", Derived::Int(details.registers));
            put("shared memory", Derived::Int(details.shared_memory));
            for (key, sizes) in [("grid", details.grid), ("block", details.block)] {
                if let Some(sizes) = sizes {
                    put(key, Derived::Sizes(sizes));
                }
            }
        } else if let Some(details) = values.copy.or(values.fill).filter(|_| class.is_device()) {
            put("bytes", Derived::Int(copied_bytes(details)));
        }
        if self.kind != LineKind::Counters {
            // Times that are not on whole nanoseconds are kept exactly.
            if event.offset_ps.rem_euclid(1000) != 0 && !own("start_ps") {
                out.key("start_ps");
                out.wide(i128::from(self.timestamp_ns) * 1000 + i128::from(event.offset_ps));
            }
            if event.duration_ps.rem_euclid(1000) != 0 && !own("dur_ps") {
                out.key("dur_ps");
                out.int(event.duration_ps);
            }
        }
        out.close(b'}');
        if is_odd {
            elements.issue(Code::KernelDetails, at, values.kernel.unwrap_or("").as_bytes());
        }
        if !is_complete {
            elements.issue(Code::MissingEntry, at, b"");
        }
        let is_invalid = |stat: &Stat<'_>| match stat.value {
            StatValue::Text(bytes) => std::str::from_utf8(bytes).is_err(),
            _ => false,
        };
        if event.stats.iter().any(is_invalid) {
            elements.issue(Code::InvalidUtf8, at, b"");
        }
    }
}

/// Returns the type and number of the device whose memory an allocator manages. The types are those
/// of PyTorch: 0 for the host, 1 for GPUs, 9 for devices of XLA. A TPU has no allocator with a name,
/// but a number (`index`).
fn memory_device(allocator: Option<&str>, index: Option<i64>) -> (Option<i64>, Option<i64>) {
    let Some(name) = allocator else { return (index.map(|_| 9), index) };
    if let Some(rest) = name.strip_prefix("GPU_") {
        let digits = rest.split('_').next().unwrap_or_default();
        return (Some(1), digits.parse().ok());
    }
    let lower = name.to_ascii_lowercase();
    (["cpu", "host"].iter().any(|word| lower.contains(word)).then_some(0), None)
}
