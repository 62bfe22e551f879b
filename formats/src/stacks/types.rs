//! The Arrow types of stacks, frames and strings.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field};

/// Whether a type is a string type.
pub fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, value) => is_text(value),
        _ => false,
    }
}

/// Returns the type of a frame: an index into a dictionary that holds each string once.
pub fn frame_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Returns the type of a stack: a list of frames, root first.
pub fn stack_type() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(frame_type(), true)))
}
