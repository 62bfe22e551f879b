//! Numbers with units, for people.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

/// `format_ns(ns)`: a duration in nanoseconds as text with three significant decimals and the unit that fits
/// (`ns`, `us`, `ms`, `s`); NULL for NULL. `format_ns(1234567)` is `1.235 ms`.
pub fn format_ns() -> ScalarUDF {
    of_int("format_ns", |ns| scaled(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")]))
}

/// `format_bytes(bytes)`: a size in bytes as text with three decimals and the binary unit that fits (`B`, `KiB`, `MiB`,
/// `GiB`, `TiB`); NULL for NULL. `format_bytes(1536)` is `1.500 KiB`.
pub fn format_bytes() -> ScalarUDF {
    let k = 1024f64;
    of_int("format_bytes", move |bytes| scaled(bytes, &[(k.powi(4), "TiB"), (k.powi(3), "GiB"), (k.powi(2), "MiB"), (k, "KiB"), (1.0, "B")]))
}

fn scaled(value: i64, units: &[(f64, &str)]) -> String {
    let magnitude = (value as f64).abs();
    for (size, unit) in units {
        if magnitude >= *size && *size > 1.0 {
            return format!("{:.3} {unit}", value as f64 / size);
        }
    }
    format!("{value} {}", units.last().map_or("", |u| u.1))
}

fn of_int(name: &str, text: impl Fn(i64) -> String + Send + Sync + 'static) -> ScalarUDF {
    let call = move |args: &[ColumnarValue]| -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(args)?;
        let ints = cast(&arrays[0], &DataType::Int64)?;
        let texts: StringArray = ints.as_primitive::<Int64Type>().iter().map(|v| v.map(&text)).collect();
        Ok(ColumnarValue::Array(Arc::new(texts) as ArrayRef))
    };
    create_udf(name, vec![DataType::Int64], DataType::Utf8, Volatility::Immutable, Arc::new(call))
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn units_fit() {
        let ns = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
        assert_eq!(scaled(999, &ns), "999 ns");
        assert_eq!(scaled(1_234_567, &ns), "1.235 ms");
        assert_eq!(scaled(-2_000_000_000, &ns), "-2.000 s");
    }
}
