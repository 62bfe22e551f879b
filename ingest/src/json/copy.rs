//! Copies an object as compact JSON and passes on its members, in one pass.

use super::compact::{mend_string, word};
use super::cursor::{Cursor, WORD_END};
use super::memo::Memo;
use super::scan::{WINDOW, digits, not_plain, window};
use super::shapes::{CLOSE, START, Shapes, Slot};
use super::text::Oddities;

/// A value in its original form and as compact JSON.
pub struct Copied<'a, 'o> {
    /// The value as it is written in the text.
    pub raw: &'a [u8],
    /// The value as compact JSON.
    pub compact: &'o [u8],
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

    /// Copies the string at the cursor; returns its text without decoding it.
    #[inline]
    fn string(&mut self) -> &'a [u8] {
        let (start, old) = (self.at, self.out.len());
        self.out.push(b'"');
        let mut i = start + 1;
        while let Some(bytes) = window(self.raw, i) {
            // Copy whole windows and remove the excess afterwards, because this is cheaper than a
            // call for the exact length.
            self.out.extend_from_slice(&bytes);
            let n = not_plain(&bytes);
            i += n;
            if n < WINDOW {
                if self.raw[i] != b'"' {
                    break;
                }
                self.at = i + 1;
                self.out.truncate(old + (self.at - start));
                return &self.raw[start + 1..i];
            }
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

    /// Copies the text between two members, or before the first one. Returns the key, and whether
    /// it is copied unchanged; `None` at the end of the object.
    fn key(&mut self, is_first: bool) -> Option<(&'a [u8], bool)> {
        self.at = self.raw.len().min(self.at + usize::from(is_first));
        loop {
            self.skip_space();
            match self.peek() {
                b'"' => break,
                b',' => self.at += 1,
                _ => {
                    self.at = self.raw.len().min(self.at + 1);
                    return None;
                }
            }
        }
        if !is_first {
            self.out.push(b',');
        }
        let mut odd = Oddities::default();
        let mut walk = Walk { raw: self.raw, at: self.at, out: self.out, odd: &mut odd };
        let key = walk.string();
        self.at = walk.at;
        self.odd.merge(odd);
        self.skip_space();
        self.at = self.raw.len().min(self.at + 1);
        self.out.push(b':');
        self.skip_space();
        Some((key, !odd.any()))
    }

    #[inline]
    fn word(&mut self) {
        // The common cases: integers, and decimal fractions.
        if let Some(bytes) = window(self.raw, self.at) {
            let digits = digits(&bytes);
            let whole = (!digits).trailing_zeros() as usize;
            let mut n = whole;
            if whole > 0 && whole + 1 < WINDOW && bytes[whole] == b'.' {
                let fraction = (!(digits >> (whole + 1))).trailing_zeros() as usize;
                n = if fraction > 0 { whole + 1 + fraction } else { WINDOW };
            }
            if n < WINDOW
                && whole > 0
                && (whole == 1 || bytes[0] != b'0')
                && WORD_END[bytes[n] as usize]
            {
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
    fn value(&mut self, memo: &mut Memo) {
        match self.peek() {
            b'"' => {
                self.string();
            }
            b'{' | b'[' => self.known(memo),
            _ => self.word(),
        }
    }

    /// Copies a list or object, with the help of earlier ones.
    #[inline]
    fn known(&mut self, memo: &mut Memo) {
        let start = self.at;
        if self.raw[start..].starts_with(b"[]") {
            self.out.extend_from_slice(b"[]");
            self.at += 2;
        } else if let Some(known) = memo.find(self.raw, start) {
            self.out.extend_from_slice(known.compact());
            self.at += known.len();
        } else {
            self.unknown(memo);
        }
    }

    #[inline(never)]
    fn unknown(&mut self, memo: &mut Memo) {
        let (start, old) = (self.at, self.out.len());
        let mut odd = Oddities::default();
        let mut walk = Walk { raw: self.raw, at: start, out: self.out, odd: &mut odd };
        walk.nested();
        let end = walk.at;
        // A value that reaches the end of the text may be incomplete.
        if !odd.any() && end < self.raw.len() {
            memo.add(self.raw, start, end, &self.out[old..]);
        }
        self.odd.merge(odd);
        self.at = end;
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

/// Copies objects, with the help of those that it copied before.
pub struct Copier {
    shapes: Shapes,
    memo: Memo,
}

impl Copier {
    /// Creates a copier of objects whose keys have the slots of `slot_of`.
    pub fn new(slot_of: fn(&[u8]) -> Slot) -> Self {
        Self { shapes: Shapes::new(slot_of), memo: Memo::new() }
    }

    /// Appends the members of the object at the start of `raw`, without its braces, as compact
    /// JSON. Invalid JSON is repaired. Passes each member to the callback: the slot of its key, the
    /// undecoded key, its value, and the position of the compact value in `out`.
    #[inline]
    pub fn members<'a>(
        &mut self,
        raw: &'a [u8],
        out: &mut Vec<u8>,
        odd: &mut Oddities,
        mut each: impl FnMut(Slot, &'a [u8], Copied<'a, '_>, usize),
    ) {
        let mut w = Walk { raw, at: 0, out, odd };
        let mut place = START;
        let mut is_first = true;
        loop {
            let (slot, key) = match self.shapes.follow(place, raw, w.at) {
                Some((next, text)) => {
                    place = next;
                    let key = text.key(raw, w.at);
                    w.at += text.len as usize;
                    let old = w.out.len();
                    w.out.extend_from_slice(&text.compact);
                    w.out.truncate(old + text.compact_len as usize);
                    (text.slot, key)
                }
                None => {
                    let (start, old) = (w.at, w.out.len());
                    let key = w.key(is_first);
                    let slot = key.map_or(CLOSE, |(key, _)| self.shapes.slot_of(key));
                    let (key, is_plain) = key.unwrap_or((&[], true));
                    let (text, compact) = (&raw[start.min(w.at)..w.at], &w.out[old..]);
                    let key_at = (key.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
                    place = if is_plain && w.at < raw.len() {
                        let key = if key.is_empty() { 0..0 } else { key_at..key_at + key.len() };
                        self.shapes.learn(place, text, slot, key, compact)
                    } else {
                        Shapes::NOWHERE
                    };
                    (slot, key)
                }
            };
            if slot == CLOSE {
                return;
            }
            is_first = false;
            w.skip_space();
            let (start, raw_start) = (w.out.len(), w.at);
            w.value(&mut self.memo);
            // If the file was cut short in the meantime, a value can end beyond its text.
            let value = raw.get(raw_start..w.at).unwrap_or_default();
            each(slot, key, Copied { raw: value, compact: &w.out[start..] }, start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::compact_value;
    use proptest::prelude::*;

    fn copied(copier: &mut Copier, raw: &str) -> (Vec<u8>, Oddities) {
        let (mut out, mut odd) = (vec![b'{'], Oddities::default());
        copier.members(raw.as_bytes(), &mut out, &mut odd, |_, _, _, _| {});
        out.push(b'}');
        (out, odd)
    }

    fn both(raw: &str) -> ((String, Oddities), (String, Oddities)) {
        let mut copier = Copier::new(|_| 0);
        let (a, odd_a) = copied(&mut copier, raw);
        // An object that was copied before looks the same, at the end of the text and before more.
        for again in [raw, &format!("{raw}, {{\"a\": \"more than the longest text\"}}")] {
            assert_eq!(copied(&mut copier, again), (a.clone(), odd_a), "{raw}");
        }
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
        let mut copier = Copier::new(|key| key.len() as Slot);
        for raw in [
            r#"{"External id": 5,"x": [1, 2]} trailing"#,
            r#"{"External id": 5,"x": [1, 2]} and more than a window"#,
            r#"{"External id":   5,"x": [1, 2]  ,  } and more than a window"#,
            r#"{"External id": 5,"x": [1, 2]} and more than a window"#,
        ] {
            let (mut out, mut odd, mut seen) = (Vec::new(), Oddities::default(), Vec::new());
            copier.members(raw.as_bytes(), &mut out, &mut odd, |slot, k, v, at| {
                let [k, v] = [k, v.compact].map(|t| String::from_utf8_lossy(t).into_owned());
                seen.push((slot, k, v, at));
            });
            assert_eq!(String::from_utf8_lossy(&out), r#""External id":5,"x":[1,2]"#);
            let want = [(11, "External id", "5", 14), (1, "x", "[1,2]", 20)];
            assert_eq!(seen, want.map(|(s, k, v, at)| (s, k.to_owned(), v.to_owned(), at)));
        }
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
        let mut copier = Copier::new(|_| 0);
        for end in 0..whole.len() {
            for start in 0..end {
                copier.members(
                    &whole[start..end],
                    &mut Vec::new(),
                    &mut Oddities::default(),
                    |_, _, _, _| {},
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
