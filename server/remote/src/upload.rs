//! Uploads the files of tables that are objects of their own, large ones in parts.

use std::path::Path as FilePath;

use futures::stream::FuturesUnordered;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error as StoreError, MultipartUpload, ObjectStoreExt, PutPayload};
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tracesql::{Error, Result};
use tracesql_ingest::{IngestError, TableFacts};

use crate::layout;
use crate::place::Place;
use crate::record::{HEAD, Record};
use crate::verified::{self, Bytes};

/// The number of files that are uploaded at once.
const FILES_AT_ONCE: usize = 4;

/// How the files of a trace are divided among objects and requests.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The first bytes of a manifest object, which small tables share with its line. With 0 each
    /// table is an object of its own.
    pub room: u64,
    /// Larger files are uploaded in parts.
    pub one_put: u64,
    /// The size of a part in bytes.
    pub part: usize,
    /// The number of parts of a file that are uploaded at once.
    pub parts_at_once: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { room: HEAD, one_put: 64 << 20, part: 16 << 20, parts_at_once: 4 }
    }
}

/// Uploads the tables that are objects of their own.
pub async fn put_files(
    place: &Place,
    limits: Limits,
    folder: &FilePath,
    record: &Record,
) -> Result<Vec<Path>> {
    let Record { manifest, generation, inline } = record;
    let own = manifest.tables.iter().filter(|(name, _)| !inline.contains(name));
    let uploads = own.map(|(name, facts)| {
        let key = layout::table(&place.key, &manifest.trace_id, generation, name);
        let path = folder.join(format!("{name}.parquet"));
        async move { put_file(place, limits, &path, facts, key).await }
    });
    stream::iter(uploads.collect::<Vec<_>>()).buffer_unordered(FILES_AT_ONCE).try_collect().await
}

/// Uploads one file. Fails if its bytes are not those that the manifest describes.
async fn put_file(
    place: &Place,
    limits: Limits,
    path: &FilePath,
    facts: &TableFacts,
    key: Path,
) -> Result<Path> {
    let failure = |e| Error::from(place.failure(&e));
    let mut file = Source::open(path).await?;
    if facts.bytes <= limits.one_put {
        // One more byte shows a file that is longer than it should be.
        let content = file.part(facts.bytes.saturating_add(1)).await?;
        file.check(facts)?;
        place.objects.put(&key, PutPayload::from(content)).await.map_err(failure)?;
        return Ok(key);
    }
    let mut upload = place.objects.put_multipart(&key).await.map_err(failure)?;
    let done = match put_parts(upload.as_mut(), limits, &mut file).await {
        Ok(()) => match file.check(facts) {
            Ok(()) => upload.complete().await.map(|_| ()).map_err(failure),
            Err(e) => Err(e),
        },
        Err(Part::Upload(e)) => Err(failure(e)),
        Err(Part::File(e)) => Err(e),
    };
    if done.is_err() {
        // The parts of an unfinished upload take room and are in no list.
        upload.abort().await.ok();
    }
    done.map(|()| key)
}

enum Part {
    File(Error),
    Upload(StoreError),
}

/// Uploads all parts of a file and waits for them.
async fn put_parts(
    upload: &mut dyn MultipartUpload,
    limits: Limits,
    file: &mut Source<'_>,
) -> Result<(), Part> {
    let mut on_their_way = FuturesUnordered::new();
    loop {
        let part = file.part(limits.part as u64).await.map_err(Part::File)?;
        if part.is_empty() {
            break;
        }
        on_their_way.push(upload.put_part(part.into()));
        if on_their_way.len() >= limits.parts_at_once {
            on_their_way.next().await.transpose().map_err(Part::Upload)?;
        }
    }
    while on_their_way.next().await.transpose().map_err(Part::Upload)?.is_some() {}
    Ok(())
}

/// A file that is read from its beginning to its end.
struct Source<'a> {
    path: &'a FilePath,
    file: File,
    read: Bytes,
}

impl<'a> Source<'a> {
    async fn open(path: &'a FilePath) -> Result<Self> {
        let file = File::open(path).await.map_err(|e| IngestError::io(path, e))?;
        Ok(Self { path, file, read: Bytes::default() })
    }

    /// The next bytes; fewer than `limit` only at the end.
    async fn part(&mut self, limit: u64) -> Result<Vec<u8>> {
        let mut part = Vec::new();
        let read = (&mut self.file).take(limit).read_to_end(&mut part).await;
        read.map_err(|e| IngestError::io(self.path, e))?;
        self.read.add(&part);
        Ok(part)
    }

    /// Fails if the bytes so far are not those that the manifest describes.
    fn check(&self, facts: &TableFacts) -> Result<()> {
        let store = verified::store_of(self.path.parent().unwrap_or(self.path));
        Ok(self.read.check(facts, &self.path.display().to_string(), &store)?)
    }
}

/// The bytes of a table that becomes a part of the manifest object.
pub async fn whole_file(path: &FilePath, facts: &TableFacts) -> Result<Vec<u8>> {
    let mut file = Source::open(path).await?;
    let content = file.part(facts.bytes.saturating_add(1)).await?;
    file.check(facts)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Fault, Request, Trial};

    const SMALL: Limits = Limits { room: 0, one_put: 1000, part: 300, parts_at_once: 2 };

    #[tokio::test]
    async fn large_files_are_uploaded_in_parts() {
        let trial = Trial::new(|_| Fault::None);
        let store = trial.store().with_limits(SMALL);
        trial.publish(&store, 1, false).await.expect("published");
        // The events have 2,500 bytes, which are 8 parts and a rest.
        assert_eq!((trial.requests("part"), trial.requests("complete")), (9, 1));
        assert_eq!(trial.requests("abort"), 0);
        let folder = tempfile::tempdir().expect("a folder");
        let to = folder.path().to_owned();
        tokio::task::spawn_blocking(move || crate::copy_to_folder(&store, "rank1-01", &to))
            .await
            .expect("no panic")
            .expect("the same bytes");
    }

    #[tokio::test]
    async fn an_upload_that_fails_is_removed_whichever_part_fails() {
        let faults: [fn(&Request<'_>) -> bool; 4] = [
            |request| request.op == "part" && request.number == 1,
            |request| request.op == "part" && request.number == 9,
            |request| request.op == "complete",
            |request| request.op == "part",
        ];
        for fails in faults {
            let trial = Trial::new(move |request| match fails(request) {
                true => Fault::Refuse("403 Forbidden", "AccessDenied"),
                false => Fault::None,
            });
            let store = trial.store().with_limits(SMALL);
            let error = trial.publish(&store, 1, false).await.expect_err("refused").to_string();
            assert!(error.contains("access is denied"), "{error}");
            assert_eq!(trial.requests("abort"), 1);
            assert!(trial.keys().await.is_empty(), "{:?}", trial.keys().await);
        }
    }

    #[tokio::test]
    async fn damaged_files_are_not_published() {
        for limits in [Limits::default(), Limits { room: 0, ..Limits::default() }, SMALL] {
            for (damage, wanted) in [
                (
                    &(|bytes: &mut Vec<u8>| bytes.truncate(2000)) as &dyn Fn(&mut Vec<u8>),
                    "2000 bytes",
                ),
                (&|bytes: &mut Vec<u8>| bytes[7] ^= 1, "are not those that were written"),
            ] {
                let trial = Trial::new(|_| Fault::None);
                let (store, folder) = (trial.store().with_limits(limits), trial.folder(1));
                let path = folder.path().join("events.parquet");
                let mut bytes = std::fs::read(&path).expect("a file");
                damage(&mut bytes);
                std::fs::write(&path, bytes).expect("a file");
                let done = trial.publish_folder(&store, &folder, 1, false).await;
                let error = done.expect_err("damaged").to_string();
                assert!(error.contains(wanted) && error.contains("doctor"), "{error}");
                assert!(trial.keys().await.is_empty(), "{:?}", trial.keys().await);
            }
        }
    }
}
