//! Values with their units, for people.

use crate::pprof::SampleType;

/// A value with its unit: `1,234.567 µs`, `2,048 bytes`, `1 kernel`.
pub fn amount(value: i64, measure: &SampleType) -> String {
    match measure.unit.as_str() {
        "nanoseconds" => {
            let part = value % 1000;
            let whole = grouped(value / 1000);
            if part == 0 { format!("{whole} µs") } else { format!("{whole}.{part:03} µs") }
        }
        "count" => format!("{} {}", grouped(value), counted(&measure.name, value)),
        unit => format!("{} {unit}", grouped(value)),
    }
}

/// The name of a count, without its plural `s` for 1.
fn counted(name: &str, value: i64) -> String {
    let name = name.replace('_', " ");
    if value == 1 { name.strip_suffix('s').unwrap_or(&name).to_owned() } else { name }
}

/// A share as percent of the whole.
pub fn share(part: i64, whole: i64) -> String {
    if part == whole {
        return "100 %".to_owned();
    }
    format!("{:.2} %", part as f64 * 100.0 / whole.max(1) as f64)
}

/// A difference as percent of the base, with its sign.
pub fn change(value: i64, base: i64) -> String {
    if base == 0 {
        return "not in the base".to_owned();
    }
    format!("{:+.1} %", (value as f64 - base as f64) * 100.0 / base as f64)
}

/// The name of a measure for a subtitle.
pub fn measure_name(measure: &SampleType) -> String {
    match measure.name.as_str() {
        "cpu" => "Host time".to_owned(),
        "gpu" => "Device time".to_owned(),
        "time" => "Time".to_owned(),
        "alloc_space" => "Memory allocated".to_owned(),
        "alloc_objects" => "Allocations".to_owned(),
        name => {
            let mut letters = name.chars();
            let first = letters.next().map(|c| c.to_uppercase().collect::<String>());
            (first.unwrap_or_default() + letters.as_str()).replace('_', " ")
        }
    }
}

/// What "more" of a measure means.
pub fn quantity(measure: &SampleType) -> String {
    match measure.unit.as_str() {
        "nanoseconds" => "time".to_owned(),
        "bytes" => "memory".to_owned(),
        _ => measure.name.replace('_', " "),
    }
}

fn grouped(value: i64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        let time = SampleType::new("cpu", "nanoseconds");
        assert_eq!(amount(1_234_567, &time), "1,234.567 µs");
        assert_eq!((amount(5_000, &time), amount(7, &time)), ("5 µs".into(), "0.007 µs".into()));
        let samples = SampleType::new("alloc_objects", "count");
        assert_eq!(amount(1, &samples), "1 alloc object");
        assert_eq!(amount(1_000_000, &samples), "1,000,000 alloc objects");
        assert_eq!(amount(2048, &SampleType::new("m", "bytes")), "2,048 bytes");
        assert_eq!((share(1, 3), share(3, 3)), ("33.33 %".into(), "100 %".into()));
        assert_eq!((change(3, 2), change(1, 2)), ("+50.0 %".into(), "-50.0 %".into()));
        assert_eq!(change(1, 0), "not in the base");
    }
}
