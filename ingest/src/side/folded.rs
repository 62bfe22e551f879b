//! Folded stacks: a line holds frames, root first and joined by `;`, and after a blank a number.

use crate::error::Result;
use crate::source::Content;

/// A line of folded stacks.
pub enum Line<'l> {
    /// The text of the frames, and the number as written.
    Stack(&'l [u8], &'l [u8]),
    /// A line of another form.
    Bad(&'l [u8]),
}

/// Splits a line without blanks around it into its frames and its number.
pub fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = line.iter().rposition(|b| matches!(b, b' ' | b'\t'))?;
    let (frames, number) = (line[..at].trim_ascii_end(), &line[at + 1..]);
    let text = std::str::from_utf8(number).ok()?;
    let is_number = text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && text.parse::<f64>().is_ok_and(f64::is_finite);
    (is_number && !frames.is_empty()).then_some((frames, number))
}

/// Passes each line with its offset to `each`, except empty lines and comments. Returns the number
/// of bytes.
pub fn read(content: &Content, mut each: impl FnMut(u64, Line<'_>) -> Result<()>) -> Result<u64> {
    /// Number of bytes that are mapped at a time.
    const WINDOW: u64 = 8 << 20;
    let (len, _) = content.wait(u64::MAX)?;
    let mut at = 0;
    let mut want = WINDOW;
    while at < len {
        let end = len.min(at + want);
        let window = content.map(at, end)?;
        let whole = match memchr::memrchr(b'\n', &window) {
            _ if end == len => window.len(),
            Some(last) => last + 1,
            None => {
                want *= 4;
                continue;
            }
        };
        want = WINDOW;
        let mut offset = at;
        for line in window[..whole].split_inclusive(|b| *b == b'\n') {
            let text = line.trim_ascii();
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            match split(text) {
                Some((frames, number)) => each(offset, Line::Stack(frames, number))?,
                None if text.is_empty() || text.starts_with(b"#") => {}
                None => each(offset, Line::Bad(text))?,
            }
            offset += line.len() as u64;
        }
        at += whole as u64;
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn lines_end_in_a_number() {
        assert_eq!(split(b"a;b c 12"), Some((&b"a;b c"[..], &b"12"[..])));
        assert_eq!(split(b"a;b 1.5"), Some((&b"a;b"[..], &b"1.5"[..])));
        for bad in ["12", "a;b", "a;b -3", "a;b 1e9", "a;b NaN", " 3"] {
            assert_eq!(split(bad.trim().as_bytes()), None, "{bad}");
        }
    }
}
