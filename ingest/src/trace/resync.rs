//! Finds the starts of elements in the middle of the text.
//!
//! The result is a guess from a few bytes around a brace. It only determines where work is divided
//! and where reading resumes after a damaged element. Whether the guess is right is known only when
//! the text before it has been read.

/// Keys that come first in the events of known writers.
const EVENT_KEYS: &[&[u8]] = &[
    b"ph", b"cat", b"name", b"pid", b"tid", b"ts", b"dur", b"args", b"id", b"s", b"bp", b"cname",
    b"tts", b"sf", b"id2", b"scope", b"device_type", b"end_time", b"memory_usage", b"start_time",
    b"uuid", b"op_name",
];

/// Whether `bytes[at]` is a brace that looks like the start of an element of the event list.
pub fn looks_like_element(bytes: &[u8], at: usize) -> bool {
    if bytes.get(at) != Some(&b'{') {
        return false;
    }
    let space = |b: &u8| matches!(b, b' ' | b'\n' | b'\r' | b'\t');
    match bytes[..at].iter().rev().find(|b| !space(b)) {
        Some(b',' | b'[' | b'}') | None => {}
        _ => return false,
    }
    let Some(quote) = bytes[at + 1..].iter().position(|b| !space(b)) else { return false };
    let key = &bytes[at + 1 + quote..];
    let Some(key) = key.strip_prefix(b"\"") else { return false };
    EVENT_KEYS.iter().any(|k| {
        key.strip_prefix(*k)
            .and_then(|rest| rest.strip_prefix(b"\""))
            .is_some_and(|rest| rest.iter().find(|b| !space(b)) == Some(&b':'))
    })
}

/// Finds the first probable start of an element at or after `from`.
pub fn find_element(bytes: &[u8], from: usize) -> Option<usize> {
    memchr::memchr_iter(b'{', bytes.get(from..)?)
        .map(|i| from + i)
        .find(|&i| looks_like_element(bytes, i))
}

/// Finds the last probable start of an element after `from`.
pub fn find_last_element(bytes: &[u8], from: usize) -> Option<usize> {
    memchr::memrchr_iter(b'{', bytes.get(from..)?)
        .map(|i| from + i)
        .find(|&i| i > from && looks_like_element(bytes, i))
}

/// Returns the position at which to resume after a damaged element: the next element, or the
/// bracket that closes the list.
pub fn resume(bytes: &[u8], from: usize) -> Option<usize> {
    let next = find_element(bytes, from);
    let limit = next.unwrap_or(bytes.len());
    let close = memchr::memchr_iter(b']', &bytes[from..limit])
        .map(|i| from + i)
        .find(|&i| closes_list(bytes, i));
    close.or(next)
}

/// Whether the bracket at `at` looks like the end of the event list: a brace precedes it, and a key
/// or the end of the text follows it.
fn closes_list(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].trim_ascii_end();
    let after = bytes[at + 1..].trim_ascii_start();
    let key_follows =
        after.strip_prefix(b",").is_some_and(|rest| rest.trim_ascii_start().first() == Some(&b'"'));
    before.last() == Some(&b'}') && (key_follows || matches!(after, [] | [b'}', ..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_but_not_their_args() {
        let text = br#"[{"ph": "X", "args": {"name": "x", "ts": 1}},
  {
    "ph" : "i"}, {"zz": 1}]"#;
        assert_eq!(find_element(text, 0), Some(1));
        assert_eq!(find_element(text, 2), Some(48));
        assert_eq!(find_last_element(text, 0), Some(48));
        assert_eq!(find_element(text, 49), None);
    }
}
