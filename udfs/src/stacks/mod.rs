//! Functions on stacks, which are lists of frames from the root to the leaf. The functions build
//! stacks from nesting in time, read them, join them and fold them.

mod fold;
mod scalar;
mod window;

use crate::doc::Function;

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    [window::functions(), scalar::functions(), fold::functions()].concat()
}
