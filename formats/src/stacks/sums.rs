//! Values summed by stack. Profiles and flame graphs are written from these sums.
//!
//! Stacks are stored as a tree of frames, so a prefix that many stacks share is stored once.

use arrow::array::{Array, StringArray};
use hashbrown::HashMap;

use super::column::{NO_NAME, Stacks, Texts};
use crate::error::{Error, Result};
use crate::frames::merged_step;

/// The root of the tree, which is the stack without frames.
pub const ROOT: u32 = 0;

/// Values by stack and group. A group keeps equal stacks apart; here it represents a set of labels.
#[derive(Debug)]
pub struct StackSums {
    width: usize,
    texts: Texts,
    nodes: Vec<Node>,
    children: HashMap<(u32, i32), u32>,
    places: HashMap<(u32, u32), u32>,
    keys: Vec<(u32, u32)>,
    values: Vec<i64>,
    reader: Reader,
    is_merging_steps: bool,
}

/// A stack, stored as its last frame and the node of the stack without that frame.
#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    frame: i32,
}

/// A stack with its group and its sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackSum<'a> {
    /// Frames, root first.
    pub frames: &'a [&'a str],
    /// The group.
    pub group: u32,
    /// The sum of each value.
    pub values: &'a [i64],
}

/// State kept from one row of a column to the next. Adjacent rows share the array of strings and
/// most of their frames.
#[derive(Debug, Default)]
struct Reader {
    texts: Option<StringArray>,
    numbers: Vec<i32>,
    path: Vec<(i32, u32)>,
}

impl StackSums {
    /// Creates sums of `width` values per stack.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            texts: Texts::default(),
            nodes: vec![Node { parent: ROOT, frame: -1 }],
            children: HashMap::new(),
            places: HashMap::new(),
            keys: Vec::new(),
            values: Vec::new(),
            reader: Reader::default(),
            is_merging_steps: false,
        }
    }

    /// Gives all steps the same frame in stacks that are added from now on.
    pub fn merge_steps(&mut self) {
        self.is_merging_steps = true;
    }

    /// Returns the text of each frame.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.all().iter().map(AsRef::as_ref)
    }

    /// Returns the number of distinct combinations of stack and group.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether nothing has been added.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// For each value, whether it differs from 0 in any stack.
    pub fn used(&self) -> Vec<bool> {
        (0..self.width)
            .map(|at| self.values.iter().skip(at).step_by(self.width).any(|&v| v != 0))
            .collect()
    }

    /// Keeps the values whose entry in `kept` is true, and drops the others.
    pub fn keep(&mut self, kept: &[bool]) {
        let mut at = 0..self.values.len();
        let width = self.width;
        self.values.retain(|_| at.next().is_some_and(|at| kept[at % width]));
        self.width = kept.iter().filter(|&&k| k).count();
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * 32 + self.keys.len() * (32 + 8 * self.width) + self.texts.bytes()
    }

    /// Adds values to a stack given as strings, root first.
    ///
    /// # Errors
    ///
    /// Fails if a sum does not fit into 64 bits.
    pub fn add<'t>(
        &mut self,
        frames: impl IntoIterator<Item = &'t str>,
        group: u32,
        values: &[i64],
    ) -> Result<()> {
        let mut node = ROOT;
        for frame in frames {
            let frame = number(&mut self.texts, frame, self.is_merging_steps);
            node = self.child(node, frame);
        }
        self.add_to(node, group, values)
    }

    /// Adds values to the stack of a row; returns false if the row has no stack.
    ///
    /// # Errors
    ///
    /// Fails if a sum does not fit into 64 bits.
    pub fn add_row(
        &mut self,
        stacks: &Stacks,
        row: usize,
        group: u32,
        values: &[i64],
    ) -> Result<bool> {
        let Some(frames) = stacks.get(row) else { return Ok(false) };
        let mut reader = std::mem::take(&mut self.reader);
        reader.take_texts(stacks, &mut self.texts, self.is_merging_steps);
        let mut node = ROOT;
        reader.path.truncate(frames.len());
        for (level, frame) in frames.enumerate() {
            let frame = match frame {
                Some(frame) => reader.numbers[frame],
                None => self.texts.number(NO_NAME),
            };
            match reader.path.get(level) {
                Some(&(old, at)) if old == frame => node = at,
                _ => {
                    node = self.child(node, frame);
                    reader.path.truncate(level);
                    reader.path.push((frame, node));
                }
            }
        }
        self.reader = reader;
        self.add_to(node, group, values)?;
        Ok(true)
    }

    fn child(&mut self, parent: u32, frame: i32) -> u32 {
        let next = self.nodes.len() as u32;
        let node = *self.children.entry((parent, frame)).or_insert(next);
        if node == next {
            self.nodes.push(Node { parent, frame });
        }
        node
    }

    fn add_to(&mut self, node: u32, group: u32, values: &[i64]) -> Result<()> {
        let next = self.keys.len() as u32;
        let place = *self.places.entry((node, group)).or_insert(next);
        if place == next {
            self.keys.push((node, group));
            self.values.resize(self.values.len() + self.width, 0);
        }
        let start = place as usize * self.width;
        for (sum, value) in self.values[start..start + self.width].iter_mut().zip(values) {
            *sum = sum.checked_add(*value).ok_or_else(|| {
                Error::TooLarge("the sum of a stack's values does not fit 64 bits".to_owned())
            })?;
        }
        Ok(())
    }

    /// Visits all sums, ordered by frames (as text, root first) and then by `group_order`. The
    /// result does not depend on the order of insertion.
    pub fn visit<E>(
        &self,
        group_order: &[u32],
        mut visit: impl FnMut(StackSum<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let order = self.node_order();
        let mut sums: Vec<u32> = (0..self.keys.len() as u32).collect();
        sums.sort_unstable_by_key(|&at| {
            let (node, group) = self.keys[at as usize];
            (order[node as usize], group_order.get(group as usize).copied().unwrap_or(group))
        });
        let texts = self.texts.all();
        let mut frames = Vec::new();
        for at in sums {
            let (mut node, group) = self.keys[at as usize];
            frames.clear();
            while node != ROOT {
                let Node { parent, frame } = self.nodes[node as usize];
                frames.push(texts[frame as usize].as_ref());
                node = parent;
            }
            frames.reverse();
            let start = at as usize * self.width;
            visit(StackSum {
                frames: &frames,
                group,
                values: &self.values[start..start + self.width],
            })?;
        }
        Ok(())
    }

    /// Returns the position of each node when stacks are sorted by their frames.
    fn node_order(&self) -> Vec<u32> {
        let texts = self.texts.all();
        let mut by_text: Vec<u32> = (0..texts.len() as u32).collect();
        by_text.sort_unstable_by_key(|&text| &texts[text as usize]);
        let mut text_order = vec![0u32; texts.len()];
        by_text
            .iter()
            .enumerate()
            .for_each(|(place, &text)| text_order[text as usize] = place as u32);
        let mut nodes: Vec<u32> = (1..self.nodes.len() as u32).collect();
        // The children of one parent are in reverse order of their texts, because they are pushed
        // on a stack and popped from its end.
        nodes.sort_unstable_by_key(|&node| {
            let Node { parent, frame } = self.nodes[node as usize];
            (parent, std::cmp::Reverse(text_order[frame as usize]))
        });
        let mut first = vec![0usize; self.nodes.len() + 1];
        nodes.iter().for_each(|&node| first[self.nodes[node as usize].parent as usize + 1] += 1);
        (1..first.len()).for_each(|i| first[i] += first[i - 1]);
        let mut order = vec![0u32; self.nodes.len()];
        let (mut open, mut place) = (vec![ROOT], 0);
        while let Some(node) = open.pop() {
            order[node as usize] = place;
            place += 1;
            open.extend(&nodes[first[node as usize]..first[node as usize + 1]]);
        }
        order
    }
}

impl Reader {
    fn take_texts(&mut self, stacks: &Stacks, texts: &mut Texts, merge_steps: bool) {
        let same = |old: &StringArray| {
            old.values().ptr_eq(stacks.texts.values())
                && old.offsets().ptr_eq(stacks.texts.offsets())
        };
        if self.texts.as_ref().is_some_and(same) {
            return;
        }
        self.numbers = (0..stacks.texts.len())
            .map(|at| number(texts, stacks.text(Some(at)), merge_steps))
            .collect();
        self.texts = Some(stacks.texts.clone());
    }
}

/// Returns the number of a frame.
fn number(texts: &mut Texts, frame: &str, merge_steps: bool) -> i32 {
    if merge_steps { texts.number(&merged_step(frame)) } else { texts.number(frame) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, ListArray, StringBuilder, builder::ListBuilder};
    use proptest::prelude::*;

    use super::*;

    fn column(stacks: &[Option<Vec<&str>>]) -> Stacks {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for stack in stacks {
            stack.iter().flatten().for_each(|frame| lists.values().append_value(frame));
            lists.append(stack.is_some());
        }
        let lists: ListArray = lists.finish();
        Stacks::read(&(Arc::new(lists) as ArrayRef)).expect("stacks")
    }

    fn sums(sums: &StackSums) -> Vec<(String, u32, Vec<i64>)> {
        let mut found = Vec::new();
        sums.visit::<()>(&[], |sum| {
            found.push((sum.frames.join(";"), sum.group, sum.values.to_vec()));
            Ok(())
        })
        .expect("visited");
        found
    }

    #[test]
    fn equal_stacks_are_summed_in_the_order_of_their_frames() {
        let stacks = column(&[
            Some(vec!["b", "c"]),
            Some(vec!["b"]),
            None,
            Some(vec!["b", "a"]),
            Some(vec!["b", "c"]),
            Some(vec![]),
        ]);
        let mut all = StackSums::new(2);
        for row in 0..6 {
            assert_eq!(all.add_row(&stacks, row, 0, &[1, row as i64]).expect("added"), row != 2);
        }
        all.add(["b", "a"], 1, &[7, 7]).expect("added");
        let row = |stack: &str, group, values: [i64; 2]| (stack.to_owned(), group, values.to_vec());
        let expected = vec![
            row("", 0, [1, 5]),
            row("b", 0, [1, 1]),
            row("b;a", 0, [1, 3]),
            row("b;a", 1, [7, 7]),
            row("b;c", 0, [2, 4]),
        ];
        assert_eq!(sums(&all), expected);
    }

    #[test]
    fn merged_steps_add_up() {
        let stacks = column(&[
            Some(vec!["ProfilerStep#1", "mm"]),
            Some(vec!["ProfilerStep#2", "mm"]),
            Some(vec!["ProfilerStep#2"]),
        ]);
        let mut all = StackSums::new(1);
        all.merge_steps();
        for row in 0..3 {
            all.add_row(&stacks, row, 0, &[10 + row as i64]).expect("added");
        }
        all.add(["ProfilerStep#9", "mm"], 0, &[100]).expect("added");
        let expected = [
            ("ProfilerStep*".to_owned(), 0, vec![12]),
            ("ProfilerStep*;mm".to_owned(), 0, vec![121]),
        ];
        assert_eq!(sums(&all), expected);
    }

    #[test]
    fn a_sum_beyond_64_bits_is_refused() {
        let mut all = StackSums::new(1);
        all.add(["a"], 0, &[i64::MAX]).expect("added");
        assert!(all.add(["a"], 0, &[1]).is_err());
    }

    proptest! {
        #[test]
        fn rows_and_texts_and_any_order_give_the_same_sums(
            stacks in prop::collection::vec(prop::collection::vec(0usize..4, 0..5), 0..30)
        ) {
            const NAMES: [&str; 4] = ["w", "a", "aa", "b"];
            let stacks: Vec<Option<Vec<&str>>> =
                stacks.iter().map(|s| Some(s.iter().map(|&f| NAMES[f]).collect())).collect();
            let (mut by_row, mut by_text) = (StackSums::new(1), StackSums::new(1));
            let read = column(&stacks);
            for (row, stack) in stacks.iter().enumerate() {
                by_row.add_row(&read, row, 0, &[row as i64]).expect("added");
                let back = stacks.len() - 1 - row;
                let frames = stacks[back].iter().flatten().copied();
                by_text.add(frames, 0, &[back as i64]).expect("added");
                prop_assert!(stack.is_some());
            }
            let found = sums(&by_row);
            prop_assert_eq!(&found, &sums(&by_text));
            let in_order = |a: &str, b: &str| a.split(';').lt(b.split(';')) || a.is_empty();
            prop_assert!(found.windows(2).all(|pair| in_order(&pair[0].0, &pair[1].0)));
        }
    }
}
