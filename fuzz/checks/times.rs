//! Checks the conversion of decimal microseconds to nanoseconds.

use tracesql_ingest::internals::time_ns;

/// A time equals the result of exact arithmetic on its digits.
pub fn times(data: &[u8]) {
    let got = time_ns(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some((ns, rounded)) = plain(text) {
        match i64::try_from(ns) {
            Ok(ns) => assert_eq!(got.ok(), Some((ns, rounded)), "{text}"),
            Err(_) => assert!(got.is_err(), "{text}"),
        }
    }
}

/// Computes the expected result for plain decimals: all digits as one number, then a division.
fn plain(text: &str) -> Option<(i128, bool)> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty()
        || digits.len() > 30
        || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit())
    {
        return None;
    }
    let number: i128 = format!("{whole}{fraction}").parse().ok()?;
    let mut scale: i128 = 1;
    for _ in 0..fraction.len() {
        scale *= 10;
    }
    let (mut ns, rest) = (number * 1000 / scale, number * 1000 % scale);
    if rest * 2 > scale || (rest * 2 == scale && ns % 2 == 1) {
        ns += 1;
    }
    Some((if negative { -ns } else { ns }, rest != 0))
}
