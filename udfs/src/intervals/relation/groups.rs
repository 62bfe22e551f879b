//! Group keys for aggregates whose lists are converted to rows.
//!
//! DataFusion assumes that the keys of an aggregate are unique, even after unnest has created
//! several rows for each key. Based on this, it drops later sort keys, DISTINCT and rows of joins
//! (apache/datafusion#24787). It no longer assumes this if one of the keys is dropped. Therefore an
//! additional key is added that is equal for all rows and is not selected. The other keys get new
//! names, so that known properties of the input's columns do not apply to them either.

use arrow::datatypes::DataType;
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::arguments::column;

/// Creates the keys for grouping by these columns. `any` is a column that is not one of them.
pub fn keys(by: &[String], any: &str) -> Vec<Expr> {
    let mut keys: Vec<Expr> =
        by.iter().enumerate().map(|(i, name)| column(name).alias(key(i))).collect();
    if !keys.is_empty() {
        let same = ScalarUDF::new_from_impl(OneGroup {
            signature: Signature::any(1, Volatility::Immutable),
        });
        keys.push(same.call(vec![column(any)]).alias("__same"));
    }
    keys
}

/// Selects the keys under the names of the columns.
pub fn key_columns(by: &[String]) -> Vec<Expr> {
    by.iter().enumerate().map(|(i, name)| column(&key(i)).alias(name)).collect()
}

/// Returns the name of a key.
pub fn key(position: usize) -> String {
    format!("__key{position}")
}

/// Returns 0 for every row. It takes a column, because a constant would be removed from the keys.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OneGroup {
    signature: Signature,
}

impl ScalarUDFImpl for OneGroup {
    fn name(&self) -> &str {
        "one_group"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int8)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(ScalarValue::Int8(Some(0))))
    }
}
