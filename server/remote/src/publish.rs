//! Publishes a trace: its large tables first, and the manifest last, so that a reader never sees
//! an incomplete trace, and so that of several writers of the same bytes exactly one wins.

use std::path::Path as FilePath;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    Error as StoreError, ObjectStoreExt, PutMode, PutPayload, UpdateVersion, WriteMultipart,
};
use tokio::io::AsyncReadExt;
use tracesql::{Error, Result};
use tracesql_ingest::schema::SCHEMA_VERSION;
use tracesql_ingest::{IngestError, Manifest};

use crate::layout;
use crate::listing::Found;
use crate::place::Place;
use crate::record::{Entry, Record, inline_tables};
use crate::remove;
use crate::store::ObjectTraces;

/// Larger files are uploaded in parts.
const ONE_PUT: u64 = 64 << 20;
/// The size of a part.
const PART: usize = 16 << 20;
/// The number of parts that are uploaded at once.
const PARTS_AT_ONCE: usize = 4;
/// The number of small files that are uploaded at once.
const FILES_AT_ONCE: usize = 4;
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
    let existing = existing(store, manifest, replace).await?;
    if let Some(theirs) = kept(&existing, replace) {
        return Ok((theirs, true));
    }
    let record = Record {
        manifest: manifest.clone(),
        generation: layout::new_generation(),
        inline: inline_tables(manifest, store.inline_below),
    };
    let payload = manifest_object(folder, &record).await?;
    let keys = put_files(&store.place, folder, &record).await;
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
            let version = UpdateVersion { e_tag: entry.etag.clone(), version: None };
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
            Existing::Damaged(UpdateVersion { e_tag: meta.e_tag, version: None })
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
            Err(e) => return Err(place.failure(&e).into()),
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
        let file = tokio::fs::read(&path).await.map_err(|e| IngestError::io(&path, e))?;
        let written = record.manifest.tables.get(table).map(|facts| facts.bytes);
        if written != Some(file.len() as u64) {
            return Err(wrong(&format!("{} was changed while it was published", path.display())));
        }
        bytes.extend_from_slice(&file);
    }
    Ok(PutPayload::from(bytes))
}

/// Uploads the tables that are objects of their own.
async fn put_files(place: &Place, folder: &FilePath, record: &Record) -> Result<Vec<Path>> {
    let names: Vec<&String> =
        record.manifest.tables.keys().filter(|name| !record.inline.contains(name)).collect();
    let uploads = names.into_iter().map(|name| {
        let key = layout::table(&place.key, &record.manifest.trace_id, &record.generation, name);
        let path = folder.join(format!("{name}.parquet"));
        async move { put_file(place, &path, key).await }
    });
    stream::iter(uploads.collect::<Vec<_>>()).buffer_unordered(FILES_AT_ONCE).try_collect().await
}

async fn put_file(place: &Place, path: &FilePath, key: Path) -> Result<Path> {
    let io = |e| Error::from(IngestError::io(path, e));
    let failure = |e| Error::from(place.failure(&e));
    let mut file = tokio::fs::File::open(path).await.map_err(io)?;
    let bytes = file.metadata().await.map_err(io)?.len();
    if bytes <= ONE_PUT {
        let mut content = Vec::with_capacity(bytes as usize);
        file.read_to_end(&mut content).await.map_err(io)?;
        place.objects.put(&key, PutPayload::from(content)).await.map_err(failure)?;
        return Ok(key);
    }
    let upload = place.objects.put_multipart(&key).await.map_err(failure)?;
    let mut parts = WriteMultipart::new_with_chunk_size(upload, PART);
    let outcome = put_parts(&mut parts, &mut file).await;
    match outcome {
        Ok(()) => {
            parts.finish().await.map_err(failure)?;
            Ok(key)
        }
        Err(e) => {
            parts.abort().await.ok();
            Err(match e {
                Part::File(e) => io(e),
                Part::Upload(e) => failure(e),
            })
        }
    }
}

enum Part {
    File(std::io::Error),
    Upload(StoreError),
}

async fn put_parts(parts: &mut WriteMultipart, file: &mut tokio::fs::File) -> Result<(), Part> {
    loop {
        let mut part = Vec::with_capacity(PART);
        let read = file.take(PART as u64).read_to_end(&mut part).await.map_err(Part::File)?;
        if read == 0 {
            return Ok(());
        }
        parts.wait_for_capacity(PARTS_AT_ONCE).await.map_err(Part::Upload)?;
        parts.put(part.into());
    }
}
