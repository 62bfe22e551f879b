//! The args of an event, built as compact JSON.

/// A key in quotes with its escapes and a colon, for keys that come from the input.
#[derive(Debug, Clone)]
pub struct Key(Vec<u8>);

impl Key {
    /// Creates the key of a name.
    pub fn new(name: &str) -> Self {
        let mut text = Vec::with_capacity(name.len() + 3);
        push_text(&mut text, name);
        text.push(b':');
        Self(text)
    }
}

/// A JSON object under construction. It is reused for all events.
#[derive(Default)]
pub struct Args {
    bytes: Vec<u8>,
}

impl Args {
    /// Removes all members.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the members without the braces around them.
    pub fn members(&self) -> &[u8] {
        &self.bytes
    }

    /// Begins a member. The key is one of a reader's own and needs no escapes.
    #[inline]
    fn key(&mut self, key: &'static str) {
        if !self.bytes.is_empty() {
            self.bytes.push(b',');
        }
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.extend_from_slice(b"\":");
    }

    /// Begins a member with a key of [`Key`].
    #[inline]
    fn any_key(&mut self, key: &Key) {
        if !self.bytes.is_empty() {
            self.bytes.push(b',');
        }
        self.bytes.extend_from_slice(&key.0);
    }

    /// Adds an integer with any key.
    #[inline]
    pub fn any_int(&mut self, key: &Key, value: i64) {
        self.any_key(key);
        push_int(&mut self.bytes, value);
    }

    /// Adds a number with any key.
    pub fn any_float(&mut self, key: &Key, value: f64) {
        self.any_key(key);
        self.push_float(value);
    }

    /// Adds a text with any key.
    pub fn any_text(&mut self, key: &Key, value: &str) {
        self.any_key(key);
        push_text(&mut self.bytes, value);
    }

    /// Adds a value that is JSON already, with any key.
    pub fn any_json(&mut self, key: &Key, value: &[u8]) {
        self.any_key(key);
        self.bytes.extend_from_slice(value);
    }

    /// Adds an integer.
    #[inline]
    pub fn int(&mut self, key: &'static str, value: i64) {
        self.key(key);
        push_int(&mut self.bytes, value);
    }

    /// Adds an integer if there is one.
    #[inline]
    pub fn maybe_int(&mut self, key: &'static str, value: Option<i64>) {
        if let Some(value) = value {
            self.int(key, value);
        }
    }

    /// Adds a number. Numbers that JSON does not have become text.
    pub fn float(&mut self, key: &'static str, value: f64) {
        self.key(key);
        self.push_float(value);
    }

    fn push_float(&mut self, value: f64) {
        if value.is_finite() {
            // This always succeeds: the target is a list of bytes, and the number is finite.
            let _ = serde_json::to_writer(&mut self.bytes, &value);
        } else {
            push_text(&mut self.bytes, &value.to_string());
        }
    }

    /// Adds a text.
    pub fn text(&mut self, key: &'static str, value: &str) {
        self.key(key);
        push_text(&mut self.bytes, value);
    }

    /// Adds a value that is JSON already.
    #[inline]
    pub fn json(&mut self, key: &'static str, value: &[u8]) {
        self.key(key);
        self.bytes.extend_from_slice(value);
    }

    /// Adds three integers as a list.
    #[inline]
    pub fn triple(&mut self, key: &'static str, values: [i64; 3]) {
        self.key(key);
        for (i, value) in values.into_iter().enumerate() {
            self.bytes.push(if i == 0 { b'[' } else { b',' });
            push_int(&mut self.bytes, value);
        }
        self.bytes.push(b']');
    }
}

/// Appends the digits of a number.
#[inline]
fn push_int(out: &mut Vec<u8>, value: i64) {
    let mut buffer = itoa::Buffer::new();
    out.extend_from_slice(buffer.format(value).as_bytes());
}

/// Appends a text in quotes with its escapes.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    // Writing a text to a list of bytes always succeeds.
    let _ = serde_json::to_writer(&mut *out, text);
}

#[cfg(test)]
mod tests {
    use super::{Args, Key};

    #[test]
    fn members_are_json() {
        let mut args = Args::default();
        args.int("a", i64::MIN);
        args.any_text(&Key::new("b \"c\""), "d\n\u{1}é");
        args.float("e", 0.1);
        args.float("f", f64::NAN);
        args.triple("grid", [1, 2, -3]);
        args.maybe_int("g", None);
        args.json("h", b"{}");
        let text = [b"{", args.members(), b"}"].concat();
        let value: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(
            value,
            serde_json::json!({
                "a": i64::MIN, "b \"c\"": "d\n\u{1}é", "e": 0.1, "f": "NaN", "grid": [1, 2, -3],
                "h": {}
            })
        );
    }
}
