//! The distinct values of a column chunk, in the order of their first occurrence.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

/// Bytes of distinct texts from which on texts are written out instead.
const MAX_BYTES: usize = 1 << 20;
/// Number of distinct integers from which on integers are written out instead.
const MAX_INTS: usize = 1 << 13;

/// Distinct texts.
#[derive(Default)]
pub struct TextDictionary {
    /// The texts, each after its length, as in a dictionary page.
    page: Vec<u8>,
    places: Vec<(u32, u32)>,
    by_text: HashTable<u32>,
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

impl TextDictionary {
    /// The key of a text.
    pub fn key(&mut self, text: &[u8]) -> u32 {
        let Self { page, places, by_text } = self;
        let at = |key: u32| {
            let (start, end) = places[key as usize];
            &page[start as usize..end as usize]
        };
        let hash_of_text = hash(text);
        if let Some(&key) = by_text.find(hash_of_text, |&key| at(key) == text) {
            return key;
        }
        let key = places.len() as u32;
        by_text.insert_unique(hash_of_text, key, |&key| hash(at(key)));
        page.extend_from_slice(&(text.len() as u32).to_le_bytes());
        let start = page.len() as u32;
        page.extend_from_slice(text);
        places.push((start, page.len() as u32));
        key
    }

    /// The text of a key.
    pub fn text(&self, key: u32) -> &[u8] {
        self.places
            .get(key as usize)
            .map_or(&[], |&(start, end)| &self.page[start as usize..end as usize])
    }

    /// Whether it has grown too large to be useful.
    pub fn is_full(&self) -> bool {
        self.page.len() > MAX_BYTES
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The dictionary page.
    pub fn page(&self) -> &[u8] {
        &self.page
    }

    /// Lowest and highest text.
    pub fn bounds(&self) -> Option<(&[u8], &[u8])> {
        let mut texts = (0..self.places.len() as u32).map(|key| self.text(key));
        let first = texts.next()?;
        Some(texts.fold((first, first), |(min, max), t| (min.min(t), max.max(t))))
    }

    /// Forgets all texts.
    pub fn clear(&mut self) {
        self.page.clear();
        self.places.clear();
        self.by_text.clear();
    }
}

/// Distinct integers, or doubles by their bits.
#[derive(Default)]
pub struct IntDictionary {
    values: Vec<i64>,
    keys: FxHashMap<i64, u32>,
    last: Option<(i64, u32)>,
}

impl IntDictionary {
    /// The key of a value.
    #[inline]
    pub fn key(&mut self, value: i64) -> u32 {
        if let Some((last, key)) = self.last
            && last == value
        {
            return key;
        }
        let key = match self.keys.get(&value) {
            Some(&key) => key,
            None => {
                let key = self.values.len() as u32;
                self.values.push(value);
                self.keys.insert(value, key);
                key
            }
        };
        self.last = Some((value, key));
        key
    }

    /// Whether it has grown too large to be useful.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.values.len() > MAX_INTS
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The dictionary page.
    pub fn page(&self) -> Vec<u8> {
        self.values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.values.clear();
        self.keys.clear();
        self.last = None;
    }
}
