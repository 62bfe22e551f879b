//! Decodes strings from their raw JSON text.

use std::borrow::Cow;

/// Faults found in text that was decoded or made compact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Oddities {
    /// The text contains bytes that are not UTF-8.
    pub invalid_utf8: bool,
    /// The text contains a backslash that does not start a JSON escape.
    pub bad_escape: bool,
    /// The text contains half of a surrogate pair.
    pub lone_surrogate: bool,
    /// The text contains unescaped control characters.
    pub control: bool,
    /// The text contains a value that is not JSON.
    pub non_json: bool,
}

impl Oddities {
    /// Whether any fault was found.
    #[inline]
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// Adds the faults of another text.
    pub fn merge(&mut self, other: Self) {
        self.invalid_utf8 |= other.invalid_utf8;
        self.bad_escape |= other.bad_escape;
        self.lone_surrogate |= other.lone_surrogate;
        self.control |= other.control;
        self.non_json |= other.non_json;
    }
}

/// Whether a raw value is a string.
pub fn is_text(raw: &[u8]) -> bool {
    raw.first() == Some(&b'"')
}

/// Returns the text inside the quotes of a raw string value, still escaped.
pub fn unquote(raw: &[u8]) -> &[u8] {
    match raw {
        [b'"', inner @ .., b'"'] => inner,
        _ => raw,
    }
}

/// Decodes the text between quotes. Invalid escapes are kept as they are; invalid UTF-8 becomes
/// U+FFFD.
pub fn as_text<'a>(inner: &'a [u8], odd: &mut Oddities) -> Cow<'a, str> {
    let plain = !inner.iter().any(|&b| b == b'\\' || b < 0x20 || b == 0x7f);
    if plain && let Ok(s) = std::str::from_utf8(inner) {
        return Cow::Borrowed(s);
    }
    let mut out = String::with_capacity(inner.len());
    let mut i = 0;
    while i < inner.len() {
        let plain = inner[i..].iter().position(|&b| b == b'\\').unwrap_or(inner.len() - i);
        push_utf8(&inner[i..i + plain], &mut out, odd);
        i += plain;
        if i < inner.len() {
            i += escape(&inner[i..], &mut out, odd);
        }
    }
    Cow::Owned(out)
}

fn push_utf8(bytes: &[u8], out: &mut String, odd: &mut Oddities) {
    odd.control |= bytes.iter().any(|&b| b < 0x20);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            odd.invalid_utf8 = true;
            out.push('\u{fffd}');
        }
    }
}

/// Returns the beginning of a text between quotes: at most `max` bytes, without cutting an escape.
pub fn cut(inner: &[u8], max: usize) -> &[u8] {
    if inner.len() <= max {
        return inner;
    }
    let mut end = 0;
    loop {
        let next = if inner[end] == b'\\' {
            escape(&inner[end..], &mut String::new(), &mut Oddities::default())
        } else {
            1
        };
        if end + next > max {
            return &inner[..end];
        }
        end += next;
    }
}

/// Decodes one escape at the start of `text`; returns the number of bytes that it occupies.
fn escape(text: &[u8], out: &mut String, odd: &mut Oddities) -> usize {
    let simple = match text.get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(text, out, odd),
        _ => {
            odd.bad_escape = true;
            out.push('\\');
            return 1;
        }
    };
    out.push(simple);
    2
}

fn unicode_escape(text: &[u8], out: &mut String, odd: &mut Oddities) -> usize {
    let Some(unit) = hex4(text.get(2..6)) else {
        odd.bad_escape = true;
        out.push('\\');
        return 1;
    };
    if let Some(c) = char::from_u32(unit as u32) {
        out.push(c);
        return 6;
    }
    let low = (text.get(6..8) == Some(b"\\u")).then(|| hex4(text.get(8..12))).flatten();
    if let Some(low) = low
        && let Some(Ok(c)) = char::decode_utf16([unit, low]).next()
    {
        out.push(c);
        return 12;
    }
    odd.lone_surrogate = true;
    out.push('\u{fffd}');
    6
}

pub(super) fn hex4(digits: Option<&[u8]>) -> Option<u16> {
    let digits = digits?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(inner: &[u8]) -> (String, Oddities) {
        let mut odd = Oddities::default();
        (as_text(inner, &mut odd).into_owned(), odd)
    }

    #[test]
    fn escapes_are_decoded() {
        assert_eq!(
            decode(br"a\n\t\u0041\ud83d\ude80\/"),
            ("a\n\tA🚀/".into(), Oddities::default())
        );
        assert!(!decode("naïve".as_bytes()).1.any());
    }

    #[test]
    fn texts_are_cut_between_escapes() {
        let cut = |inner, most| cut(inner, most).len();
        assert_eq!([3, 4, 5, 6].map(|most| cut(br"abc\nd", most)), [3, 3, 5, 6]);
        assert_eq!(
            [6, 7, 8, 9, 10, 11].map(|most| cut(br"a\u0041\\\\n", most)),
            [1, 7, 7, 9, 9, 11]
        );
        assert_eq!([1, 11, 12, 13].map(|most| cut(br"\ud83d\ude80xyz", most)), [0, 0, 12, 13]);
    }

    #[test]
    fn broken_text_is_kept() {
        assert_eq!(decode(br"C:\Temp\slash").0, r"C:\Temp\slash");
        assert!(decode(br"\s").1.bad_escape);
        assert_eq!(decode(br"x\ud83dy").0, "x\u{fffd}y");
        assert!(decode(br"x\ud83dy").1.lone_surrogate);
        assert_eq!(decode(b"ab\xff\xc3cd").0, "ab\u{fffd}\u{fffd}cd");
        assert!(decode(b"a\nb").1.control);
    }
}
