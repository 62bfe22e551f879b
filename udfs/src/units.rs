//! Functions that read numbers with units: `ns('5 ms')` and `bytes('1.5 GiB')`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion_common::{DataFusionError, Result, ScalarValue, exec_err};
use datafusion_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

use crate::doc::{Call, Example, Function, FunctionDoc};

/// The functions of this file.
pub fn functions() -> Vec<Function> {
    [(NS, &TIMES), (BYTES, &SIZES)]
        .map(|(doc, quantity)| Function {
            call: Call::Scalar(Arc::new(reader(doc.name, quantity))),
            doc,
        })
        .to_vec()
}

const NS: FunctionDoc = FunctionDoc {
    name: "ns",
    area: "format",
    signature: "ns(duration VARCHAR) → BIGINT",
    summary: "The nanoseconds of a duration with a unit.",
    detail: "Units are ns, us or µs, ms, s, min and h. Decimals are exact. It makes conditions on \
        times readable: WHERE dur_ns > ns('5 ms'). format_ns is the reverse.",
    nulls: "NULL for NULL.",
    errors: "A text that is not a number with a unit, and a duration that is not a whole number of \
        nanoseconds or does not fit into BIGINT.",
    examples: &[Example {
        sql: "SELECT ns('5 ms'), ns('1.5us'), ns('-2 min')",
        answer: "5000000 | 1500 | -120000000000",
    }],
};

const BYTES: FunctionDoc = FunctionDoc {
    name: "bytes",
    area: "format",
    signature: "bytes(size VARCHAR) → BIGINT",
    summary: "The bytes of a size with a unit.",
    detail: "Units are B, KiB, MiB, GiB and TiB, each 1024 times the one before, and kB, MB, GB \
        and TB, each 1000 times the one before. Decimals are exact. format_bytes is the reverse.",
    nulls: "NULL for NULL.",
    errors: "A text that is not a number with a unit, and a size that is not a whole number of \
        bytes or does not fit into BIGINT.",
    examples: &[Example {
        sql: "SELECT bytes('1.5 GiB'), bytes('20 MB')",
        answer: "1610612736 | 20000000",
    }],
};

/// A quantity with its units.
struct Quantity {
    /// The name of a value in messages.
    noun: &'static str,
    /// The smallest unit in messages.
    whole: &'static str,
    /// The units for messages.
    names: &'static str,
    /// An example for messages.
    example: &'static str,
    /// The names of units and their sizes.
    units: &'static [(&'static str, i128)],
    /// Whether `KB` and `kb` are the same unit.
    ignores_case: bool,
}

const TIMES: Quantity = Quantity {
    noun: "duration",
    whole: "nanoseconds",
    names: "ns, us, ms, s, min, h",
    example: "5 ms",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    ignores_case: false,
};

const SIZES: Quantity = Quantity {
    noun: "size",
    whole: "bytes",
    names: "B, KiB, MiB, GiB, TiB, kB, MB, GB, TB",
    example: "1.5 GiB",
    units: &[
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ],
    ignores_case: true,
};

/// The maximum number of decimals, so that products stay within 128 bits.
const MAX_DECIMALS: usize = 18;

impl Quantity {
    /// Reads a number with a unit.
    fn read(&self, function: &str, text: &str) -> Result<i64> {
        let (noun, whole) = (self.noun, self.whole);
        let wrong = |why: &str| -> DataFusionError {
            DataFusionError::Execution(format!(
                "{function}({text:?}): {why}; write {function}('{}'), with one of the units {}",
                self.example, self.names
            ))
        };
        let trimmed = text.trim();
        let end = trimmed
            .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+'))
            .unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..end], trimmed[end..].trim());
        let (digits, decimals) = decimal(number)
            .ok_or_else(|| wrong(&format!("the {noun} does not begin with a number")))?;
        if unit.is_empty() {
            return Err(wrong(&format!("the {noun} has no unit")));
        }
        let is_it = |name: &str| match self.ignores_case {
            true => name.eq_ignore_ascii_case(unit),
            false => name == unit,
        };
        let Some((_, size)) = self.units.iter().find(|(name, _)| is_it(name)) else {
            return Err(wrong(&format!("there is no unit {unit:?}")));
        };
        let scale = 10_i128.pow(decimals);
        let value = digits.checked_mul(*size).ok_or_else(|| wrong("it is too large"))?;
        if value % scale != 0 {
            return exec_err!(
                "{function}({text:?}): this is not a whole number of {whole}; write fewer decimals"
            );
        }
        i64::try_from(value / scale).map_err(|_| wrong("it is too large"))
    }
}

/// The digits of a decimal number as an integer, and the number of its decimals.
fn decimal(text: &str) -> Option<(i128, u32)> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let decimals = decimals.trim_end_matches('0');
    let digits = format!("{whole}{decimals}");
    let is_number = digits.bytes().all(|b| b.is_ascii_digit())
        && text.bytes().any(|b| b.is_ascii_digit())
        && whole.len() <= MAX_DECIMALS + 1
        && decimals.len() <= MAX_DECIMALS;
    if !is_number {
        return None;
    }
    let number: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    Some((sign * number, u32::try_from(decimals.len()).ok()?))
}

fn reader(name: &'static str, quantity: &'static Quantity) -> ScalarUDF {
    let call = move |args: &[ColumnarValue]| -> Result<ColumnarValue> {
        match args {
            [ColumnarValue::Scalar(value)] => {
                let text = value.try_as_str().flatten();
                let value = text.map(|text| quantity.read(name, text)).transpose()?;
                Ok(ColumnarValue::Scalar(ScalarValue::Int64(value)))
            }
            args => {
                let arrays = ColumnarValue::values_to_arrays(args)?;
                let texts = cast(&arrays[0], &DataType::Utf8)?;
                let values: Int64Array = texts
                    .as_string::<i32>()
                    .iter()
                    .map(|text| text.map(|text| quantity.read(name, text)).transpose())
                    .collect::<Result<_>>()?;
                Ok(ColumnarValue::Array(Arc::new(values) as ArrayRef))
            }
        }
    };
    create_udf(name, vec![DataType::Utf8], DataType::Int64, Volatility::Immutable, Arc::new(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, ns) in [
            ("5 ms", 5_000_000),
            ("5ms", 5_000_000),
            (" 0.1 s ", 100_000_000),
            ("1.000000001 s", 1_000_000_001),
            ("2.50 µs", 2500),
            ("-1.5 h", -5_400_000_000_000),
            (".5 us", 500),
            ("0 ns", 0),
            ("9223372036854775807 ns", i64::MAX),
        ] {
            assert_eq!(TIMES.read("ns", text).ok(), Some(ns), "{text}");
        }
        assert_eq!(SIZES.read("bytes", "1.5 gib").ok(), Some(1_610_612_736));
    }

    #[test]
    fn errors_state_the_units() {
        for (text, why) in [
            ("5", "has no unit"),
            ("ms", "does not begin with a number"),
            ("", "does not begin with a number"),
            ("1.2.3 ms", "does not begin with a number"),
            ("5 sec", "there is no unit \"sec\""),
            ("5 MS", "there is no unit \"MS\""),
            ("9223372036854775808 ns", "too large"),
        ] {
            let error = TIMES.read("ns", text).expect_err(text).to_string();
            assert!(error.contains(why) && error.contains("ns, us, ms, s, min, h"), "{error}");
        }
        let error = TIMES.read("ns", "1.5 ns").expect_err("half a nanosecond").to_string();
        assert!(error.contains("not a whole number of nanoseconds"), "{error}");
    }
}
