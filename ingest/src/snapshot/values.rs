//! Values of a pickle. Containers are numbers into tables, so that no value owns another one and
//! cycles or shared containers cost nothing.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A value on the stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// `None`.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer of at most 64 bits.
    Int(i64),
    /// An integer of more than 64 bits. Its value is not kept.
    Wide,
    /// A double.
    Float(f64),
    /// A text, by its number in [`Pool`].
    Text(u32),
    /// A list.
    List(u32),
    /// A dict.
    Dict(u32),
    /// A tuple.
    Tuple(u32),
}

impl Value {
    /// Names the type of the value for messages.
    pub fn kind(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "a truth value",
            Self::Int(_) | Self::Wide => "a number",
            Self::Float(_) => "a float",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Dict(_) => "a dict",
            Self::Tuple(_) => "a tuple",
        }
    }
}

/// A value in 4 bytes: 3 bits for its type, the others for its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code(u32);

const BITS: u32 = 29;
/// Maximum number of values of each type.
pub const MAX_VALUES: usize = (1 << BITS) - 1;

impl Code {
    /// Stands for a value that does not exist.
    pub const MISSING: Code = Code(u32::MAX);
    /// `None`.
    pub const NONE: Code = Code(0);

    /// Packs a value. Numbers and truth values go to `scalars`.
    pub fn pack(value: Value, scalars: &mut Vec<Value>) -> Code {
        let of = |tag: u32, number: u32| Code(tag << BITS | number & MAX_VALUES as u32);
        match value {
            Value::None => Self::NONE,
            Value::Text(no) => of(1, no),
            Value::List(no) => of(2, no),
            Value::Dict(no) => of(3, no),
            Value::Tuple(no) => of(4, no),
            Value::Int(n) if (0..1 << BITS).contains(&n) => of(5, n as u32),
            other => {
                scalars.push(other);
                of(6, scalars.len() as u32 - 1)
            }
        }
    }

    /// Unpacks a value.
    pub fn unpack(self, scalars: &[Value]) -> Option<Value> {
        let number = self.0 & MAX_VALUES as u32;
        match self.0 >> BITS {
            0 => Some(Value::None),
            1 => Some(Value::Text(number)),
            2 => Some(Value::List(number)),
            3 => Some(Value::Dict(number)),
            4 => Some(Value::Tuple(number)),
            5 => Some(Value::Int(number.into())),
            6 => scalars.get(number as usize).copied(),
            _ => None,
        }
    }
}

/// Slices of equal type, each distinct one stored once.
pub struct Pool<T> {
    items: Vec<T>,
    ends: Vec<usize>,
    table: HashTable<u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { items: Vec::new(), ends: Vec::new(), table: HashTable::new() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Pool<T> {
    /// Returns the number of a slice.
    pub fn intern(&mut self, slice: &[T]) -> u32 {
        let hash = FxBuildHasher.hash_one(slice);
        let Self { items, ends, table } = self;
        let get = |no: u32| {
            let start = if no == 0 { 0 } else { ends[no as usize - 1] };
            &items[start..ends[no as usize]]
        };
        if let Some(&no) = table.find(hash, |&no| get(no) == slice) {
            return no;
        }
        let no = ends.len() as u32;
        items.extend_from_slice(slice);
        ends.push(items.len());
        let (items, ends) = (&self.items, &self.ends);
        self.table.insert_unique(hash, no, |&no| {
            let start = if no == 0 { 0 } else { ends[no as usize - 1] };
            FxBuildHasher.hash_one(&items[start..ends[no as usize]])
        });
        no
    }

    /// Returns a slice by its number; empty for an unknown number.
    pub fn get(&self, no: u32) -> &[T] {
        let at = no as usize;
        let Some(&end) = self.ends.get(at) else { return &[] };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.items[start..end]
    }

    /// Returns the number of slices.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the memory that the slices take, in bytes.
    pub fn memory(&self) -> usize {
        self.items.capacity() * size_of::<T>()
            + self.ends.capacity() * size_of::<usize>()
            + self.table.capacity() * 5
    }
}

impl Pool<u8> {
    /// Returns a text by its number.
    pub fn text(&self, no: u32) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.get(no))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_values_unpack_to_themselves() {
        let mut scalars = Vec::new();
        for value in [
            Value::None,
            Value::Bool(true),
            Value::Int(-1),
            Value::Int(7),
            Value::Int(i64::MAX),
            Value::Wide,
            Value::Float(0.5),
            Value::Text(3),
            Value::List(MAX_VALUES as u32 - 1),
            Value::Dict(0),
            Value::Tuple(9),
        ] {
            let code = Code::pack(value, &mut scalars);
            assert_ne!(code, Code::MISSING);
            assert_eq!(code.unpack(&scalars), Some(value));
        }
        assert_eq!(Code::MISSING.unpack(&scalars), None);
    }

    #[test]
    fn equal_slices_have_the_same_number() {
        let mut pool = Pool::default();
        let numbers: Vec<u32> =
            ["a", "b", "", "a", "b", ""].iter().map(|t| pool.intern(t.as_bytes())).collect();
        assert_eq!(numbers, [0, 1, 2, 0, 1, 2]);
        assert_eq!((pool.text(1), pool.get(2), pool.get(9)), ("b".into(), &b""[..], &b""[..]));
    }
}
