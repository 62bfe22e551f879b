//! Reads files that stand beside a trace and have no event list: dumps of the flight recorder,
//! execution traces, memory timelines, and stacks of samples.
//!
//! Their elements do not nest in time, and many have no time at all. So they become rows directly
//! (`build::side_tables`), without the stages that sort, nest and link events.

pub mod execution;
pub mod flight;
pub mod folded;
mod recognise;
pub mod speedscope;
pub mod timeline;

use crate::issues::{Code, Issues, codes_of};
use crate::json::{self, Cursor, Oddities};

pub use recognise::{Kind, recognise};

/// Maximum total length of the values that are kept as metadata, in bytes.
const MAX_METADATA: usize = 16 << 20;

/// The top-level keys of a file that have no table, as members of a JSON object.
#[derive(Default)]
pub struct Metadata {
    members: String,
}

impl Metadata {
    /// Adds a key, as it stands between its quotes, with its raw value.
    pub fn add(&mut self, key: &[u8], raw: &[u8], issues: &mut Issues) {
        let mut quoted = vec![b'"'];
        quoted.extend_from_slice(key);
        quoted.push(b'"');
        let (mut out, mut odd) = (Vec::new(), Oddities::default());
        json::compact_value(&quoted, &mut out, &mut odd);
        out.push(b':');
        json::compact_value(raw, &mut out, &mut odd);
        if self.members.len() + out.len() > MAX_METADATA {
            issues.add(Code::TopLevelValue, None, None, key);
            return;
        }
        for code in codes_of(odd) {
            issues.add(code, None, None, raw);
        }
        self.add_members(&String::from_utf8_lossy(&out));
    }

    /// Adds members that are compact JSON already.
    pub fn add_members(&mut self, members: &str) {
        if !self.members.is_empty() && !members.is_empty() {
            self.members.push(',');
        }
        self.members.push_str(members);
    }

    /// Returns the object.
    pub fn object(&self) -> String {
        format!("{{{}}}", self.members)
    }
}

/// Returns a value as compact JSON, and counts what is odd about it.
pub fn compact(raw: &[u8], issues: &mut Issues, id: u64) -> String {
    let (mut out, mut odd) = (Vec::with_capacity(raw.len()), Oddities::default());
    json::compact_value(raw, &mut out, &mut odd);
    for code in codes_of(odd) {
        issues.add(code, Some(id), None, raw);
    }
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Returns the raw items of a raw list; none for another value.
pub fn items(raw: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    if raw.first() != Some(&b'[') {
        return found;
    }
    let mut c = Cursor::new(raw, 1);
    loop {
        match c.next_token() {
            Ok(b',') => c.pos += 1,
            Ok(b']') | Err(_) => return found,
            Ok(_) => match c.value() {
                Ok(value) if !value.is_empty() => found.push(value),
                _ => return found,
            },
        }
    }
}

/// Returns the text of a raw string; `None` for another value.
pub fn text(raw: &[u8]) -> Option<String> {
    json::is_text(raw)
        .then(|| json::as_text(json::unquote(raw), &mut Oddities::default()).into_owned())
}

/// Replaces what separates frames in the text of a stack.
pub fn frame(text: &str, out: &mut String) {
    if text.is_empty() {
        out.push_str("(empty)");
    }
    for c in text.chars() {
        out.push(if c == ';' { ':' } else { c });
    }
}

#[cfg(test)]
mod tests {
    use super::{Metadata, items, text};
    use crate::issues::Issues;

    #[test]
    fn items_of_lists() {
        assert_eq!(items(b"[1, [2,3],\"a]\" ]"), [&b"1"[..], b"[2,3]", b"\"a]\""]);
        assert!(items(b"{}").is_empty() && items(b"[").is_empty() && items(b"[,").is_empty());
        assert_eq!(text(b"\"a\\\"b\"").as_deref(), Some("a\"b"));
        assert_eq!(text(b"7"), None);
    }

    #[test]
    fn metadata_is_an_object() {
        let (mut metadata, mut issues) = (Metadata::default(), Issues::default());
        metadata.add(b"a", b"[ 1 ]", &mut issues);
        metadata.add(b"b", b"NaN", &mut issues);
        assert_eq!(metadata.object(), "{\"a\":[1],\"b\":\"NaN\"}");
    }
}
