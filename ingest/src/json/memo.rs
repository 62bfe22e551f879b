//! Remembers lists and objects, so that a value that occurs again is recognised by comparing bytes.
//!
//! The shapes and types of an operator's inputs take up to half of a trace, and few of them differ.
//! Where a value ends, and how it looks as compact JSON, depends on its bytes alone. So a value
//! that begins with the bytes of an earlier one is that value.

/// Maximum length of a remembered value, in bytes. This also limits its depth.
const MAX_LEN: usize = 512;

/// Number of values of each size that are remembered, as a power of two.
const SLOT_BITS: u32 = 10;

/// Number of bytes by which values are looked up: the longest that is not longer than the value.
const HEADS: [usize; 4] = [4, 8, 16, 32];

/// Values that occurred before.
pub struct Memo {
    /// The values of each size of [`HEADS`], by the hash of that many bytes. Two values may share a
    /// hash; the one that was added last comes first. Empty until the first one is added.
    known: [Box<[[Known; 2]]>; HEADS.len()],
}

/// A value, and its form as compact JSON if it is needed.
#[derive(Clone, Default)]
pub struct Known {
    tag: u32,
    len: u32,
    text: Box<[u8]>,
}

impl Known {
    /// Length of the value as it is written.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// The value as compact JSON.
    #[inline(always)]
    pub fn compact(&self) -> &[u8] {
        &self.text[self.len()..]
    }
}

/// Returns the hashes of the first bytes of a value, for each size.
#[inline(always)]
fn hashes(head: &[u8; 32]) -> [u64; HEADS.len()] {
    const A: u64 = 0x9e37_79b9_7f4a_7c15;
    const B: u64 = 0xbf58_476d_1ce4_e5b9;
    let (words, _) = head.as_chunks::<8>();
    let word = |i: usize| u64::from_le_bytes(words[i]);
    let short = word(0).wrapping_mul(A);
    let medium = (short ^ (short >> 32) ^ word(1)).wrapping_mul(B);
    let long = (word(2).wrapping_mul(A) ^ (medium >> 32) ^ word(3)).wrapping_mul(B);
    [(word(0) << 32).wrapping_mul(B), short, medium, long ^ medium]
}

#[inline(always)]
fn place(hash: u64) -> (usize, u32) {
    ((hash >> (64 - SLOT_BITS)) as usize, (hash >> 16) as u32)
}

impl Memo {
    /// Creates an empty memory.
    pub fn new() -> Self {
        Self { known: HEADS.map(|_| Box::default()) }
    }

    /// Returns the known value at a position.
    #[inline(always)]
    pub fn find(&self, bytes: &[u8], at: usize) -> Option<&Known> {
        let rest = bytes.get(at..)?;
        let [tiny, short, medium, long] = hashes(rest.first_chunk()?);
        self.sized(3, long, rest)
            .or_else(|| self.sized(2, medium, rest))
            .or_else(|| self.sized(1, short, rest))
            .or_else(|| self.sized(0, tiny, rest))
    }

    #[inline(always)]
    fn sized(&self, size: usize, hash: u64, rest: &[u8]) -> Option<&Known> {
        let (slot, tag) = place(hash);
        let pair = self.known[size].get(slot)?;
        pair.iter().find(|known| {
            known.tag == tag
                && known.len > 0
                && rest.get(..known.len()) == known.text.get(..known.len())
        })
    }

    /// Remembers the value from `start` up to `end`.
    #[inline(never)]
    pub fn add(&mut self, bytes: &[u8], start: usize, end: usize, compact: &[u8]) {
        let Some(value) = bytes.get(start..end).filter(|v| v.len() <= MAX_LEN) else { return };
        let (Some(size), Some(head)) = (
            HEADS.iter().rposition(|&head| head <= value.len()),
            bytes.get(start..).and_then(<[u8]>::first_chunk),
        ) else {
            return;
        };
        let (slot, tag) = place(hashes(head)[size]);
        let text = [value, compact].concat().into();
        let known = &mut self.known[size];
        if known.is_empty() {
            *known = vec![<[Known; 2]>::default(); 1 << SLOT_BITS].into();
        }
        let [first, second] = &mut known[slot];
        *second = std::mem::replace(first, Known { tag, len: value.len() as u32, text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_bytes() {
        let mut memo = Memo::new();
        let values = ["[[], []]", "[1, 2]", "[\"long\", [1, 2], {\"a\": [3, 4, 5]}, 7]"];
        for text in values {
            let text = format!("{text}, \"Ev Idx\": 12345, \"more\": \"members that follow\"}}");
            let end = text.rfind("],").expect("an end") + 1;
            let bytes = text.as_bytes();
            assert!(memo.find(bytes, 0).is_none());
            memo.add(bytes, 0, end, b"compact");
            let found = memo.find(bytes, 0).map(|known| (known.len(), known.compact()));
            assert_eq!(found, Some((end, &b"compact"[..])), "{text}");
            let other = text.replacen(']', " ]", 1);
            assert!(memo.find(other.as_bytes(), 0).is_none());
            assert!(memo.find(&bytes[..20], 0).is_none());
        }
        let long = format!("[{}]{}", "1,".repeat(MAX_LEN), " ".repeat(40));
        memo.add(long.as_bytes(), 0, 2 * MAX_LEN + 2, b"");
        assert!(memo.find(long.as_bytes(), 0).is_none());
    }
}
