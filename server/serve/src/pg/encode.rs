//! Rows in the text format and in the binary format of PostgreSQL.

use bytes::{BufMut, BytesMut};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch,
    StringArray,
};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use super::numeric;
use super::types::{Column, DAYS_TO_2000, Kind, MICROS_OF_DAY};
use super::wire::message;
use crate::calendar;
use crate::failure::{Failure, code};

/// What is sent in place of a zero byte, which a text of PostgreSQL cannot contain.
const NO_ZERO: &str = "\u{fffd}";

/// The rows of a batch.
pub struct Rows {
    columns: Vec<(Values, bool)>,
    rows: usize,
}

/// The values of a column, in the type that is sent.
enum Values {
    Bool(BooleanArray),
    Int2(PrimitiveArray<Int16Type>),
    Int4(PrimitiveArray<Int32Type>),
    Int8(PrimitiveArray<Int64Type>),
    Float4(PrimitiveArray<Float32Type>),
    Float8(PrimitiveArray<Float64Type>),
    Text(StringArray),
    Numeric(StringArray),
    Bytea(BinaryArray),
    Date(PrimitiveArray<Date32Type>),
    Timestamp(PrimitiveArray<TimestampMicrosecondType>, bool),
    List(ListArray, Box<Values>, Kind),
}

impl Rows {
    /// Prepares a batch with these columns. Fails if a number is too large for its type.
    pub fn new(batch: &RecordBatch, columns: &[Column]) -> Result<Self, Failure> {
        if batch.num_columns() != columns.len() {
            let message = "cached plan must not change result type";
            return Err(Failure::new(code::FEATURE_NOT_SUPPORTED, message));
        }
        let columns = batch
            .columns()
            .iter()
            .zip(columns)
            .map(|(array, column)| Ok((Values::new(array, column.kind)?, column.binary)))
            .collect::<Result<_, Failure>>()?;
        Ok(Self { columns, rows: batch.num_rows() })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Changes the formats to those of these columns.
    pub fn set_formats(&mut self, columns: &[Column]) {
        for ((_, binary), column) in self.columns.iter_mut().zip(columns) {
            *binary = column.binary;
        }
    }

    /// Writes a row as a message.
    pub fn write(&self, row: usize, out: &mut BytesMut) {
        message(out, b'D', |out| self.put_fields(row, out));
    }

    /// Writes the number of values of a row, and each value after its length.
    pub fn put_fields(&self, row: usize, out: &mut BytesMut) {
        out.put_i16(self.columns.len() as i16);
        for (values, binary) in &self.columns {
            values.put_sized(row, *binary, out);
        }
    }

    /// Writes a value as text. Returns whether there is one, which is not so for NULL.
    pub fn put_text(&self, row: usize, column: usize, out: &mut BytesMut) -> bool {
        match self.columns.get(column) {
            Some((values, _)) if !values.is_null(row) => {
                values.put_text(row, out);
                true
            }
            _ => false,
        }
    }
}

impl Values {
    fn new(array: &ArrayRef, kind: Kind) -> Result<Self, Failure> {
        let to = |data_type: &DataType| -> Result<ArrayRef, Failure> {
            if array.data_type() == data_type {
                return Ok(array.clone());
            }
            let strict = CastOptions { safe: false, ..CastOptions::default() };
            cast_with_options(array, data_type, &strict).map_err(|e| {
                Failure::new(code::NUMERIC_VALUE_OUT_OF_RANGE, e.to_string())
                    .with_hint("cast the column to VARCHAR")
            })
        };
        Ok(match kind {
            Kind::Bool => Self::Bool(to(&DataType::Boolean)?.as_boolean().clone()),
            Kind::Int2 => Self::Int2(to(&DataType::Int16)?.as_primitive().clone()),
            Kind::Int4 => Self::Int4(to(&DataType::Int32)?.as_primitive().clone()),
            Kind::Int8 => Self::Int8(to(&DataType::Int64)?.as_primitive().clone()),
            Kind::Float4 => Self::Float4(to(&DataType::Float32)?.as_primitive().clone()),
            Kind::Float8 => Self::Float8(to(&DataType::Float64)?.as_primitive().clone()),
            Kind::Bytea => Self::Bytea(to(&DataType::Binary)?.as_binary::<i32>().clone()),
            Kind::Date => Self::Date(to(&DataType::Date32)?.as_primitive().clone()),
            Kind::Timestamp | Kind::TimestampTz => {
                let micros = to(&kind.data_type())?.as_primitive().clone();
                Self::Timestamp(micros, kind == Kind::TimestampTz)
            }
            Kind::List(item) => {
                let list = match array.data_type() {
                    DataType::List(_) => array.clone(),
                    DataType::LargeList(of) | DataType::FixedSizeList(of, _) => {
                        to(&DataType::List(of.clone()))?
                    }
                    _ => to(&kind.data_type())?,
                };
                let list = list.as_list::<i32>().clone();
                // The items are converted on their own: structs, for example, only to texts.
                let items = Self::new(list.values(), item.kind())?;
                Self::List(list, Box::new(items), item.kind())
            }
            Kind::Oid | Kind::Reg(_) if array.data_type().is_integer() => {
                Self::Int4(to(&DataType::Int32)?.as_primitive().clone())
            }
            Kind::Numeric => Self::Numeric(texts(array)?),
            _ => Self::Text(match array.data_type() {
                DataType::Utf8 => array.as_string::<i32>().clone(),
                DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
                    to(&DataType::Utf8)?.as_string::<i32>().clone()
                }
                _ => texts(array)?,
            }),
        })
    }

    fn is_null(&self, at: usize) -> bool {
        match self {
            Self::Bool(a) => a.is_null(at),
            Self::Int2(a) => a.is_null(at),
            Self::Int4(a) => a.is_null(at),
            Self::Int8(a) => a.is_null(at),
            Self::Float4(a) => a.is_null(at),
            Self::Float8(a) => a.is_null(at),
            Self::Text(a) | Self::Numeric(a) => a.is_null(at),
            Self::Bytea(a) => a.is_null(at),
            Self::Date(a) => a.is_null(at),
            Self::Timestamp(a, _) => a.is_null(at),
            Self::List(a, ..) => a.is_null(at),
        }
    }

    /// Writes a value after its length; NULL has the length -1.
    fn put_sized(&self, at: usize, binary: bool, out: &mut BytesMut) {
        if self.is_null(at) {
            return out.put_i32(-1);
        }
        let start = out.len();
        out.put_i32(0);
        if binary {
            self.put_binary(at, out);
        } else {
            self.put_text(at, out);
        }
        let length = (out.len() - start - 4) as i32;
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn put_binary(&self, at: usize, out: &mut BytesMut) {
        match self {
            Self::Bool(a) => out.put_u8(u8::from(a.value(at))),
            Self::Int2(a) => out.put_i16(a.value(at)),
            Self::Int4(a) => out.put_i32(a.value(at)),
            Self::Int8(a) => out.put_i64(a.value(at)),
            Self::Float4(a) => out.put_f32(a.value(at)),
            Self::Float8(a) => out.put_f64(a.value(at)),
            Self::Text(_) => self.put_text(at, out),
            Self::Bytea(a) => out.put_slice(a.value(at)),
            Self::Numeric(a) => numeric::put(a.value(at), out),
            Self::Date(a) => out.put_i32(a.value(at).saturating_sub(DAYS_TO_2000)),
            Self::Timestamp(a, _) => {
                out.put_i64(a.value(at).saturating_sub(i64::from(DAYS_TO_2000) * MICROS_OF_DAY));
            }
            Self::List(a, items, kind) => {
                let (from, to) = (a.value_offsets()[at], a.value_offsets()[at + 1]);
                let has_null = (from..to).any(|item| items.is_null(item as usize));
                out.put_i32(i32::from(to > from));
                out.put_i32(i32::from(has_null));
                out.put_u32(kind.oid());
                if to > from {
                    out.put_i32(to - from);
                    out.put_i32(1);
                }
                (from..to).for_each(|item| items.put_sized(item as usize, true, out));
            }
        }
    }

    fn put_text(&self, at: usize, out: &mut BytesMut) {
        use std::fmt::Write;
        // Writing to a buffer in memory does not fail.
        let _ = match self {
            Self::Bool(a) => out.write_str(if a.value(at) { "t" } else { "f" }),
            Self::Int2(a) => write!(out, "{}", a.value(at)),
            Self::Int4(a) => write!(out, "{}", a.value(at)),
            Self::Int8(a) => write!(out, "{}", a.value(at)),
            Self::Float4(a) => put_float(f64::from(a.value(at)), format!("{:?}", a.value(at)), out),
            Self::Float8(a) => put_float(a.value(at), format!("{:?}", a.value(at)), out),
            Self::Text(a) | Self::Numeric(a) => match a.value(at) {
                text if text.contains('\0') => out.write_str(&text.replace('\0', NO_ZERO)),
                text => out.write_str(text),
            },
            Self::Bytea(a) => {
                let _ = out.write_str("\\x");
                a.value(at).iter().try_for_each(|byte| write!(out, "{byte:02x}"))
            }
            Self::Date(a) => put_date(i64::from(a.value(at)), out),
            Self::Timestamp(a, zoned) => put_timestamp(a.value(at), *zoned, out),
            Self::List(a, items, _) => {
                let (from, to) = (a.value_offsets()[at], a.value_offsets()[at + 1]);
                put_list((from..to).map(|item| items.item_text(item as usize)), out)
            }
        };
    }

    fn item_text(&self, at: usize) -> Option<String> {
        if self.is_null(at) {
            return None;
        }
        let mut text = BytesMut::new();
        self.put_text(at, &mut text);
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

/// The values of a column as the engine shows them.
fn texts(array: &ArrayRef) -> Result<StringArray, Failure> {
    let failed = |e| Failure::from(datafusion::error::DataFusionError::from(e));
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array, &options).map_err(failed)?;
    (0..array.len())
        .map(|at| match array.is_null(at) {
            true => Ok(None),
            false => formatter.value(at).try_to_string().map(Some).map_err(failed),
        })
        .collect()
}

/// The shortest digits that give the number again, without a `.0`.
fn put_float(value: f64, digits: String, out: &mut BytesMut) -> std::fmt::Result {
    use std::fmt::Write;
    if value.is_infinite() {
        return out.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    out.write_str(digits.strip_suffix(".0").unwrap_or(&digits))
}

fn put_date(days: i64, out: &mut BytesMut) -> std::fmt::Result {
    use std::fmt::Write;
    let (year, month, day) = calendar::date(days);
    match year {
        1.. => write!(out, "{year:04}-{month:02}-{day:02}"),
        _ => write!(out, "{:04}-{month:02}-{day:02} BC", 1 - year),
    }
}

fn put_timestamp(micros: i64, zoned: bool, out: &mut BytesMut) -> std::fmt::Result {
    use std::fmt::Write;
    let (days, of_day) = (micros.div_euclid(MICROS_OF_DAY), micros.rem_euclid(MICROS_OF_DAY));
    let (seconds, fraction) = (of_day / 1_000_000, of_day % 1_000_000);
    put_date(days, out)?;
    write!(out, " {:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)?;
    if fraction > 0 {
        let digits = format!("{fraction:06}");
        write!(out, ".{}", digits.trim_end_matches('0'))?;
    }
    if zoned { out.write_str("+00") } else { Ok(()) }
}

fn put_list(items: impl Iterator<Item = Option<String>>, out: &mut BytesMut) -> std::fmt::Result {
    use std::fmt::Write;
    out.write_str("{")?;
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.write_str(",")?;
        }
        let Some(item) = item else {
            out.write_str("NULL")?;
            continue;
        };
        let special = |c: char| matches!(c, '{' | '}' | ',' | '"' | '\\') || c.is_whitespace();
        if item.is_empty() || item.eq_ignore_ascii_case("null") || item.contains(special) {
            write!(out, "\"{}\"", item.replace('\\', "\\\\").replace('"', "\\\""))?;
        } else {
            out.write_str(&item)?;
        }
    }
    out.write_str("}")
}
