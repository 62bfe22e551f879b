//! Stacks as Arrow columns, and values summed by stack.
//!
//! A stack is a list of frames, root first. A column of stacks stores each string once and frames
//! as indices, so a frame takes 4 bytes.

mod column;
mod sums;
mod types;

pub use column::{NO_NAME, Stacks, StacksBuilder, Texts, frames_by_name};
pub use sums::{StackSum, StackSums};
pub use types::{frame_type, is_text, stack_type};
