//! The keys of a grouped aggregate whose lists become rows.
//!
//! DataFusion takes the keys of an aggregate for unique and goes on to do so after unnest has made
//! several rows of each, which makes it drop later sort keys, DISTINCT and rows of joins
//! (apache/datafusion#24787). What it knows of keys ends where one of them is not carried on. So
//! there is one key more, which is the same for all rows and goes no further. The other keys have
//! names of their own, so that what it knows of the input's columns does not come through either.

use arrow::datatypes::DataType;
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::arguments::column;

/// The keys for groups by these columns; `any` is a column that is none of them.
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

/// The keys under the names of the columns.
pub fn key_columns(by: &[String]) -> Vec<Expr> {
    by.iter().enumerate().map(|(i, name)| column(&key(i)).alias(name)).collect()
}

/// The name of a key.
pub fn key(position: usize) -> String {
    format!("__key{position}")
}

/// Gives 0 for every row. It takes a column because a constant would not stay a key.
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
