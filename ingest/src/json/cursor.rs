//! A position in JSON text, with functions that step over whole values.

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
    bytes: &'a [u8],
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

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Finds bytes of `w` that equal `b`: the lowest bit set in the result is the high bit of the
/// lowest such byte.
#[inline(always)]
fn bytes_equal(w: u64, b: u8) -> u64 {
    let x = w ^ (LOW * b as u64);
    x.wrapping_sub(LOW) & !x & HIGH
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at `pos` of `bytes`.
    pub fn new(bytes: &'a [u8], pos: usize) -> Self {
        Self { bytes, pos }
    }

    /// Returns the address of the first byte, for locating slices that were returned.
    pub fn origin(&self) -> usize {
        self.bytes.as_ptr() as usize
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
            while let Some(w) = self.bytes.get(i..i + 8) {
                let w = u64::from_le_bytes([w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]]);
                let hit = bytes_equal(w, b'"') | bytes_equal(w, b'\\');
                if hit != 0 {
                    i += (hit.trailing_zeros() / 8) as usize;
                    break;
                }
                i += 8;
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
        let start = self.pos;
        match self.peek() {
            Some(b'"') => {
                self.string()?;
            }
            Some(b'{' | b'[') => self.nested()?,
            Some(_) => self.word()?,
            None => return Err(Bad::End),
        }
        Ok(&self.bytes[start..self.pos])
    }

    #[inline(always)]
    fn word(&mut self) -> Result<(), Bad> {
        let start = self.pos;
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
    fn nested(&mut self) -> Result<(), Bad> {
        let mut is_object = [0u64; MAX_DEPTH / 64];
        let mut depth = 0usize;
        'value: loop {
            match self.peek().ok_or(Bad::End)? {
                open @ (b'{' | b'[') => {
                    if depth == MAX_DEPTH {
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

    /// Steps over an object and passes each undecoded key to the callback, with the raw text of its
    /// value. The cursor must be at the opening brace. A comma before the closing brace is
    /// tolerated.
    #[inline]
    pub fn object(&mut self, mut each: impl FnMut(&'a [u8], &'a [u8])) -> Result<(), Bad> {
        self.pos += 1;
        if self.next_token()? == b'}' {
            self.pos += 1;
            return Ok(());
        }
        loop {
            let key = self.key_and_colon()?;
            let value = self.value()?;
            each(key, value);
            match self.next_token()? {
                b',' => {
                    self.pos += 1;
                    if self.next_token()? != b'}' {
                        continue;
                    }
                }
                b'}' => {}
                _ => return Err(Bad::Syntax(self.pos)),
            }
            self.pos += 1;
            return Ok(());
        }
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
