//! Columns of stacks: reads any list of strings, and builds lists that store each string once.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, ListArray, StringArray};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int32Type};
use hashbrown::HashMap;

use super::types::{frame_type, stack_type};
use crate::error::{Error, Result};

/// The name for a frame without a name.
pub const NO_NAME: &str = "(no name)";

/// A column of stacks whose frames are indices into one list of strings.
pub struct Stacks {
    offsets: OffsetBuffer<i32>,
    nulls: Option<NullBuffer>,
    frames: Int32Array,
    /// The strings of the frames.
    pub texts: StringArray,
}

impl Stacks {
    /// Reads a column with lists of any string type.
    ///
    /// # Errors
    ///
    /// Fails if the column cannot be cast to stacks.
    pub fn read(column: &ArrayRef) -> Result<Self> {
        let column = match column.data_type() {
            DataType::List(_) => column.clone(),
            _ => cast(column, &stack_type())?,
        };
        let list = column.as_list::<i32>();
        let frames = match list.values().data_type() {
            t if *t == frame_type() => list.values().clone(),
            _ => cast(list.values(), &frame_type())?,
        };
        let frames = frames.as_dictionary::<Int32Type>();
        Ok(Self {
            offsets: list.offsets().clone(),
            nulls: list.nulls().cloned(),
            frames: frames.keys().clone(),
            texts: frames.values().as_string::<i32>().clone(),
        })
    }

    /// Returns the number of stacks.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether the column has no stacks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the frames of a stack, root first, as indices into [`texts`](Self::texts). A frame
    /// without a name is `None`. The whole result is `None` if the row has no stack.
    pub fn get(
        &self,
        row: usize,
    ) -> Option<impl DoubleEndedIterator<Item = Option<usize>> + ExactSizeIterator + Clone> {
        let frames = self.range(row)?;
        Some(frames.map(|at| self.frames.is_valid(at).then(|| self.frames.value(at) as usize)))
    }

    /// Returns the positions of a stack's frames.
    fn range(&self, row: usize) -> Option<Range<usize>> {
        let known = self.nulls.as_ref().is_none_or(|n| n.is_valid(row));
        known.then(|| self.offsets[row] as usize..self.offsets[row + 1] as usize)
    }

    /// Returns the text of a frame.
    pub fn text(&self, frame: Option<usize>) -> &str {
        match frame {
            Some(frame) if self.texts.is_valid(frame) => self.texts.value(frame),
            _ => NO_NAME,
        }
    }

    /// Evaluates a condition for each string. Testing each string once is cheaper than testing each
    /// frame.
    pub fn texts_that(&self, fits: impl Fn(&str) -> bool) -> Vec<bool> {
        (0..self.texts.len()).map(|at| fits(self.text(Some(at)))).collect()
    }
}

/// Builds a column of stacks.
#[derive(Default)]
pub struct StacksBuilder {
    frames: Vec<i32>,
    ends: Vec<i32>,
    known: Vec<bool>,
    texts: Texts,
}

impl StacksBuilder {
    /// Creates a builder with room for `rows` stacks that have `frames` frames in total.
    ///
    /// # Errors
    ///
    /// Fails if so many frames do not fit into one column.
    pub fn with_room(rows: usize, frames: usize) -> Result<Self> {
        if i32::try_from(frames).is_err() {
            return too_many();
        }
        Ok(Self {
            frames: Vec::with_capacity(frames),
            ends: Vec::with_capacity(rows),
            known: Vec::with_capacity(rows),
            texts: Texts::default(),
        })
    }

    /// Returns the number of a frame.
    pub fn frame(&mut self, text: &str) -> i32 {
        self.texts.number(text)
    }

    /// Appends a frame to the current stack.
    pub fn push(&mut self, frame: i32) {
        self.frames.push(frame);
    }

    /// Appends the frames of an earlier stack to the current stack.
    pub fn push_stack(&mut self, row: usize) {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        self.frames.extend_from_within(start..self.ends[row] as usize);
    }

    /// Ends the current stack. `known` is false for a row without a stack.
    ///
    /// # Errors
    ///
    /// Fails if the frames of all stacks no longer fit into one column.
    pub fn end(&mut self, known: bool) -> Result<()> {
        let Ok(end) = i32::try_from(self.frames.len()) else { return too_many() };
        self.ends.push(end);
        self.known.push(known);
        Ok(())
    }

    /// Returns the number of finished stacks.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no stack is finished yet.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the finished column.
    ///
    /// # Errors
    ///
    /// Fails if the strings of all frames do not fit into one column.
    pub fn finish(self) -> Result<ArrayRef> {
        let frames = DictionaryArray::try_new(
            Int32Array::new(ScalarBuffer::from(self.frames), None),
            Arc::new(self.texts.finish()?),
        )?;
        let offsets =
            OffsetBuffer::new(std::iter::once(0).chain(self.ends).collect::<Vec<i32>>().into());
        let field = Arc::new(Field::new_list_field(frame_type(), true));
        Ok(Arc::new(ListArray::try_new(
            field,
            offsets,
            Arc::new(frames),
            Some(NullBuffer::from(self.known)),
        )?))
    }
}

fn too_many<T>() -> Result<T> {
    Err(Error::TooLarge(format!(
        "stacks with more than {} frames together do not fit a column; take fewer rows, or \
         fewer levels",
        i32::MAX
    )))
}

/// A set of strings, each with a number.
#[derive(Debug, Default)]
pub struct Texts {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, i32>,
}

impl Texts {
    /// Returns the number of a string. Numbers start at 0 and follow the order of first use.
    pub fn number(&mut self, text: &str) -> i32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let (number, text) = (self.texts.len() as i32, Arc::<str>::from(text));
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// Returns all strings, by number.
    pub fn all(&self) -> &[Arc<str>] {
        &self.texts
    }

    /// Returns the total length of all strings in bytes.
    pub fn bytes(&self) -> usize {
        self.texts.iter().map(|t| t.len()).sum()
    }

    fn finish(self) -> Result<StringArray> {
        let bytes = self.bytes();
        if i32::try_from(bytes).is_err() {
            return Err(Error::TooLarge(format!(
                "the names of frames take {bytes} bytes, more than the {} that fit a column; take \
                 fewer rows",
                i32::MAX
            )));
        }
        Ok(StringArray::from_iter_values(&self.texts))
    }
}

/// Returns the frame of each row, from a column of names. `number` maps a string to its number.
///
/// # Errors
///
/// Fails if the column cannot be cast to strings.
pub fn frames_by_name(names: &ArrayRef, number: &mut impl FnMut(&str) -> i32) -> Result<Vec<i32>> {
    let names = cast(names, &frame_type())?;
    let names = names.as_dictionary::<Int32Type>();
    let texts = names.values().as_string::<i32>();
    let numbers: Vec<i32> = (0..texts.len())
        .map(|at| number(if texts.is_valid(at) { texts.value(at) } else { NO_NAME }))
        .collect();
    let no_name = if names.null_count() > 0 { number(NO_NAME) } else { 0 };
    Ok(names.keys().iter().map(|key| key.map_or(no_name, |key| numbers[key as usize])).collect())
}
