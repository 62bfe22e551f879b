//! Functions that classify and shorten the names of kernels, operators, calls and types.

mod csv;
mod docs;
mod dtype;
mod functions;
mod matcher;
mod rules;
mod subject;
mod text;

use std::sync::Arc;

use datafusion_expr::ScalarUDF;

use crate::doc::{Call, Function};
use functions::{Answer, Classify, OfText, What};

pub(crate) use dtype::bytes as element_bytes;
pub use rules::{BUILT_IN_RULES, Rule, Rules};

/// Returns the functions on names; `classify`, `classify_rule` and `kernel_type` use the given
/// rules.
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
