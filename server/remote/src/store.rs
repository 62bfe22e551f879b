//! A store on object storage.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::{Duration, Instant};

use object_store::ObjectStore;
use parking_lot::Mutex;
use tracesql::store::RemoteStore;
use tracesql::{Error, Result};
use tracesql_ingest::{Examined, IngestError, Manifest};
use url::Url;

use crate::cache::Cache;
use crate::examine;
use crate::io;
use crate::layout;
use crate::listing::{self, Found};
use crate::marker;
use crate::place::Place;
use crate::publish;
use crate::record::{Entry, INLINE_BELOW};
use crate::remove;
use crate::view::View;

/// How long a list of the traces is used again. A command asks several times for it.
const FRESH: Duration = Duration::from_secs(1);

/// The traces of a store at an instant.
type Listed = (Instant, Arc<Vec<Arc<Entry>>>);

/// A store on object storage.
#[derive(Debug, Clone)]
pub struct ObjectTraces {
    pub(crate) place: Place,
    pub(crate) cache: Cache,
    /// Tables with smaller files are published in the manifest object.
    pub(crate) inline_below: u64,
    view: Arc<View>,
    url: Url,
    listed: Arc<Mutex<Option<Listed>>>,
}

impl ObjectTraces {
    /// The store at a place that has a marker.
    pub(crate) fn at(place: Place) -> Result<Self> {
        let identity = identity(&place);
        let cache = if place.is_local { Cache::none() } else { Cache::of(&identity) };
        let hash = blake3::hash(identity.as_bytes()).to_hex();
        let url = Url::parse(&format!("tracesql-store://{}/", &hash[..32]))
            .map_err(|e| place.lasting(e.to_string()))?;
        let view = Arc::new(View::new(place.clone()));
        let listed = Arc::default();
        Ok(Self { place, cache, inline_below: INLINE_BELOW, view, url, listed })
    }

    /// Opens the store with a URL. With `create` it is made if it does not exist.
    pub fn open(name: &str, create: bool) -> Result<Self> {
        let place = Place::open(name, create)?;
        let found = place.clone();
        io::wait(async move {
            match marker::is_there(&found).await? {
                true => Ok(()),
                false if create => marker::create(&found).await,
                false => Err(marker::absent(&found).await),
            }
        })?;
        Self::at(place)
    }

    /// The same store, which from now on publishes each table as an object of its own.
    pub fn separate(self) -> Self {
        Self { inline_below: 0, ..self }
    }

    /// The manifests of all traces, in the order of their ids. Fails if one is damaged.
    pub(crate) fn entries(&self) -> Result<Arc<Vec<Arc<Entry>>>> {
        if let Some((read, entries)) = &*self.listed.lock()
            && read.elapsed() < FRESH
        {
            return Ok(entries.clone());
        }
        let (place, cache) = (self.place.clone(), self.cache.clone());
        let found = io::wait(async move { listing::manifests(&place, &cache).await })?;
        let mut entries = Vec::with_capacity(found.len());
        for found in found {
            match found {
                Found::Sound(entry) => entries.push(entry),
                Found::Damaged { key, reason } => return Err(self.damaged(&key, &reason)),
            }
        }
        entries.sort_by(|a, b| a.record.manifest.trace_id.cmp(&b.record.manifest.trace_id));
        self.view.learn(&entries);
        let entries = Arc::new(entries);
        *self.listed.lock() = Some((Instant::now(), entries.clone()));
        Ok(entries)
    }

    fn forget(&self) {
        *self.listed.lock() = None;
    }

    fn damaged(&self, key: &object_store::path::Path, reason: &str) -> Error {
        self.place
            .lasting(format!(
                "the manifest {key} is damaged ({reason}); delete this object and ingest the trace \
                 again, or look at the whole store: `tracesql-full doctor {}`",
                self.place.name
            ))
            .into()
    }

    /// The entry of a trace.
    pub(crate) fn entry(&self, trace_id: &str) -> Result<Arc<Entry>> {
        let entries = self.entries()?;
        if let Some(entry) = entries.iter().find(|e| e.record.manifest.trace_id == trace_id) {
            return Ok(entry.clone());
        }
        let names: Vec<&str> =
            entries.iter().map(|e| e.record.manifest.trace_id.as_str()).collect();
        let reason = format!("holds no trace {trace_id:?}; it holds: {}", names.join(", "));
        Err(IngestError::Store { path: (&self.place.name).into(), reason }.into())
    }

    /// Reads the manifest of the input with this hash.
    pub(crate) async fn load(&self, content_hash: &str) -> Result<Option<Found>> {
        let key = layout::manifest(&self.place.key, content_hash);
        listing::fetch(self.place.clone(), key, self.cache.clone()).await
    }
}

/// What tells this store from all others: its URL and the server.
fn identity(place: &Place) -> String {
    let server: Vec<String> = ["AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"]
        .iter()
        .chain(&["AZURE_STORAGE_ENDPOINT", "AZURE_STORAGE_ACCOUNT_NAME"])
        .filter_map(|name| std::env::var(name).ok())
        .collect();
    format!("{} {}", place.name, server.join(" "))
}

impl RemoteStore for ObjectTraces {
    fn name(&self) -> &str {
        &self.place.name
    }

    fn traces(&self) -> Result<Vec<Manifest>> {
        Ok(self.entries()?.iter().map(|entry| entry.record.manifest.clone()).collect())
    }

    fn files(&self, trace_id: &str) -> Result<Url> {
        let entry = self.entry(trace_id)?;
        let folder = format!("{trace_id}/{}/", entry.record.generation);
        self.url.join(&folder).map_err(|e| self.place.lasting(e.to_string()).into())
    }

    fn objects(&self) -> (Url, Arc<dyn ObjectStore>) {
        (self.url.clone(), self.view.clone())
    }

    fn find(&self, content_hash: &str) -> Result<Option<Manifest>> {
        let (store, hash) = (self.clone(), content_hash.to_owned());
        let found = io::wait(async move { store.load(&hash).await })?;
        match found {
            None => Ok(None),
            Some(Found::Damaged { key, reason }) => Err(self.damaged(&key, &reason)),
            Some(Found::Sound(entry)) => {
                // Its files can be read then, without a list of all traces.
                self.view.learn(std::slice::from_ref(&entry));
                let manifest = &entry.record.manifest;
                Ok(publish::is_current(manifest).then(|| manifest.clone()))
            }
        }
    }

    fn publish(
        &self,
        folder: &FilePath,
        manifest: &Manifest,
        replace: bool,
    ) -> Result<(Manifest, bool)> {
        let (store, folder, manifest) = (self.clone(), folder.to_owned(), manifest.clone());
        let done =
            io::wait(async move { publish::publish(&store, &folder, &manifest, replace).await });
        self.forget();
        done
    }

    fn remove(&self, trace_id: &str) -> Result<()> {
        let (store, entry) = (self.clone(), self.entry(trace_id)?);
        let done = io::wait(async move { remove::remove(&store, &entry).await });
        self.forget();
        done
    }

    fn examine(&self) -> Result<Examined> {
        let store = self.clone();
        io::wait(async move { examine::examine(&store).await })
    }
}
