//! The pages of `tracesql ui`, answered by a thread of the process.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use futures::channel::oneshot;
use parking_lot::Mutex;
use pyo3::prelude::*;
use tracesql::requests::Limits;
use tracesql::{Error, Result};
use tracesql_ingest::physical_memory;
use tracesql_ui::{Address, Config, serve};

use crate::errors::exception;
use crate::session::Session;

/// A server of pages. It ends with the object.
#[pyclass(frozen, module = "tracesql._native")]
pub struct Server {
    address: Address,
    running: Mutex<Option<Running>>,
}

struct Running {
    /// The server ends when this is dropped.
    stop: oneshot::Sender<()>,
    thread: JoinHandle<Result<()>>,
}

impl Server {
    fn start(config: Config) -> Result<Self> {
        let (ready, started) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            let told = move |address: &Address| drop(ready.send(address.clone()));
            let stopped = async move {
                let _ = stopped.await;
            };
            serve(config, told, stopped)
        });
        match started.recv() {
            Ok(address) => {
                Ok(Self { address, running: Mutex::new(Some(Running { stop, thread })) })
            }
            // It ended before it answered.
            Err(_) => Err(ended(thread).err().unwrap_or(Error::Cancelled)),
        }
    }
}

fn ended(thread: JoinHandle<Result<()>>) -> Result<()> {
    thread.join().unwrap_or_else(|_| Err(Error::Query("the server of the pages failed".into())))
}

#[pymethods]
impl Server {
    /// The address to open, with its token.
    #[getter]
    fn url(&self) -> String {
        self.address.url()
    }

    /// Whether the server was ended.
    #[getter]
    fn closed(&self) -> bool {
        self.running.lock().is_none()
    }

    /// Ends the server. Further calls do nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Some(Running { stop, thread }) = self.running.lock().take() else { return Ok(()) };
        drop(stop);
        py.detach(|| ended(thread)).map_err(exception)
    }
}

/// Starts a server of pages over the traces of a session. `embed` is the origin of a page that may
/// show them in a frame.
#[pyfunction]
#[pyo3(signature = (session, port, embed))]
pub fn ui(
    py: Python<'_>,
    session: &Bound<'_, Session>,
    port: Option<u16>,
    embed: Option<String>,
) -> PyResult<Server> {
    let session = session.get();
    let (location, mut engine) = (session.location.clone(), session.options.clone());
    let saved = engine.sql.clone();
    // Pages must not take the machine from its user.
    if engine.memory_limit == 0 {
        engine.memory_limit = physical_memory() / 2;
    }
    let config = Config {
        open: Box::new(move |_| Ok(location)),
        engine,
        limits: Limits { time: tracesql_ui::QUERY_TIME, ..Limits::default() },
        port,
        allow_hosts: Vec::new(),
        embed: embed.map(tracesql_ui::origin).transpose().map_err(exception)?,
        idle: None,
        saved,
    };
    py.detach(|| Server::start(config)).map_err(exception)
}
