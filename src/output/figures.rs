//! Numbers with their units, for people.

/// A value in the unit that fits.
pub fn figure(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return "no value".to_owned();
    }
    match unit {
        "ns" => scaled(value, &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")]),
        "us" => figure(value * 1e3, "ns"),
        "ms" => figure(value * 1e6, "ns"),
        "s" => figure(value * 1e9, "ns"),
        "bytes" => scaled(
            value,
            &[
                (1024f64.powi(4), "TiB"),
                (1024f64.powi(3), "GiB"),
                (1024f64.powi(2), "MiB"),
                (1024.0, "KiB"),
                (1.0, "B"),
            ],
        ),
        "pct" => format!("{value:.1} %"),
        "count" => plain(value),
        "" | "number" | "ratio" => digits(value),
        unit => format!("{} {unit}", digits(value)),
    }
}

/// A change in percent with its sign.
pub fn change(pct: f64) -> String {
    if pct.abs() >= 1000.0 { format!("{pct:+.0} %") } else { format!("{pct:+.1} %") }
}

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let fits = units.iter().find(|(size, _)| value.abs() >= *size).or(units.last());
    let Some((size, unit)) = fits else { return digits(value) };
    let number = value / size;
    if *size == 1.0 && number.fract() == 0.0 {
        format!("{number:.0} {unit}")
    } else {
        format!("{} {unit}", digits(number))
    }
}

/// Three digits that matter, but all of those before the point.
fn digits(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if magnitude >= 100.0 {
        plain(value)
    } else if magnitude >= 10.0 {
        format!("{value:.1}")
    } else if magnitude >= 0.01 {
        format!("{value:.2}")
    } else {
        format!("{value:.2e}")
    }
}

/// A whole number with its thousands apart; one with a fraction as it is.
fn plain(value: f64) -> String {
    let rounded = format!("{:.0}", value.abs());
    let mut out = String::new();
    for (i, c) in rounded.chars().enumerate() {
        if i > 0 && (rounded.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    if value < 0.0 && rounded != "0" { format!("-{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::{change, figure};

    #[test]
    fn figures_have_the_unit_that_fits() {
        assert_eq!(figure(4_766_157.0, "ns"), "4.77 ms");
        assert_eq!(figure(999.0, "ns"), "999 ns");
        assert_eq!(figure(0.0, "ns"), "0 ns");
        assert_eq!(figure(-12_300.0, "ns"), "-12.3 us");
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
}
