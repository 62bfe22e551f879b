//! Finds and removes files that no manifest names: those of replaced traces, and those of writers
//! that died.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, SystemTime};

use futures::TryStreamExt;
use object_store::path::Path;
use tracesql::Result;

use crate::io;
use crate::layout::{self, Object};
use crate::listing::{self, Found};
use crate::remove;
use crate::store::ObjectTraces;

/// The files of one publication of a trace that no manifest names.
#[derive(Debug, Clone)]
pub struct Leftover {
    /// The keys of its objects.
    pub keys: Vec<Path>,
    /// The id of the trace, and the generation.
    pub name: String,
    /// The size of its objects in bytes.
    pub bytes: u64,
    /// The time at which its newest object was written.
    pub newest: SystemTime,
}

/// The objects below the prefix of a store, by what they are.
#[derive(Debug, Default)]
pub struct Objects {
    /// The files that no manifest names.
    pub leftovers: Vec<Leftover>,
    /// Objects that tracesql did not write, and their number of bytes.
    pub foreign: Vec<(Path, u64)>,
    /// The manifests.
    pub manifests: Vec<Found>,
}

/// Removes leftovers whose newest object is older than `older_than`, or only finds them if
/// `dry_run` is set. Returns them.
///
/// A trace that is being published looks like a leftover until its manifest is written. So the age
/// must be longer than any upload takes.
pub fn gc(store: &ObjectTraces, older_than: Duration, dry_run: bool) -> Result<Vec<Leftover>> {
    let store = store.clone();
    io::wait(async move {
        let now = SystemTime::now();
        let is_old = |leftover: &Leftover| {
            now.duration_since(leftover.newest).unwrap_or_default() >= older_than
        };
        let mut found = look(&store).await?;
        if let Some(Found::Damaged { key, reason }) =
            found.manifests.iter().find(|m| matches!(m, Found::Damaged { .. }))
        {
            return Err(store
                .place
                .lasting(format!(
                    "the manifest {key} is damaged ({reason}), so it is not known which files it \
                     names; nothing was removed. Delete this object and ingest the trace again"
                ))
                .into());
        }
        found.leftovers.retain(is_old);
        if !dry_run {
            let keys = found.leftovers.iter().flat_map(|leftover| leftover.keys.clone());
            remove::keys(&store.place, keys.collect()).await?;
        }
        Ok(found.leftovers)
    })
}

/// Lists all objects of a store. The manifests are read after the files, so that a trace that is
/// published meanwhile is not taken for a leftover.
pub async fn look(store: &ObjectTraces) -> Result<Objects> {
    let place = &store.place;
    let prefix = (!place.key.as_ref().is_empty()).then_some(&place.key);
    let mut listed = place.objects.list(prefix);
    let (mut found, mut generations) = (Objects::default(), BTreeMap::<_, Leftover>::new());
    while let Some(meta) = listed.try_next().await.map_err(|e| place.failure(&e))? {
        match layout::kind(&place.key, &meta.location) {
            Object::Marker | Object::Manifest(_) => {}
            Object::Foreign => found.foreign.push((meta.location, meta.size)),
            Object::Table { trace_id, generation } => {
                let written = SystemTime::from(meta.last_modified);
                let name = format!("{trace_id}/{generation}");
                let all = generations.entry((trace_id, generation)).or_insert_with(|| Leftover {
                    keys: Vec::new(),
                    name,
                    bytes: 0,
                    newest: written,
                });
                all.keys.push(meta.location);
                all.bytes += meta.size;
                all.newest = all.newest.max(written);
            }
        }
    }
    found.manifests = listing::manifests(place, &store.cache).await?;
    let named: HashSet<(&str, &str)> = found
        .manifests
        .iter()
        .filter_map(|found| match found {
            Found::Sound(entry) => {
                let record = &entry.record;
                Some((record.manifest.trace_id.as_str(), record.generation.as_str()))
            }
            Found::Damaged { .. } => None,
        })
        .collect();
    generations.retain(|(trace_id, generation), _| !named.contains(&(trace_id, generation)));
    found.leftovers = generations.into_values().collect();
    Ok(found)
}
