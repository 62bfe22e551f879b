//! Formats numbers with their units for people. Formats for programs contain the exact numbers.
//!
//! There are two styles. [`figure`] keeps a fixed number of decimals, so that both sides of a
//! comparison are rounded in the same way. [`value`] has three significant digits, for tables of
//! reports.

use serde_json::Value;

/// Units of time with their length in nanoseconds, longest first.
const TIMES: &[(f64, &str)] = &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];

/// Units of size with their number of bytes, largest first.
const SIZES: &[(f64, &str)] = &[
    ((1u64 << 40) as f64, "TiB"),
    ((1u64 << 30) as f64, "GiB"),
    ((1u64 << 20) as f64, "MiB"),
    ((1u64 << 10) as f64, "KiB"),
    (1.0, "B"),
];

/// The text for a missing value in a table.
pub const NONE: &str = "–";

/// A value in a unit that suits its size.
pub fn figure(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return "no value".to_owned();
    }
    match unit {
        "ns" => figure_in(value, TIMES),
        "us" => figure(value * 1e3, "ns"),
        "ms" => figure(value * 1e6, "ns"),
        "s" => figure(value * 1e9, "ns"),
        "bytes" => figure_in(value, SIZES),
        "pct" => pct(value),
        "count" => rounded(value),
        "" | "number" | "ratio" => decimals(value),
        unit => format!("{} {unit}", decimals(value)),
    }
}

/// A change in percent, with its sign.
pub fn change(pct: f64) -> String {
    if pct.abs() >= 1000.0 { format!("{pct:+.0} %") } else { format!("{pct:+.1} %") }
}

fn figure_in(value: f64, units: &[(f64, &str)]) -> String {
    let fits = units.iter().find(|(size, _)| value.abs() >= *size).or(units.last());
    let Some((size, unit)) = fits else { return decimals(value) };
    let number = value / size;
    if *size == 1.0 && number.fract() == 0.0 {
        format!("{number:.0} {unit}")
    } else {
        format!("{} {unit}", decimals(number))
    }
}

/// A number. The larger it is, the fewer decimals it has.
fn decimals(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if magnitude >= 100.0 {
        rounded(value)
    } else if magnitude >= 10.0 {
        format!("{value:.1}")
    } else if magnitude >= 0.01 {
        format!("{value:.2}")
    } else {
        format!("{value:.2e}")
    }
}

/// The nearest whole number, with separated thousands.
fn rounded(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let sign = if value < 0.0 && digits != "0" { "-" } else { "" };
    sign.to_owned() + &thousands(&digits)
}

/// A value of a column with this unit, with three significant digits.
pub fn value(value: &Value, unit: &str) -> String {
    let number = |text: fn(f64) -> String| value.as_f64().map_or_else(|| NONE.to_owned(), text);
    match (value, unit) {
        (Value::Null, _) => NONE.to_owned(),
        (Value::Bool(yes), _) => if *yes { "yes" } else { "no" }.to_owned(),
        (Value::String(text), _) => text.clone(),
        (_, "ns") => number(ns),
        (_, "bytes") => number(bytes),
        (_, "pct") => number(pct),
        (v, "id") => v.to_string(),
        (v, _) => v.as_i64().map_or_else(|| number(|f| significant(f, 3)), count),
    }
}

/// A duration in nanoseconds, with three significant digits.
pub fn ns(ns: f64) -> String {
    significant_in(ns, TIMES)
}

/// A size in bytes, with three significant digits.
pub fn bytes(bytes: f64) -> String {
    significant_in(bytes, SIZES)
}

/// A share in percent.
pub fn pct(pct: f64) -> String {
    format!("{pct:.1} %")
}

/// A whole number with separated thousands.
pub fn count(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    sign.to_owned() + &thousands(&number.unsigned_abs().to_string())
}

/// A count with its noun: `1 trace`, `2,000 traces`.
pub fn many(count: i64, word: &str) -> String {
    format!("{} {}", self::count(count), plural(count, word))
}

/// A noun in the plural, unless the count is 1.
pub fn plural(count: impl TryInto<u64>, word: &str) -> String {
    if count.try_into().is_ok_and(|n| n == 1) { word.to_owned() } else { format!("{word}s") }
}

/// Digits in groups of three.
fn thousands(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn significant_in(value: f64, units: &[(f64, &str)]) -> String {
    // A value that would be rounded to 1000 of a unit becomes 1 of the next unit.
    let fits = |size: f64| value.abs() >= size * 0.9995;
    let (size, unit) =
        units.iter().find(|(size, _)| fits(*size)).or(units.last()).copied().unwrap_or((1.0, ""));
    format!("{} {unit}", significant(value / size.max(1.0), 3))
}

/// A number with at least this many significant digits. Whole parts are not rounded.
fn significant(number: f64, digits: i32) -> String {
    if number == 0.0 || !number.is_finite() || number.fract() == 0.0 {
        return format!("{number:.0}");
    }
    // 0.9999 gets as many decimals as 1.00, which it is rounded to.
    let whole = (number.abs() * 1.0005).log10().floor() as i32 + 1;
    let decimals = (digits - whole).clamp(0, 6) as usize;
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_have_the_unit_that_fits() {
        assert_eq!(figure(4_766_157.0, "ns"), "4.77 ms");
        assert_eq!(figure(999.0, "ns"), "999 ns");
        assert_eq!(figure(0.0, "ns"), "0 ns");
        assert_eq!(figure(-12_300.0, "ns"), "-12.3 µs");
        assert_eq!(figure(1536.0, "bytes"), "1.50 KiB");
        assert_eq!(figure(50.04, "pct"), "50.0 %");
        assert_eq!(figure(1_234_567.0, "count"), "1,234,567");
        assert_eq!(figure(f64::NAN, "ns"), "no value");
        assert_eq!(figure(0.5, "ratio"), "0.50");
    }

    #[test]
    fn changes_have_a_sign() {
        assert_eq!(change(12.345), "+12.3 %");
        assert_eq!(change(-0.04), "-0.0 %");
    }

    #[test]
    fn values_have_three_significant_digits_and_the_unit_that_fits() {
        assert_eq!(ns(0.0), "0 ns");
        assert_eq!(ns(999.0), "999 ns");
        assert_eq!(ns(1_234_567.0), "1.23 ms");
        assert_eq!(ns(999_999.0), "1.00 ms");
        assert_eq!(ns(123_456_789_000.0), "123 s");
        assert_eq!(bytes(219_278_848.0), "209 MiB");
        assert_eq!(bytes(-5.0), "-5 B");
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!(count(1_128_017), "1,128,017");
        assert_eq!(count(-999), "-999");
        assert_eq!(count(i64::MIN), "-9,223,372,036,854,775,808");
    }

    #[test]
    fn values_by_unit() {
        assert_eq!(value(&Value::Null, "ns"), NONE);
        assert_eq!(value(&json!(12.3456), "pct"), "12.3 %");
        assert_eq!(value(&json!(7), "id"), "7");
        assert_eq!(value(&json!(true), "flag"), "yes");
        assert_eq!(value(&json!(12.0), "count"), "12");
    }

    #[test]
    fn one_thing_has_no_s() {
        assert_eq!(many(1, "trace"), "1 trace");
        assert_eq!(many(2_000, "trace"), "2,000 traces");
        assert_eq!(plural(0usize, "row"), "rows");
    }
}
