//! Names of kernels, operators, calls and types: what they mean, and shorter forms of them.

mod codes;
mod csv;
pub(crate) mod demangle;
mod docs;
mod dtype;
mod effort;
mod functions;
mod matcher;
pub(crate) mod plain;
mod rules;
mod short;
mod subject;
mod text;

use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;

use crate::doc::{Call, Function};
use functions::{Answer, Classify, OfText, What};

pub use demangle::demangle;
pub use rules::{Rule, Rules};
pub use short::short_name;

/// The functions on names, with the rules that `classify`, `classify_rule` and `kernel_type` are to
/// use.
pub fn functions(rules: Rules) -> Vec<Function> {
    let of_text = |what| ScalarUDF::new_from_impl(OfText::new(what));
    let scalar = |udf, doc| Function { call: Call::Scalar(Arc::new(udf)), doc };
    vec![
        scalar(
            ScalarUDF::new_from_impl(Classify::new(rules.clone(), Answer::Value)),
            docs::CLASSIFY,
        ),
        scalar(
            ScalarUDF::new_from_impl(Classify::new(rules.clone(), Answer::Priority)),
            docs::CLASSIFY_RULE,
        ),
        scalar(of_text(What::KernelType(rules)), docs::KERNEL_TYPE),
        scalar(of_text(What::PlainName), docs::PLAIN_NAME),
        scalar(of_text(What::ShortName), docs::SHORT_NAME),
        scalar(of_text(What::Demangle), docs::DEMANGLE),
        scalar(of_text(What::DtypeBytes), docs::DTYPE_BYTES),
    ]
}

#[cfg(test)]
mod tests;
