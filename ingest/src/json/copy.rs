//! Copies an object as compact JSON and passes on its members, in one pass.

use super::compact::{mend_string, word};
use super::cursor::{Cursor, WORD_END};
use super::text::Oddities;

/// A value in its original form and as compact JSON.
pub struct Copied<'a, 'o> {
    /// The value as it is written in the text.
    pub raw: &'a [u8],
    /// The value as compact JSON.
    pub compact: &'o [u8],
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Sets the high bit of each byte that ends a plain part of a string: quotes, backslashes, control
/// characters and non-ASCII bytes. Only the lowest set bit is reliable.
#[inline(always)]
fn not_plain(w: u64) -> u64 {
    let quote = w ^ (LOW * b'"' as u64);
    let slash = w ^ (LOW * b'\\' as u64);
    let control = w.wrapping_sub(LOW * 0x20);
    ((quote.wrapping_sub(LOW) & !quote) | (slash.wrapping_sub(LOW) & !slash) | control & !w | w)
        & HIGH
}

/// Walks over a text that a cursor has already stepped over, so its structure is known to be valid,
/// unless the file has changed in between. In that case the output is meaningless, but the walk
/// still ends.
struct Walk<'a, 'o> {
    raw: &'a [u8],
    at: usize,
    out: &'o mut Vec<u8>,
    odd: &'o mut Oddities,
}

impl<'a> Walk<'a, '_> {
    #[inline(always)]
    fn peek(&self) -> u8 {
        self.raw.get(self.at).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    /// Returns the next eight bytes, the first one lowest.
    #[inline(always)]
    fn word_at(&self, at: usize) -> Option<[u8; 8]> {
        self.raw.get(at..at + 8)?.try_into().ok()
    }

    /// Copies the string at the cursor; returns its text without decoding it.
    #[inline]
    fn string(&mut self) -> &'a [u8] {
        let (start, old) = (self.at, self.out.len());
        self.out.push(b'"');
        let mut i = start + 1;
        while let Some(bytes) = self.word_at(i) {
            // Copy whole words and remove the excess afterwards, because this is cheaper than a
            // call for the exact length.
            self.out.extend_from_slice(&bytes);
            let hit = not_plain(u64::from_le_bytes(bytes));
            if hit != 0 {
                let n = (hit.trailing_zeros() / 8) as usize;
                if bytes[n] != b'"' {
                    break;
                }
                i += n;
                self.out.truncate(old + (i - start) + 1);
                self.at = i + 1;
                return &self.raw[start + 1..i];
            }
            i += 8;
        }
        self.out.truncate(old);
        self.odd_string()
    }

    /// Copies a string that is near the end of the text, or that contains escapes or characters
    /// that are not plain.
    #[cold]
    fn odd_string(&mut self) -> &'a [u8] {
        let mut c = Cursor::new(self.raw, self.at);
        let Ok(inner) = c.string() else {
            self.at = self.raw.len();
            return &[];
        };
        if inner.iter().all(|&b| (0x20..0x80).contains(&b) && b != b'\\') {
            self.out.extend_from_slice(&self.raw[self.at..c.pos]);
        } else {
            mend_string(&self.raw[self.at..c.pos], self.out, self.odd);
        }
        self.at = c.pos;
        inner
    }

    #[inline]
    fn word(&mut self) {
        // The common case: an integer of up to seven digits without a leading zero.
        if let Some(bytes) = self.word_at(self.at) {
            let w = u64::from_le_bytes(bytes);
            let digits = w ^ (LOW * b'0' as u64);
            let other = (digits.wrapping_add(LOW * 0x76) | digits) & HIGH;
            let n = (other.trailing_zeros() / 8) as usize;
            if n < 8 && n > 0 && (n == 1 || bytes[0] != b'0') && WORD_END[bytes[n] as usize] {
                let old = self.out.len();
                self.out.extend_from_slice(&bytes);
                self.out.truncate(old + n);
                self.at += n;
                return;
            }
        }
        let start = self.at;
        while !WORD_END[self.peek() as usize] {
            self.at += 1;
        }
        word(&self.raw[start..self.at], self.out, self.odd);
    }

    #[inline]
    fn value(&mut self) {
        match self.peek() {
            b'"' => {
                self.string();
            }
            b'{' | b'[' => self.nested(),
            _ => self.word(),
        }
    }

    fn nested(&mut self) {
        let mut depth = 0usize;
        // The last token, which determines the tokens that may follow.
        let mut last = 0u8;
        while self.at < self.raw.len() {
            let b = self.raw[self.at];
            match b {
                b' ' | b'\n' | b'\t' | b'\r' => {
                    self.at += 1;
                    continue;
                }
                b'"' => {
                    self.string();
                    last = b'"';
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if last == b',' {
                        self.out.pop();
                        self.odd.non_json = true;
                    } else if last == b':' {
                        self.out.extend_from_slice(b"null");
                        self.odd.non_json = true;
                    }
                }
                b',' => {
                    if matches!(last, b':' | b',' | b'[') {
                        self.out.extend_from_slice(b"null");
                        self.odd.non_json = true;
                    }
                }
                b':' => {}
                _ => {
                    let before = self.at;
                    self.word();
                    self.at += usize::from(self.at == before);
                    last = b'0';
                    continue;
                }
            }
            self.out.push(b);
            self.at += 1;
            last = b;
            if depth == 0 {
                return;
            }
        }
    }
}

/// Appends the members of the object at the start of `raw`, without its braces, as compact JSON.
/// Invalid JSON is repaired. Passes each member to the callback: its undecoded key, its value, and
/// the position of the compact value in `out`.
pub fn copy_members<'a>(
    raw: &'a [u8],
    out: &mut Vec<u8>,
    odd: &mut Oddities,
    mut each: impl FnMut(&'a [u8], Copied<'a, '_>, usize),
) {
    let mut w = Walk { raw, at: 1, out, odd };
    let mut first = true;
    loop {
        w.skip_space();
        match w.peek() {
            b'"' => {}
            b',' => {
                w.at += 1;
                continue;
            }
            _ => return,
        }
        if !first {
            w.out.push(b',');
        }
        first = false;
        let key = w.string();
        w.skip_space();
        w.at = raw.len().min(w.at + 1);
        w.out.push(b':');
        w.skip_space();
        let (start, raw_start) = (w.out.len(), w.at);
        w.value();
        // If the file was cut short in the meantime, a value can end beyond its text.
        let raw = raw.get(raw_start..w.at).unwrap_or_default();
        each(key, Copied { raw, compact: &w.out[start..] }, start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::compact_value;
    use proptest::prelude::*;

    fn both(raw: &str) -> ((String, Oddities), (String, Oddities)) {
        let (mut a, mut odd_a) = (vec![b'{'], Oddities::default());
        copy_members(raw.as_bytes(), &mut a, &mut odd_a, |_, _, _| {});
        a.push(b'}');
        let (mut b, mut odd_b) = (Vec::new(), Oddities::default());
        compact_value(raw.as_bytes(), &mut b, &mut odd_b);
        (
            (String::from_utf8(a).expect("UTF-8"), odd_a),
            (String::from_utf8(b).expect("UTF-8"), odd_b),
        )
    }

    #[test]
    fn the_copy_is_what_compact_value_writes() {
        for raw in [
            r#"{}"#,
            r#"{ "a" : 1 , "b c":[ 1, [2 ,3] , {"x": "y, z"} ] }"#,
            r#"{ "d":"long text with é and \" and so on", "e" : 1 }"#,
            r#"{"a":NaN,"b":,"c":007,"d":[1,,2],"e":{"f":}}"#,
            "{\"a\":\"tab\there\",\"b\":\"\\q\"}",
        ] {
            let (fast, slow) = both(raw);
            assert_eq!(fast, slow, "{raw}");
        }
    }

    #[test]
    fn members_are_handed_out_with_their_place() {
        let (mut out, mut odd, mut seen) = (Vec::new(), Oddities::default(), Vec::new());
        copy_members(
            br#"{"External id": 5,"x": [1, 2]} trailing"#,
            &mut out,
            &mut odd,
            |k, v, at| {
                seen.push((
                    String::from_utf8_lossy(k).into_owned(),
                    String::from_utf8_lossy(v.compact).into_owned(),
                    at,
                ));
            },
        );
        assert_eq!(out, br#""External id":5,"x":[1,2]"#);
        assert_eq!(
            seen,
            [("External id".into(), "5".into(), 14), ("x".into(), "[1,2]".into(), 20)]
        );
    }

    fn text(most: usize) -> impl Strategy<Value = String> {
        let characters =
            prop_oneof![4 => proptest::char::range(' ', '~'), 1 => proptest::char::range('à', 'ü')];
        proptest::collection::vec(characters, 0..most).prop_map(String::from_iter)
    }

    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(|n| n.to_string()),
            text(20).prop_map(|s| serde_json::to_string(&s).expect("text")),
            Just("true".to_owned()),
            Just("null".to_owned()),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5)
                    .prop_map(|v| format!("[ {} ]", v.join(" , "))),
                proptest::collection::vec(
                    (text(12).prop_map(|k| k.replace(['"', '\\'], "")), inner),
                    0..5
                )
                .prop_map(|v| {
                    let members: Vec<String> =
                        v.iter().map(|(k, v)| format!("\"{k}\" :\n{v}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    #[test]
    fn walks_over_text_that_was_cut_end_without_panic() {
        let whole: &[u8] = br#"{"a" : 1, "b\n": [1, {"c": "x\u00e9"}, NaN], "d" : true,
            "e": "long enough for a word"}"#;
        for end in 0..whole.len() {
            for start in 0..end {
                copy_members(
                    &whole[start..end],
                    &mut Vec::new(),
                    &mut Oddities::default(),
                    |_, _, _| {},
                );
                compact_value(&whole[start..end], &mut Vec::new(), &mut Oddities::default());
            }
        }
    }

    proptest! {
        #[test]
        fn the_copy_means_the_same(value in json()) {
            let raw = format!("{{\"v\": {value}}}");
            let (fast, slow) = both(&raw);
            prop_assert_eq!(&fast, &slow);
            let read: serde_json::Value = serde_json::from_str(&fast.0).expect("valid JSON");
            let want: serde_json::Value = serde_json::from_str(&raw).expect("valid JSON");
            prop_assert_eq!(read, want);
        }
    }
}
