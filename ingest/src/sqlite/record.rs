//! The values of a row.

use std::borrow::Cow;
use std::char::DecodeUtf16Error;

use super::pages::{Encoding, varint};
use super::schema::Column;

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Real(f64),
    /// A text in the encoding of the database.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

/// The positions of the values of a row. It is reused for all rows of a scan.
#[derive(Default)]
pub struct Fields {
    /// Serial type and position in the payload of each stored value.
    list: Vec<(u64, usize)>,
}

/// Returns the length of a value in bytes.
#[inline]
fn width(serial: u64) -> usize {
    const WIDTHS: [u8; 12] = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0];
    match WIDTHS.get(serial as usize) {
        Some(&width) => usize::from(width),
        None => usize::try_from((serial - 12) / 2).unwrap_or(usize::MAX),
    }
}

impl Fields {
    /// Finds the values of a payload. Returns whether the payload is whole.
    #[inline]
    pub fn read(&mut self, payload: &[u8]) -> bool {
        self.list.clear();
        let Some((header, n)) = varint(payload) else { return false };
        let Some(header) = usize::try_from(header).ok().filter(|&end| end <= payload.len()) else {
            return false;
        };
        let (mut at, mut place) = (n, header);
        while at < header {
            let byte = payload[at];
            let (serial, n) = if byte < 0x80 {
                (u64::from(byte), 1)
            } else {
                match varint(&payload[at..header]) {
                    Some(found) => found,
                    None => return false,
                }
            };
            at += n;
            self.list.push((serial, place));
            place = match place.checked_add(width(serial)) {
                Some(end) if end <= payload.len() => end,
                _ => return false,
            };
        }
        true
    }
}

/// A row of a table.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// The number of the row.
    pub rowid: i64,
    pub(super) payload: &'a [u8],
    pub(super) fields: &'a Fields,
    pub(super) encoding: Encoding,
}

impl<'a> Row<'a> {
    /// Returns the value of a column.
    #[inline]
    pub fn value(&self, column: Column) -> Value<'a> {
        let Some(place) = column.place() else { return Value::Null };
        let Some(&(serial, at)) = self.fields.list.get(place) else {
            return column.default().map_or(Value::Null, Value::Int);
        };
        let end = at + width(serial);
        let bytes = self.payload.get(at..end).unwrap_or(&[]);
        match serial {
            0 if column.is_rowid() => Value::Int(self.rowid),
            0 | 10 | 11 => Value::Null,
            8 => Value::Int(0),
            9 => Value::Int(1),
            7 => bytes.try_into().map_or(Value::Null, |b| Value::Real(f64::from_be_bytes(b))),
            1..=6 => Value::Int(signed(bytes)),
            _ if serial % 2 == 1 => Value::Text(bytes),
            _ => Value::Blob(bytes),
        }
    }

    /// Returns an integer. `bad` is set if there is a value that is not one. A text of digits is
    /// one, because SQLite stores what the program gave it.
    #[inline]
    pub fn int(&self, column: Column, bad: &mut bool) -> Option<i64> {
        match self.value(column) {
            Value::Int(value) => Some(value),
            Value::Null => None,
            other => {
                let value = as_int(other, self.encoding);
                *bad |= value.is_none();
                value
            }
        }
    }

    /// Returns a number. `bad` is set if there is a value that is not one.
    pub fn float(&self, column: Column, bad: &mut bool) -> Option<f64> {
        match self.value(column) {
            Value::Int(value) => Some(value as f64),
            Value::Real(value) => Some(value),
            Value::Null => None,
            other => {
                let value = match other {
                    Value::Text(raw) => decode(raw, self.encoding).trim().parse().ok(),
                    _ => None,
                };
                *bad |= value.is_none();
                value
            }
        }
    }

    /// Whether a column holds a text that is not valid in the encoding of the database.
    pub fn is_invalid_text(&self, column: Column) -> bool {
        match self.value(column) {
            Value::Text(raw) | Value::Blob(raw) => !is_valid(raw, self.encoding),
            _ => false,
        }
    }

    /// Returns a text; numbers become digits.
    pub fn text(&self, column: Column) -> Option<Cow<'a, str>> {
        match self.value(column) {
            Value::Text(raw) | Value::Blob(raw) => Some(decode(raw, self.encoding)),
            Value::Int(value) => Some(value.to_string().into()),
            Value::Real(value) => Some(value.to_string().into()),
            Value::Null => None,
        }
    }
}

/// Returns a number of one to eight bytes, the highest first.
#[inline(always)]
fn signed(bytes: &[u8]) -> i64 {
    match *bytes {
        [a] => i64::from(a as i8),
        [a, b] => i64::from(i16::from_be_bytes([a, b])),
        [a, b, c] => i64::from(i32::from_be_bytes([a, b, c, 0]) >> 8),
        [a, b, c, d] => i64::from(i32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f] => i64::from_be_bytes([a, b, c, d, e, f, 0, 0]) >> 16,
        [a, b, c, d, e, f, g, h] => i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

#[cold]
fn as_int(value: Value<'_>, encoding: Encoding) -> Option<i64> {
    match value {
        Value::Real(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(value as i64),
        Value::Text(raw) => decode(raw, encoding).trim().parse().ok(),
        _ => None,
    }
}

/// Decodes a text. U+FFFD stands for each invalid part.
pub fn decode(raw: &[u8], encoding: Encoding) -> Cow<'_, str> {
    let wide = |from| units(raw, from).map(|c| c.unwrap_or('\u{fffd}')).collect::<String>().into();
    match encoding {
        Encoding::Utf8 => String::from_utf8_lossy(raw),
        Encoding::Utf16Le => wide(u16::from_le_bytes),
        Encoding::Utf16Be => wide(u16::from_be_bytes),
    }
}

/// Whether a text can be decoded as it is.
fn is_valid(raw: &[u8], encoding: Encoding) -> bool {
    let wide = |from| raw.len().is_multiple_of(2) && units(raw, from).all(|c| c.is_ok());
    match encoding {
        Encoding::Utf8 => std::str::from_utf8(raw).is_ok(),
        Encoding::Utf16Le => wide(u16::from_le_bytes),
        Encoding::Utf16Be => wide(u16::from_be_bytes),
    }
}

fn units(
    raw: &[u8],
    from: fn([u8; 2]) -> u16,
) -> impl Iterator<Item = Result<char, DecodeUtf16Error>> {
    char::decode_utf16(raw.chunks_exact(2).map(move |pair| from([pair[0], pair[1]])))
}
