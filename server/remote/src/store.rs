//! A store on object storage.

use std::collections::HashSet;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::{Duration, Instant};

use object_store::ObjectStore;
use object_store::path::Path;
use parking_lot::Mutex;
use tracesql::store::{Readable, RemoteStore};
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
use crate::record::Entry;
use crate::remove;
use crate::upload::Limits;
use crate::view::View;

/// How long a list of the traces is used again. A command asks several times for it.
const FRESH: Duration = Duration::from_secs(1);

/// The manifests of a store.
#[derive(Debug)]
pub struct Manifests {
    /// Those that can be read, in the order of the ids of their traces.
    pub sound: Vec<Arc<Entry>>,
    /// The keys of the others, and why they cannot be read.
    pub damaged: Vec<(Path, String)>,
}

/// The manifests at an instant.
type Listed = (Instant, Arc<Manifests>);

/// A store on object storage.
#[derive(Debug, Clone)]
pub struct ObjectTraces {
    pub(crate) place: Place,
    pub(crate) cache: Cache,
    /// How traces are published.
    pub(crate) limits: Limits,
    view: Arc<View>,
    url: Url,
    listed: Arc<Mutex<Option<Listed>>>,
    /// The hashes of inputs that had no manifest when this process looked.
    absent: Arc<Mutex<HashSet<String>>>,
}

impl ObjectTraces {
    /// The store at a place that has a marker.
    pub(crate) fn at(place: Place) -> Result<Self> {
        let identity = identity(&place);
        let cache = if place.folder.is_some() { Cache::none() } else { Cache::of(&identity) };
        let hash = blake3::hash(identity.as_bytes()).to_hex();
        let url = Url::parse(&format!("tracesql-store://{}/", &hash[..32]))
            .map_err(|e| place.lasting(e.to_string()))?;
        let view = Arc::new(View::new(place.clone()));
        let (listed, absent, limits) = (Arc::default(), Arc::default(), Limits::default());
        Ok(Self { place, cache, limits, view, url, listed, absent })
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
        let limits = Limits { room: 0, ..self.limits };
        Self { limits, ..self }
    }

    /// The same store with other limits.
    #[cfg(test)]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same store without a cache on this disk.
    #[cfg(test)]
    pub fn without_cache(self) -> Self {
        Self { cache: Cache::none(), ..self }
    }

    /// The manifests of all traces.
    pub(crate) fn manifests(&self) -> Result<Arc<Manifests>> {
        if let Some((read, manifests)) = &*self.listed.lock()
            && read.elapsed() < FRESH
        {
            return Ok(manifests.clone());
        }
        let (place, cache) = (self.place.clone(), self.cache.clone());
        let found = io::wait(async move { listing::manifests(&place, &cache).await })?;
        let (mut sound, mut damaged) = (Vec::with_capacity(found.len()), Vec::new());
        for found in found {
            match found {
                Found::Sound(entry) => sound.push(entry),
                Found::Damaged { key, reason } => damaged.push((key, reason)),
            }
        }
        sound.sort_by(|a, b| a.record.manifest.trace_id.cmp(&b.record.manifest.trace_id));
        self.view.learn(&sound);
        let manifests = Arc::new(Manifests { sound, damaged });
        *self.listed.lock() = Some((Instant::now(), manifests.clone()));
        Ok(manifests)
    }

    /// The error about the first damaged manifest.
    fn damage(&self, manifests: &Manifests) -> Option<Error> {
        manifests.damaged.first().map(|(key, reason)| self.damaged(key, reason))
    }

    /// Whether this process looked for an input and found no manifest.
    pub(crate) fn was_absent(&self, content_hash: &str) -> bool {
        self.absent.lock().contains(content_hash)
    }

    fn forget(&self) {
        *self.listed.lock() = None;
    }

    fn damaged(&self, key: &Path, reason: &str) -> Error {
        let (name, hash) = (&self.place.name, key.filename().unwrap_or_default());
        self.place
            .lasting(format!(
                "the manifest {key} is damaged ({reason}); ingest its trace again with --replace, \
                 or remove it: `tracesql-full remove {name} {hash}`. `tracesql-full doctor {name}` \
                 looks at the whole store"
            ))
            .into()
    }

    /// The entry of a trace.
    pub(crate) fn entry(&self, trace_id: &str) -> Result<Arc<Entry>> {
        let manifests = self.manifests()?;
        let mut sound = manifests.sound.iter();
        if let Some(entry) = sound.find(|e| e.record.manifest.trace_id == trace_id) {
            return Ok(entry.clone());
        }
        if let Some(damage) = self.damage(&manifests) {
            return Err(damage);
        }
        let names: Vec<&str> =
            manifests.sound.iter().map(|e| e.record.manifest.trace_id.as_str()).collect();
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
        let Readable { traces, damage } = self.readable()?;
        damage.map_or(Ok(traces), Err)
    }

    fn readable(&self) -> Result<Readable> {
        let manifests = self.manifests()?;
        let traces = manifests.sound.iter().map(|entry| entry.record.manifest.clone()).collect();
        Ok(Readable { traces, damage: self.damage(&manifests) })
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
            None => {
                self.absent.lock().insert(content_hash.to_owned());
                Ok(None)
            }
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
        let manifests = self.manifests()?;
        let is_it = |key: &Path| key.filename() == Some(trace_id);
        let damaged = manifests.damaged.iter().find(|(key, _)| is_it(key));
        let store = self.clone();
        let done = if let Some((key, _)) = damaged.cloned() {
            io::wait(async move { remove::keys(&store.place, vec![key]).await })
        } else {
            let by_hash = manifests.sound.iter().find(|entry| is_it(&entry.key)).cloned();
            let entry = by_hash.map_or_else(|| self.entry(trace_id), Ok)?;
            io::wait(async move { remove::remove(&store, &entry).await })
        };
        self.forget();
        done
    }

    fn examine(&self) -> Result<Examined> {
        let store = self.clone();
        io::wait(async move { examine::examine(&store).await })
    }
}
