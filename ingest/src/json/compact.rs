//! Writes a raw value as compact JSON that every parser accepts.

use super::text::{Oddities, hex4};

/// Appends `raw` to `out` without white space. Text that is not valid JSON is repaired without
/// losing content: values that are not JSON are put in quotes (an empty value becomes `null`),
/// control characters are escaped, stray backslashes are doubled, and invalid UTF-8 and lone
/// surrogates become U+FFFD.
#[inline]
pub fn compact_value(raw: &[u8], out: &mut Vec<u8>, odd: &mut Oddities) {
    match raw.first() {
        Some(b'"') => string(raw, out, odd),
        Some(b'{' | b'[') => nested(raw, out, odd),
        _ => word(raw, out, odd),
    }
}

fn nested(raw: &[u8], out: &mut Vec<u8>, odd: &mut Oddities) {
    let mut i = 0;
    // The last token. After some tokens, a comma or a bracket means that a value is missing.
    let mut last = 0u8;
    while i < raw.len() {
        match raw[i] {
            b' ' | b'\n' | b'\t' | b'\r' => i += 1,
            b'"' => {
                let end = string_end(raw, i);
                string(&raw[i..end], out, odd);
                i = end;
                last = b'"';
            }
            b @ (b'{' | b'[' | b':' | b',' | b'}' | b']') => {
                if last == b':' && matches!(b, b',' | b'}')
                    || (matches!(last, b',' | b'[') && b == b',')
                {
                    out.extend_from_slice(b"null");
                    odd.non_json = true;
                } else if last == b',' && matches!(b, b'}' | b']') {
                    out.pop();
                    odd.non_json = true;
                }
                out.push(b);
                last = b;
                i += 1;
            }
            _ => {
                let len = raw[i..]
                    .iter()
                    .position(|b| matches!(b, b',' | b'}' | b']' | 0..=b' '))
                    .unwrap_or(raw.len() - i);
                word(&raw[i..i + len], out, odd);
                i += len.max(1);
                last = b'w';
            }
        }
    }
}

/// Returns the position after the string that begins at `start`.
fn string_end(raw: &[u8], start: usize) -> usize {
    let mut i = start + 1;
    while i < raw.len() {
        match raw[i] {
            b'"' => return i + 1,
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
    raw.len()
}

#[inline]
fn string(raw: &[u8], out: &mut Vec<u8>, odd: &mut Oddities) {
    let clean = raw.iter().fold(true, |ok, &b| ok & ((0x20..0x80).contains(&b) && b != b'\\'));
    if clean {
        out.extend_from_slice(raw);
    } else {
        mend_string(raw, out, odd);
    }
}

#[cold]
pub(super) fn mend_string(raw: &[u8], out: &mut Vec<u8>, odd: &mut Oddities) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let inner = super::unquote(raw);
    out.push(b'"');
    for chunk in inner.utf8_chunks() {
        let valid = chunk.valid().as_bytes();
        let mut i = 0;
        while i < valid.len() {
            match valid[i] {
                b'\\' => i += escape(&valid[i..], out, odd),
                b @ 0..0x20 => {
                    odd.control = true;
                    out.extend_from_slice(b"\\u00");
                    out.extend_from_slice(&[HEX[(b >> 4) as usize], HEX[(b & 15) as usize]]);
                    i += 1;
                }
                b => {
                    out.push(b);
                    i += 1;
                }
            }
        }
        if !chunk.invalid().is_empty() {
            odd.invalid_utf8 = true;
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    out.push(b'"');
}

/// Writes one escape; returns the number of bytes of `text` that it occupies.
fn escape(text: &[u8], out: &mut Vec<u8>, odd: &mut Oddities) -> usize {
    match text.get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
            out.extend_from_slice(&text[..2]);
            2
        }
        Some(b'u') if hex4(text.get(2..6)).is_some() => {
            let is = |at: usize, range: std::ops::Range<u16>| {
                text.get(at..at + 2) == Some(b"\\u")
                    && hex4(text.get(at + 2..at + 6)).is_some_and(|u| range.contains(&u))
            };
            let pair = is(0, 0xd800..0xdc00) && is(6, 0xdc00..0xe000);
            if !pair && is(0, 0xd800..0xe000) {
                odd.lone_surrogate = true;
                out.extend_from_slice(b"\\ufffd");
                return 6;
            }
            let len = if pair { 12 } else { 6 };
            out.extend_from_slice(&text[..len]);
            len
        }
        _ => {
            odd.bad_escape = true;
            out.extend_from_slice(b"\\\\");
            1
        }
    }
}

#[inline]
pub(super) fn word(raw: &[u8], out: &mut Vec<u8>, odd: &mut Oddities) {
    if is_json_word(raw) {
        out.extend_from_slice(raw);
    } else if raw.is_empty() {
        odd.non_json = true;
        out.extend_from_slice(b"null");
    } else {
        odd.non_json = true;
        let mut quoted = vec![b'"'];
        quoted.extend_from_slice(raw);
        quoted.push(b'"');
        mend_string(&quoted, out, odd);
    }
}

#[inline]
fn is_json_word(raw: &[u8]) -> bool {
    // The common case: a short integer.
    if let [b'1'..=b'9', rest @ ..] = raw
        && rest.iter().all(u8::is_ascii_digit)
    {
        return true;
    }
    matches!(raw, b"0" | b"true" | b"false" | b"null") || is_json_number(raw)
}

/// Whether a decoded text would be read as a type other than string if it had no quotes.
pub fn reads_as_value(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'{' | b'[')) || is_json_word(text)
}

fn is_json_number(raw: &[u8]) -> bool {
    let mut t = raw.strip_prefix(b"-").unwrap_or(raw);
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
        let n = digits(rest);
        return n > 0 && n == rest.len();
    }
    t.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compact(raw: &str) -> (String, Oddities) {
        let (mut out, mut odd) = (Vec::new(), Oddities::default());
        compact_value(raw.as_bytes(), &mut out, &mut odd);
        (String::from_utf8(out).expect("UTF-8"), odd)
    }

    #[test]
    fn only_white_space_is_dropped() {
        let (text, odd) = compact("{ \"a b\" : [ 1 , 2.50 ,\n \"x y\" ] , \"c\" : { } }");
        assert_eq!(text, r#"{"a b":[1,2.50,"x y"],"c":{}}"#);
        assert!(!odd.any());
    }

    #[test]
    fn invalid_json_is_repaired() {
        for (raw, want) in [
            (r#"{"a":NaN,"b":-Infinity,"c":N/A}"#, r#"{"a":"NaN","b":"-Infinity","c":"N/A"}"#),
            (r#"{"a": ,"b":}"#, r#"{"a":null,"b":null}"#),
            (r#"[007,+1,.5,5.,0x1f,]"#, r#"["007","+1",".5","5.","0x1f"]"#),
            (r#"{"p":"C:\Temp\x"}"#, r#"{"p":"C:\\Temp\\x"}"#),
            ("[\"a\nb\"]", r#"["a\u000ab"]"#),
            (r#"["\ud83d","\ud83d\ude80"]"#, r#"["\ufffd","\ud83d\ude80"]"#),
        ] {
            let (text, odd) = compact(raw);
            assert_eq!(text, want);
            assert!(odd.any(), "{raw}");
            serde_json::from_str::<serde_json::Value>(&text).expect(&text);
        }
    }

    proptest! {
        #[test]
        fn any_text_in_quotes_becomes_json(inner in proptest::collection::vec(any::<u8>(), 0..40)) {
            let inner: Vec<u8> = inner.into_iter().filter(|&b| b != b'"').collect();
            let mut raw = vec![b'"'];
            raw.extend(&inner);
            if inner.iter().rev().take_while(|&&b| b == b'\\').count() % 2 == 1 { raw.push(b'\\'); }
            raw.push(b'"');
            let (mut out, mut odd) = (Vec::new(), Oddities::default());
            compact_value(&raw, &mut out, &mut odd);
            serde_json::from_slice::<String>(&out).expect("valid JSON");
        }
    }
}
