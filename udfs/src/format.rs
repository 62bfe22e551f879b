//! Functions that format numbers with units for people.

use std::sync::Arc;

use crate::doc::{Call, Example, Function, FunctionDoc};
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion_common::Result;
use datafusion_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

/// The functions of this file.
pub fn functions() -> Vec<Function> {
    let k = 1024f64;
    let ns = of_int(NS.name, |ns| scaled(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")]));
    let bytes = of_int(BYTES.name, move |bytes| {
        scaled(
            bytes,
            &[(k.powi(4), "TiB"), (k.powi(3), "GiB"), (k.powi(2), "MiB"), (k, "KiB"), (1.0, "B")],
        )
    });
    vec![
        Function { call: Call::Scalar(Arc::new(ns)), doc: NS },
        Function { call: Call::Scalar(Arc::new(bytes)), doc: BYTES },
    ]
}

const NS: FunctionDoc = FunctionDoc {
    name: "format_ns",
    area: "format",
    signature: "format_ns(ns BIGINT) → VARCHAR",
    summary: "A duration in nanoseconds as text, with three decimals and a suitable unit.",
    detail: "Units are ns, us, ms and s. Below 1000 ns there are no decimals.",
    nulls: "NULL for NULL.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT format_ns(1234567), format_ns(999)",
        answer: "1.235 ms | 999 ns",
    }],
};

const BYTES: FunctionDoc = FunctionDoc {
    name: "format_bytes",
    area: "format",
    signature: "format_bytes(bytes BIGINT) → VARCHAR",
    summary: "A size in bytes as text, with three decimals and a suitable binary unit.",
    detail: "Units are B, KiB, MiB, GiB and TiB, each 1024 times the one before. Below 1024 bytes \
        there are no decimals.",
    nulls: "NULL for NULL.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT format_bytes(1536), format_bytes(-5)",
        answer: "1.500 KiB | -5 B",
    }],
};

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
        let texts: StringArray =
            ints.as_primitive::<Int64Type>().iter().map(|v| v.map(&text)).collect();
        Ok(ColumnarValue::Array(Arc::new(texts) as ArrayRef))
    };
    create_udf(name, vec![DataType::Int64], DataType::Utf8, Volatility::Immutable, Arc::new(call))
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn a_number_gets_the_largest_unit_that_fits() {
        let ns = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
        assert_eq!(scaled(999, &ns), "999 ns");
        assert_eq!(scaled(1_234_567, &ns), "1.235 ms");
        assert_eq!(scaled(-2_000_000_000, &ns), "-2.000 s");
    }
}
