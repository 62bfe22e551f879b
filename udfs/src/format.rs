//! Functions that format numbers with units for people.

use std::sync::Arc;

use crate::doc::{Call, Example, Function, FunctionDoc};
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::datatypes::{DataType, Float64Type};
use datafusion_common::{Result, plan_err};
use datafusion_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The functions of this file.
pub fn functions() -> Vec<Function> {
    [(NS, TIMES), (BYTES, SIZES)]
        .map(|(doc, units)| {
            let signature = Signature::user_defined(Volatility::Immutable);
            let function = Format { name: doc.name, units, signature };
            Function { call: Call::Scalar(Arc::new(ScalarUDF::new_from_impl(function))), doc }
        })
        .to_vec()
}

/// A unit: the multiple of the smallest unit that it stands for, and its name.
type Unit = (u64, &'static str);

const TIMES: &[Unit] = &[(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")];

const SIZES: &[Unit] =
    &[(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")];

const NS: FunctionDoc = FunctionDoc {
    name: "format_ns",
    area: "format",
    signature: "format_ns(ns DOUBLE) → VARCHAR",
    summary: "A duration in nanoseconds as text, with three decimals and a suitable unit.",
    detail: "Takes any number. A fraction is first rounded to whole nanoseconds, halves away from \
        zero. Units are ns, us, ms and s. Below 1000 ns there are no decimals.",
    nulls: "NULL for NULL, NaN and infinity.",
    errors: "An argument that is not a number.",
    examples: &[Example {
        sql: "SELECT format_ns(1234567), format_ns(999), format_ns(1.5)",
        answer: "1.235 ms | 999 ns | 2 ns",
    }],
};

const BYTES: FunctionDoc = FunctionDoc {
    name: "format_bytes",
    area: "format",
    signature: "format_bytes(bytes DOUBLE) → VARCHAR",
    summary: "A size in bytes as text, with three decimals and a suitable binary unit.",
    detail: "Takes any number. A fraction is first rounded to whole bytes, halves away from zero. \
        Units are B, KiB, MiB, GiB and TiB, each 1024 times the one before. Below 1024 bytes there \
        are no decimals.",
    nulls: "NULL for NULL, NaN and infinity.",
    errors: "An argument that is not a number.",
    examples: &[Example {
        sql: "SELECT format_bytes(1536), format_bytes(-5)",
        answer: "1.500 KiB | -5 B",
    }],
};

/// A number with its unit, rounded to a whole number first; `None` if it is not finite.
fn scaled(value: f64, units: &[Unit]) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    // Adding zero turns -0 into 0.
    let value = value.round() + 0.0;
    for (size, unit) in units {
        if *size > 1 && value.abs() >= *size as f64 {
            return Some(format!("{:.3} {unit}", value / *size as f64));
        }
    }
    units.last().map(|(_, unit)| format!("{value:.0} {unit}"))
}

/// A function that formats numbers with the unit that fits.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Format {
    name: &'static str,
    /// The units, the largest first.
    units: &'static [Unit],
    signature: Signature,
}

impl ScalarUDFImpl for Format {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        match types {
            [number] if number.is_numeric() || *number == DataType::Null => {
                Ok(vec![DataType::Float64])
            }
            [_] => plan_err!("{} takes a number", self.name),
            _ => plan_err!("{} takes one number, {} arguments were given", self.name, types.len()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let texts: StringArray = arrays[0]
            .as_primitive::<Float64Type>()
            .iter()
            .map(|value| value.and_then(|value| scaled(value, self.units)))
            .collect();
        Ok(ColumnarValue::Array(Arc::new(texts) as ArrayRef))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_gets_the_largest_unit_that_fits() {
        let ns = |value| scaled(value, TIMES);
        assert_eq!(ns(999.0).as_deref(), Some("999 ns"));
        assert_eq!(ns(1_234_567.0).as_deref(), Some("1.235 ms"));
        assert_eq!(ns(-2_000_000_000.0).as_deref(), Some("-2.000 s"));
        assert_eq!(scaled(1536.0, SIZES).as_deref(), Some("1.500 KiB"));
    }

    #[test]
    fn fractions_are_rounded_away_from_zero_and_what_is_not_finite_is_null() {
        let ns = |value| scaled(value, TIMES);
        assert_eq!(ns(0.5).as_deref(), Some("1 ns"));
        assert_eq!(ns(-0.5).as_deref(), Some("-1 ns"));
        assert_eq!(ns(-0.2).as_deref(), Some("0 ns"));
        assert_eq!(ns(999.5).as_deref(), Some("1.000 us"));
        assert_eq!(ns(f64::NAN), None);
        assert_eq!(ns(f64::INFINITY), None);
    }
}
