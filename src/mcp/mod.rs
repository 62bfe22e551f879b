//! The Model Context Protocol over two streams: the engine for coding assistants.
//!
//! A client sends one JSON object a line and reads one a line. [`serve`] answers it until its input
//! ends. Two eras of the protocol exist, and a client decides in each request which it speaks: with
//! a handshake (`initialize`, revisions up to 2025-11-25), or without a state, with the version in
//! each request (2026-07-28). `wire` has the lines and objects, `era` what differs between the
//! eras, `session` the requests that run, and `tools`, `resources` and `prompts` what is offered.
//! The tools are plain functions of an engine and know nothing of the protocol.
//!
//! The protocol is written here and not taken from a crate, because `rmcp` switches on features of
//! serde, chrono, indexmap and tokio that nothing else needs. That would compile the query engine
//! once more, differently for the program and for those who use only the library.
//!
//! A text of a trace is data: none becomes the description of a tool, a resource or a prompt.

mod arguments;
mod era;
mod prompts;
mod resources;
mod session;
mod state;
mod tools;
mod wire;

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::{Engine, EngineOptions};
use crate::error::{Error, Result};
use crate::open::Location;
use crate::requests::{Limits, Requests};
use crate::runtime;
use state::Server;

/// The largest answer of a tool or resource, in bytes of its text.
pub const MAX_ANSWER_BYTES: usize = 40_000;

/// Opens the trace at a path. It must not change the store of those that are open.
pub type OpenMore = dyn Fn(&str) -> Result<Location> + Send + Sync;

/// What a server offers.
pub struct Config {
    /// Opens the traces. It runs on a thread of its own while the first requests are answered.
    pub open: Box<dyn FnOnce() -> Result<Location> + Send>,
    /// The folder whose traces clients may open, and how; `None` if they may open nothing.
    pub open_more: Option<(PathBuf, Arc<OpenMore>)>,
    /// Options of the engine. `queries_only` is always set.
    pub engine: EngineOptions,
    /// Limits of queries.
    pub limits: Limits,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Answers a client until its input ends. Fails if the traces could not be opened, after the client
/// was told so.
pub fn serve(
    config: Config,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<()> {
    let options = EngineOptions { queries_only: true, allow_files: false, ..config.engine };
    // Documents need no trace, so clients can read them while traces are read.
    let documents = Engine::without_store(&options)?;
    let queries = runtime::with_threads(options.threads)?;
    let requests = Requests::new(config.limits, queries.handle().clone());
    let server = Arc::new(Server::new(documents, options, requests, config.open_more));
    let opening = {
        let (server, open) = (server.clone(), config.open);
        std::thread::spawn(move || server.open(open))
    };
    let protocol = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Start { what: "the event loop", source })?;
    protocol.block_on(session::run(server, input, output));
    // Queries that do not yield end with the process, and so does a trace that is still read.
    protocol.shutdown_background();
    queries.shutdown_timeout(runtime::ENDING);
    if opening.is_finished() { opening.join().unwrap_or(Ok(())) } else { Ok(()) }
}
