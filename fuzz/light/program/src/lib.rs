//! The formats of stacks, under the names that they have in the program.

mod error;
pub mod stacks;
