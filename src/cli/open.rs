//! `tracesql INPUT…`: traces or a store, and SQL over them at once.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tracesql_ingest::Store;

use super::args::{Global, OpenArgs};
use super::cache::Cache;
use super::ingest::{self, Terminal};
use super::query::run_sql;
use super::refuse_input;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::open::{Found, find};
use crate::repl::{Host, Opened, Source};

pub fn run(args: &OpenArgs, global: &Global) -> Result<()> {
    if let Some(output) = &args.sql.output {
        refuse_input(output, &args.inputs)?;
    }
    run_sql(open(&args.inputs, args.strict, global)?, &args.sql, global)
}

/// Opens one store, or traces by way of the cache.
pub fn open(inputs: &[String], strict: bool, global: &Global) -> Result<Opened> {
    let found =
        find(inputs, &global.ingest_options(strict, false), &Terminal { quiet: global.quiet })?;
    let engine = found.engine(&global.engine_options())?;
    let source = match found {
        Found::Store(store) => Source::Store(store.root().to_owned()),
        Found::Cached(_, traces) => Source::Cache(traces),
    };
    Ok(Opened { engine, source })
}

/// Traces that were named as one: all of a store, or those of an input in the cache.
pub struct Located {
    /// The store that holds them.
    pub store: Store,
    /// Their names.
    pub traces: Vec<String>,
}

impl Located {
    /// Finds a store, or reads traces by way of the cache.
    pub fn find(name: &str, global: &Global) -> Result<Self> {
        if Store::is_store(Path::new(name)) {
            let store = Store::open(Path::new(name))?;
            let traces = store.traces()?.into_iter().map(|t| t.trace_id).collect();
            return Ok(Self { store, traces });
        }
        let cache = Cache::open()?;
        let names = [name.to_owned()];
        let traces =
            ingest::all(ingest::inputs(&names), &names, |input| cache.trace(input, false, global))?;
        Ok(Self { store: cache.store().clone(), traces })
    }

    /// A session over them.
    pub fn engine(&self, global: &Global) -> Result<Engine> {
        Engine::open(&self.store, Some(&self.traces), &global.engine_options())
    }
}

/// Opens all traces of a store.
pub fn open_store(store: Store, global: &Global) -> Result<Opened> {
    let engine = Engine::open(&store, None, &global.engine_options())?;
    Ok(Opened { engine, source: Source::Store(store.root().to_owned()) })
}

fn open_cached(cache: &Cache, traces: Vec<String>, global: &Global) -> Result<Opened> {
    let engine = Engine::open(cache.store(), Some(&traces), &global.engine_options())?;
    Ok(Opened { engine, source: Source::Cache(traces) })
}

/// Opens things for a shell as the command line does.
pub struct CommandLine {
    global: Global,
}

impl CommandLine {
    pub fn new(global: &Global) -> Self {
        Self { global: global.clone() }
    }

    /// Reads traces in a process of its own, which Ctrl-C ends without ending the shell.
    fn read(&self, args: &[&str], inputs: &[String]) -> Result<()> {
        if inputs.iter().any(|i| i == "-") {
            return Err(Error::Usage("standard input is the shell's; name a file".into()));
        }
        let program =
            std::env::current_exe().map_err(|e| Error::Output("the program".into(), e))?;
        let mut command = Command::new(program);
        if args.first() == Some(&"ingest") {
            command.arg("ingest");
        }
        command.args(inputs.iter().map(|i| {
            if i.starts_with('-') { PathBuf::from(".").join(i) } else { PathBuf::from(i) }
        }));
        command.args(args.iter().filter(|a| **a != "ingest"));
        if self.global.threads > 0 {
            command.args(["--threads", &self.global.threads.to_string()]);
        }
        if let Some(limit) = self.global.memory_limit {
            command.args(["--memory-limit", &limit.to_string()]);
        }
        if self.global.quiet {
            command.arg("--quiet");
        }
        let status = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .map_err(|e| Error::Output("the program".into(), e))?;
        match status.code() {
            Some(0) => Ok(()),
            // It has said why.
            Some(_) => Err(Error::Usage("nothing was opened".into())),
            None => Err(Error::Cancelled),
        }
    }
}

impl Host for CommandLine {
    fn open(&self, inputs: &[String]) -> Result<Opened> {
        if !inputs.iter().any(|i| Store::is_store(Path::new(i))) {
            self.read(&["-c", "SELECT 1"], inputs)?;
        }
        open(inputs, false, &Global { quiet: true, ..self.global.clone() })
    }

    fn ingest(&self, source: &Source, inputs: &[String]) -> Result<Opened> {
        match source {
            Source::Store(root) => {
                self.read(&["ingest", "-o", &root.display().to_string()], inputs)?;
                open_store(Store::open(root)?, &self.global)
            }
            Source::Cache(open) => {
                self.read(&["-c", "SELECT 1"], inputs)?;
                let quiet = Global { quiet: true, ..self.global.clone() };
                let cache = Cache::open()?;
                let more = ingest::all(ingest::inputs(inputs), inputs, |input| {
                    cache.trace(input, false, &quiet)
                })?;
                let mut traces = open.clone();
                traces.extend(more.into_iter().filter(|t| !open.contains(t)));
                open_cached(&cache, traces, &self.global)
            }
        }
    }
}
