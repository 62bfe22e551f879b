//! Running SQL that people write: scripts, and the shell.
//!
//! A text is cut into statements and commands ([`tracesql::sql_text`]), which a [`Session`] runs
//! one by one. The shell ([`interactive`]) adds a line editor: history, colours, completion. Names
//! come from one [`tracesql::catalog`], which is made when it is first needed, so that starting
//! costs nothing.

mod command_actions;
mod commands;
mod complete;
mod describe;
mod execution;
mod helper;
mod highlight;
pub mod interactive;
mod opening;
mod pager;
mod scope;
mod session;
mod startup_message;

pub use session::{Options, Session, scalar};
