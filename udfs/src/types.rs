//! The argument types of functions, and the errors for other types.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field};
use datafusion_common::{Result, plan_err};
use datafusion_expr::ScalarFunctionArgs;
use tracesql_formats::stacks::{is_text, stack_type};

/// The kinds of arguments that a function accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Any type.
    Any,
    /// An integer.
    Int,
    /// A string.
    Text,
    /// A stack: a list of strings.
    Stack,
}

/// Returns the types to which arguments are cast; `names` lists the arguments for messages.
pub fn arguments(
    function: &str,
    names: &str,
    types: &[DataType],
    takes: &[Takes],
) -> Result<Vec<DataType>> {
    if types.len() != takes.len() {
        return plan_err!(
            "{function}({names}): arguments needed: {}, given: {}",
            takes.len(),
            types.len()
        );
    }
    types
        .iter()
        .zip(takes)
        .enumerate()
        .map(|(i, (data_type, takes))| argument(function, i, data_type, *takes))
        .collect()
}

/// Returns the type to which argument `position` (counted from 0) is cast.
pub fn argument(
    function: &str,
    position: usize,
    data_type: &DataType,
    takes: Takes,
) -> Result<DataType> {
    let position = position + 1;
    match takes {
        Takes::Any => Ok(data_type.clone()),
        Takes::Int if data_type.is_integer() || data_type.is_null() => Ok(DataType::Int64),
        Takes::Int => plan_err!(
            "{function}: argument {position} must be a whole number, not {data_type}; convert it \
             with CAST(… AS BIGINT)"
        ),
        Takes::Text if data_type.is_null() => Ok(DataType::Utf8),
        Takes::Text if is_text(data_type) => Ok(data_type.clone()),
        Takes::Text => plan_err!("{function}: argument {position} must be text, not {data_type}"),
        Takes::Stack if data_type.is_null() => Ok(stack_type()),
        Takes::Stack => match data_type {
            DataType::List(frame) if is_text(frame.data_type()) || frame.data_type().is_null() => {
                Ok(data_type.clone())
            }
            DataType::LargeList(frame)
            | DataType::ListView(frame)
            | DataType::LargeListView(frame)
            | DataType::FixedSizeList(frame, _)
                if is_text(frame.data_type()) || frame.data_type().is_null() =>
            {
                Ok(DataType::List(frame.clone()))
            }
            _ => plan_err!(
                "{function}: argument {position} must be a stack (a list of texts, root first), \
                 not {data_type}"
            ),
        },
    }
}

/// Returns the type of lists with elements of a type.
pub fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

/// Returns the type of the elements of a list, or `None` for other types.
pub fn item_of(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(f)
        | DataType::LargeList(f)
        | DataType::ListView(f)
        | DataType::LargeListView(f)
        | DataType::FixedSizeList(f, _) => Some(f.data_type()),
        _ => None,
    }
}

/// Returns the arguments of a call as columns with a value for each row.
pub fn columns(args: &ScalarFunctionArgs) -> Result<Vec<ArrayRef>> {
    args.args.iter().map(|argument| argument.to_array(args.number_rows)).collect()
}
