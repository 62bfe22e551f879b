//! Sequences of values that occur several times in a list.

mod function;
mod repeats;
mod suffixes;
#[cfg(test)]
mod tests;

use crate::doc::Function;

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    vec![function::function()]
}
