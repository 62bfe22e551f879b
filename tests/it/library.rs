//! The library of views: its comments are correct, every view runs, and users can add views.

mod many_traces;
mod plans;
mod reference;
mod relations;
mod rows;
mod same_answers;
mod scopes;
mod trace_groups;
mod user_files;
mod views;

use tracesql::library::Library;

pub fn library() -> Library {
    Library::load(&[]).expect("the library loads")
}

/// The beginning of an error. The planner's errors contain whole plans.
pub fn short(e: &tracesql::Error) -> String {
    e.to_string().chars().take(400).collect()
}
