//! Parses numbers from text, without converting to a double where the exact value matters.

/// Reasons why a text is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeError {
    /// The text is not a decimal number.
    NotANumber,
    /// The number does not fit 64-bit nanoseconds.
    OutOfRange,
}

/// Converts microseconds in decimal text to nanoseconds. The flag is true if digits below 1 ns were
/// rounded (ties to even).
///
/// Numbers in quotes, blanks around them, signs, exponents and forms such as `.5` and `007` are
/// accepted. The result is exact for any number of digits.
#[inline]
pub fn time_ns(raw: &[u8]) -> Result<(i64, bool), TimeError> {
    let text = bare(raw);
    let mut n: i64 = 0;
    let mut i = 0;
    if text.len() <= 19 {
        // Longer numbers are handled by the general code path.
        while i < 16
            && let Some(d) = digit(text, i)
        {
            n = n * 10 + d;
            i += 1;
        }
        if i > 0 && i == text.len() && i <= 15 {
            return Ok((n * 1000, false));
        }
        if i > 0 && i <= 15 && text[i] == b'.' {
            let fraction = &text[i + 1..];
            if let &[a, b, c] = fraction
                && a.is_ascii_digit()
                && b.is_ascii_digit()
                && c.is_ascii_digit()
            {
                let f = (a - b'0') as i64 * 100 + (b - b'0') as i64 * 10 + (c - b'0') as i64;
                return Ok((n * 1000 + f, false));
            }
        }
    }
    any_time_ns(text)
}

#[inline(always)]
fn digit(text: &[u8], i: usize) -> Option<i64> {
    text.get(i).filter(|b| b.is_ascii_digit()).map(|b| (b - b'0') as i64)
}

/// Maximum number of digits of whole nanoseconds that are read. This is more than 64 bits can hold.
const MAX_DIGITS: i64 = 40;
/// Limit for exponents. No text has enough digits for a larger exponent to make a difference.
const MAX_EXPONENT: i64 = 1 << 40;

#[cold]
fn any_time_ns(text: &[u8]) -> Result<(i64, bool), TimeError> {
    use TimeError::{NotANumber, OutOfRange};
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (mantissa, exponent) = match text.iter().position(|b| matches!(b, b'e' | b'E')) {
        Some(i) => (&text[..i], exponent(&text[i + 1..]).ok_or(NotANumber)?),
        None => (text, 0),
    };
    let point = mantissa.iter().position(|&b| b == b'.').unwrap_or(mantissa.len());
    let digits: Vec<u8> = mantissa.iter().copied().filter(|&b| b != b'.').collect();
    let one_point = digits.len() + 1 >= mantissa.len();
    if digits.is_empty() || !one_point || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NotANumber);
    }
    let Some(zeros) = digits.iter().position(|&b| b != b'0') else { return Ok((0, false)) };
    let digits = &digits[zeros..];
    // The first `keep` digits are whole nanoseconds.
    let keep = point as i64 - zeros as i64 + exponent + 3;
    let mut n: i128 = 0;
    // The first digit is not 0, so a number with many more digits does not fit.
    for i in 0..keep.min(MAX_DIGITS) {
        let d = digits.get(i as usize).map_or(0, |b| b - b'0');
        n = n * 10 + d as i128;
        if n > 1 << 70 {
            return Err(OutOfRange);
        }
    }
    let rest = if keep < 0 { digits } else { digits.get(keep as usize..).unwrap_or(&[]) };
    let rounded = rest.iter().any(|&b| b != b'0');
    if rounded && keep >= 0 {
        let tail = rest[1..].iter().any(|&b| b != b'0');
        if rest[0] > b'5' || (rest[0] == b'5' && (tail || n & 1 == 1)) {
            n += 1;
        }
    }
    let n = if negative { -n } else { n };
    i64::try_from(n).map(|n| (n, rounded)).map_err(|_| OutOfRange)
}

fn exponent(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0i64, |n, b| (n * 10 + (b - b'0') as i64).min(MAX_EXPONENT)) * sign)
}

/// Returns the text of a number without quotes and without the blanks inside them.
#[inline(always)]
fn bare(raw: &[u8]) -> &[u8] {
    match raw {
        [b'"', inner @ .., b'"'] => inner.trim_ascii(),
        _ => raw,
    }
}

/// Parses a 64-bit integer, with or without quotes. `12.0` is accepted as 12.
#[inline]
pub fn int(raw: &[u8]) -> Option<i64> {
    // No number of up to 18 digits overflows.
    if (1..=18).contains(&raw.len()) {
        let (mut n, mut is_plain) = (0i64, true);
        for &b in raw {
            let digit = b.wrapping_sub(b'0');
            is_plain &= digit <= 9;
            n = n.wrapping_mul(10).wrapping_add(digit.into());
        }
        if is_plain {
            return Some(n);
        }
    }
    any_int(raw)
}

fn any_int(raw: &[u8]) -> Option<i64> {
    let text = bare(raw);
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let digits = match digits.iter().position(|&b| b == b'.') {
        Some(p) if p + 1 < digits.len() && digits[p + 1..].iter().all(|&b| b == b'0') => {
            &digits[..p]
        }
        _ => digits,
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut n: i64 = 0;
    for &b in digits {
        if !b.is_ascii_digit() {
            return None;
        }
        let d = (b - b'0') as i64;
        n = n.checked_mul(10)?;
        n = if negative { n.checked_sub(d)? } else { n.checked_add(d)? };
    }
    Some(n)
}

/// Parses a finite floating-point number, with or without quotes.
pub fn float(raw: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(bare(raw)).ok()?;
    let starts =
        text.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit() || c == '.');
    starts.then(|| text.parse().ok()).flatten().filter(|v: &f64| v.is_finite())
}

/// Whether the value is `null`.
pub fn is_null(raw: &[u8]) -> bool {
    raw == b"null"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ns(text: &str) -> Option<(i64, bool)> {
        time_ns(text.as_bytes()).ok()
    }

    #[test]
    fn times_are_read_exactly() {
        for (text, want, rounded) in [
            ("7234567890123456.789", 7_234_567_890_123_456_789, false),
            ("7234567890123456.790", 7_234_567_890_123_456_790, false),
            ("1712195495406752.797", 1_712_195_495_406_752_797, false),
            ("-0.5", -500, false),
            ("1.5e3", 1_500_000, false),
            ("1E-3", 1, false),
            ("9e-06", 0, true),
            ("0.0005", 0, true),
            ("0.0015", 2, true),
            ("0.00050001", 1, true),
            ("1000.123456789", 1_000_123, true),
            ("10.000000000000011", 10_000, true),
            ("\" 1000 \"", 1_000_000, false),
            ("007", 7_000, false),
            (".5", 500, false),
            ("5.", 5_000, false),
            ("0e999999999", 0, false),
            ("1e-400", 0, true),
        ] {
            assert_eq!(ns(text), Some((want, rounded)), "{text}");
        }
        for text in ["", "yesterday", "NaN", "null", "true", "1.2.3", "1e", "0x1f", "-", "[1]"] {
            assert_eq!(time_ns(text.as_bytes()), Err(TimeError::NotANumber), "{text}");
        }
        for text in ["99999999999999999999999", "1e400", &"1".repeat(400)] {
            assert_eq!(time_ns(text.as_bytes()), Err(TimeError::OutOfRange), "{text}");
        }
    }

    #[test]
    fn any_number_of_zeros_is_taken_into_account() {
        for zeros in [10, 10_001, 100_001, 200_000] {
            let (many, more) = ("0".repeat(zeros), zeros + 1);
            assert_eq!(ns(&format!("0.{many}5e{more}")), Some((5_000, false)), "{zeros}");
            assert_eq!(ns(&format!("0.{many}15e{zeros}")), Some((150, false)), "{zeros}");
            assert_eq!(
                ns(&format!("\"-{many}5{many}e-{zeros}\"")),
                Some((-5_000, false)),
                "{zeros}"
            );
            assert_eq!(ns(&format!("0.{many}1")), Some((0, true)), "{zeros}");
            assert_eq!(ns(&format!("5{many}e-99999999999999999999")), Some((0, true)), "{zeros}");
            assert_eq!(
                time_ns(format!("0.{many}1e99999999999999999999").as_bytes()),
                Err(TimeError::OutOfRange),
                "{zeros}"
            );
            assert_eq!(
                time_ns(format!("1{many}{many}").as_bytes()),
                Err(TimeError::OutOfRange),
                "{zeros}"
            );
        }
    }

    #[test]
    fn integers_are_read_exactly_or_not_at_all() {
        assert_eq!(int(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(int(b"9223372036854775808"), None);
        assert_eq!(int(b"\"12\""), Some(12));
        assert_eq!(int(b"12.0"), Some(12));
        assert_eq!(int(b"\"0xc\""), None);
        assert_eq!(float(b"\"0.5\""), Some(0.5));
        assert_eq!(float(b"NaN"), None);
    }

    proptest! {
        #[test]
        fn any_nanoseconds_survive_their_text(
            n in -9_000_000_000_000_000_000i64..9_000_000_000_000_000_000,
        ) {
            let (sign, a) = (if n < 0 { "-" } else { "" }, n.unsigned_abs());
            prop_assert_eq!(ns(&format!("{sign}{}.{:03}", a / 1000, a % 1000)), Some((n, false)));
            prop_assert_eq!(ns(&format!("{sign}{a}e-3")), Some((n, false)));
        }
    }
}
