//! One classification of kernels: what it says, that all views agree on it, and that its parts make
//! the whole.

mod agreement;
mod evidence;
mod expert_training;
mod names;
