//! Writes values as compact JSON.

use std::io::Write;

/// A JSON text that grows by members and values. The caller keeps its brackets balanced.
#[derive(Debug, Default, Clone)]
pub struct JsonText {
    bytes: Vec<u8>,
}

impl JsonText {
    /// Removes the text and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Returns the text.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the text and forgets it.
    pub fn take(&mut self) -> String {
        String::from_utf8(std::mem::take(&mut self.bytes)).unwrap_or_default()
    }

    /// Number of bytes that were written.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Opens an object (`{`) or a list (`[`).
    pub fn open(&mut self, bracket: u8) {
        self.comma();
        self.bytes.push(bracket);
    }

    /// Closes an object (`}`) or a list (`]`).
    pub fn close(&mut self, bracket: u8) {
        self.bytes.push(bracket);
    }

    /// Separates the next member or value from the one before.
    fn comma(&mut self) {
        if !matches!(self.bytes.last(), None | Some(b'{' | b'[' | b':' | b',')) {
            self.bytes.push(b',');
        }
    }

    /// Writes a key.
    pub fn key(&mut self, key: &str) {
        self.comma();
        self.string(key);
        self.bytes.push(b':');
    }

    /// Writes a key whose text is JSON already, with its quotes.
    #[inline]
    pub fn ready_key(&mut self, key: &[u8]) {
        self.comma();
        self.bytes.extend_from_slice(key);
        self.bytes.push(b':');
    }

    /// Writes members or values that are JSON already. They may be empty.
    #[inline]
    pub fn ready(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.comma();
            self.bytes.extend_from_slice(text);
        }
    }

    fn string(&mut self, text: &str) {
        self.bytes.push(b'"');
        let mut rest = text.as_bytes();
        while let Some(at) = rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)) {
            self.bytes.extend_from_slice(&rest[..at]);
            match rest[at] {
                b'"' => self.bytes.extend_from_slice(b"\\\""),
                b'\\' => self.bytes.extend_from_slice(b"\\\\"),
                b'\n' => self.bytes.extend_from_slice(b"\\n"),
                b'\t' => self.bytes.extend_from_slice(b"\\t"),
                b'\r' => self.bytes.extend_from_slice(b"\\r"),
                // Writing to a vector does not fail.
                other => {
                    let _ = write!(self.bytes, "\\u{other:04x}");
                }
            }
            rest = &rest[at + 1..];
        }
        self.bytes.extend_from_slice(rest);
        self.bytes.push(b'"');
    }

    /// Writes a text.
    pub fn text(&mut self, text: &str) {
        self.comma();
        self.string(text);
    }

    /// Writes a signed number.
    #[inline]
    pub fn int(&mut self, value: i64) {
        self.comma();
        if value < 0 {
            self.bytes.push(b'-');
        }
        self.digits(value.unsigned_abs());
    }

    /// Writes an unsigned number.
    #[inline]
    pub fn uint(&mut self, value: u64) {
        self.comma();
        self.digits(value);
    }

    fn digits(&mut self, mut rest: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.bytes.extend_from_slice(&digits[at..]);
    }

    /// Writes a number of up to 128 bits.
    pub fn wide(&mut self, value: i128) {
        self.comma();
        let _ = write!(self.bytes, "{value}");
    }

    /// Writes a double, exactly. A value that is no number becomes a text (`"NaN"`).
    pub fn double(&mut self, value: f64) {
        self.comma();
        let _ = match value.is_finite() {
            true => write!(self.bytes, "{value:?}"),
            false => write!(self.bytes, "\"{value}\""),
        };
    }

    /// Writes true or false.
    pub fn bool(&mut self, value: bool) {
        self.ready(if value { b"true" } else { b"false" });
    }

    /// Writes bytes as a text of their base64 form.
    pub fn base64(&mut self, bytes: &[u8]) {
        const LETTERS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        self.comma();
        self.bytes.push(b'"');
        for chunk in bytes.chunks(3) {
            let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for i in 0..4 {
                let letter = LETTERS[(bits >> (18 - 6 * i)) as usize & 63];
                self.bytes.push(if i > chunk.len() { b'=' } else { letter });
            }
        }
        self.bytes.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_valid_json() {
        let mut json = JsonText::default();
        json.open(b'{');
        json.key("a\"b");
        json.text("line\n\u{1}ü");
        json.key("n");
        json.int(i64::MIN);
        json.ready_key(b"\"u\"");
        json.uint(u64::MAX);
        json.key("l");
        json.open(b'[');
        json.double(0.1);
        json.double(f64::NAN);
        json.double(1e300);
        json.bool(true);
        json.open(b'{');
        json.close(b'}');
        json.close(b']');
        json.ready(b"\"r\":1");
        json.key("w");
        json.wide(1_790_000_000_000_000_000_001);
        json.close(b'}');
        let text = json.take();
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["a\"b"], "line\n\u{1}ü");
        assert_eq!(value["n"], i64::MIN);
        assert_eq!(value["u"], u64::MAX);
        assert_eq!(value["l"].to_string(), r#"[0.1,"NaN",1e+300,true,{}]"#);
        assert!(text.ends_with(r#","r":1,"w":1790000000000000000001}"#), "{text}");
    }

    #[test]
    fn bytes_are_written_as_base64() {
        let of = |bytes: &[u8]| {
            let mut json = JsonText::default();
            json.base64(bytes);
            json.take()
        };
        assert_eq!(of(b""), "\"\"");
        assert_eq!(of(b"M"), "\"TQ==\"");
        assert_eq!(of(b"Ma"), "\"TWE=\"");
        assert_eq!(of(b"Man\xff"), "\"TWFu/w==\"");
    }
}
