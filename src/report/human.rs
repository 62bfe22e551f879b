//! Values for people: three significant digits and a unit; the exact ones are in JSON.

use serde_json::Value;

/// What stands for no value.
pub const NONE: &str = "–";

/// A value of a column with this unit.
pub fn value(value: &Value, unit: &str) -> String {
    match (value, unit) {
        (Value::Null, _) => NONE.to_owned(),
        (Value::Bool(yes), _) => if *yes { "yes" } else { "no" }.to_owned(),
        (Value::String(text), _) => text.clone(),
        (v, "ns") => v.as_f64().map_or_else(|| NONE.to_owned(), ns),
        (v, "bytes") => v.as_f64().map_or_else(|| NONE.to_owned(), bytes),
        (v, "pct") => v.as_f64().map_or_else(|| NONE.to_owned(), pct),
        (v, "id") => v.to_string(),
        (v, _) => match v.as_i64() {
            Some(whole) => count(whole),
            None => v.as_f64().map_or_else(|| NONE.to_owned(), |f| digits(f, 3)),
        },
    }
}

/// A duration.
pub fn ns(ns: f64) -> String {
    scaled(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")])
}

/// A size.
pub fn bytes(bytes: f64) -> String {
    let k = 1024f64;
    scaled(
        bytes,
        &[(k.powi(4), "TiB"), (k.powi(3), "GiB"), (k.powi(2), "MiB"), (k, "KiB"), (1.0, "B")],
    )
}

/// A share.
pub fn pct(pct: f64) -> String {
    format!("{pct:.1} %")
}

/// A whole number with its thousands apart.
pub fn count(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 { "-".to_owned() } else { String::new() };
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things in words; the word takes an s unless it is one.
pub fn many(count: i64, word: &str) -> String {
    format!("{} {word}{}", self::count(count), if count == 1 { "" } else { "s" })
}

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    // What would be rounded to 1000 of a unit is 1 of the next.
    let fits = |size: f64| value.abs() >= size * 0.9995;
    let (size, unit) =
        units.iter().find(|(size, _)| fits(*size)).or(units.last()).copied().unwrap_or((1.0, ""));
    let number = if size <= 1.0 { digits(value, 3) } else { digits(value / size, 3) };
    format!("{number} {unit}")
}

/// A number with this many significant digits at least; whole parts are not rounded.
fn digits(number: f64, significant: i32) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number:.0}");
    }
    // 0.9999 has the places of the 1.00 that it is rounded to.
    let whole = (number.abs() * 1.0005).log10().floor() as i32 + 1;
    let decimals = (significant - whole).clamp(0, 6) as usize;
    let text = format!("{number:.decimals$}");
    if number.fract() == 0.0 { format!("{number:.0}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn units_fit() {
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
}
