//! Writes and reads fragments of JSON text.

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends a string in quotes.
pub fn push_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &b) in bytes.iter().enumerate() {
        if b >= 0x20 && b != b'"' && b != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        match b {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', b]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            _ => out.extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                HEX[(b >> 4) as usize],
                HEX[(b & 15) as usize],
            ]),
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

/// Appends an integer.
pub fn push_int(n: i64, out: &mut Vec<u8>) {
    if n < 0 {
        out.push(b'-');
    }
    push_digits(n.unsigned_abs(), out);
}

fn push_digits(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends nanoseconds as decimal microseconds, with as many digits as the value needs.
pub fn push_time_us(ns: i64, out: &mut Vec<u8>) {
    if ns < 0 {
        out.push(b'-');
    }
    let n = ns.unsigned_abs();
    push_digits(n / 1000, out);
    let rest = (n % 1000) as u32;
    if rest > 0 {
        let digits = [
            b'.',
            b'0' + (rest / 100) as u8,
            b'0' + (rest / 10 % 10) as u8,
            b'0' + (rest % 10) as u8,
        ];
        let len = if rest.is_multiple_of(100) {
            2
        } else if rest.is_multiple_of(10) {
            3
        } else {
            4
        };
        out.extend_from_slice(&digits[..len]);
    }
}

/// Iterates over the members of a compact JSON object: each key as it is written between its
/// quotes, and the text of its value. The iterator ends early if the text is not such an object.
pub fn members(object: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut at = 1;
    std::iter::from_fn(move || {
        let bytes = object.as_bytes();
        if bytes.get(at) == Some(&b',') {
            at += 1;
        }
        if bytes.get(at) != Some(&b'"') {
            return None;
        }
        let key_end = string_end(bytes, at)?;
        let key = object.get(at + 1..key_end - 1)?;
        if bytes.get(key_end) != Some(&b':') {
            return None;
        }
        let end = value_end(bytes, key_end + 1);
        at = end;
        Some((key, object.get(key_end + 1..end)?))
    })
}

/// Returns the position after the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn value_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at).unwrap_or(bytes.len());
                continue;
            }
            b'{' | b'[' => depth += 1,
            b',' if depth == 0 => return at,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Whether a text in the column `id` was written without quotes in the trace: a number, `true`,
/// `false`, a list or an object. If a quoted id looks like one of these, `extra` holds it too.
pub fn reads_as_value(text: &str) -> bool {
    matches!(text.as_bytes().first(), Some(b'{' | b'['))
        || matches!(text, "true" | "false" | "null")
        || is_number(text.as_bytes())
}

fn is_number(text: &[u8]) -> bool {
    let mut t = text.strip_prefix(b"-").unwrap_or(text);
    let digits = |t: &[u8]| t.iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(t);
    if whole == 0 || (whole > 1 && t[0] == b'0') {
        return false;
    }
    t = &t[whole..];
    if let [b'.', rest @ ..] = t {
        let n = digits(rest);
        if n == 0 {
            return false;
        }
        t = &rest[n..];
    }
    if let [b'e' | b'E', rest @ ..] = t {
        let rest = rest.strip_prefix(b"-").or(rest.strip_prefix(b"+")).unwrap_or(rest);
        return !rest.is_empty() && digits(rest) == rest.len();
    }
    t.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn made(f: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        f(&mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_time_has_only_the_digits_it_needs() {
        for (ns, want) in [
            (0, "0"),
            (1, "0.001"),
            (-5, "-0.005"),
            (10, "0.01"),
            (100, "0.1"),
            (1000, "1"),
            (1050, "1.05"),
            (-1_234_567, "-1234.567"),
            (7_234_567_890_123_456_789, "7234567890123456.789"),
            (i64::MAX, "9223372036854775.807"),
            (i64::MIN, "-9223372036854775.808"),
        ] {
            assert_eq!(made(|out| push_time_us(ns, out)), want);
        }
        assert_eq!(made(|out| push_int(i64::MIN, out)), i64::MIN.to_string());
    }

    #[test]
    fn members_gives_keys_and_values_as_written() {
        let found: Vec<_> =
            members(r#"{"a":1,"b\"c":"x,y}","d":{"e":[1,{"f":"]"}]},"g":[]}"#).collect();
        assert_eq!(
            found,
            [("a", "1"), ("b\\\"c", "\"x,y}\""), ("d", r#"{"e":[1,{"f":"]"}]}"#), ("g", "[]")]
        );
        assert_eq!(members("{}").count(), 0);
        assert_eq!(members("7").count(), 0);
        assert_eq!(members(r#"{"a"#).count(), 0);
    }

    #[test]
    fn ids_without_quotes_are_recognised() {
        for text in
            ["7", "-1", "1.5", "0", "1e3", "true", "[1]", "{\"local\":1}", "18446744073709551615"]
        {
            assert!(reads_as_value(text), "{text}");
        }
        for text in ["", "0x1", "007", "x", "1.", ".5", "-", "1 ", "\"NaN\""] {
            assert!(!reads_as_value(text), "{text}");
        }
    }

    fn characters() -> impl Strategy<Value = String> {
        let any_or_structure = prop_oneof![
            any::<char>(),
            proptest::sample::select(vec!['"', '\\', '{', '}', '[', ']', ':', ',', '\n'])
        ];
        proptest::collection::vec(any_or_structure, 0..40).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn strings_are_read_back(text in characters()) {
            let json = made(|out| push_string(&text, out));
            let mut bytes = json.into_bytes();
            bytes.splice(0..0, *b"{\"k\":");
            bytes.push(b'}');
            let object = String::from_utf8(bytes).expect("UTF-8");
            prop_assert_eq!(members(&object).count(), 1);
            // Undo the few escapes that `push_string` writes.
            let inner = members(&object).next().expect("one").1;
            let inner = &inner[1..inner.len() - 1];
            let mut back = String::new();
            let mut chars = inner.chars();
            while let Some(c) = chars.next() {
                if c != '\\' {
                    back.push(c);
                    continue;
                }
                back.push(match chars.next().expect("an escape") {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'u' => {
                        let digits: String = chars.by_ref().take(4).collect();
                        let code = u32::from_str_radix(&digits, 16).expect("hex");
                        char::from_u32(code).expect("a character")
                    }
                    other => other,
                });
            }
            prop_assert_eq!(back, text);
        }

        #[test]
        fn members_never_panics(text in characters()) {
            members(&text).count();
        }
    }
}
