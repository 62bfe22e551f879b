//! A position in JSON text, with functions that step over whole values.

use super::scan::{WINDOW, not_number, quote_or_escape, window};

/// Maximum nesting depth that is read.
pub const MAX_DEPTH: usize = 512;

/// Reasons why a value could not be stepped over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bad {
    /// The text ends inside the value.
    End,
    /// The text at this position is neither valid JSON nor one of the tolerated faults.
    Syntax(usize),
    /// The value is nested deeper than [`MAX_DEPTH`].
    Deep,
}

/// A position in JSON text.
///
/// Values are returned as raw text. A *bare word* (a number, `true`, `NaN`, `0x1f`, `N/A`, or
/// nothing) is any run of bytes up to white space or a structural character. The code that decodes
/// the value decides whether it is valid JSON.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    /// The position of the next byte.
    pub pos: usize,
}

/// Marks the bytes that end a bare word.
pub(super) const WORD_END: [bool; 256] = {
    let mut t = [false; 256];
    let ends = b",]}[{\":\0";
    let mut i = 0;
    while i < ends.len() {
        t[ends[i] as usize] = true;
        i += 1;
    }
    let mut c = 0;
    while c <= 0x20 {
        t[c] = true;
        c += 1;
    }
    t
};

impl<'a> Cursor<'a> {
    /// Creates a cursor at `pos` of `bytes`.
    pub fn new(bytes: &'a [u8], pos: usize) -> Self {
        Self { bytes, pos }
    }

    /// Returns the address of the first byte, for locating slices that were returned.
    pub fn origin(&self) -> usize {
        self.bytes.as_ptr() as usize
    }

    /// Returns the text from a position up to the cursor.
    #[inline(always)]
    pub fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.pos]
    }

    /// Returns the byte at the cursor.
    #[inline(always)]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    /// Steps over white space.
    #[inline(always)]
    pub fn skip_space(&mut self) {
        while let Some(&b) = self.bytes.get(self.pos) {
            if !matches!(b, b' ' | b'\n' | b'\t' | b'\r') {
                break;
            }
            self.pos += 1;
        }
    }

    /// Steps over white space and returns the byte that follows.
    #[inline(always)]
    pub fn next_token(&mut self) -> Result<u8, Bad> {
        self.skip_space();
        self.peek().ok_or(Bad::End)
    }

    /// Steps over a string. The cursor must be at the opening quote. Returns the undecoded text
    /// between the quotes.
    #[inline]
    pub fn string(&mut self) -> Result<&'a [u8], Bad> {
        let start = self.pos + 1;
        let mut i = start;
        loop {
            while let Some(w) = window(self.bytes, i) {
                let n = quote_or_escape(&w);
                i += n;
                if n < WINDOW {
                    break;
                }
            }
            match self.bytes.get(i) {
                Some(b'"') => {
                    self.pos = i + 1;
                    return Ok(&self.bytes[start..i]);
                }
                Some(b'\\') => i += 2,
                Some(_) => i += 1,
                None => return Err(Bad::End),
            }
        }
    }

    /// Steps over any value; returns its raw text, including quotes or brackets. The text is empty
    /// if the value is missing.
    #[inline]
    pub fn value(&mut self) -> Result<&'a [u8], Bad> {
        self.value_within(0)
    }

    /// Like [`Cursor::value`], for a value that is nested in `depth` others.
    #[inline(always)]
    pub fn value_within(&mut self, depth: usize) -> Result<&'a [u8], Bad> {
        let start = self.pos;
        match self.peek() {
            Some(b'"') => {
                self.string()?;
            }
            Some(b'{' | b'[') => self.nested(MAX_DEPTH - depth)?,
            Some(_) => self.word()?,
            None => return Err(Bad::End),
        }
        Ok(&self.bytes[start..self.pos])
    }

    #[inline(always)]
    fn word(&mut self) -> Result<(), Bad> {
        let start = self.pos;
        while let Some(w) = window(self.bytes, self.pos) {
            let n = not_number(&w);
            self.pos += n;
            if n < WINDOW {
                break;
            }
        }
        while let Some(&b) = self.bytes.get(self.pos) {
            if WORD_END[b as usize] {
                // An empty word, or one followed by a quote or an opening bracket, means that the
                // cursor is no longer aligned with the structure of the text.
                let in_step =
                    matches!(b, b',' | b'}' | b']') || (b <= b' ' && b != 0 && self.pos > start);
                return if in_step { Ok(()) } else { Err(Bad::Syntax(self.pos)) };
            }
            self.pos += 1;
        }
        Err(Bad::End)
    }

    /// Steps over an object or list without recursion. The cursor must be at the opening bracket.
    fn nested(&mut self, max_depth: usize) -> Result<(), Bad> {
        let mut is_object = [0u64; MAX_DEPTH / 64];
        let mut depth = 0usize;
        'value: loop {
            match self.peek().ok_or(Bad::End)? {
                open @ (b'{' | b'[') => {
                    if depth >= max_depth {
                        return Err(Bad::Deep);
                    }
                    let (word, bit) = (depth / 64, 1u64 << (depth % 64));
                    depth += 1;
                    self.pos += 1;
                    let next = self.next_token()?;
                    if open == b'{' {
                        is_object[word] |= bit;
                        if next != b'}' {
                            self.key_and_colon()?;
                            continue 'value;
                        }
                    } else {
                        is_object[word] &= !bit;
                        if next != b']' {
                            continue 'value;
                        }
                    }
                    self.pos += 1;
                    depth -= 1;
                }
                b'"' => {
                    self.string()?;
                }
                _ => self.word()?,
            }
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let object = is_object[(depth - 1) / 64] >> ((depth - 1) % 64) & 1 == 1;
                match (self.next_token()?, object) {
                    (b',', _) => {
                        self.pos += 1;
                        match (self.next_token()?, object) {
                            (b'}', true) | (b']', false) => {}
                            (_, true) => {
                                self.key_and_colon()?;
                                continue 'value;
                            }
                            _ => continue 'value,
                        }
                        self.pos += 1;
                        depth -= 1;
                    }
                    (b'}', true) | (b']', false) => {
                        self.pos += 1;
                        depth -= 1;
                    }
                    _ => return Err(Bad::Syntax(self.pos)),
                }
            }
        }
    }

    #[inline(always)]
    fn key_and_colon(&mut self) -> Result<&'a [u8], Bad> {
        if self.peek() != Some(b'"') {
            return Err(if self.peek().is_none() { Bad::End } else { Bad::Syntax(self.pos) });
        }
        let key = self.string()?;
        if self.next_token()? != b':' {
            return Err(Bad::Syntax(self.pos));
        }
        self.pos += 1;
        self.next_token()?;
        Ok(key)
    }

    /// Steps over the text between two members of an object, or before its first member, up to the
    /// value. Returns the key, or `None` if the object ends instead. A comma before the closing
    /// brace is tolerated.
    #[inline(always)]
    pub(super) fn next_key(&mut self, is_first: bool) -> Result<Option<&'a [u8]>, Bad> {
        if is_first {
            self.pos += 1;
        } else {
            match self.next_token()? {
                b',' => self.pos += 1,
                b'}' => {}
                _ => return Err(Bad::Syntax(self.pos)),
            }
        }
        if self.next_token()? == b'}' {
            self.pos += 1;
            return Ok(None);
        }
        self.key_and_colon().map(Some)
    }

    /// Steps over an object and passes each undecoded key to the callback, with the raw text of its
    /// value. The cursor must be at the opening brace.
    #[inline]
    pub fn object(&mut self, mut each: impl FnMut(&'a [u8], &'a [u8])) -> Result<(), Bad> {
        let mut is_first = true;
        while let Some(key) = self.next_key(is_first)? {
            is_first = false;
            each(key, self.value()?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(text: &str) -> Result<usize, Bad> {
        let mut c = Cursor::new(text.as_bytes(), 0);
        c.value().map(|v| v.len())
    }

    #[test]
    fn whole_values_are_stepped_over() {
        for (text, len) in [
            (r#"{"a":[1,{"b":"}]"}],"c":{}} x"#, 27),
            (r#""a\"b" ,"#, 6),
            (r#"[1, 2,] "#, 7),
            (r#"{"a":,"b":NaN} "#, 14),
            ("-1.5e3,", 6),
            ("[] ", 2),
        ] {
            assert_eq!(step(text), Ok(len), "{text}");
        }
    }

    #[test]
    fn the_reason_for_stopping_is_reported() {
        assert_eq!(step(r#"{"a":"x " y"}"#), Err(Bad::Syntax(10)));
        assert_eq!(step(r#"{"a":1"#), Err(Bad::End));
        assert_eq!(step(r#""abc\"#), Err(Bad::End));
        assert_eq!(step(&"[".repeat(100_000)), Err(Bad::Deep));
        assert!(step(&format!("{}1{} ", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH))).is_ok());
    }
}
