//! Publishes a trace: its large tables first, and the manifest last, so that a reader never sees
//! an incomplete trace, and so that of several writers of the same bytes exactly one wins.

use std::path::Path as FilePath;
use std::time::{Duration, Instant};

use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStoreExt, PutMode, PutPayload, UpdateVersion};
use tracesql::{Error, Result};
use tracesql_ingest::schema::SCHEMA_VERSION;
use tracesql_ingest::{IngestError, Manifest};

use crate::layout;
use crate::listing::Found;
use crate::place::Place;
use crate::record::{Entry, Record, Version, inline_tables};
use crate::remove;
use crate::store::ObjectTraces;
use crate::upload;

/// How often the manifest is written before other writers are too many.
const TRIES: u32 = 20;

/// Whether this version of the program can read the tables of a trace.
pub fn is_current(manifest: &Manifest) -> bool {
    manifest.schema_version == SCHEMA_VERSION
}

/// Publishes the files in a folder as a trace. See `RemoteStore::publish`.
pub async fn publish(
    store: &ObjectTraces,
    folder: &FilePath,
    manifest: &Manifest,
    replace: bool,
) -> Result<(Manifest, bool)> {
    let generation = layout::new_generation();
    let inline = inline_tables(manifest, &generation, store.limits.room);
    let record = Record { manifest: manifest.clone(), generation, inline };
    // A command that looked for the trace before does not look again, unless files would be
    // uploaded in vain, because the manifest is not written over that of another process.
    let is_small = record.inline.len() == manifest.tables.len();
    let existing = match store.was_absent(&manifest.content_hash) && is_small {
        true => Existing::Nothing,
        false => existing(store, manifest, replace).await?,
    };
    if let Some(theirs) = kept(&existing, replace) {
        return Ok((theirs, true));
    }
    let payload = manifest_object(folder, &record).await?;
    let keys = upload::put_files(&store.place, store.limits, folder, &record).await;
    let keys = match keys {
        Ok(keys) => keys,
        Err(e) => {
            remove::keys(&store.place, own_keys(&store.place, &record)).await.ok();
            return Err(e);
        }
    };
    match put_manifest(store, &record, payload, existing, replace).await {
        Ok(Put::Ours) => Ok((record.manifest, false)),
        Ok(Put::Theirs(theirs)) => {
            remove::keys(&store.place, keys).await.ok();
            Ok((theirs, true))
        }
        // The manifest may have been written even though no answer came, so the files stay.
        Err(e) => Err(e),
    }
}

/// The manifest that the store has for these bytes.
#[derive(Debug)]
enum Existing {
    Nothing,
    Usable(Box<Manifest>, UpdateVersion, String),
    Damaged(UpdateVersion),
}

async fn existing(store: &ObjectTraces, manifest: &Manifest, replace: bool) -> Result<Existing> {
    Ok(match store.load(&manifest.content_hash).await? {
        None => Existing::Nothing,
        Some(Found::Sound(entry)) => {
            let version = entry.version.condition();
            let Entry { record, .. } = entry.as_ref();
            Existing::Usable(Box::new(record.manifest.clone()), version, record.generation.clone())
        }
        Some(Found::Damaged { key, reason }) if !replace => {
            return Err(store
                .place
                .lasting(format!(
                    "the manifest {key} of this trace is damaged ({reason}); ingest the trace with \
                     --replace"
                ))
                .into());
        }
        Some(Found::Damaged { key, .. }) => {
            let meta = store.place.objects.head(&key).await;
            let meta = meta.map_err(|e| store.place.failure(&e))?;
            Existing::Damaged(Version::of(&meta).condition())
        }
    })
}

/// The manifest of the trace that stays in the store, if nothing is to be written.
fn kept(existing: &Existing, replace: bool) -> Option<Manifest> {
    match existing {
        Existing::Usable(manifest, ..) if !replace && is_current(manifest) => {
            Some(manifest.as_ref().clone())
        }
        _ => None,
    }
}

enum Put {
    Ours,
    Theirs(Manifest),
}

async fn put_manifest(
    store: &ObjectTraces,
    record: &Record,
    payload: PutPayload,
    mut existing: Existing,
    replace: bool,
) -> Result<Put> {
    let place = &store.place;
    let key = layout::manifest(&place.key, &record.manifest.content_hash);
    let began = Instant::now();
    for attempt in 0..TRIES {
        let mode = match &existing {
            Existing::Nothing => PutMode::Create,
            Existing::Usable(_, version, _) | Existing::Damaged(version) => {
                PutMode::Update(version.clone())
            }
        };
        match place.objects.put_opts(&key, payload.clone(), mode.into()).await {
            Ok(_) => return Ok(Put::Ours),
            // The server knows no conditions. Each of several writers of the same bytes writes a
            // complete trace, so the last one may win.
            Err(StoreError::NotImplemented { .. }) => {
                place.objects.put(&key, payload).await.map_err(|e| place.failure(&e))?;
                return Ok(Put::Ours);
            }
            Err(
                StoreError::AlreadyExists { .. }
                | StoreError::Precondition { .. }
                | StoreError::NotFound { .. },
            ) => {}
            Err(e) => {
                let failure = place.failure(&e);
                // Clients do not repeat requests with conditions. The generation shows whether the
                // manifest was written, so it is safe here.
                if !failure.is_without_answer() || began.elapsed() >= place.retry_time {
                    return Err(failure.into());
                }
            }
        }
        existing = self::existing(store, &record.manifest, replace).await?;
        // A repeated request finds what the first one wrote.
        if matches!(&existing, Existing::Usable(_, _, generation) if *generation == record.generation)
        {
            return Ok(Put::Ours);
        }
        if let Some(theirs) = kept(&existing, replace) {
            return Ok(Put::Theirs(theirs));
        }
        tokio::time::sleep(Duration::from_millis(20 * u64::from(attempt + 1))).await;
    }
    Err(place
        .lasting(format!("other processes replace the manifest {key} all the time; try again"))
        .into())
}

fn own_keys(place: &Place, record: &Record) -> Vec<Path> {
    let Record { manifest, generation, inline, .. } = record;
    let names = manifest.tables.keys().filter(|name| !inline.contains(name));
    names.map(|name| layout::table(&place.key, &manifest.trace_id, generation, name)).collect()
}

/// The JSON line and the small tables.
async fn manifest_object(folder: &FilePath, record: &Record) -> Result<PutPayload> {
    let wrong = |e: &dyn std::fmt::Display| {
        Error::from(IngestError::Store { path: folder.to_owned(), reason: e.to_string() })
    };
    let mut bytes = serde_json::to_vec(record).map_err(|e| wrong(&e))?;
    bytes.push(b'\n');
    for table in &record.inline {
        let path = folder.join(format!("{table}.parquet"));
        if let Some(facts) = record.manifest.tables.get(table) {
            bytes.extend_from_slice(&upload::whole_file(&path, facts).await?);
        }
    }
    Ok(PutPayload::from(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Fault, Trial};

    #[tokio::test]
    async fn a_trace_is_replaced_on_servers_that_count_versions() {
        let trial = Trial::new(|_| Fault::None);
        let store = trial.store();
        trial.publish(&store, 1, false).await.expect("published");
        let (_, was_there) = trial.publish(&store, 1, true).await.expect("replaced");
        assert!(!was_there);
        // A damaged manifest is replaced too.
        let key = layout::manifest(&store.place.key, &trial.hash(1));
        trial.put(&key, b"{").await;
        trial.publish(&store, 1, true).await.expect("replaced");
        assert_eq!(trial.keys().await.len(), 1);
    }

    #[tokio::test]
    async fn a_manifest_is_written_again_if_no_answer_comes() {
        for fault in [Fault::LoseRequest, Fault::LoseAnswer] {
            for replace in [false, true] {
                let trial = Trial::new(move |request| {
                    let is_it = request.op == "put" && request.key.contains("manifests/");
                    let first = if replace { 2 } else { 1 };
                    if is_it && request.number == first { fault } else { Fault::None }
                });
                let store = trial.patient_store();
                if replace {
                    trial.publish(&store, 1, false).await.expect("published");
                }
                let done = trial.publish(&store, 1, replace).await.expect("published");
                assert!(!done.1, "it is ours");
            }
        }
        let trial = Trial::new(|request| match request.op == "put" {
            true => Fault::LoseRequest,
            false => Fault::None,
        });
        let error = trial.publish(&trial.store(), 1, false).await.expect_err("no answer");
        assert!(error.to_string().contains("did not answer in time"), "{error}");
    }

    #[tokio::test]
    async fn a_server_without_conditions_is_named_with_its_setting() {
        let trial = Trial::new(|request| match request.op == "put" {
            true => Fault::Refuse("501 Not Implemented", "NotImplemented"),
            false => Fault::None,
        });
        let error = trial.publish(&trial.store(), 1, false).await.expect_err("refused");
        assert!(error.to_string().contains("AWS_CONDITIONAL_PUT=disabled"), "{error}");
        assert!(matches!(error, Error::Refused(_)), "other traces would be refused too");
    }
}
