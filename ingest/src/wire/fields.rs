//! The fields of a message that is in memory.

use std::borrow::Cow;

use super::{Bad, Fault};

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Fixed64(u64),
    /// Wire type 2: a text, bytes or a message.
    Bytes(&'a [u8]),
    /// Wire type 5.
    Fixed32(u32),
}

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field<'a> {
    /// The number of the field.
    pub number: u32,
    /// The value.
    pub value: Value<'a>,
    /// Position of the field's key in the message.
    pub at: usize,
    /// Position after the field in the message.
    pub end: usize,
}

impl<'a> Field<'a> {
    fn wrong<T>(&self) -> Result<T, Fault> {
        Err(Fault { bad: Bad::Kind(self.number), at: self.at as u64 })
    }

    /// Returns the value of a varint field.
    #[inline]
    pub fn uint(&self) -> Result<u64, Fault> {
        if let Value::Varint(value) = self.value { Ok(value) } else { self.wrong() }
    }

    /// Returns the value of a varint field of a signed type.
    #[inline]
    pub fn int(&self) -> Result<i64, Fault> {
        self.uint().map(|value| value as i64)
    }

    /// Returns the value of a field of 64 bits.
    #[inline]
    pub fn fixed64(&self) -> Result<u64, Fault> {
        if let Value::Fixed64(value) = self.value { Ok(value) } else { self.wrong() }
    }

    /// Returns the value of a double field.
    #[inline]
    pub fn double(&self) -> Result<f64, Fault> {
        self.fixed64().map(f64::from_bits)
    }

    /// Returns the bytes of a field of text, bytes or a message.
    #[inline]
    pub fn bytes(&self) -> Result<&'a [u8], Fault> {
        if let Value::Bytes(value) = self.value { Ok(value) } else { self.wrong() }
    }

    /// Returns the position of the field's bytes in the message.
    pub fn start(&self) -> u64 {
        match self.value {
            Value::Bytes(bytes) => (self.end - bytes.len()) as u64,
            _ => self.end as u64,
        }
    }

    /// Calls a function for each number of a repeated field of varints, which may be packed.
    pub fn each_uint(&self, mut each: impl FnMut(u64)) -> Result<(), Fault> {
        match self.value {
            Value::Varint(value) => each(value),
            Value::Bytes(bytes) => {
                let mut at = 0;
                while at < bytes.len() {
                    each(varint(bytes, &mut at).map_err(|f| f.within(self.start()))?);
                }
            }
            _ => return self.wrong(),
        }
        Ok(())
    }

    /// Calls a function for each number of a repeated field of 64 bits, which may be packed.
    pub fn each_fixed64(&self, mut each: impl FnMut(u64)) -> Result<(), Fault> {
        match self.value {
            Value::Fixed64(value) => each(value),
            Value::Bytes(bytes) if bytes.len().is_multiple_of(8) => {
                for chunk in bytes.chunks_exact(8) {
                    each(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
                }
            }
            _ => return self.wrong(),
        }
        Ok(())
    }
}

/// Returns a text. Invalid UTF-8 becomes U+FFFD.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Reads a varint and moves `at` after it.
#[inline]
pub fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, Fault> {
    if let Some(&byte @ 0..0x80) = bytes.get(*at) {
        *at += 1;
        return Ok(byte.into());
    }
    long_varint(bytes, at)
}

fn long_varint(bytes: &[u8], at: &mut usize) -> Result<u64, Fault> {
    let start = *at;
    let mut value = 0u64;
    for shift in (0..70).step_by(7) {
        let Some(&byte) = bytes.get(*at) else {
            let left = (bytes.len() - start.min(bytes.len())) as u64;
            return Err(Fault { bad: Bad::Ends { wanted: left + 1, left }, at: start as u64 });
        };
        *at += 1;
        // The tenth byte has room for one bit.
        if shift == 63 && byte > 1 {
            break;
        }
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Fault { bad: Bad::Varint, at: start as u64 })
}

/// The fields of a message in the order in which they are written.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// Creates a reader of the fields of a message.
    #[inline]
    pub fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the next field, or `None` after the last one.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Field<'a>>, Fault> {
        let start = self.at;
        if start >= self.bytes.len() {
            return Ok(None);
        }
        let fault = |bad| Fault { bad, at: start as u64 };
        let key = varint(self.bytes, &mut self.at)?;
        let number = (key >> 3) as u32;
        if number == 0 || key >> 35 != 0 {
            return Err(fault(Bad::Number));
        }
        let value = match key & 7 {
            0 => Value::Varint(varint(self.bytes, &mut self.at)?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array().map_err(fault)?)),
            2 => {
                let len = varint(self.bytes, &mut self.at)?;
                let left = (self.bytes.len() - self.at) as u64;
                if len > left {
                    return Err(fault(Bad::Ends { wanted: len, left }));
                }
                let from = self.at;
                self.at += len as usize;
                Value::Bytes(&self.bytes[from..self.at])
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array().map_err(fault)?)),
            other => return Err(fault(Bad::WireType(other as u8))),
        };
        Ok(Some(Field { number, value, at: start, end: self.at }))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Bad> {
        let left = (self.bytes.len() - self.at) as u64;
        let Some(bytes) = self.bytes[self.at..].first_chunk::<N>() else {
            return Err(Bad::Ends { wanted: N as u64, left });
        };
        self.at += N;
        Ok(*bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<(u32, Value<'_>)>, Fault> {
        let mut fields = Fields::of(bytes);
        let mut out = Vec::new();
        while let Some(field) = fields.next()? {
            out.push((field.number, field.value));
        }
        Ok(out)
    }

    #[test]
    fn fields_of_all_wire_types_are_read() {
        let bytes = b"\x08\x96\x01\x12\x02hi\x19\x01\0\0\0\0\0\0\0\x25\x02\0\0\0";
        assert_eq!(
            all(bytes),
            Ok(vec![
                (1, Value::Varint(150)),
                (2, Value::Bytes(b"hi")),
                (3, Value::Fixed64(1)),
                (4, Value::Fixed32(2)),
            ])
        );
    }

    #[test]
    fn faults_name_their_place() {
        let fault = |bytes: &[u8]| all(bytes).map_err(|f| (f.bad, f.at)).expect_err("a fault");
        assert_eq!(fault(b"\x08\x01\x12\x05abc"), (Bad::Ends { wanted: 5, left: 3 }, 2));
        assert_eq!(fault(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), (Bad::Varint, 1));
        assert_eq!(fault(&[0xff; 30]), (Bad::Varint, 0));
        assert_eq!(fault(b"\x08\x80"), (Bad::Ends { wanted: 2, left: 1 }, 1));
        assert_eq!(fault(b"\x0b"), (Bad::WireType(3), 0));
        assert_eq!(fault(b"\x0f"), (Bad::WireType(7), 0));
        assert_eq!(fault(b"\x00\x01"), (Bad::Number, 0));
        assert_eq!(fault(b"\x09abc"), (Bad::Ends { wanted: 8, left: 3 }, 0));
    }

    #[test]
    fn a_varint_has_at_most_64_bits() {
        let max = b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        assert_eq!(all(max), Ok(vec![(1, Value::Varint(u64::MAX))]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_fields_or_a_fault_within_them(
            bytes in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            if let Err(fault) = all(&bytes) {
                prop_assert!(fault.at <= bytes.len() as u64);
            }
        }
    }
}
