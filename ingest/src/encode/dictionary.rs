//! The distinct values of a column chunk, in the order of their first occurrence.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

/// Total size of the distinct texts, in bytes, above which the dictionary is no longer used.
const MAX_BYTES: usize = 1 << 20;
/// Number of distinct integers above which the dictionary is no longer used.
const MAX_INTS: usize = 1 << 13;

/// A dictionary of distinct texts.
#[derive(Default)]
pub struct TextDictionary {
    /// The texts in the layout of a dictionary page: each text follows its length.
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
    /// Returns the key of a text, and adds the text if it is new.
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

    /// Returns the text of a key.
    pub fn text(&self, key: u32) -> &[u8] {
        self.places
            .get(key as usize)
            .map_or(&[], |&(start, end)| &self.page[start as usize..end as usize])
    }

    /// Whether the dictionary has grown too large to be useful.
    pub fn is_full(&self) -> bool {
        self.page.len() > MAX_BYTES
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the dictionary page.
    pub fn page(&self) -> &[u8] {
        &self.page
    }

    /// Returns the lowest and the highest text.
    pub fn bounds(&self) -> Option<(&[u8], &[u8])> {
        let mut texts = (0..self.places.len() as u32).map(|key| self.text(key));
        let first = texts.next()?;
        Some(texts.fold((first, first), |(min, max), t| (min.min(t), max.max(t))))
    }

    /// Removes all texts.
    pub fn clear(&mut self) {
        self.page.clear();
        self.places.clear();
        self.by_text.clear();
    }
}

/// A dictionary of distinct integers, or of doubles as their bits.
#[derive(Default)]
pub struct IntDictionary {
    values: Vec<i64>,
    keys: FxHashMap<i64, u32>,
    last: Option<(i64, u32)>,
}

impl IntDictionary {
    /// Returns the key of a value, and adds the value if it is new.
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

    /// Whether the dictionary has grown too large to be useful.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.values.len() > MAX_INTS
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the dictionary page.
    pub fn page(&self) -> Vec<u8> {
        self.values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.values.clear();
        self.keys.clear();
        self.last = None;
    }
}
