//! The values of events, lines and planes (`XStat`): a number that names the value, and the value.

use rustc_hash::FxHashMap;

use crate::typed::JsonText;
use crate::wire::UnknownField;
use crate::wire::{Fault, Fields, text};

/// Maximum number of bytes of a value of bytes that are kept.
const MAX_BYTES: usize = 1 << 20;
/// Maximum number of values that are compared pair by pair.
const MAX_PAIRS: usize = 24;

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StatValue<'a> {
    /// No value was written.
    None,
    /// A double.
    Double(f64),
    /// An unsigned number.
    Uint(u64),
    /// A signed number.
    Int(i64),
    /// A text.
    Text(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
    /// The number of a name in the plane's table, whose text is the value.
    Ref(i64),
}

/// A named value.
#[derive(Debug, Clone, Copy)]
pub struct Stat<'a> {
    /// The number of its name.
    pub id: i64,
    /// The value.
    pub value: StatValue<'a>,
}

impl<'a> Stat<'a> {
    /// Reads a value. Adds the fields that are not known to `unknown`.
    #[inline]
    pub fn read(bytes: &'a [u8], unknown: &mut Vec<UnknownField>) -> Result<Self, Fault> {
        let mut stat = Self { id: 0, value: StatValue::None };
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => stat.id = field.int()?,
                2 => stat.value = StatValue::Double(field.double()?),
                3 => stat.value = StatValue::Uint(field.uint()?),
                4 => stat.value = StatValue::Int(field.int()?),
                5 => stat.value = StatValue::Text(field.bytes()?),
                6 | 8 => stat.value = StatValue::Bytes(field.bytes()?),
                7 => stat.value = StatValue::Ref(field.int()?),
                other => unknown.push(("values", other)),
            }
        }
        Ok(stat)
    }

    /// Returns the value if it is an integer of 64 bits.
    pub fn int(&self) -> Option<i64> {
        match self.value {
            StatValue::Int(value) => Some(value),
            StatValue::Uint(value) => i64::try_from(value).ok(),
            _ => None,
        }
    }
}

/// Values that columns and links need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Any other value.
    Other,
    Correlation,
    RunId,
    StepNum,
    Root,
    Producer,
    ProducerType,
    Consumer,
    ConsumerType,
    Flow,
    KernelDetails,
    MemcpyDetails,
    MemsetDetails,
    HloCategory,
    CounterValue,
    Allocator,
    Addr,
    AllocationBytes,
    BytesAllocated,
    DeviceIndex,
    /// A name that args use for a value that is derived here.
    Derived,
}

/// Names of derived values in args. They are those of the PyTorch profiler, from which columns are
/// filled.
pub const DERIVED: &[&str] = &[
    "correlation",
    "External id",
    "device",
    "stream",
    "grid",
    "block",
    "registers per thread",
    "shared memory",
    "bytes",
    "Bytes",
    "Action",
    "Addr",
    "Device Type",
    "Device Id",
    "Total Allocated",
    "Total Reserved",
    "start_ps",
    "dur_ps",
    "long_name",
    "value",
];

impl Slot {
    fn of(name: &str) -> Self {
        match name {
            "correlation_id" => Self::Correlation,
            "run_id" => Self::RunId,
            "step_num" => Self::StepNum,
            "_r" => Self::Root,
            "_p" => Self::Producer,
            "_pt" => Self::ProducerType,
            "_c" => Self::Consumer,
            "_ct" => Self::ConsumerType,
            "flow" => Self::Flow,
            "kernel_details" => Self::KernelDetails,
            "memcpy_details" => Self::MemcpyDetails,
            "memset_details" => Self::MemsetDetails,
            "hlo_category" => Self::HloCategory,
            "counter_value" => Self::CounterValue,
            "allocator_name" => Self::Allocator,
            "addr" => Self::Addr,
            "allocation_bytes" => Self::AllocationBytes,
            "bytes_allocated" => Self::BytesAllocated,
            "index_on_host" => Self::DeviceIndex,
            name if DERIVED.contains(&name) => Self::Derived,
            _ => Self::Other,
        }
    }
}

/// A name of values.
#[derive(Debug)]
pub struct StatName {
    /// The name.
    pub name: Box<str>,
    /// The name as JSON, with quotes.
    pub json: Box<[u8]>,
    /// A number that equal names share.
    pub same: u32,
    /// The use of the value.
    pub slot: Slot,
}

/// The names of a plane's values, by number.
#[derive(Debug, Default)]
pub struct StatNames {
    names: FxHashMap<i64, StatName>,
    by_name: FxHashMap<Box<str>, u32>,
    /// Approximate memory, bytes.
    pub memory: usize,
}

impl StatNames {
    /// Adds a name from an entry of the table: its key, and a message with the number and the name.
    pub fn add(&mut self, entry: &[u8]) -> Result<(), Fault> {
        let (mut key, mut name) = (0, None);
        let mut fields = Fields::of(entry);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => key = field.int()?,
                2 => {
                    let start = field.start();
                    let mut fields = Fields::of(field.bytes()?);
                    while let Some(field) = fields.next().map_err(|f| f.within(start))? {
                        match field.number {
                            1 if key == 0 => key = field.int().map_err(|f| f.within(start))?,
                            2 => name = Some(field.bytes().map_err(|f| f.within(start))?),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        let name = text(name.unwrap_or_default());
        let mut json = JsonText::default();
        json.text(&name);
        let next = self.by_name.len() as u32;
        let same = *self.by_name.entry(name.as_ref().into()).or_insert(next);
        self.memory += 2 * name.len() + 160;
        let json = json.bytes().into();
        self.names.insert(key, StatName { slot: Slot::of(&name), name: name.into(), json, same });
        Ok(())
    }

    /// Returns a name by its number.
    #[inline]
    pub fn get(&self, id: i64) -> Option<&StatName> {
        self.names.get(&id)
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the text of a value, if it is a text or the number of one.
    pub fn text_of<'s>(&'s self, value: &StatValue<'s>) -> Option<&'s str> {
        match value {
            StatValue::Text(bytes) => std::str::from_utf8(bytes).ok(),
            StatValue::Ref(id) => self.get(*id).map(|name| &*name.name),
            _ => None,
        }
    }

    /// Writes a value as JSON. Returns whether it was complete: a text that is not defined becomes
    /// null, and more than 1 MiB of bytes become their number.
    #[inline]
    pub fn write(&self, value: &StatValue<'_>, out: &mut JsonText) -> bool {
        match *value {
            StatValue::None => out.ready(b"null"),
            StatValue::Double(value) => out.double(value),
            StatValue::Uint(value) => out.uint(value),
            StatValue::Int(value) => out.int(value),
            StatValue::Text(bytes) => out.text(&text(bytes)),
            StatValue::Bytes(bytes) if bytes.len() <= MAX_BYTES => out.base64(bytes),
            StatValue::Bytes(bytes) => {
                out.open(b'{');
                out.key("dropped_bytes");
                out.uint(bytes.len() as u64);
                out.close(b'}');
                return false;
            }
            StatValue::Ref(id) => match self.get(id) {
                Some(name) => out.ready(&name.json),
                None => {
                    out.ready(b"null");
                    return false;
                }
            },
        }
        true
    }

    /// Finds the names of values, replacing what `names` holds.
    #[inline]
    pub fn resolve<'s>(&'s self, stats: &[Stat<'_>], names: &mut Vec<Option<&'s StatName>>) {
        names.clear();
        names.extend(stats.iter().map(|stat| self.get(stat.id)));
    }

    /// Writes values as members of an object. Values of the same name become a list. `names` are
    /// the names of the values. `own` receives the name and the range of each member. Returns
    /// whether all names and texts are defined.
    pub fn members(
        &self,
        stats: &[Stat<'_>],
        names: &[Option<&StatName>],
        out: &mut JsonText,
        mut own: impl FnMut(&StatName, (usize, usize)),
    ) -> bool {
        // Values without a name are the same if their numbers are.
        let key = |i: usize| match names.get(i).copied().flatten() {
            Some(name) => (0, i64::from(name.same)),
            None => (1, stats[i].id),
        };
        let mut is_complete = true;
        let mut write = |list: &[usize], out: &mut JsonText| {
            let Some(&first) = list.first() else { return };
            let start = out.len();
            let name = names.get(first).copied().flatten();
            match name {
                Some(name) => out.ready_key(&name.json),
                None => {
                    out.key(&format!("#{}", stats[first].id));
                    is_complete = false;
                }
            }
            if list.len() == 1 {
                is_complete &= self.write(&stats[first].value, out);
            } else {
                out.open(b'[');
                for &i in list {
                    is_complete &= self.write(&stats[i].value, out);
                }
                out.close(b']');
            }
            if let Some(name) = name {
                own(name, (start, out.len()));
            }
        };
        if stats.len() > MAX_PAIRS {
            // Many values are grouped by sorting, so that their number does not count twice.
            let mut order: Vec<usize> = (0..stats.len()).collect();
            order.sort_by_key(|&i| (key(i), i));
            for list in order.chunk_by(|&a, &b| key(a) == key(b)) {
                write(list, out);
            }
            return is_complete;
        }
        let mut list = Vec::new();
        for i in 0..stats.len() {
            let own = key(i);
            if (0..i).any(|k| key(k) == own) {
                continue;
            }
            if !(i + 1..stats.len()).any(|k| key(k) == own) {
                write(&[i], out);
                continue;
            }
            list.clear();
            list.extend((i..stats.len()).filter(|&k| key(k) == own));
            write(&list, out);
        }
        is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[(i64, &str)]) -> StatNames {
        let mut names = StatNames::default();
        for (id, name) in list {
            let mut entry = vec![0x08, *id as u8, 0x12, name.len() as u8 + 2, 0x12];
            entry.push(name.len() as u8);
            entry.extend_from_slice(name.as_bytes());
            names.add(&entry).expect("an entry");
        }
        names
    }

    #[test]
    fn values_of_one_name_become_a_list() {
        let names = names(&[(1, "a"), (2, "b"), (3, "a"), (4, "text")]);
        let stats = [
            Stat { id: 1, value: StatValue::Int(-1) },
            Stat { id: 2, value: StatValue::Ref(4) },
            Stat { id: 3, value: StatValue::Uint(u64::MAX) },
            Stat { id: 9, value: StatValue::Bytes(b"M") },
        ];
        let text = |stats: &[Stat<'_>]| {
            let (mut out, mut of) = (JsonText::default(), Vec::new());
            names.resolve(stats, &mut of);
            out.open(b'{');
            let is_complete = names.members(stats, &of, &mut out, |_, _| {});
            out.close(b'}');
            (out.take(), is_complete)
        };
        let want = r##"{"a":[-1,18446744073709551615],"b":"text","#9":"TQ=="}"##;
        assert_eq!(text(&stats), (want.to_owned(), false));
        let many: Vec<Stat> =
            (0..30).map(|i| Stat { id: 1 + i % 3, value: StatValue::Int(i) }).collect();
        let value: serde_json::Value = serde_json::from_str(&text(&many).0).expect("JSON");
        assert_eq!(value["a"].as_array().map(Vec::len), Some(20));
        assert_eq!(value["b"].as_array().map(Vec::len), Some(10));
    }
}
