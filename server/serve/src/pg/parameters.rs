//! The values of parameters, as clients send them.

use std::sync::Arc;

use bytes::Buf;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::ScalarValue;

use super::numeric::Number;
use super::types::{DAYS_TO_2000, Item, Kind, MICROS_OF_DAY};
use crate::failure::{Failure, code};

/// Microseconds from 1970-01-01 to 2000-01-01.
const MICROS_TO_2000: i64 = DAYS_TO_2000 as i64 * MICROS_OF_DAY;

/// The value of a parameter. `number` is its number for messages.
pub fn value(
    number: usize,
    bytes: Option<&[u8]>,
    kind: Kind,
    binary: bool,
    wanted: &DataType,
) -> Result<ScalarValue, Failure> {
    let wrong = |why: String| {
        let message = format!("parameter ${number}: {why}");
        Failure::new(code::INVALID_TEXT_REPRESENTATION, message)
    };
    let own = match (bytes, kind) {
        // A value without a type gets that of its place in the statement.
        (Some(bytes), Kind::Unknown) => return unknown(bytes, wanted).map_err(wrong),
        (None, _) => return ScalarValue::try_from(wanted).map_err(|e| wrong(e.to_string())),
        (Some(bytes), Kind::Numeric) => {
            let number = match binary {
                true => Number::of_binary(bytes),
                false => utf8(bytes).and_then(|text| Number::of_text(text.trim())),
            };
            return number.and_then(|number| number.value(wanted)).map_err(wrong);
        }
        (Some(bytes), _) if binary => from_binary(bytes, kind)
            .ok_or_else(|| wrong(format!("{} bytes are not a value of its type", bytes.len())))?,
        (Some(bytes), _) => {
            let text = utf8(bytes).map_err(wrong)?;
            from_text(text, kind).map_err(wrong)?
        }
    };
    // Numbers take the type of their place where they fit, because LIMIT, for example, takes
    // BIGINT only. Others are converted as in a statement with a literal.
    match own.data_type().is_integer() && wanted.is_integer() {
        true => own.cast_to(wanted).map_err(|e| wrong(e.to_string())),
        false => Ok(own),
    }
}

fn unknown(bytes: &[u8], wanted: &DataType) -> Result<ScalarValue, String> {
    let text = utf8(bytes)?;
    match Kind::of(wanted) {
        Kind::Text => Ok(ScalarValue::Utf8(Some(text.to_owned()))),
        // A conversion to the type of the place would round it.
        Kind::Numeric => from_text(text, Kind::Numeric),
        kind => from_text(text, kind)?.cast_to(wanted).map_err(|e| e.to_string()),
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "the text is not UTF-8".to_owned())
}

fn from_text(text: &str, kind: Kind) -> Result<ScalarValue, String> {
    let own = |value: ScalarValue| Ok(value);
    let trimmed = text.trim();
    match kind {
        Kind::Text | Kind::Name | Kind::Char | Kind::Unknown => {
            own(ScalarValue::Utf8(Some(text.to_owned())))
        }
        Kind::Bool => match trimmed.to_ascii_lowercase().as_str() {
            "t" | "true" | "1" | "yes" | "on" | "y" => own(ScalarValue::Boolean(Some(true))),
            "f" | "false" | "0" | "no" | "off" | "n" => own(ScalarValue::Boolean(Some(false))),
            _ => Err(format!("{text:?} is not a truth value")),
        },
        Kind::Bytea => match trimmed.strip_prefix("\\x").and_then(hex) {
            Some(bytes) => own(ScalarValue::Binary(Some(bytes))),
            None => Err("bytes are written as \\x and hexadecimal digits".to_owned()),
        },
        Kind::List(item) => list(trimmed, item),
        Kind::Numeric => Number::of_text(trimmed)?.value(&Kind::Numeric.data_type()),
        kind => ScalarValue::try_from_string(trimmed.to_owned(), &kind.data_type())
            .map_err(|_| format!("{text:?} is not a value of its type")),
    }
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    (0..digits.len() / 2)
        .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok())
        .collect()
}

/// A list as `{1,NULL,"a b"}`.
fn list(text: &str, item: Item) -> Result<ScalarValue, String> {
    let wrong = || format!("{text:?} is not a list");
    let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).ok_or_else(wrong)?;
    let mut items = Vec::new();
    let mut chars = inner.chars().peekable();
    while chars.peek().is_some() {
        let (mut value, mut quoted) = (String::new(), false);
        if chars.peek() == Some(&'"') {
            quoted = true;
            chars.next();
            loop {
                match chars.next().ok_or_else(wrong)? {
                    '"' => break,
                    '\\' => value.push(chars.next().ok_or_else(wrong)?),
                    c => value.push(c),
                }
            }
        } else {
            while let Some(c) = chars.next_if(|c| *c != ',') {
                match c {
                    '{' | '}' | '"' => return Err(wrong()),
                    '\\' => value.push(chars.next().ok_or_else(wrong)?),
                    c => value.push(c),
                }
            }
        }
        items.push(match quoted || !value.eq_ignore_ascii_case("null") {
            true => from_text(&value, item.kind())?,
            false => null(item)?,
        });
        match chars.next() {
            None => break,
            Some(',') if chars.peek().is_some() => {}
            Some(_) => return Err(wrong()),
        }
    }
    Ok(list_of(items, item))
}

fn null(item: Item) -> Result<ScalarValue, String> {
    ScalarValue::try_from(&item.kind().data_type()).map_err(|e| e.to_string())
}

fn list_of(items: Vec<ScalarValue>, item: Item) -> ScalarValue {
    let field = Arc::new(Field::new_list_field(item.kind().data_type(), true));
    ScalarValue::List(ScalarValue::new_list_from_iter(items.into_iter(), field.data_type(), true))
}

fn from_binary(mut bytes: &[u8], kind: Kind) -> Option<ScalarValue> {
    let length = bytes.len();
    let has = |expected: usize| (length == expected).then_some(());
    Some(match kind {
        Kind::Bool => has(1).map(|()| ScalarValue::Boolean(Some(bytes[0] != 0)))?,
        Kind::Int2 => has(2).map(|()| ScalarValue::Int16(Some(bytes.get_i16())))?,
        Kind::Int4 | Kind::Oid | Kind::Reg(_) => {
            has(4).map(|()| ScalarValue::Int32(Some(bytes.get_i32())))?
        }
        Kind::Int8 => has(8).map(|()| ScalarValue::Int64(Some(bytes.get_i64())))?,
        Kind::Float4 => has(4).map(|()| ScalarValue::Float32(Some(bytes.get_f32())))?,
        Kind::Float8 => has(8).map(|()| ScalarValue::Float64(Some(bytes.get_f64())))?,
        Kind::Bytea => ScalarValue::Binary(Some(bytes.to_vec())),
        Kind::Text | Kind::Name | Kind::Char | Kind::Unknown => {
            ScalarValue::Utf8(Some(std::str::from_utf8(bytes).ok()?.to_owned()))
        }
        Kind::Date => {
            has(4)?;
            ScalarValue::Date32(Some(bytes.get_i32().checked_add(DAYS_TO_2000)?))
        }
        Kind::Timestamp | Kind::TimestampTz => {
            has(8)?;
            let micros = bytes.get_i64().checked_add(MICROS_TO_2000)?;
            let zone = (kind == Kind::TimestampTz).then(|| "+00:00".into());
            ScalarValue::TimestampMicrosecond(Some(micros), zone)
        }
        Kind::Numeric => Number::of_binary(bytes).ok()?.value(&kind.data_type()).ok()?,
        Kind::List(item) => binary_list(bytes, item)?,
    })
}

fn binary_list(mut bytes: &[u8], item: Item) -> Option<ScalarValue> {
    if bytes.len() < 12 {
        return None;
    }
    let (dimensions, _has_null, oid) = (bytes.get_i32(), bytes.get_i32(), bytes.get_u32());
    let kind = Kind::of_oid(oid)?;
    let mut items = Vec::new();
    match dimensions {
        0 => {}
        1 if bytes.len() >= 8 => {
            let (count, _lower) = (bytes.get_i32(), bytes.get_i32());
            for _ in 0..count {
                let length = (bytes.len() >= 4).then(|| bytes.get_i32())?;
                if length < 0 {
                    items.push(null(item).ok()?);
                    continue;
                }
                let (value, rest) = bytes.split_at_checked(length as usize)?;
                items.push(item_value(value, kind, item)?);
                bytes = rest;
            }
        }
        _ => return None,
    }
    Some(list_of(items, item))
}

/// A value of a list in the type of the list's items. Only numbers are converted, and only if they
/// keep their value.
fn item_value(bytes: &[u8], kind: Kind, item: Item) -> Option<ScalarValue> {
    let wanted = item.kind().data_type();
    if kind == Kind::Numeric {
        let value = Number::of_binary(bytes).ok()?.value(&wanted).ok()?;
        return (value.data_type() == wanted).then_some(value);
    }
    let value = from_binary(bytes, kind)?;
    let is_wider = value.data_type().is_integer() && wanted.is_integer()
        || value.data_type().is_floating() && wanted.is_floating();
    match value.data_type() == wanted {
        true => Some(value),
        false if is_wider => value.cast_to(&wanted).ok(),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, kind: Kind, wanted: &DataType) -> String {
        match value(1, Some(text.as_bytes()), kind, false, wanted) {
            Ok(value) => format!("{value:?}"),
            Err(failure) => failure.code.to_owned(),
        }
    }

    #[test]
    fn texts_become_values_of_the_type_of_their_place() {
        let big = DataType::Int64;
        assert_eq!(shown("5", Kind::Unknown, &big), "Int64(5)");
        assert_eq!(shown("5", Kind::Int2, &big), "Int64(5)");
        assert_eq!(shown("x", Kind::Unknown, &big), "22P02");
        assert_eq!(shown("5", Kind::Unknown, &DataType::Utf8), "Utf8(\"5\")");
        assert_eq!(shown("t", Kind::Bool, &DataType::Boolean), "Boolean(true)");
        assert_eq!(shown("\\x00ff", Kind::Bytea, &DataType::Binary), "Binary(\"0,255\")");
        assert_eq!(shown("\\x0", Kind::Bytea, &DataType::Binary), "22P02");
    }

    #[test]
    fn lists_are_read_with_quotes_and_null() {
        let texts =
            shown(r#"{a,"b \"c\"",NULL,"null",""}"#, Kind::List(Item::Text), &DataType::Null);
        assert_eq!(texts, r#"List([a, b "c", , null, ])"#);
        for wrong in ["{", "a", "{a", "{\"a}", "{a,}", "{{a}}"] {
            let wrong = shown(wrong, Kind::List(Item::Text), &DataType::Null);
            assert_eq!(wrong, "22P02");
        }
    }

    #[test]
    fn binary_values_of_a_wrong_length_are_refused() {
        for kind in [Kind::Int8, Kind::Bool, Kind::Float8, Kind::Date, Kind::Numeric] {
            assert!(from_binary(&[1, 2, 3], kind).is_none(), "{kind:?}");
        }
        // A list that claims more items than there are bytes.
        let mut list =
            vec![0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1];
        assert!(from_binary(&list, Kind::List(Item::Int8)).is_none());
        list[12..16].copy_from_slice(&[0, 0, 0, 1]);
        list.extend([0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert!(from_binary(&list, Kind::List(Item::Int8)).is_some());
    }

    #[test]
    fn items_of_another_type_than_their_list_are_refused() {
        // A list of one text where numbers are wanted.
        let text = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, b'x'];
        assert!(from_binary(&text, Kind::List(Item::Int8)).is_none());
        assert!(from_binary(&text, Kind::List(Item::Text)).is_some());
        // A list of the 32-bit number 7.
        let number =
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7];
        assert!(from_binary(&number, Kind::List(Item::Int8)).is_some());
    }

    #[test]
    fn decimal_numbers_are_not_rounded() {
        let big = DataType::Int64;
        let exact = "1700000000000000001";
        assert_eq!(shown(exact, Kind::Numeric, &big), format!("Int64({exact})"));
        assert_eq!(shown("1.5", Kind::Numeric, &big), "Decimal128(1.5,2,1)");
        let decimal = DataType::Decimal128(10, 2);
        assert_eq!(shown("1.239", Kind::Unknown, &decimal), "Decimal128(1.239,4,3)");
        assert_eq!(shown("x", Kind::Numeric, &big), "22P02");
    }
}
