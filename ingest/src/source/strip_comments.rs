//! Replaces comments by blanks in MLLM's perf.json, a file that people edit.
//!
//! Other traces are left alone. Some contain names with unescaped quotes, where it is uncertain
//! what is outside of strings.

use std::io::Write;
use std::path::Path;

use super::Content;
use crate::error::{IngestError, Result};
use crate::issues::Code;

/// Bytes at the start that are searched for a comment.
const HEAD: u64 = 64 << 10;
/// The longest text that is copied without its comments, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The content itself, or for a perf.json with a comment near its beginning a copy in which
/// comments are blank, so that offsets stay the same.
pub fn without_comments(content: &Content, scratch: &Path) -> Result<Content> {
    let (len, _) = content.wait(HEAD)?;
    let head = content.map(0, len.min(HEAD))?;
    let has = |key: &[u8]| head.windows(key.len()).any(|w| w == key);
    let slashes = head.windows(2).any(|w| matches!(w, b"//" | b"/*"));
    if !slashes
        || has(b"\"traceEvents\"")
        || !(has(b"\"memory_blobs\"") || has(b"\"op_blobs\""))
        || comments(&head).is_empty()
    {
        return Ok(content.clone());
    }
    let (len, _) = content.wait(u64::MAX)?;
    if len > MAX_BYTES {
        return Ok(content.clone());
    }
    let mut text = content.map(0, len)?.to_vec();
    let mut issues = content.issues();
    for (start, end) in comments(&text) {
        issues.add(Code::Comments, None, Some(start as u64), &text[start..end]);
        text[start..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
    }
    let io = |e| IngestError::io(scratch, e);
    let mut file = tempfile::tempfile_in(scratch).map_err(io)?;
    file.write_all(&text).map_err(io)?;
    Content::of_copy(file, scratch, issues)
}

/// Where comments outside of strings begin and end. A comment that is not closed extends to the
/// end.
fn comments(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut i = 0;
    while let Some(&byte) = text.get(i) {
        let ending: &[u8] = match (byte, text.get(i + 1)) {
            (b'"', _) => {
                i += 1;
                while let Some(&b) = text.get(i).filter(|b| **b != b'"') {
                    i += if b == b'\\' { 2 } else { 1 };
                }
                i += 1;
                continue;
            }
            (b'/', Some(b'/')) => b"\n",
            (b'/', Some(b'*')) => b"*/",
            _ => {
                i += 1;
                continue;
            }
        };
        let from = i + 2;
        let end = text[from..]
            .windows(ending.len())
            .position(|w| w == ending)
            .map_or(text.len(), |at| from + at + ending.len());
        found.push((i, end));
        i = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::comments;

    #[test]
    fn comments_are_found_outside_of_strings() {
        assert!(comments(br#"{"a":"// no","b":"\"/* no */"}"#).is_empty());
        assert_eq!(comments(b"{ // one\n1 /* two\n */, 2"), [(2, 9), (11, 21)]);
        assert_eq!(comments(b"1 /* open"), [(2, 9)]);
        assert_eq!(comments(b"1 // open"), [(2, 9)]);
        assert!(comments(b"1 / 2 /").is_empty());
    }
}
