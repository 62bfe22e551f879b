//! Names of C++ functions and kernels: demangling, plain text forms and short forms.
//!
//! The cost of every function is bounded: a malicious name takes no more time and memory than a
//! long ordinary name.

mod codes;
mod cost;
mod demangle;
mod plain;
mod short;

pub use demangle::demangle;
pub use plain::{plain, prefix};
pub use short::short_name;
