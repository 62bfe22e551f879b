//! Tells files beside a trace apart by their first bytes.

use crate::error::Result;
use crate::json::{self, Cursor};
use crate::source::Content;

/// A kind of file beside a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A dump of the flight recorder as JSON.
    Flight,
    /// A PyTorch execution trace.
    Execution,
    /// Single entries of a memory timeline.
    RawTimeline,
    /// Times and sizes of a memory timeline.
    Timeline,
    /// Folded stacks.
    Folded,
    /// A speedscope profile.
    Speedscope,
}

/// Number of bytes that are looked at.
const HEAD: u64 = 64 << 10;

/// Recognises a file by its content; `None` for content that may be a trace.
pub fn recognise(content: &Content) -> Result<Option<Kind>> {
    let (len, is_complete) = content.wait(HEAD)?;
    let head = content.map(0, len.min(HEAD))?;
    Ok(kind(&head, is_complete && len <= HEAD))
}

fn kind(head: &[u8], is_whole: bool) -> Option<Kind> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    match text.trim_ascii_start() {
        text @ [b'{', ..] => object(text),
        text @ [b'[', ..] => list(text).or_else(|| folded(head, is_whole)),
        _ => folded(head, is_whole),
    }
}

/// Passes each key of an object to `each`, with the text from its value on, until `each` returns
/// false, or the text ends.
fn keys<'t>(text: &'t [u8], mut each: impl FnMut(&'t [u8], &'t [u8]) -> bool) {
    let mut c = Cursor::new(text, 1);
    loop {
        match c.next_token() {
            Ok(b',') => c.pos += 1,
            Ok(b'"') => {
                let Ok(key) = c.string() else { return };
                if c.next_token() != Ok(b':') {
                    return;
                }
                c.pos += 1;
                if c.next_token().is_err() || !each(key, &text[c.pos..]) || c.value().is_err() {
                    return;
                }
            }
            _ => return,
        }
    }
}

/// Whether the first item of a list is an object with one of these keys.
fn has_item_with(list: &[u8], wanted: &[&[u8]]) -> bool {
    let Some(inner) = list.strip_prefix(b"[").map(<[u8]>::trim_ascii_start) else { return false };
    let mut found = false;
    if inner.first() == Some(&b'{') {
        keys(inner, |key, _| {
            found |= wanted.contains(&key);
            !found
        });
    }
    found
}

const RECORD_KEYS: [&[u8]; 4] =
    [b"record_id", b"profiling_name", b"collective_seq_id", b"time_created_ns"];
const NODE_KEYS: [&[u8]; 4] = [b"ctrl_deps", b"rf_id", b"inputs", b"attrs"];

fn object(text: &[u8]) -> Option<Kind> {
    let mut found = None;
    let [mut entries, mut version, mut config, mut schema, mut shared, mut profiles] = [false; 6];
    keys(text, |key, value| {
        match key {
            b"traceEvents" => {
                found = None;
                return false;
            }
            b"entries" if has_item_with(value, &RECORD_KEYS) => found = Some(Kind::Flight),
            b"entries" => entries = value.starts_with(b"["),
            b"version" => version = true,
            b"pg_config" => config = value.starts_with(b"{"),
            b"schema" => schema = json::is_text(value),
            b"nodes" if value.starts_with(b"[") && (schema || has_item_with(value, &NODE_KEYS)) => {
                found = Some(Kind::Execution);
            }
            b"$schema" => {
                let head = &value[..value.len().min(200)];
                let mut words = head.windows(10);
                if words.any(|word| word == b"speedscope") {
                    found = Some(Kind::Speedscope);
                }
            }
            b"shared" => shared = value.starts_with(b"{"),
            b"profiles" => profiles = value.starts_with(b"["),
            _ => {}
        }
        if version && (entries || config) {
            found = Some(Kind::Flight);
        }
        if shared && profiles {
            found = Some(Kind::Speedscope);
        }
        found.is_none()
    });
    found
}

/// A list of lists: entries of a memory timeline, or its times and sizes.
fn list(text: &[u8]) -> Option<Kind> {
    let mut c = Cursor::new(text, 1);
    if c.next_token() != Ok(b'[') {
        return None;
    }
    let start = c.pos;
    let Ok(first) = c.value() else {
        // The first list is longer than the head: times.
        let rest = &text[start + 1..];
        return rest
            .iter()
            .all(|b| b.is_ascii_digit() || matches!(b, b',' | b' ' | b'\n' | b'-' | b'.'))
            .then_some(Kind::Timeline);
    };
    let numbers = super::items(first);
    if !numbers.iter().all(|n| json::int(n).is_some()) {
        return None;
    }
    if c.next_token() == Ok(b',') {
        c.pos += 1;
    }
    let second = c.next_token().is_ok_and(|b| b == b'[').then(|| &text[c.pos + 1..]);
    let second = second.map(<[u8]>::trim_ascii_start);
    match second {
        Some([b'[', ..]) => Some(Kind::Timeline),
        Some([b']', ..]) if numbers.is_empty() => Some(Kind::Timeline),
        _ if numbers.len() == 4 => Some(Kind::RawTimeline),
        _ => None,
    }
}

/// Folded stacks: nine of ten lines end in a space and a number, and at least one of them has several
/// frames.
fn folded(head: &[u8], is_whole: bool) -> Option<Kind> {
    let mut lines: Vec<&[u8]> = head.split(|b| *b == b'\n').collect();
    // The last line may be cut.
    if (!is_whole || !head.ends_with(b"\n")) && lines.len() > 1 {
        lines.pop();
    }
    let (mut rows, mut odd, mut has_frames) = (0, 0, false);
    for line in lines {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let Some((frames, _)) = super::folded::split(line) else {
            odd += 1;
            continue;
        };
        if frames.iter().any(|b| *b < 0x20 && *b != b'\t') {
            return None;
        }
        has_frames |= frames.contains(&b';');
        rows += 1;
    }
    (has_frames && rows >= 9 * odd).then_some(Kind::Folded)
}

#[cfg(test)]
mod tests {
    use super::{Kind, kind};

    #[test]
    fn first_bytes_tell() {
        for (text, want) in [
            ("{\"entries\":[{\"collective_seq_id\":1", Some(Kind::Flight)),
            ("{\"comm_lib_version\":\"2\",\"entries\":[],\"version\":\"2.9\"}", Some(Kind::Flight)),
            ("{\"pg_config\":{},\"version\":\"2.9\"}", Some(Kind::Flight)),
            ("{\"entries\":[],\"traceEvents\":[]}", None),
            ("{\"version\":1,\"traceEvents\":[]}", None),
            ("{\"schema\": \"1.1\", \"pid\": 1, \"nodes\": []}", Some(Kind::Execution)),
            ("{\"nodes\": [{\"id\":1,\"ctrl_deps\":1}]}", Some(Kind::Execution)),
            ("{\"nodes\":[{\"id\":1}],\"samples\":[]}", None),
            ("[[-1, 1, 4, 0], [5, 2, 8, 4]]", Some(Kind::RawTimeline)),
            ("[[-1, 1, 4, 0]]", Some(Kind::RawTimeline)),
            ("[[1, 2, 3, 4], [[0, 1], [0, 2]]]", Some(Kind::Timeline)),
            ("[[], []]", Some(Kind::Timeline)),
            ("[{\"ph\":\"X\"}]", None),
            ("[]", None),
            ("[[\"a\"]]", None),
            ("{\"shared\":{\"frames\":[]},\"profiles\":[]}", Some(Kind::Speedscope)),
            (
                "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"",
                Some(Kind::Speedscope),
            ),
            ("main;step 12\nmain 3\n", Some(Kind::Folded)),
            ("[unknown];read 3", Some(Kind::Folded)),
            ("main 3\n", None),
            ("main;step\n", None),
            ("42", None),
            ("", None),
        ] {
            assert_eq!(kind(text.as_bytes(), true), want, "{text}");
        }
        assert_eq!(kind(b"a;b 1\nc;d", false), Some(Kind::Folded));
    }
}
