//! The library of views: its comments hold, every view runs, and users can add their own.

mod plans;
mod reference;
mod same_answers;
mod user_files;
mod views;

use tracesql::library::Library;

pub fn library() -> Library {
    Library::load(&[]).expect("the library loads")
}

/// The beginning of an error; those of the planner hold whole plans.
pub fn short(e: &tracesql::Error) -> String {
    e.to_string().chars().take(400).collect()
}
