//! Names of C++ functions and kernels: demangled, written out plainly, shortened.
//!
//! All of these are bounded: a hostile name costs no more time and memory than a long one.

mod codes;
mod cost;
mod demangle;
mod plain;
mod short;

pub use demangle::demangle;
pub use plain::{plain, prefix};
pub use short::short_name;
