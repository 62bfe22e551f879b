//! Functions that read the frames of a stack, and one that joins stacks.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringViewArray, UInt32Array};
use arrow::buffer::NullBuffer;
use arrow::compute::{cast, take};
use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_datafusion_err, exec_err, plan_err};
use datafusion_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use regex::Regex;
use tracesql_formats::stacks::{
    NO_NAME, Stacks, StacksBuilder, frames_by_name, is_text, stack_type,
};

use crate::doc::{Call, Example, Function, FunctionDoc};
use crate::error::from_formats;
use crate::types::{self, Takes};

/// The functions of this file.
pub fn functions() -> Vec<Function> {
    vec![
        function(ROOT, &[Takes::Stack], DataType::Utf8View, |args, rows| {
            end(args, rows, |frames| frames.next())
        }),
        function(LEAF, &[Takes::Stack], DataType::Utf8View, |args, rows| {
            end(args, rows, |frames| frames.next_back())
        }),
        function(CONTAINS, &[Takes::Stack, Takes::Text], DataType::Boolean, |args, rows| {
            any(args, rows, |frame, text| frame == text)
        }),
        function(MENTIONS, &[Takes::Stack, Takes::Text], DataType::Boolean, |args, rows| {
            any(args, rows, |frame, text| frame.contains(text))
        }),
        function(FILTER, &[Takes::Stack, Takes::Text], stack_type(), filter),
        function(CONCAT, &[], stack_type(), concat),
    ]
}

const ROOT: FunctionDoc = FunctionDoc {
    name: "stack_root",
    area: "stacks",
    signature: "stack_root(stack VARCHAR[]) → VARCHAR",
    summary: "The first frame of a stack: the outermost caller.",
    detail: "A stack is a list of frames from the root to the leaf, as `stack` and `unfold_stack` \
        return it.",
    nulls: "NULL for NULL and for a stack without frames. A NULL frame is `(no name)`.",
    errors: "Anything but a list of texts is refused.",
    examples: &[Example { sql: "SELECT stack_root(['main', 'forward', 'mm'])", answer: "main" }],
};

const LEAF: FunctionDoc = FunctionDoc {
    name: "stack_leaf",
    area: "stacks",
    signature: "stack_leaf(stack VARCHAR[]) → VARCHAR",
    summary: "The last frame of a stack: the function that was running.",
    detail: "A stack is a list of frames from the root to the leaf, as `stack` and `unfold_stack` \
        return it.",
    nulls: "NULL for NULL and for a stack without frames. A NULL frame is `(no name)`.",
    errors: "Anything but a list of texts is refused.",
    examples: &[Example { sql: "SELECT stack_leaf(['main', 'forward', 'mm'])", answer: "mm" }],
};

const CONTAINS: FunctionDoc = FunctionDoc {
    name: "stack_contains",
    area: "stacks",
    signature: "stack_contains(stack VARCHAR[], frame VARCHAR) → BOOLEAN",
    summary: "Whether a frame of the stack is exactly the given text.",
    detail: "The test runs once for each distinct frame, so on many rows it is much faster than \
        `array_has`. `stack_mentions` searches for a part of a frame.",
    nulls: "NULL if either argument is NULL. A NULL frame of the stack is `(no name)`.",
    errors: "Anything but a list of texts is refused.",
    examples: &[Example {
        sql: "SELECT stack_contains(['main', 'forward'], 'forward'), stack_contains(['main', \
            'forward'], 'for')",
        answer: "true | false",
    }],
};

const MENTIONS: FunctionDoc = FunctionDoc {
    name: "stack_mentions",
    area: "stacks",
    signature: "stack_mentions(stack VARCHAR[], text VARCHAR) → BOOLEAN",
    summary: "Whether any frame of the stack contains the given text.",
    detail: "The comparison is case-sensitive, and no character is special.",
    nulls: "NULL if either argument is NULL. A NULL frame of the stack is `(no name)`.",
    errors: "Anything but a list of texts is refused.",
    examples: &[Example {
        sql: "SELECT stack_mentions(['main', 'aten::mm'], 'mm'), stack_mentions(['main', \
            'aten::mm'], 'n;a')",
        answer: "true | false",
    }],
};

const FILTER: FunctionDoc = FunctionDoc {
    name: "stack_filter",
    area: "stacks",
    signature: "stack_filter(stack VARCHAR[], pattern VARCHAR) → VARCHAR[]",
    summary: "The frames of a stack that match a regular expression, in their order.",
    detail: "For example only modules, `stack_filter(stack, '^nn[.]Module: ')`, or everything \
        except library code. The expression can match anywhere in a frame; `^` and `$` anchor it. \
        It must be a literal, and runs once for each distinct frame.",
    nulls: "NULL if either argument is NULL. A NULL frame of the stack is `(no name)`. Without a \
        match the result is a stack without frames.",
    errors: "An expression that is not a literal, or not a valid regular expression, is refused.",
    examples: &[Example {
        sql: "SELECT fold_stack(stack_filter(['main', 'nn.Module: Net_0', 'forward', 'nn.Module: \
            Linear_0', 'aten::mm'], '^nn[.]Module: '))",
        answer: "nn.Module: Net_0;nn.Module: Linear_0",
    }],
};

const CONCAT: FunctionDoc = FunctionDoc {
    name: "stack_concat",
    area: "stacks",
    signature: "stack_concat(part VARCHAR[] or VARCHAR, …) → VARCHAR[]",
    summary: "A stack of the frames of all parts, with the first part outermost. A text is one \
        frame.",
    detail: "For example, it appends a kernel's name to the stack of the call that launched the \
        kernel.",
    nulls: "NULL parts are skipped. NULL if all parts are NULL.",
    errors: "A part that is neither text nor a list of texts is refused.",
    examples: &[Example {
        sql: "SELECT fold_stack(stack_concat(['main', 'launch'], 'kernel')), \
            fold_stack(stack_concat(NULL, 'kernel'))",
        answer: "main;launch;kernel | kernel",
    }],
};

/// Computes the result of a function from its arguments and the number of rows.
pub type Run = fn(&[ColumnarValue], usize) -> Result<ArrayRef>;

/// Creates a scalar function. If `takes` is empty, the function accepts any number of stacks and
/// strings.
pub fn function(
    doc: FunctionDoc,
    takes: &'static [Takes],
    returns: DataType,
    run: Run,
) -> Function {
    let signature = Signature::user_defined(Volatility::Immutable);
    let call = StackFunction { name: doc.name, takes, returns, signature, run };
    Function { call: Call::Scalar(Arc::new(ScalarUDF::new_from_impl(call))), doc }
}

#[derive(Debug)]
struct StackFunction {
    name: &'static str,
    takes: &'static [Takes],
    returns: DataType,
    signature: Signature,
    run: Run,
}

impl PartialEq for StackFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for StackFunction {}

impl std::hash::Hash for StackFunction {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for StackFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        if !self.takes.is_empty() {
            let names = if self.takes.len() == 1 { "stack" } else { "stack, text" };
            return types::arguments(self.name, names, types, self.takes);
        }
        if types.is_empty() {
            return plan_err!("{}(part, …) takes one part at least", self.name);
        }
        let part = |(i, t): (usize, &DataType)| {
            types::argument(self.name, i, t, if is_text(t) { Takes::Text } else { Takes::Stack })
        };
        types.iter().enumerate().map(part).collect()
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        Ok(self.returns.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Array((self.run)(&args.args, args.number_rows)?))
    }
}

/// Returns the frame at one end of each stack.
fn end(
    args: &[ColumnarValue],
    rows: usize,
    pick: fn(&mut dyn DoubleEndedIterator<Item = Option<usize>>) -> Option<Option<usize>>,
) -> Result<ArrayRef> {
    let stacks = Stacks::read(&args[0].to_array(rows)?).map_err(from_formats)?;
    // Views share the strings. One additional string represents a frame without a name.
    let texts = StringViewArray::from_iter_values(
        (0..stacks.texts.len()).map(|at| stacks.text(Some(at))).chain([NO_NAME]),
    );
    let frame = |row| {
        stacks
            .get(row)
            .and_then(|mut frames| pick(&mut frames))
            .map(|frame| frame.unwrap_or(stacks.texts.len()) as u32)
    };
    Ok(take(&texts, &(0..stacks.len()).map(frame).collect::<UInt32Array>(), None)?)
}

/// Whether any frame matches the text of the second argument.
fn any(args: &[ColumnarValue], rows: usize, fits: fn(&str, &str) -> bool) -> Result<ArrayRef> {
    let stacks = Stacks::read(&args[0].to_array(rows)?).map_err(from_formats)?;
    let found: BooleanArray = match &args[1] {
        ColumnarValue::Scalar(text) => {
            let Some(text) = text.try_as_str().flatten() else {
                return Ok(Arc::new(BooleanArray::new_null(rows)));
            };
            let (of_text, of_no_name) =
                (stacks.texts_that(|frame| fits(frame, text)), fits(NO_NAME, text));
            let frame_fits =
                |frame: Option<usize>| frame.map_or(of_no_name, |frame| of_text[frame]);
            (0..stacks.len())
                .map(|row| stacks.get(row).map(|mut frames| frames.any(frame_fits)))
                .collect()
        }
        ColumnarValue::Array(texts) => {
            let texts = cast(texts, &DataType::Utf8View)?;
            let texts = texts.as_string_view();
            let row_fits = |row: usize| {
                let text = texts.is_valid(row).then(|| texts.value(row))?;
                Some(stacks.get(row)?.any(|frame| fits(stacks.text(frame), text)))
            };
            (0..stacks.len()).map(row_fits).collect()
        }
    };
    Ok(Arc::new(found))
}

fn filter(args: &[ColumnarValue], rows: usize) -> Result<ArrayRef> {
    let ColumnarValue::Scalar(pattern) = &args[1] else {
        return exec_err!("stack_filter: the pattern must be a literal");
    };
    let stacks = Stacks::read(&args[0].to_array(rows)?).map_err(from_formats)?;
    let mut made = StacksBuilder::with_room(rows, 0).map_err(from_formats)?;
    let pattern = pattern.try_as_str().flatten().map(Regex::new).transpose();
    let pattern = pattern
        .map_err(|e| exec_datafusion_err!("stack_filter: the pattern cannot be read: {e}"))?;
    let fits = |text: &str| pattern.as_ref().is_some_and(|p| p.is_match(text));
    let kept: Vec<Option<i32>> = (0..stacks.texts.len())
        .map(|at| stacks.text(Some(at)))
        .map(|t| fits(t).then(|| made.frame(t)))
        .collect();
    let no_name = fits(NO_NAME).then(|| made.frame(NO_NAME));
    for row in 0..stacks.len() {
        let frames = stacks.get(row).filter(|_| pattern.is_some());
        let known = frames.is_some();
        frames
            .into_iter()
            .flatten()
            .filter_map(|frame| frame.map_or(no_name, |frame| kept[frame]))
            .for_each(|frame| made.push(frame));
        made.end(known).map_err(from_formats)?;
    }
    made.finish().map_err(from_formats)
}

fn concat(args: &[ColumnarValue], rows: usize) -> Result<ArrayRef> {
    let mut made = StacksBuilder::with_room(rows, 0).map_err(from_formats)?;
    let parts = args
        .iter()
        .map(|part| Part::read(&part.to_array(rows)?, &mut made))
        .collect::<Result<Vec<_>>>()?;
    for row in 0..rows {
        let mut known = false;
        for part in &parts {
            known |= part.append(row, &mut made);
        }
        made.end(known).map_err(from_formats)?;
    }
    made.finish().map_err(from_formats)
}

/// A part of a joined stack, with frames numbered as in the result.
enum Part {
    Stack { stacks: Box<Stacks>, numbers: Vec<i32>, no_name: i32 },
    Frame { frames: Vec<i32>, nulls: Option<NullBuffer> },
}

impl Part {
    fn read(column: &ArrayRef, made: &mut StacksBuilder) -> Result<Self> {
        if is_text(column.data_type()) {
            return Ok(Self::Frame {
                nulls: column.logical_nulls(),
                frames: frames_by_name(column, &mut |text| made.frame(text))
                    .map_err(from_formats)?,
            });
        }
        let stacks = Box::new(Stacks::read(column).map_err(from_formats)?);
        let numbers = (0..stacks.texts.len()).map(|at| made.frame(stacks.text(Some(at)))).collect();
        Ok(Self::Stack { stacks, numbers, no_name: made.frame(NO_NAME) })
    }

    /// Appends the frames of a row; returns whether the row has any.
    fn append(&self, row: usize, made: &mut StacksBuilder) -> bool {
        match self {
            Self::Stack { stacks, numbers, no_name } => {
                let Some(frames) = stacks.get(row) else { return false };
                frames.for_each(|frame| made.push(frame.map_or(*no_name, |frame| numbers[frame])));
                true
            }
            Self::Frame { frames, nulls } => {
                let known = nulls.as_ref().is_none_or(|n| n.is_valid(row));
                if known {
                    made.push(frames[row]);
                }
                known
            }
        }
    }
}
