//! Columns of stacks: reading any list of texts, making lists whose texts are held once.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, DictionaryArray, Int32Array, ListArray, StringArray,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Int32Type};
use datafusion::common::{HashMap, Result, exec_err};

use crate::types;

/// Stands for a frame without a name.
pub const NO_NAME: &str = "(no name)";

/// A column of stacks: frames are numbers into one list of texts.
pub struct Stacks {
    offsets: OffsetBuffer<i32>,
    nulls: Option<NullBuffer>,
    frames: Int32Array,
    /// Texts of the frames.
    pub texts: StringArray,
}

impl Stacks {
    /// Reads a column.
    pub fn read(column: &ArrayRef) -> Result<Self> {
        let column = match column.data_type() {
            DataType::List(_) => column.clone(),
            _ => cast(column, &types::stack())?,
        };
        let list = column.as_list::<i32>();
        let frames = match list.values().data_type() {
            t if *t == types::frame() => list.values().clone(),
            _ => cast(list.values(), &types::frame())?,
        };
        let frames = frames.as_dictionary::<Int32Type>();
        Ok(Self {
            offsets: list.offsets().clone(),
            nulls: list.nulls().cloned(),
            frames: frames.keys().clone(),
            texts: frames.values().as_string::<i32>().clone(),
        })
    }

    /// Number of stacks.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no stacks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The frames of a stack, root first: numbers of texts, `None` for a frame without a name;
    /// `None` for no stack.
    pub fn get(
        &self,
        row: usize,
    ) -> Option<impl DoubleEndedIterator<Item = Option<usize>> + ExactSizeIterator + Clone> {
        let frames = self.range(row)?;
        Some(frames.map(|at| self.frames.is_valid(at).then(|| self.frames.value(at) as usize)))
    }

    /// Where the frames of a stack lie.
    fn range(&self, row: usize) -> Option<Range<usize>> {
        let known = self.nulls.as_ref().is_none_or(|n| n.is_valid(row));
        known.then(|| self.offsets[row] as usize..self.offsets[row + 1] as usize)
    }

    /// The text of a frame.
    pub fn text(&self, frame: Option<usize>) -> &str {
        match frame {
            Some(frame) if self.texts.is_valid(frame) => self.texts.value(frame),
            _ => NO_NAME,
        }
    }

    /// Whether each text fits, to be asked once for each text rather than for each frame.
    pub fn texts_that(&self, fits: impl Fn(&str) -> bool) -> Vec<bool> {
        (0..self.texts.len()).map(|at| fits(self.text(Some(at)))).collect()
    }
}

/// Makes a column of stacks.
#[derive(Default)]
pub struct StacksBuilder {
    frames: Vec<i32>,
    ends: Vec<i32>,
    known: Vec<bool>,
    texts: Texts,
}

impl StacksBuilder {
    /// A builder of `rows` stacks with `frames` frames together.
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

    /// The number of a frame.
    pub fn frame(&mut self, text: &str) -> i32 {
        self.texts.number(text)
    }

    /// Appends a frame to the stack being made.
    pub fn push(&mut self, frame: i32) {
        self.frames.push(frame);
    }

    /// Appends the frames of an earlier stack to the stack being made.
    pub fn push_stack(&mut self, row: usize) {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        self.frames.extend_from_within(start..self.ends[row] as usize);
    }

    /// Ends the stack being made; `known` is false for no stack.
    pub fn end(&mut self, known: bool) -> Result<()> {
        let Ok(end) = i32::try_from(self.frames.len()) else { return too_many() };
        self.ends.push(end);
        self.known.push(known);
        Ok(())
    }

    /// The number of stacks made so far.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether none was made yet.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The column.
    pub fn finish(self) -> Result<ArrayRef> {
        let frames = DictionaryArray::try_new(
            Int32Array::new(ScalarBuffer::from(self.frames), None),
            Arc::new(self.texts.finish()?),
        )?;
        let offsets =
            OffsetBuffer::new(std::iter::once(0).chain(self.ends).collect::<Vec<i32>>().into());
        let field = Arc::new(Field::new_list_field(types::frame(), true));
        Ok(Arc::new(ListArray::try_new(
            field,
            offsets,
            Arc::new(frames),
            Some(NullBuffer::from(self.known)),
        )?))
    }
}

fn too_many<T>() -> Result<T> {
    exec_err!(
        "stacks with more than {} frames together do not fit a column; take fewer rows, or fewer levels",
        i32::MAX
    )
}

/// Texts by number, each once.
#[derive(Debug, Default)]
pub struct Texts {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, i32>,
}

impl Texts {
    /// The number of a text; numbers count from 0 in the order of first use.
    pub fn number(&mut self, text: &str) -> i32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let (number, text) = (self.texts.len() as i32, Arc::<str>::from(text));
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// All texts, by number.
    pub fn all(&self) -> &[Arc<str>] {
        &self.texts
    }

    /// Bytes of all texts.
    pub fn bytes(&self) -> usize {
        self.texts.iter().map(|t| t.len()).sum()
    }

    fn finish(self) -> Result<StringArray> {
        let bytes = self.bytes();
        if i32::try_from(bytes).is_err() {
            return exec_err!(
                "the names of frames take {bytes} bytes, more than the {} that fit a column; take fewer rows",
                i32::MAX
            );
        }
        Ok(StringArray::from_iter_values(&self.texts))
    }
}

/// The frame of each row by its name.
pub fn frames_by_name(names: &ArrayRef, number: &mut impl FnMut(&str) -> i32) -> Result<Vec<i32>> {
    let names = cast(names, &types::frame())?;
    let names = names.as_dictionary::<Int32Type>();
    let texts = names.values().as_string::<i32>();
    let numbers: Vec<i32> = (0..texts.len())
        .map(|at| number(if texts.is_valid(at) { texts.value(at) } else { NO_NAME }))
        .collect();
    let no_name = if names.null_count() > 0 { number(NO_NAME) } else { 0 };
    Ok(names.keys().iter().map(|key| key.map_or(no_name, |key| numbers[key as usize])).collect())
}
