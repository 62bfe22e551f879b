//! Remembers the texts between the values of objects, so that objects with the keys of earlier ones
//! are stepped over quickly.
//!
//! The elements of a trace repeat their keys, and everything around the keys: `, "tid": ` follows
//! the value of `pid` in every event of a category. Such a text was read once, byte by byte, and is
//! remembered with the key that it contains. Where the same bytes follow again after the same
//! texts, reading them would give the same result, so they are only compared. Any other bytes are
//! read as usual. So shapes change the speed of reading, never its result.

use std::ops::Range;

use super::cursor::{Bad, Cursor};
use super::memo::Memo;
use super::scan::{WINDOW, Window, window};

/// The number of a key among the keys that a reader knows. `0` is any other key.
pub type Slot = u8;

/// The slot of a text that closes the object.
pub(super) const CLOSE: Slot = Slot::MAX;

/// Number of windows in the longest text that is remembered.
const MAX_WINDOWS: usize = 4;
/// Maximum length of the compact form of a text that is remembered.
pub(super) const COMPACT: usize = 48;
/// Maximum number of texts that are remembered. Objects of all kinds in a trace have far fewer.
const MAX_NODES: usize = 2048;
/// Maximum number of different texts that are remembered after the same text.
const MAX_NEXT: usize = 16;

/// A place in the texts of an object: the text that was read last, or [`START`].
pub(super) type Place = u16;

/// The opening brace.
pub(super) const START: Place = 0;
/// No text, or a text that is not remembered.
const NONE: Place = Place::MAX;

/// Texts between values, as a tree: each text follows another one, or the opening brace.
pub struct Shapes {
    slot_of: fn(&[u8]) -> Slot,
    nodes: Vec<Node>,
}

#[derive(Clone)]
pub(super) struct Node {
    /// The text from the end of a value, or from the opening brace, to the next value.
    text: [Window; MAX_WINDOWS],
    /// Bytes of the last window that belong to the text.
    mask: u128,
    pub len: u8,
    windows: u8,
    pub slot: Slot,
    /// The key's place in the text, without its quotes.
    key: (u8, u8),
    /// The text as compact JSON, if it is needed.
    pub compact: [u8; COMPACT],
    pub compact_len: u8,
    /// The text that followed last time.
    likely: Place,
    /// The first text that may follow.
    first: Place,
    /// Another text that may be here instead.
    other: Place,
}

impl Node {
    const EMPTY: Self = Self {
        text: [[0; WINDOW]; MAX_WINDOWS],
        mask: 0,
        len: 0,
        windows: 0,
        slot: 0,
        key: (0, 0),
        compact: [0; COMPACT],
        compact_len: 0,
        likely: NONE,
        first: NONE,
        other: NONE,
    };

    /// Returns the key of the text, which is at a position of `bytes`.
    #[inline(always)]
    pub fn key<'a>(&self, bytes: &'a [u8], at: usize) -> &'a [u8] {
        bytes.get(at + self.key.0 as usize..at + self.key.1 as usize).unwrap_or_default()
    }

    #[inline(always)]
    fn is_at(&self, bytes: &[u8], at: usize) -> bool {
        let last = self.windows as usize;
        for i in 0..last {
            if window(bytes, at + i * WINDOW) != self.text.get(i).copied() {
                return false;
            }
        }
        let (Some(found), Some(text)) = (window(bytes, at + last * WINDOW), self.text.get(last))
        else {
            return false;
        };
        (u128::from_le_bytes(found) ^ u128::from_le_bytes(*text)) & self.mask == 0
    }
}

impl Shapes {
    /// The place after a text that is not remembered.
    pub(super) const NOWHERE: Place = NONE;

    /// Creates an empty memory for objects whose keys have the slots of `slot_of`.
    pub fn new(slot_of: fn(&[u8]) -> Slot) -> Self {
        Self { slot_of, nodes: vec![Node::EMPTY] }
    }

    /// Returns the remembered text that follows `place` at a position. White space may follow it.
    #[inline(always)]
    pub(super) fn follow(
        &mut self,
        place: Place,
        bytes: &[u8],
        at: usize,
    ) -> Option<(Place, &Node)> {
        let likely = self.nodes.get(place as usize)?.likely;
        let found = match self.nodes.get(likely as usize) {
            Some(node) if node.is_at(bytes, at) => likely,
            Some(_) => self.follow_other(place, bytes, at)?,
            None => return None,
        };
        Some((found, self.nodes.get(found as usize)?))
    }

    #[inline(never)]
    fn follow_other(&mut self, place: Place, bytes: &[u8], at: usize) -> Option<Place> {
        let mut next = self.nodes.get(place as usize)?.first;
        loop {
            let node = self.nodes.get(next as usize)?;
            if node.is_at(bytes, at) {
                self.nodes[place as usize].likely = next;
                return Some(next);
            }
            next = node.other;
        }
    }

    /// Returns the slot of a key.
    pub(super) fn slot_of(&self, key: &[u8]) -> Slot {
        (self.slot_of)(key)
    }

    /// Remembers a text after `place`, if there is room for it. `key` is the place of its key.
    #[cold]
    pub(super) fn learn(
        &mut self,
        place: Place,
        text: &[u8],
        slot: Slot,
        key: Range<usize>,
        compact: &[u8],
    ) -> Place {
        let Some(before) = self.nodes.get(place as usize) else { return NONE };
        let followers = std::iter::successors(Some(before.first), |&next| {
            self.nodes.get(next as usize).map(|node| node.other)
        });
        let is_full = followers.take(MAX_NEXT + 1).all(|next| next != NONE);
        let is_long = text.len() >= MAX_WINDOWS * WINDOW || compact.len() > COMPACT;
        if is_full || is_long || self.nodes.len() == MAX_NODES {
            return NONE;
        }
        let mut node = Node {
            mask: (1 << (text.len() % WINDOW * 8)) - 1,
            len: text.len() as u8,
            windows: (text.len() / WINDOW) as u8,
            slot,
            key: (key.start as u8, key.end as u8),
            compact_len: compact.len() as u8,
            other: before.first,
            ..Node::EMPTY
        };
        node.compact[..compact.len()].copy_from_slice(compact);
        node.text.as_flattened_mut()[..text.len()].copy_from_slice(text);
        let new = self.nodes.len() as Place;
        self.nodes.push(node);
        let before = &mut self.nodes[place as usize];
        (before.first, before.likely) = (new, new);
        new
    }
}

impl<'a> Cursor<'a> {
    /// Steps over an object like [`Cursor::object`], with the help of earlier objects. `value` is
    /// called at each value with the slot of its key, and must step over the value.
    #[inline(always)]
    pub fn object_like(
        &mut self,
        shapes: &mut Shapes,
        mut value: impl FnMut(&mut Self, Slot) -> Result<(), Bad>,
    ) -> Result<(), Bad> {
        let mut place = START;
        let mut is_first = true;
        loop {
            let slot = match shapes.follow(place, self.bytes, self.pos) {
                Some((next, node)) => {
                    self.pos += node.len as usize;
                    place = next;
                    node.slot
                }
                None => {
                    let start = self.pos;
                    let key = self.next_key(is_first)?;
                    let slot = key.map_or(CLOSE, |key| shapes.slot_of(key));
                    place = shapes.learn(place, self.since(start), slot, 0..0, b"");
                    slot
                }
            };
            if slot == CLOSE {
                return Ok(());
            }
            // The same text may have been followed by less white space before.
            self.skip_space();
            is_first = false;
            value(self, slot)?;
        }
    }

    /// Steps over a value that is nested in `depth` others, like [`Cursor::value_within`], with the
    /// help of earlier values.
    #[inline(always)]
    pub fn value_like(&mut self, memo: &mut Memo, depth: usize) -> Result<&'a [u8], Bad> {
        if !matches!(self.peek(), Some(b'[' | b'{')) {
            return self.value_within(depth);
        }
        let start = self.pos;
        if self.bytes.get(start + 1) == Some(&b']') && self.bytes[start] == b'[' {
            self.pos += 2;
        } else if let Some(known) = memo.find(self.bytes, start) {
            self.pos += known.len();
        } else {
            self.value_within(depth)?;
            memo.add(self.bytes, start, self.pos, b"");
        }
        Ok(self.since(start))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slot_of(key: &[u8]) -> Slot {
        key.first().map_or(0, |&b| b % 100)
    }

    type Members = Vec<(Slot, Vec<u8>)>;

    fn plainly(text: &[u8]) -> (Result<(), Bad>, usize, Members) {
        let (mut c, mut members) = (Cursor::new(text, 0), Vec::new());
        let done = c.object(|key, value| members.push((slot_of(key), value.to_vec())));
        (done, c.pos, members)
    }

    fn with(
        shapes: &mut Shapes,
        memo: &mut Memo,
        text: &[u8],
    ) -> (Result<(), Bad>, usize, Members) {
        let (mut c, mut members) = (Cursor::new(text, 0), Vec::new());
        let done = c.object_like(shapes, |c, slot| {
            members.push((slot, c.value_like(memo, 0)?.to_vec()));
            Ok(())
        });
        (done, c.pos, members)
    }

    #[test]
    fn texts_are_remembered_up_to_their_limits() {
        let (mut shapes, mut memo) = (Shapes::new(slot_of), Memo::new());
        for n in 0..3 * MAX_NODES {
            let text = format!("{{\"k{n}\": 1, \"{}\": 2}} and more than a window", n % 7);
            assert_eq!(with(&mut shapes, &mut memo, text.as_bytes()), plainly(text.as_bytes()));
        }
        assert!(shapes.nodes.len() <= MAX_NODES);
        let long = format!("{{\"a\": 1,{}\"b\": 2}} and more than a window", " ".repeat(70));
        for _ in 0..2 {
            assert_eq!(with(&mut shapes, &mut memo, long.as_bytes()), plainly(long.as_bytes()));
        }
    }

    proptest! {
        #[test]
        fn shapes_do_not_change_what_is_read(
            objects in proptest::collection::vec(
                proptest::collection::vec(
                    prop_oneof![
                        Just("\"a\":"), Just("\"ab\" : "), Just("\"c"), Just("\n "), Just(","),
                        Just("1"), Just("[2, {\"a\": \"}\"}]"), Just("[2, {\"a\": \"]"), Just("[]"), Just("}"), Just("\"x y\""),
                        Just(", \"External id\": "), Just("{"), Just("\\\""),
                    ],
                    0..12,
                ),
                1..40,
            ),
        ) {
            let (mut shapes, mut memo) = (Shapes::new(slot_of), Memo::new());
            for pieces in objects {
                for tail in ["", "} , {\"name\": \"the next one\"}"] {
                    let text = format!("{{{}{tail}", pieces.concat());
                    let (fast, slow) = (with(&mut shapes, &mut memo, text.as_bytes()), plainly(text.as_bytes()));
                    prop_assert_eq!(&fast.0, &slow.0, "{}", text);
                    prop_assert_eq!(fast.2, slow.2, "{}", text);
                    if fast.0.is_ok() {
                        prop_assert_eq!(fast.1, slow.1, "{}", text);
                    }
                }
            }
        }
    }
}
