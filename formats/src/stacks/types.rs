//! The Arrow types of stacks, frames and texts.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field};

/// Whether values of a type are texts.
pub fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, value) => is_text(value),
        _ => false,
    }
}

/// The type of a frame: a number into a dictionary that holds each text once.
pub fn frame_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The type of a stack: a list of frames, root first.
pub fn stack_type() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(frame_type(), true)))
}
