//! Converts stacks to one line of text: the folded format of flame graph tools.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringViewBuilder};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_expr::ColumnarValue;
use tracesql_formats::fold_frame;
use tracesql_formats::stacks::{NO_NAME, Stacks, StacksBuilder, stack_type};

use super::scalar::function;
use crate::doc::{Example, Function, FunctionDoc};
use crate::error::from_formats;
use crate::types::Takes;

/// The functions of this file.
pub fn functions() -> Vec<Function> {
    vec![
        function(FOLD, &[Takes::Stack], DataType::Utf8View, fold),
        function(UNFOLD, &[Takes::Text], stack_type(), unfold),
    ]
}

const FOLD: FunctionDoc = FunctionDoc {
    name: "fold_stack",
    area: "stacks",
    signature: "fold_stack(stack VARCHAR[]) → VARCHAR",
    summary: "A stack as one line of text, `root;…;leaf`, which flame graph tools read.",
    detail: "The format has no escapes: `;` separates frames and a line ends a stack. So `;` in a \
        frame becomes `:`, each control character (line ends, tabs, NUL, …) becomes `�`, and a \
        frame without characters becomes `(empty)`. These changes cannot be undone.",
    nulls: "NULL for NULL. A NULL frame becomes `(no name)`. A stack without frames becomes an \
        empty text.",
    errors: "Anything but a list of texts is refused.",
    examples: &[
        Example { sql: "SELECT fold_stack(['main', 'forward', 'mm'])", answer: "main;forward;mm" },
        Example {
            sql: "SELECT fold_stack(['a;b', '', concat('c', chr(10), 'd')])",
            answer: "a:b;(empty);c�d",
        },
    ],
};

const UNFOLD: FunctionDoc = FunctionDoc {
    name: "unfold_stack",
    area: "stacks",
    signature: "unfold_stack(text VARCHAR) → VARCHAR[]",
    summary: "The stack from a text `root;…;leaf`.",
    detail: "The text is split at each `;` and nothing else is special, so remove the count of a \
        folded line first. PyTorch's `Call stack` has this form.",
    nulls: "NULL for NULL. An empty text gives a stack without frames.",
    errors: "Anything but text is refused.",
    examples: &[Example {
        sql: "SELECT stack_leaf(unfold_stack('main;forward;mm')), \
            array_length(unfold_stack('main;forward;mm'))",
        answer: "mm | 3",
    }],
};

fn fold(args: &[ColumnarValue], rows: usize) -> Result<ArrayRef> {
    let stacks = Stacks::read(&args[0].to_array(rows)?).map_err(from_formats)?;
    let texts: Vec<Cow<'_, str>> =
        (0..stacks.texts.len()).map(|at| fold_frame(stacks.text(Some(at)))).collect();
    // Rows share stacks, so each text is stored once. A column with one copy per row could exceed
    // the memory and the range of offsets.
    let mut folded = StringViewBuilder::with_capacity(stacks.len()).with_deduplicate_strings();
    let mut line = String::new();
    for row in 0..stacks.len() {
        let Some(frames) = stacks.get(row) else {
            folded.append_null();
            continue;
        };
        line.clear();
        for (i, frame) in frames.enumerate() {
            if i > 0 {
                line.push(';');
            }
            line.push_str(frame.map_or(NO_NAME, |frame| &texts[frame]));
        }
        folded.append_value(&line);
    }
    Ok(Arc::new(folded.finish()))
}

fn unfold(args: &[ColumnarValue], rows: usize) -> Result<ArrayRef> {
    let texts = cast(&args[0].to_array(rows)?, &DataType::Utf8View)?;
    let texts = texts.as_string_view();
    let mut stacks = StacksBuilder::with_room(rows, 0).map_err(from_formats)?;
    for row in 0..texts.len() {
        let known = texts.is_valid(row);
        if known && !texts.value(row).is_empty() {
            for frame in texts.value(row).split(';') {
                let frame = stacks.frame(frame);
                stacks.push(frame);
            }
        }
        stacks.end(known).map_err(from_formats)?;
    }
    stacks.finish().map_err(from_formats)
}
