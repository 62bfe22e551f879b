//! Runs SQL that people write, in scripts and in the shell.
//!
//! A text is split into statements and commands ([`tracesql::sql_text`]), which a [`Session`] runs
//! one by one. The shell ([`interactive`]) adds a line editor with history, colours and completion.
//! Names come from a [`tracesql::catalog`], which is made when it is first needed so that it does
//! not slow down the start.

mod bare_words;
mod column_values;
mod command_actions;
mod commands;
mod complete;
mod describe;
mod execution;
mod helper;
mod highlight;
pub mod interactive;
mod keys;
mod opening;
mod pager;
mod query_progress;
mod reflow;
mod scanned;
mod session;
mod startup_message;
mod typed_ahead;

pub use session::{Options, Session, scalar};
