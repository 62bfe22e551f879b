//! Decimal numbers: as texts, and in the binary format of PostgreSQL.
//!
//! A number is never rounded: it becomes a decimal number with all its digits, or an integer that
//! is equal to it. Only a place for floating-point numbers gets the nearest one.

use bytes::{Buf, BufMut, BytesMut};
use datafusion::arrow::datatypes::{DataType, i256};
use datafusion::common::ScalarValue;

/// The digits that the engine's decimal numbers have at most.
const MAX_DIGITS: usize = 76;
const MAX_DIGITS_128: usize = 38;

/// A number as a client sent it.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// Its digits without leading zeros; `scale` of them come after the point.
    Decimal { negative: bool, digits: String, scale: usize },
    /// NaN or an infinite number.
    Special(f64),
}

impl Number {
    /// Reads a number such as `-12.50` or `1e-3`.
    pub fn of_text(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a number");
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        match rest.to_ascii_lowercase().as_str() {
            "nan" => return Ok(Self::Special(f64::NAN)),
            "inf" | "infinity" if negative => return Ok(Self::Special(f64::NEG_INFINITY)),
            "inf" | "infinity" => return Ok(Self::Special(f64::INFINITY)),
            _ => {}
        }
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().map_err(|_| wrong())?),
            None => (rest, 0_i32),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        let scale = fraction.len() as i64 - i64::from(exponent);
        Self::of_digits(negative, &digits, scale, scale)
    }

    /// Reads a number in the binary format: groups of four digits, from the left.
    pub fn of_binary(mut bytes: &[u8]) -> Result<Self, String> {
        let wrong = || format!("{} bytes are not a number", bytes.len());
        if bytes.len() < 8 {
            return Err(wrong());
        }
        let (groups, weight) = (bytes.get_u16(), bytes.get_i16());
        let (sign, shown) = (bytes.get_u16(), bytes.get_i16());
        if bytes.len() != 2 * usize::from(groups) {
            return Err("a number has another length than it claims".to_owned());
        }
        let mut digits = String::new();
        for _ in 0..groups {
            let group = bytes.get_u16();
            if group > 9_999 {
                return Err(format!("a number has the group of digits {group}"));
            }
            digits.push_str(&format!("{group:04}"));
        }
        let scale = -4 * (i64::from(weight) + 1 - i64::from(groups));
        match sign {
            0 => Self::of_digits(false, &digits, scale, i64::from(shown)),
            0x4000 => Self::of_digits(true, &digits, scale, i64::from(shown)),
            0xD000 => Ok(Self::Special(f64::INFINITY)),
            0xF000 => Ok(Self::Special(f64::NEG_INFINITY)),
            0xC000 => Ok(Self::Special(f64::NAN)),
            sign => Err(format!("a number has the sign {sign}")),
        }
    }

    /// A number with `scale` of its digits after the point. The client wrote `shown` of them. A
    /// negative scale stands for zeros that are left out.
    fn of_digits(negative: bool, digits: &str, scale: i64, shown: i64) -> Result<Self, String> {
        let mut digits = digits.trim_start_matches('0').to_owned();
        let mut scale = if digits.is_empty() { shown.clamp(0, scale.max(0)) } else { scale };
        while scale > shown.max(0) && digits.ends_with('0') {
            digits.pop();
            scale -= 1;
        }
        while scale > 0 && digits.len().max(scale as usize) > MAX_DIGITS && digits.ends_with('0') {
            digits.pop();
            scale -= 1;
        }
        if scale < 0 && digits.len() as i64 - scale <= MAX_DIGITS as i64 {
            digits.push_str(&"0".repeat(-scale as usize));
            scale = 0;
        }
        match usize::try_from(scale) {
            Ok(scale) if digits.len().max(scale) <= MAX_DIGITS => {
                Ok(Self::Decimal { negative, digits, scale })
            }
            _ => Err(format!("the number has more than {MAX_DIGITS} digits")),
        }
    }

    /// The number as a value of the engine for a place of this type.
    pub fn value(&self, wanted: &DataType) -> Result<ScalarValue, String> {
        let (negative, digits, scale) = match self {
            Self::Special(value) => return Ok(ScalarValue::Float64(Some(*value))),
            Self::Decimal { negative, digits, scale } => (*negative, digits, *scale),
        };
        let sign = if negative { "-" } else { "" };
        let all = if digits.is_empty() { "0" } else { digits };
        if wanted.is_floating() {
            let nearest = format!("{sign}{all}e-{scale}").parse().map_err(|_| "no number")?;
            return Ok(ScalarValue::Float64(Some(nearest)));
        }
        if wanted.is_integer()
            && let Some(whole) = whole(digits, scale)
            && let Ok(number) = format!("{sign}{whole}").parse::<i128>()
            && let Ok(value) = decimal(number).cast_to(wanted)
        {
            return Ok(value);
        }
        let precision = digits.len().max(scale).max(1);
        let text = format!("{sign}{all}");
        let value = if precision <= MAX_DIGITS_128 {
            let number = text.parse().map_err(|_| "no number".to_owned())?;
            ScalarValue::Decimal128(Some(number), precision as u8, scale as i8)
        } else {
            let number = i256::from_string(&text).ok_or("no number")?;
            ScalarValue::Decimal256(Some(number), precision as u8, scale as i8)
        };
        Ok(value)
    }
}

fn decimal(number: i128) -> ScalarValue {
    ScalarValue::Decimal128(Some(number), MAX_DIGITS_128 as u8, 0)
}

/// The digits before the point; `None` if others than zeros come after it.
fn whole(digits: &str, scale: usize) -> Option<&str> {
    let (whole, fraction) = match digits.len().checked_sub(scale) {
        Some(at) => digits.split_at(at),
        None => ("", digits),
    };
    let is_whole = fraction.bytes().all(|digit| digit == b'0');
    is_whole.then_some(if whole.is_empty() { "0" } else { whole })
}

/// Writes a decimal number in the binary format.
pub fn put(digits: &str, out: &mut BytesMut) {
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, digits),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let padded_whole = format!("{}{whole}", "0".repeat((4 - whole.len() % 4) % 4));
    let padded = format!("{padded_whole}{fraction}{}", "0".repeat((4 - fraction.len() % 4) % 4));
    let mut groups: Vec<i16> = padded
        .as_bytes()
        .chunks(4)
        .map(|group| group.iter().fold(0, |sum, digit| sum * 10 + i16::from(digit - b'0')))
        .collect();
    let mut weight = (padded_whole.len() / 4) as i16 - 1;
    while groups.first() == Some(&0) {
        groups.remove(0);
        weight -= 1;
    }
    while groups.last() == Some(&0) {
        groups.pop();
    }
    out.put_i16(groups.len() as i16);
    out.put_i16(if groups.is_empty() { 0 } else { weight });
    out.put_u16(if negative { 0x4000 } else { 0 });
    out.put_i16(fraction.len() as i16);
    groups.into_iter().for_each(|group| out.put_i16(group));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, wanted: &DataType) -> String {
        let number = Number::of_text(text).and_then(|number| number.value(wanted));
        number.map_or_else(|error| error, |value| format!("{value:?}"))
    }

    #[test]
    fn a_number_keeps_all_its_digits() {
        for (text, wanted, expected) in [
            ("1700000000000000001", DataType::Int64, "Int64(1700000000000000001)"),
            ("1700000000000000001.00", DataType::Int64, "Int64(1700000000000000001)"),
            ("-5", DataType::Int32, "Int32(-5)"),
            ("0.0", DataType::Int64, "Int64(0)"),
            ("1.5", DataType::Int64, "Decimal128(1.5,2,1)"),
            ("1e20", DataType::Int64, "Decimal128(100000000000000000000,21,0)"),
            ("-0.001", DataType::Utf8, "Decimal128(-0.001,3,3)"),
            ("1.250", DataType::Utf8, "Decimal128(1.250,4,3)"),
            ("12e-1", DataType::Float64, "Float64(1.2)"),
            ("NaN", DataType::Int64, "Float64(NaN)"),
            (".5", DataType::Utf8, "Decimal128(0.5,1,1)"),
            ("1e-77", DataType::Utf8, "the number has more than 76 digits"),
            ("1e76", DataType::Utf8, "the number has more than 76 digits"),
            ("1x", DataType::Utf8, "\"1x\" is not a number"),
            ("", DataType::Utf8, "\"\" is not a number"),
        ] {
            assert_eq!(value(text, &wanted), expected, "{text}");
        }
        let long = "123456789012345678901234567890123456789.5";
        assert!(value(long, &DataType::Utf8).starts_with("Decimal256("), "{long}");
    }

    #[test]
    fn the_binary_format_is_read_and_written() {
        for text in ["12345.678", "-0.05", "0", "1700000000000000001", "10000", "1.50"] {
            let mut bytes = BytesMut::new();
            put(text, &mut bytes);
            assert_eq!(Number::of_binary(&bytes), Number::of_text(text), "{text}");
        }
        // 12345.678: groups 1, 2345, 6780.
        let bytes = [0, 3, 0, 1, 0, 0, 0, 3, 0, 1, 0x09, 0x29, 0x1a, 0x7c];
        assert_eq!(Number::of_binary(&bytes), Number::of_text("12345.678"));
        for wrong in [&[1, 2, 3][..], &[0, 1, 0, 0, 0, 0, 0, 0], &[0, 0, 0, 0, 0x12, 0, 0, 0]] {
            assert!(Number::of_binary(wrong).is_err(), "{wrong:?}");
        }
        let hostile = [0, 1, 0x7f, 0xff, 0, 0, 0, 0, 0, 1];
        assert!(Number::of_binary(&hostile).is_err());
    }
}
