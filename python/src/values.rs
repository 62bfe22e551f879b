//! Converts values between Python and Arrow.

use std::collections::HashMap;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes as types;
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::ScalarValue;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::errors::{QueryError, UsageError};
use crate::statements::element;

/// The values of a query's parameters.
#[derive(Default)]
pub struct Parameters {
    /// The values, with one for each element of a list.
    pub values: Vec<(String, ScalarValue)>,
    /// The names of lists, and their lengths.
    pub lists: HashMap<String, usize>,
    /// The number of values without a name. Their names are `1`, `2` and so on.
    pub unnamed: usize,
}

impl Parameters {
    /// The values of `$name`, or of `$1`, `$2` and so on: numbers, texts, bytes, booleans and None,
    /// and lists of them.
    pub fn new(given: &Bound<'_, PyDict>, unnamed: usize) -> PyResult<Self> {
        let mut parameters = Self { unnamed, ..Self::default() };
        for (name, value) in given {
            let name: String = name.extract()?;
            let Ok(list) = value.cast::<PyList>() else {
                let value = scalar(&name, &value)?;
                parameters.values.push((name, value));
                continue;
            };
            for (at, value) in list.iter().enumerate() {
                let name = element(&name, at);
                let value = scalar(&name, &value)?;
                parameters.values.push((name, value));
            }
            parameters.lists.insert(name, list.len());
        }
        Ok(parameters)
    }
}

fn scalar(name: &str, value: &Bound<'_, PyAny>) -> PyResult<ScalarValue> {
    if value.is_none() {
        return Ok(ScalarValue::Null);
    }
    if let Ok(flag) = value.extract::<bool>() {
        return Ok(ScalarValue::Boolean(Some(flag)));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(ScalarValue::Utf8(Some(text)));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(ScalarValue::Binary(Some(bytes.as_bytes().to_vec())));
    }
    if value.hasattr("__index__")? {
        let int = value.extract::<i64>();
        return int.map(|n| ScalarValue::Int64(Some(n))).map_err(|_| {
            UsageError::new_err(format!("${name}: {value} does not fit into 64 bits"))
        });
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(ScalarValue::Float64(Some(number)));
    }
    let kind = value.get_type().name()?;
    Err(UsageError::new_err(format!(
        "${name}: a {kind} cannot be a value in SQL; give a number, text, bytes, bool, None, \
         or a list of them"
    )))
}

/// The rows of a batch.
pub fn tuples(py: Python<'_>, batch: &RecordBatch) -> PyResult<Vec<Py<PyTuple>>> {
    let columns =
        batch.columns().iter().map(|c| column(py, c.as_ref())).collect::<PyResult<Vec<_>>>()?;
    (0..batch.num_rows())
        .map(|row| Ok(PyTuple::new(py, columns.iter().map(|c| &c[row]))?.unbind()))
        .collect()
}

/// A column as Python values. Times, decimals and other types without a plain counterpart in Python
/// become texts.
fn column<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Vec<Bound<'py, PyAny>>> {
    macro_rules! primitive {
        ($type:ty) => {
            array.as_primitive::<$type>().iter().map(|v| v.into_bound_py_any(py)).collect()
        };
    }
    match array.data_type() {
        DataType::Null => Ok(vec![py.None().into_bound(py); array.len()]),
        DataType::Boolean => array.as_boolean().iter().map(|v| v.into_bound_py_any(py)).collect(),
        DataType::Int8 => primitive!(types::Int8Type),
        DataType::Int16 => primitive!(types::Int16Type),
        DataType::Int32 => primitive!(types::Int32Type),
        DataType::Int64 => primitive!(types::Int64Type),
        DataType::UInt8 => primitive!(types::UInt8Type),
        DataType::UInt16 => primitive!(types::UInt16Type),
        DataType::UInt32 => primitive!(types::UInt32Type),
        DataType::UInt64 => primitive!(types::UInt64Type),
        DataType::Float32 => primitive!(types::Float32Type),
        DataType::Float64 => primitive!(types::Float64Type),
        DataType::Utf8 => {
            array.as_string::<i32>().iter().map(|v| v.into_bound_py_any(py)).collect()
        }
        DataType::LargeUtf8 => {
            array.as_string::<i64>().iter().map(|v| v.into_bound_py_any(py)).collect()
        }
        DataType::Utf8View => {
            array.as_string_view().iter().map(|v| v.into_bound_py_any(py)).collect()
        }
        DataType::Binary => array.as_binary::<i32>().iter().map(|v| bytes(py, v)).collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().map(|v| bytes(py, v)).collect(),
        DataType::BinaryView => array.as_binary_view().iter().map(|v| bytes(py, v)).collect(),
        DataType::List(_) => array.as_list::<i32>().iter().map(|v| list(py, v)).collect(),
        DataType::LargeList(_) => array.as_list::<i64>().iter().map(|v| list(py, v)).collect(),
        DataType::Struct(fields) => {
            let inner = array
                .as_struct()
                .columns()
                .iter()
                .map(|c| column(py, c.as_ref()))
                .collect::<PyResult<Vec<_>>>()?;
            let object = |row: usize| {
                if array.is_null(row) {
                    return Ok(py.None().into_bound(py));
                }
                let object = PyDict::new(py);
                fields
                    .iter()
                    .zip(&inner)
                    .try_for_each(|(field, values)| object.set_item(field.name(), &values[row]))?;
                Ok(object.into_any())
            };
            (0..array.len()).map(object).collect()
        }
        DataType::Dictionary(_, values) => {
            let plain = cast(array, values).map_err(|e| QueryError::new_err(e.to_string()))?;
            column(py, plain.as_ref())
        }
        _ => texts(py, array),
    }
}

fn bytes<'py>(py: Python<'py>, value: Option<&[u8]>) -> PyResult<Bound<'py, PyAny>> {
    value.map(|v| PyBytes::new(py, v)).into_bound_py_any(py)
}

fn list<'py>(
    py: Python<'py>,
    value: Option<arrow::array::ArrayRef>,
) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Some(values) => Ok(PyList::new(py, column(py, values.as_ref())?)?.into_any()),
        None => Ok(py.None().into_bound(py)),
    }
}

fn texts<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let options = FormatOptions::new();
    let formatter =
        ArrayFormatter::try_new(array, &options).map_err(|e| QueryError::new_err(e.to_string()))?;
    (0..array.len())
        .map(|i| array.is_valid(i).then(|| formatter.value(i).to_string()).into_bound_py_any(py))
        .collect()
}
