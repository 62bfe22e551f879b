//! Numbers for the strings that name sets.

use std::collections::HashMap;

/// Strings and their numbers, which start at 0 and follow the order of first use.
#[derive(Debug, Default)]
pub struct Labels {
    numbers: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
    bytes: usize,
    last: u32,
}

impl Labels {
    /// Returns the number of a string, and adds the string if it is new.
    pub fn number(&mut self, text: &str) -> u32 {
        // Adjacent rows often have the same label.
        if self.texts.get(self.last as usize).is_some_and(|t| **t == *text) {
            return self.last;
        }
        self.last = match self.numbers.get(text) {
            Some(number) => *number,
            None => {
                let number = self.texts.len() as u32;
                self.texts.push(text.into());
                self.numbers.insert(text.into(), number);
                self.bytes += 2 * text.len() + 64;
                number
            }
        };
        self.last
    }

    /// Returns the string of a number.
    pub fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |t| t)
    }

    /// Returns the approximate memory use in bytes.
    pub fn size(&self) -> usize {
        self.bytes
    }
}

/// The labels of one group, numbered in the order of their texts.
#[derive(Debug, Default)]
pub struct OwnLabels {
    known: Vec<u32>,
    positions: Vec<u32>,
    in_order: Vec<u32>,
}

impl OwnLabels {
    /// Replaces the labels by those of another group.
    pub fn set(&mut self, numbers: impl IntoIterator<Item = u32>, labels: &Labels) {
        self.known.clear();
        self.known.extend(numbers);
        self.known.sort_unstable();
        self.known.dedup();
        self.in_order.clone_from(&self.known);
        self.in_order.sort_by(|a, b| labels.text(*a).cmp(labels.text(*b)));
        self.positions.clear();
        self.positions.resize(self.known.len(), 0);
        for (position, number) in self.in_order.iter().enumerate() {
            if let Ok(at) = self.known.binary_search(number) {
                self.positions[at] = position as u32;
            }
        }
    }

    /// Returns the position of a label of the group.
    pub fn position(&self, number: u32) -> u32 {
        self.known.binary_search(&number).map_or(0, |at| self.positions[at])
    }

    /// Returns the labels in the order of their texts.
    pub fn in_order(&self) -> &[u32] {
        &self.in_order
    }
}
