//! Values of `$name` in statements, as programs send them.

use datafusion::common::ScalarValue;
use serde_json::Value;

/// The value of a parameter; `None` if JSON of this kind cannot be one.
pub fn parameter(value: &Value) -> Option<ScalarValue> {
    Some(match value {
        Value::Null => ScalarValue::Null,
        Value::Bool(flag) => ScalarValue::Boolean(Some(*flag)),
        Value::String(text) => ScalarValue::Utf8(Some(text.clone())),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => ScalarValue::Int64(Some(integer)),
            (None, Some(number)) if number.is_finite() => ScalarValue::Float64(Some(number)),
            _ => return None,
        },
        Value::Array(_) | Value::Object(_) => return None,
    })
}
