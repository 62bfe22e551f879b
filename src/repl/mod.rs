//! Running SQL that people write: scripts, and the shell.
//!
//! A text is cut into statements and commands ([`split`]), which a [`Session`] runs one by one
//! ([`run`], `act`). An error is shown with its place and what was probably meant ([`errors`]). The
//! [`shell`] adds a line editor: history, colours, completion. Names come from one [`catalog`],
//! which is made when it is first needed, so that starting costs nothing. How traces are opened is
//! the command line's business: it comes in as a [`Host`].

mod act;
mod catalog;
mod commands;
mod complete;
mod describe;
mod errors;
mod hello;
mod helper;
mod highlight;
mod keywords;
mod lex;
mod pager;
mod run;
mod scope;
mod session;
mod shell;
mod split;

use std::path::PathBuf;

pub use errors::Audience;
pub use run::{runtime, within};
pub use session::{Session, scalar};
pub use shell::run as shell;
pub use split::{Part, Piece, split};

use crate::engine::Engine;
use crate::error::{Error, Result};

/// What a session works on.
pub struct Opened {
    /// The engine over it.
    pub engine: Engine,
    /// Where it comes from.
    pub source: Source,
}

/// Where the traces of a session lie.
#[derive(Debug, Clone)]
pub enum Source {
    /// In a store that was named.
    Store(PathBuf),
    /// In the cache: the names of the traces.
    Cache(Vec<String>),
}

/// Opens things for a session.
pub trait Host {
    /// Opens traces or one store.
    fn open(&self, inputs: &[String]) -> Result<Opened>;
    /// Reads traces and opens them together with what is open.
    fn ingest(&self, source: &Source, inputs: &[String]) -> Result<Opened>;
}

/// An error of a text of statements, with its place and what was probably meant. Errors of other
/// kinds stay as they are.
///
/// Not to be called by a thread that runs queries: it waits for what it looks up.
pub fn explained(error: Error, text: &str, engine: &Engine, audience: Audience) -> Error {
    let Error::Sql(e) = error else { return error };
    match runtime(1) {
        Ok(runtime) => {
            let catalog = catalog::Catalog::of(engine, &runtime);
            Error::Query(errors::render(
                &errors::explain(&e, text, &catalog, audience),
                text,
                0,
                None,
            ))
        }
        Err(_) => Error::Sql(e),
    }
}
