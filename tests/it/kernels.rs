//! The classification of kernels: its results, that all views agree on it, and that its parts add
//! up to the whole.

mod agreement;
mod evidence;
mod expert_training;
mod names;
