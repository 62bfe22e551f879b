//! Applies a function once to each distinct string of a column.

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array, new_null_array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use datafusion_common::{HashMap, Result, exec_err, plan_err};

/// Returns the type to which a text argument is cast. Any string type is kept as it is, including
/// dictionaries.
///
/// # Errors
///
/// Fails if the argument is not a string.
pub(super) fn text_type(function: &str, given: &DataType) -> Result<DataType> {
    match given {
        DataType::Null => Ok(DataType::Utf8),
        text if is_text(text) => Ok(text.clone()),
        DataType::Dictionary(_, values) if is_text(values) => Ok(given.clone()),
        other => plan_err!(
            "{function} takes text, got {other}; write CAST(… AS VARCHAR) if that is meant"
        ),
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Passes the distinct strings of a column to `results`, which returns one value per string, and
/// maps these values back to the rows. NULL gives NULL.
pub(super) fn map(
    column: &ArrayRef,
    result: &DataType,
    results: &dyn Fn(&[&str]) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    match column.data_type() {
        DataType::Dictionary(_, _) => {
            let dictionary = column.as_any_dictionary();
            let values = map(dictionary.values(), result, results)?;
            Ok(take(&values, dictionary.keys(), None)?)
        }
        DataType::Utf8 => map_texts(column.as_string::<i32>().iter(), results),
        DataType::LargeUtf8 => map_texts(column.as_string::<i64>().iter(), results),
        DataType::Utf8View => map_texts(column.as_string_view().iter(), results),
        DataType::Null => Ok(new_null_array(result, column.len())),
        other => exec_err!("expected text, got {other}"),
    }
}

fn map_texts<'a>(
    texts: impl Iterator<Item = Option<&'a str>>,
    results: &dyn Fn(&[&str]) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let mut places: HashMap<&str, u32> = HashMap::new();
    let mut different: Vec<&str> = Vec::new();
    let keys: UInt32Array = texts
        .map(|text| {
            text.map(|text| {
                *places.entry(text).or_insert_with(|| {
                    different.push(text);
                    (different.len() - 1) as u32
                })
            })
        })
        .collect();
    let values = results(&different)?;
    Ok(take(&values, &keys, None)?)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use arrow::array::{DictionaryArray, Int64Array, StringArray, StringViewArray};
    use arrow::datatypes::Int32Type;

    use super::*;

    #[test]
    fn each_distinct_text_is_passed_once() {
        let texts = [Some("a"), None, Some("bb"), Some("a"), Some("bb")];
        let expected = Int64Array::from(vec![Some(1), None, Some(2), Some(1), Some(2)]);
        let dictionary: DictionaryArray<Int32Type> = texts.into_iter().collect();
        let columns: [ArrayRef; 3] = [
            Arc::new(StringArray::from_iter(texts)),
            Arc::new(StringViewArray::from_iter(texts)),
            Arc::new(dictionary),
        ];
        for column in columns {
            let seen = Cell::new(0);
            let lengths = map(&column, &DataType::Int64, &|texts| {
                seen.set(seen.get() + texts.len());
                Ok(Arc::new(Int64Array::from_iter_values(
                    texts.iter().map(|text| text.len() as i64),
                )))
            });
            assert_eq!(lengths.unwrap().as_ref(), &expected as &dyn Array);
            assert_eq!(seen.get(), 2, "{}", column.data_type());
        }
        assert!(
            text_type("f", &DataType::Int64)
                .unwrap_err()
                .to_string()
                .contains("f takes text, got Int64")
        );
    }
}
