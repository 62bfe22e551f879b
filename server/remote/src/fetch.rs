//! Copies the files of a trace from object storage into a folder.

use std::path::Path as FilePath;

use futures::StreamExt;
use object_store::GetOptions;
use tokio::io::AsyncWriteExt;
use tracesql::{Error, Result};
use tracesql_ingest::{IngestError, Manifest};

use crate::io;
use crate::record::Entry;
use crate::store::ObjectTraces;
use crate::verified::Bytes;

/// Copies the files of a trace into a folder, which then looks like the folder of a trace in a
/// store on this machine. Returns the manifest of the trace. Fails if a file is missing, or is not
/// the one that the manifest describes.
pub fn copy_to_folder(store: &ObjectTraces, trace_id: &str, folder: &FilePath) -> Result<Manifest> {
    let (entry, store, folder) = (store.entry(trace_id)?, store.clone(), folder.to_owned());
    io::wait(async move {
        let manifest = &entry.record.manifest;
        for (table, facts) in &manifest.tables {
            let read = match copy_table(&store, &entry, table, &folder).await? {
                Copied::Whole(read) => read,
                Copied::Gone(reason) => return Err(gone(&store, &entry, table, &reason)),
            };
            read.check(facts, &object(&store, &entry, table), &store.place.name)?;
        }
        manifest.write(&folder)?;
        Ok(manifest.clone())
    })
}

fn gone(store: &ObjectTraces, entry: &Entry, table: &str, reason: &str) -> Error {
    let object = object(store, entry, table);
    let name = &store.place.name;
    store
        .place
        .lasting(format!(
            "{object} {reason}; the trace was not copied. If it was just removed or replaced, run \
             the command again; otherwise look at its store: `tracesql-full doctor {name}`"
        ))
        .into()
}

/// The object with a table, for errors.
fn object(store: &ObjectTraces, entry: &Entry, table: &str) -> String {
    match entry.file(&store.place.key, table) {
        Some(file) if file.key == entry.key => format!("{} ({table}.parquet)", file.key),
        Some(file) => file.key.to_string(),
        None => format!("{table}.parquet"),
    }
}

/// What became of a copy.
#[derive(Debug)]
pub enum Copied {
    /// All bytes of the object were copied, whatever they are.
    Whole(Bytes),
    /// The object is missing, cut or exchanged, for the reason given.
    Gone(String),
}

/// Copies the file of one table, whatever it contains. Fails if the server cannot be read.
pub async fn copy_table(
    store: &ObjectTraces,
    entry: &Entry,
    table: &str,
    folder: &FilePath,
) -> Result<Copied> {
    let place = &store.place;
    let mut read = Bytes::default();
    let Some(file) = entry.file(&place.key, table) else {
        return Ok(Copied::Gone("is not described by the manifest".to_owned()));
    };
    let path = folder.join(format!("{table}.parquet"));
    let io = |e| Error::from(IngestError::io(&path, e));
    let is_inline = file.key == entry.key;
    if is_inline && let Some(bytes) = entry.in_head(&file.range) {
        tokio::fs::write(&path, &bytes).await.map_err(io)?;
        read.add(&bytes);
        return Ok(Copied::Whole(read));
    }
    let options = match is_inline {
        true => GetOptions::new().with_range(Some(file.range)).with_if_match(file.etag),
        false => GetOptions::new(),
    };
    let got = match place.objects.get_opts(&file.key, options).await {
        Ok(got) => got,
        Err(object_store::Error::Precondition { .. }) => {
            return Ok(Copied::Gone("was exchanged".to_owned()));
        }
        Err(e) => {
            let failure = place.failure(&e);
            return match failure {
                _ if failure.is_missing_object() => Ok(Copied::Gone("is missing".to_owned())),
                _ if failure.is_out_of_range() => Ok(Copied::Gone("is cut".to_owned())),
                _ => Err(failure.into()),
            };
        }
    };
    let mut content = got.into_stream();
    let mut target = tokio::fs::File::create(&path).await.map_err(io)?;
    while let Some(bytes) = content.next().await {
        let bytes = bytes.map_err(|e| place.failure(&e))?;
        target.write_all(&bytes).await.map_err(io)?;
        read.add(&bytes);
    }
    target.flush().await.map_err(io)?;
    Ok(Copied::Whole(read))
}

#[cfg(test)]
mod tests {
    use object_store::path::Path;

    use super::*;
    use crate::trial::{Fault, Trial};

    #[tokio::test]
    async fn damaged_objects_are_not_copied() {
        for (bytes, wanted) in [
            (vec![1; 2_000], "2000 bytes, but 2500"),
            (vec![2; 2_500], "are not those that were written"),
        ] {
            let trial = Trial::new(|_| Fault::None);
            let store = trial.store().separate();
            trial.publish(&store, 1, false).await.expect("published");
            let keys = trial.keys().await;
            let events = keys.iter().find(|key| key.ends_with("events.parquet")).expect("events");
            trial.put(&Path::from(events.as_str()), &bytes).await;
            let folder = tempfile::tempdir().expect("a folder");
            let to = folder.path().to_owned();
            let copied =
                tokio::task::spawn_blocking(move || copy_to_folder(&store, "rank1-01", &to)).await;
            let error = copied.expect("no panic").expect_err("damaged").to_string();
            assert!(error.contains(wanted) && error.contains(events), "{error}");
            assert!(error.contains("tracesql-full doctor s3://trial/run"), "{error}");
        }
    }
}
