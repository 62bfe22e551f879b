//! Values of the most common types as JSON, without writing and reading text.

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::take;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use serde_json::{Number, Value};

use super::rows::{MAX_EXACT_INTEGER, text_of};

/// The values of a column as programs can read them; `None` for a type that is not common.
pub fn values(column: &ArrayRef, max_text: usize) -> Option<Vec<Value>> {
    let text = |text: &str| Value::String(text_of(text.to_owned(), max_text));
    Some(match column.data_type() {
        DataType::Null => vec![Value::Null; column.len()],
        DataType::Boolean => column.as_boolean().iter().map(Value::from).collect(),
        DataType::Int8 => signed::<Int8Type>(column),
        DataType::Int16 => signed::<Int16Type>(column),
        DataType::Int32 => signed::<Int32Type>(column),
        DataType::Int64 => signed::<Int64Type>(column),
        DataType::UInt8 => unsigned::<UInt8Type>(column),
        DataType::UInt16 => unsigned::<UInt16Type>(column),
        DataType::UInt32 => unsigned::<UInt32Type>(column),
        DataType::UInt64 => unsigned::<UInt64Type>(column),
        DataType::Float64 => {
            let number = |value: f64| Number::from_f64(value).map_or(Value::Null, Value::Number);
            each(column.as_primitive::<Float64Type>(), number)
        }
        DataType::Utf8 => all(column.as_string::<i32>().iter(), text),
        DataType::LargeUtf8 => all(column.as_string::<i64>().iter(), text),
        DataType::Utf8View => all(column.as_string_view().iter(), text),
        DataType::Dictionary(..) => {
            // A dictionary may have far more values than rows.
            let names = column.as_any_dictionary();
            return values(&take(names.values().as_ref(), names.keys(), None).ok()?, max_text);
        }
        _ => return None,
    })
}

fn signed<T: ArrowPrimitiveType<Native: Into<i64>>>(column: &ArrayRef) -> Vec<Value> {
    each(column.as_primitive::<T>(), |value| {
        let value: i64 = value.into();
        exact(value.unsigned_abs(), value)
    })
}

fn unsigned<T: ArrowPrimitiveType<Native: Into<u64>>>(column: &ArrayRef) -> Vec<Value> {
    each(column.as_primitive::<T>(), |value| {
        let value: u64 = value.into();
        exact(value, value)
    })
}

/// A whole number, as text if a double would round it.
fn exact(size: u64, value: impl Into<Number> + std::fmt::Display) -> Value {
    if size > MAX_EXACT_INTEGER {
        Value::String(value.to_string())
    } else {
        Value::Number(value.into())
    }
}

fn each<T: ArrowPrimitiveType>(
    column: &PrimitiveArray<T>,
    value: impl Fn(T::Native) -> Value,
) -> Vec<Value> {
    all(column.iter(), value)
}

fn all<T>(values: impl Iterator<Item = Option<T>>, value: impl Fn(T) -> Value) -> Vec<Value> {
    values.map(|one| one.map_or(Value::Null, &value)).collect()
}
