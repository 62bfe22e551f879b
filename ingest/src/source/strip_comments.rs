//! Replaces comments by blanks in MLLM's perf.json, because people edit this file.
//!
//! Other traces are not changed. Some of them contain names with unescaped quotes, so it is not
//! certain which text is outside of strings.

use std::io::Write;
use std::path::Path;

use super::Content;
use crate::error::{IngestError, Result};
use crate::issues::Code;

/// Number of bytes at the start that are searched for a comment.
const HEAD: u64 = 64 << 10;
/// Maximum size, in bytes, of a text that is copied without its comments.
const MAX_BYTES: u64 = 64 << 20;

/// Returns the content unchanged. For a perf.json with a comment near its beginning, it returns a
/// copy in which comments are replaced by blanks, so that offsets stay the same.
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

/// Finds the start and end of each comment outside of strings. A comment that is not closed extends
/// to the end.
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
