//! Reads and opens traces within a session, where Ctrl-C stops the reading but not the shell.

use std::sync::atomic::Ordering;
use std::thread;

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot::{self, error::RecvError};
use tokio::time::timeout;
use tracesql::engine::{Engine, EngineOptions};
use tracesql::open::{Location, Opener};
use tracesql::runtime::STACK_BYTES;
use tracesql::{Error, Result};
use tracesql_ingest::{IngestError, IngestOptions};

use crate::global::Global;
use crate::stderr;
use crate::terminal::{Messages, Terminal};
use crate::time_limit::GRACE;

/// Opens traces for a session with the options that the program was started with.
#[derive(Debug, Clone)]
pub struct Opening {
    engine: EngineOptions,
    ingest: IngestOptions,
    messages: Messages,
}

impl Opening {
    /// Opens with these options.
    pub fn new(global: &Global) -> Self {
        Self {
            engine: global.engine_options(),
            ingest: global.ingest_options(false, false),
            messages: Messages::of(global),
        }
    }

    /// Opens traces or one store. `can_stop` tells whether Ctrl-C stops only the reading and not
    /// the process.
    pub fn open(&self, names: Vec<String>, can_stop: bool) -> Result<(Engine, Location)> {
        self.with_opener(&names.clone(), can_stop, move |opener| opener.open(&names))
    }

    /// Reads more traces into the location of the open ones, and opens all of them.
    pub fn add(
        &self,
        open: Location,
        names: Vec<String>,
        can_stop: bool,
    ) -> Result<(Engine, Location)> {
        self.with_opener(&names.clone(), can_stop, move |opener| opener.add(&open, &names))
    }

    fn with_opener(
        &self,
        names: &[String],
        can_stop: bool,
        locate: impl FnOnce(&Opener) -> Result<Location> + Send + 'static,
    ) -> Result<(Engine, Location)> {
        if names.iter().any(|name| name == "-") {
            return Err(Error::Usage("standard input is the shell's; name a file".into()));
        }
        let terminal = Terminal::new(self.messages);
        let location = if can_stop {
            stoppable(terminal, self.ingest.clone(), locate)?
        } else {
            locate(&Opener::new(self.ingest.clone(), &terminal))?
        };
        Ok((location.engine(&self.engine)?, location))
    }
}

fn outcome(located: Result<Result<Location>, RecvError>) -> Result<Location> {
    match located {
        Ok(Err(Error::Input(IngestError::Stopped))) => Err(Error::Cancelled),
        Ok(located) => located,
        Err(_) => Err(Error::Query("reading failed; this is a fault of tracesql".into())),
    }
}

/// Reads in a separate thread, which Ctrl-C tells to stop. Nothing is stored in that case.
fn stoppable(
    terminal: Terminal,
    options: IngestOptions,
    locate: impl FnOnce(&Opener) -> Result<Location> + Send + 'static,
) -> Result<Location> {
    let cannot = |what| move |source| Error::Start { what, source };
    let waiting =
        Builder::new_current_thread().enable_all().build().map_err(cannot("the event loop"))?;
    let progress = terminal.progress();
    let (sender, mut located) = oneshot::channel();
    waiting.block_on(async {
        let mut interrupts =
            signal(SignalKind::interrupt()).map_err(cannot("the handler of signals"))?;
        thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || sender.send(locate(&Opener::new(options, &terminal))))
            .map_err(cannot("a thread"))?;
        tokio::select! {
            located = &mut located => return outcome(located),
            _ = interrupts.recv() => progress.stop.store(true, Ordering::Relaxed),
        }
        match timeout(GRACE, located).await {
            Ok(located) => outcome(located),
            Err(_) => {
                // The thread checks `stop` between pieces of text. It does not check while it waits
                // for a pipe or while it sorts a large trace.
                stderr::line("the reading has not stopped yet; it stops at its next piece of text");
                Err(Error::Cancelled)
            }
        }
    })
}
