//! Opens stores, and traces through the cache. Commands, the shell and the Python package share
//! this code.
//!
//! An [`Opener`] turns names into a [`Location`], which knows where the traces are stored and makes
//! an engine over them. Nothing here prints: an [`InputReader`] reads the inputs and is notified
//! about those that fail.

mod ahead;
mod cache;
mod cached;
mod choose;
mod elsewhere;
mod inputs;
mod location;
mod mistakes;
mod scratch;
mod secrets;

use std::path::Path;
use std::time::Instant;

use tracesql_ingest::schema::SCHEMA_VERSION;
use tracesql_ingest::{IngestError, IngestOptions, Input, Manifest, Outcome, Store, trace_hash};

use cache::Cache;
pub use cache::folder as cache_folder;
pub use cached::{CachedTrace, cached_traces, clear_cache};
pub use choose::{named_trace, named_traces};
pub use elsewhere::{InputSource, RemoteInput, register_inputs};
pub use inputs::Found;
pub use inputs::oddities;
use inputs::{Work, inputs, read_all};
pub use location::Location;
pub use mistakes::{not_a_store, open_store};
use scratch::Scratch;
pub use secrets::without_secrets;

use crate::error::{Error, Result};
use crate::store::{self, Kind, RemoteStore};

/// Whether a name is that of a store.
fn is_store(name: &str) -> Result<bool> {
    match store::remote_kind(name)? {
        Some(kind) => Ok(kind == Kind::Store),
        None => Ok(Store::is_store(Path::new(name))),
    }
}

/// Reads inputs for a user interface, which decides how to show progress and failures.
pub trait InputReader: Sync {
    /// Reads an input into a store.
    fn read(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome>;
    /// Reads one of several small inputs into a store. Several threads call it at the same time.
    /// It reports nothing.
    fn read_small(&self, input: &Input, store: &Store, options: &IngestOptions) -> Result<Outcome>;
    /// A small input was read within this time. It is called in the order of the inputs.
    fn was_read(&self, input: &Input, outcome: &Outcome, seconds: f64);
    /// This number of small inputs is about to be read at the same time.
    fn begin_small(&self, _inputs: usize) {}
    /// The small inputs were read, or refused.
    fn end_small(&self) {}
    /// An input was not read, because the store contains it already.
    fn known(&self, _name: &str, _outcome: &Outcome) {}
    /// A file in a folder or archive is not a trace and was skipped.
    fn left_out(&self, why: &IngestError);
    /// One of several inputs could not be read.
    fn failed(&self, why: &Error);
    /// This number of inputs is about to be read.
    fn begin(&self, _inputs: usize) {}
    /// The inputs were read, or refused.
    fn end(&self) {}
}

/// What became of an input that was read ahead of its turn, and how long that took.
struct Early {
    outcome: Result<Outcome>,
    seconds: f64,
}

impl Early {
    fn read(
        reader: &dyn InputReader,
        input: &Input,
        store: &Store,
        options: &IngestOptions,
    ) -> Self {
        let start = Instant::now();
        let outcome = reader.read_small(input, store, options);
        Self { outcome, seconds: start.elapsed().as_secs_f64() }
    }
}

/// Chooses the inputs that are read from those that the names stand for.
pub type Choose<'a> = dyn Fn(Vec<Found>) -> Result<Vec<Found>> + 'a;

/// Opens a store or traces that the user named.
pub struct Opener<'a> {
    options: IngestOptions,
    reader: &'a dyn InputReader,
    choose: Option<&'a Choose<'a>>,
}

impl<'a> Opener<'a> {
    /// Creates an opener that reads inputs with these options.
    pub fn new(options: IngestOptions, reader: &'a dyn InputReader) -> Self {
        Self { options, reader, choose: None }
    }

    /// Lets [`Opener::ingest`] read a part of the inputs only. If a name stands for no input,
    /// nothing is read.
    pub fn choosing(self, choose: &'a Choose<'a>) -> Self {
        Self { choose: Some(choose), ..self }
    }

    /// Opens one store, or traces. Traces that are not in the cache are read into it.
    pub fn open(&self, names: &[String]) -> Result<Location> {
        let mut stores = 0;
        for name in names {
            stores += usize::from(is_store(name)?);
        }
        if stores > 0 && names.len() > 1 {
            return Err(mistakes::several(names));
        }
        if stores == 1 && self.options.strict {
            return Err(Error::Usage("--strict is for traces; a store was read already".into()));
        }
        if stores == 1 {
            return Ok(Location::of_store(open_store(Path::new(&names[0]))?));
        }
        let cache = Cache::open()?;
        let traces = self.cached(&cache, names)?;
        Ok(Location::in_cache(cache.store().clone(), traces))
    }

    /// Opens the store or trace that a name stands for.
    pub fn open_one(&self, name: &str) -> Result<Location> {
        self.open(&[name.to_owned()])
    }

    /// Reads more traces into the location of the open ones, which is their store or the cache.
    /// Returns the location of all of them together.
    pub fn add(&self, open: &Location, names: &[String]) -> Result<Location> {
        if !open.is_in_cache() {
            self.ingest(Path::new(&open.store().name()), names, |_| Ok(()))?;
            return Ok(open.clone());
        }
        let cache = Cache::open()?;
        let more = self.cached(&cache, names)?;
        let mut traces = open.traces()?;
        let new: Vec<String> = more.into_iter().filter(|t| !traces.contains(t)).collect();
        traces.extend(new);
        Ok(Location::in_cache(cache.store().clone(), traces))
    }

    /// Reads traces into a store, which is created if it does not exist. Returns their names in the
    /// store. `done` is called after each trace.
    pub fn ingest(
        &self,
        store: &Path,
        names: &[String],
        done: impl Fn(&Outcome) -> Result<()>,
    ) -> Result<Vec<String>> {
        let mut inputs = inputs(names);
        if let Some(choose) = self.choose {
            let found = inputs.into_iter().collect::<Result<Vec<_>>>()?;
            inputs = choose(found)?.into_iter().map(Ok).collect();
        }
        if inputs.iter().all(Result::is_err) {
            // No store is created if there is nothing to read.
            let nothing = Work {
                known: &|_| Ok(None),
                readers: 1,
                is_new: &|_| true,
                ahead: &|_| (),
                read: &|_, _| Ok(String::new()),
            };
            return read_all(inputs, names, self.reader, &nothing);
        }
        if let Some(url) = store.to_str().filter(|name| store::is_remote(name)) {
            let store = store::open_remote(url, true)?;
            return self.publish(store.as_ref(), inputs, names, done);
        }
        if let Some(error) = store.to_str().and_then(mistakes::url) {
            return Err(error.into());
        }
        let store = Store::open_or_create(store)?;
        let traces = self.known_traces(&inputs, || Ok(store.traces()?))?;
        let (reader, readers) = (self.reader, self.options.readers());
        let of_each = self.options.of_each(readers);
        let work = Work {
            known: &|input| self.known(&traces, input, &done),
            readers,
            is_new: &|_| true,
            ahead: &|input| Early::read(reader, input, &store, &of_each),
            read: &|input, early| {
                let outcome = self.read(input, early, &store, &self.options)?;
                done(&outcome)?;
                Ok(outcome.manifest.trace_id)
            },
        };
        read_all(inputs, names, self.reader, &work)
    }

    /// Reads an input, or reports that it was read ahead. One that failed is read again, because it
    /// had only a part of the memory.
    fn read(
        &self,
        input: &Input,
        early: Option<Early>,
        store: &Store,
        options: &IngestOptions,
    ) -> Result<Outcome> {
        match early {
            Some(Early { outcome: Ok(outcome), seconds }) => {
                self.reader.was_read(input, &outcome, seconds);
                Ok(outcome)
            }
            Some(Early { outcome: Err(e @ Error::Input(IngestError::Stopped)), .. }) => Err(e),
            _ => self.reader.read(input, store, options),
        }
    }

    /// The traces among which inputs that are elsewhere are looked up, so that they need not be
    /// copied.
    fn known_traces(
        &self,
        inputs: &[Result<Found>],
        traces: impl FnOnce() -> Result<Vec<Manifest>>,
    ) -> Result<Vec<Manifest>> {
        let are_elsewhere = inputs.iter().any(|input| matches!(input, Ok(Found::Elsewhere(_))));
        let may_be_known = are_elsewhere && !self.options.replace && !self.options.strict;
        if may_be_known { traces() } else { Ok(Vec::new()) }
    }

    /// The name of the trace that was read from this version of an input before.
    fn known(
        &self,
        traces: &[Manifest],
        input: &RemoteInput,
        done: impl Fn(&Outcome) -> Result<()>,
    ) -> Result<Option<String>> {
        let is_it = |trace: &&Manifest| {
            input.etag.is_some()
                && trace.input_etag == input.etag
                && trace.path == input.url
                && trace.input_bytes == input.bytes
                && trace.schema_version == SCHEMA_VERSION
                && self.options.accept(trace)
        };
        let Some(trace) = traces.iter().find(is_it) else { return Ok(None) };
        let outcome = Outcome::known(trace.clone());
        self.reader.known(&input.url, &outcome);
        done(&outcome)?;
        Ok(Some(outcome.manifest.trace_id))
    }

    /// Reads traces into a store elsewhere: each is built in a store on this machine first.
    fn publish(
        &self,
        store: &dyn RemoteStore,
        inputs: Vec<Result<Found>>,
        names: &[String],
        done: impl Fn(&Outcome) -> Result<()>,
    ) -> Result<Vec<String>> {
        // A damaged manifest does not prevent that other traces are stored.
        let traces = self.known_traces(&inputs, || Ok(store.readable()?.traces))?;
        let scratch = Scratch::new()?;
        let local = Store::open_or_create(&scratch.path().join("store"))?;
        let replace = self.options.replace || self.options.steps_from.is_some();
        let read = |input: &Input, _: Option<()>| {
            // To hash a file is far cheaper than to build its tables.
            if !self.options.replace
                && !self.options.strict
                && let Some(hash) = trace_hash(input)?
                && let Some(trace) = store.find(&hash)?
                && self.options.accept(&trace)
            {
                let outcome = Outcome::known(trace);
                self.reader.known(&input.name(), &outcome);
                done(&outcome)?;
                return Ok(outcome.manifest.trace_id);
            }
            let mut outcome = self.reader.read(input, &local, &self.options)?;
            let built = &outcome.manifest;
            let folder = local.trace_folder(&built.trace_id);
            let published = store.publish(&folder, built, replace);
            // The room is needed for the next trace, whether or not this one could be stored.
            local.remove(&built.trace_id)?;
            let (kept, was_there) = published?;
            outcome.manifest = kept;
            outcome.was_there = was_there;
            done(&outcome)?;
            Ok(outcome.manifest.trace_id)
        };
        let work = Work {
            known: &|input| self.known(&traces, input, &done),
            readers: 1,
            is_new: &|_| true,
            ahead: &|_| (),
            read: &read,
        };
        read_all(inputs, names, self.reader, &work)
    }

    fn cached(&self, cache: &Cache, names: &[String]) -> Result<Vec<String>> {
        let inputs = inputs(names);
        let traces = self.known_traces(&inputs, || Ok(cache.store().traces()?))?;
        let of_user = &self.options;
        let state = |input: &Input| cache.state(input, of_user);
        let options = Cache::options(of_user);
        let (reader, readers) = (self.reader, options.readers());
        let of_each = options.of_each(readers);
        let work = Work {
            known: &|input| self.known(&traces, input, |_| Ok(())),
            readers,
            is_new: &|input| cache.find(state(input).as_ref()).is_none(),
            ahead: &|input| (state(input), Early::read(reader, input, cache.store(), &of_each)),
            read: &|input, early| {
                let (state, early) = match early {
                    Some((state, early)) => (state, Some(early)),
                    None => {
                        let state = state(input);
                        if let Some(trace_id) = cache.find(state.as_ref()) {
                            return Ok(cache.named(trace_id, input));
                        }
                        (state, None)
                    }
                };
                cache.add(input, state, || self.read(input, early, cache.store(), &options))
            },
        };
        read_all(inputs, names, self.reader, &work)
    }
}
