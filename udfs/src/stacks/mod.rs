//! Functions on stacks: lists of frames from the root to the leaf, made by nesting in time, read,
//! joined and folded.

mod fold;
mod scalar;
mod window;

use crate::doc::Function;

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    [window::functions(), scalar::functions(), fold::functions()].concat()
}
