//! What calls of operators compute, read and write, by the shapes, types and values of their
//! arguments.
//!
//! The formulas are data: a form with options. A call that does not fit its form has a reason and
//! no figures. Arithmetic never wraps; only estimates are rounded.

mod attention;
mod call;
mod convolution;
mod docs;
mod elements;
mod exact;
mod experts;
mod formula;
mod function;
mod lists;
mod precision;
mod products;
mod result;
mod serving;
mod text;
mod transforms;
mod windows;

use crate::doc::Function;

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    vec![function::function()]
}
