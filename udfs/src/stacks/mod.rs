//! Stacks: lists of frames from the root to the leaf, made by nesting in time, read, joined and
//! folded.

mod column;
mod fold;
mod frame;
mod scalar;
mod sums;
mod window;

use crate::doc::Function;

pub use column::{NO_NAME, Stacks, StacksBuilder, Texts};
pub use frame::fold_frame;
pub use sums::{StackSum, StackSums};

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    [window::functions(), scalar::functions(), fold::functions()].concat()
}
