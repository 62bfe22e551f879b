//! Finds and removes files that no manifest names: those of replaced traces, and those of writers
//! that died.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use futures::TryStreamExt;
use object_store::path::Path;
use tracesql::Result;

use crate::io;
use crate::layout::{self, Object};
use crate::listing::{self, Found};
use crate::remove;
use crate::staged;
use crate::store::ObjectTraces;

/// The files of one publication of a trace that no manifest names.
#[derive(Debug, Clone)]
pub struct Leftover {
    /// The keys of its objects.
    pub keys: Vec<Path>,
    /// Unfinished files in a folder on this machine, which have no keys.
    pub staged: Vec<PathBuf>,
    /// The id of the trace, and the generation.
    pub name: String,
    /// The size of its objects in bytes.
    pub bytes: u64,
    /// The time since which no manifest names it: that of its newest object, or of the present
    /// manifest of the trace if that is later.
    pub since: SystemTime,
}

impl Leftover {
    /// The number of its files.
    pub fn files(&self) -> usize {
        self.keys.len() + self.staged.len()
    }
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

/// Removes files that no manifest has named for the time `older_than`, or only finds them if
/// `dry_run` is set. Returns them.
///
/// A trace that is being published looks like a leftover until its manifest is written. So the age
/// must be longer than any upload takes.
pub fn gc(store: &ObjectTraces, older_than: Duration, dry_run: bool) -> Result<Vec<Leftover>> {
    let store = store.clone();
    io::wait(async move {
        let now = SystemTime::now();
        let is_old = |leftover: &Leftover| {
            now.duration_since(leftover.since).unwrap_or_default() >= older_than
        };
        let mut found = look(&store).await?;
        if let Some(Found::Damaged { key, reason }) =
            found.manifests.iter().find(|m| matches!(m, Found::Damaged { .. }))
        {
            return Err(store
                .place
                .lasting(format!(
                    "the manifest {key} is damaged ({reason}), so it is not known which files it \
                     names; nothing was removed. Ingest its trace again with --replace, or \
                     remove it: `tracesql-full remove {} {}`",
                    store.place.name,
                    key.filename().unwrap_or_default()
                ))
                .into());
        }
        found.leftovers.retain(is_old);
        if !dry_run {
            let keys = found.leftovers.iter().flat_map(|leftover| leftover.keys.clone());
            remove::keys(&store.place, keys.collect()).await?;
            staged::remove(&found.leftovers)?;
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
                    staged: Vec::new(),
                    name,
                    bytes: 0,
                    since: written,
                });
                all.keys.push(meta.location);
                all.bytes += meta.size;
                all.since = all.since.max(written);
            }
        }
    }
    found.manifests = listing::manifests(place, &store.cache).await?;
    for found in &found.manifests {
        let Found::Sound(entry) = found else { continue };
        let record = &entry.record;
        let trace_id = &record.manifest.trace_id;
        generations.remove(&(trace_id.clone(), record.generation.clone()));
        // The files of a replaced trace were named until then.
        for ((_, _), leftover) in generations.iter_mut().filter(|((id, _), _)| id == trace_id) {
            leftover.since = leftover.since.max(entry.version.written);
        }
    }
    found.leftovers = generations.into_values().collect();
    if let Some(folder) = &place.folder {
        found.leftovers.extend(staged::find(folder));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::trial::{Fault, Trial};

    const HOUR: Duration = Duration::from_secs(3600);

    /// Makes all files of a folder old.
    fn age(folder: &std::path::Path) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                age(&path);
            } else {
                let file = File::options().write(true).open(&path).expect("a file");
                file.set_modified(SystemTime::now() - 2 * HOUR).expect("a time");
            }
        }
    }

    #[test]
    fn files_of_a_replaced_trace_are_old_only_some_time_after_that() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("file://{}", folder.path().display());
        let store = ObjectTraces::open(&url, true).expect("a store").separate();
        let trial = Trial::new(|_| Fault::None);
        let publish = |replace: bool| {
            let (trial, store) = (trial.clone(), store.clone());
            io::wait(async move { trial.publish(&store, 1, replace).await }).expect("published")
        };
        publish(false);
        age(folder.path());
        publish(true);
        assert_eq!(gc(&store, HOUR, false).expect("gc").len(), 0, "they may still be read");
        age(folder.path());
        let removed = gc(&store, HOUR, false).expect("gc");
        assert_eq!(removed.iter().map(Leftover::files).sum::<usize>(), 2, "{removed:?}");
        assert_eq!(gc(&store, Duration::ZERO, true).expect("gc").len(), 0);
    }

    #[test]
    fn unfinished_files_of_dead_writers_in_a_folder_are_found_and_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("file://{}", folder.path().display());
        let store = ObjectTraces::open(&url, true).expect("a store").separate();
        let trial = Trial::new(|_| Fault::None);
        let (published, to) = (trial.clone(), store.clone());
        io::wait(async move { published.publish(&to, 1, false).await }).expect("published");
        let generation = layout::new_generation();
        let unfinished = [
            format!("rank1-01/{generation}/events.parquet#1"),
            format!("manifests/{}#12", trial.hash(2)),
            "tracesql-store.json#3".to_owned(),
        ];
        for name in unfinished.iter().map(String::as_str).chain(["notes.txt#1", "a/b/c#1"]) {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, "part").expect("a file");
        }
        assert_eq!(gc(&store, HOUR, false).expect("gc").len(), 0, "their writers may be alive");
        age(folder.path());
        let removed = gc(&store, HOUR, false).expect("gc");
        let names: Vec<&str> = removed.iter().map(|leftover| leftover.name.as_str()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        for name in &unfinished {
            assert!(names.contains(&name.as_str()) && !folder.path().join(name).exists(), "{name}");
        }
        assert!(folder.path().join("notes.txt#1").exists(), "tracesql did not write it");
        assert_eq!(store.manifests().expect("a list").sound.len(), 1);
    }
}
