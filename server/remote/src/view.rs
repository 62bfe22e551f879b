//! What a query reads: the Parquet files of a store, wherever their bytes are.
//!
//! The names are `<trace id>/<generation>/<table>.parquet`. Sizes are in the manifests, so nothing
//! is asked for them. The files of small tables are parts of manifest objects.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result,
};
use parking_lot::{Mutex, RwLock};

use crate::failure::Failure;
use crate::io;
use crate::place::Place;
use crate::recent::Recent;
use crate::record::{Entry, FilePlace};

/// Smaller files are fetched whole by the first request. It is what DataFusion reads of a file in
/// order to find its footer.
const WHOLE: u64 = 512 << 10;

/// The files of a store.
#[derive(Debug)]
pub struct View {
    place: Place,
    /// The manifests by trace id and generation. Those of replaced traces stay, because a query
    /// may still read them.
    known: RwLock<HashMap<(String, String), Arc<Entry>>>,
    recent: Recent,
    /// The ETags of files that are objects of their own, as the first request found them. All
    /// other requests must find the same, so that no query reads parts of two objects.
    etags: Mutex<HashMap<Path, String>>,
}

impl View {
    /// The files of the store at a place. Traces are known after [`View::learn`].
    pub fn new(place: Place) -> Self {
        Self { place, known: RwLock::default(), recent: Recent::default(), etags: Mutex::default() }
    }

    /// Makes the files of traces known.
    pub fn learn(&self, entries: &[Arc<Entry>]) {
        let mut known = self.known.write();
        for entry in entries {
            let record = &entry.record;
            let key = (record.manifest.trace_id.clone(), record.generation.clone());
            known.insert(key, entry.clone());
        }
    }

    fn file(&self, location: &Path) -> Result<(Arc<Entry>, FilePlace)> {
        let parts: Vec<_> = location.parts().collect();
        let find = || {
            let [trace_id, generation, file] = &parts[..] else { return None };
            let key = (trace_id.as_ref().to_owned(), generation.as_ref().to_owned());
            let entry = self.known.read().get(&key)?.clone();
            let table = file.as_ref().strip_suffix(".parquet")?;
            let file = entry.file(&self.place.key, table)?;
            Some((entry, file))
        };
        // Not `NotFound`: the engine reads a table whose files are not found as one without rows.
        find().ok_or_else(|| {
            let reason = format!(
                "the store {} has no file {location}; its trace was removed or replaced, run the \
                 command again",
                self.place.name
            );
            Error::Precondition { path: location.to_string(), source: reason.into() }
        })
    }

    /// Reads a range of a file.
    async fn read(
        &self,
        location: &Path,
        entry: &Entry,
        file: &FilePlace,
        range: Range<u64>,
    ) -> Result<Bytes> {
        let length = file.range.end - file.range.start;
        let within = |part: &Range<u64>| file.range.start + part.start..file.range.start + part.end;
        if file.key == entry.key
            && let Some(bytes) = entry.in_head(&within(&range))
        {
            return Ok(bytes);
        }
        if length <= WHOLE {
            let fetch = self.fetch(file, file.range.clone());
            let whole = self.recent.whole(location, length, fetch).await?;
            return Ok(whole.slice(range.start as usize..range.end as usize));
        }
        if let Some(bytes) = self.recent.get(location, &range) {
            return Ok(bytes);
        }
        let bytes = self.fetch(file, within(&range)).await?;
        self.recent.keep(location, range.start, bytes.clone());
        Ok(bytes)
    }

    /// Reads a range of an object. Fails if the object is not the one that the manifest describes.
    async fn fetch(&self, file: &FilePlace, range: Range<u64>) -> Result<Bytes> {
        let (objects, key) = (self.place.objects.clone(), file.key.clone());
        let etag = file.etag.clone().or_else(|| self.etags.lock().get(&key).cloned());
        let options = GetOptions::new().with_range(Some(range.clone())).with_if_match(etag);
        let got = io::run(async move {
            let got = objects.get_opts(&key, options).await?;
            let (size, etag) = (got.meta.size, got.meta.e_tag.clone());
            Ok::<_, Error>((size, etag, got.bytes().await?))
        });
        let got = got.await.map_err(|e| self.place.lasting(e.to_string()).into_store_error())?;
        match got {
            Ok((size, etag, bytes))
                if size == file.object && bytes.len() as u64 == range.end - range.start =>
            {
                match etag {
                    Some(etag) if !self.is_first_or_same(file, &etag) => {
                        Err(self.changed(file, "was replaced while it was read").into_store_error())
                    }
                    _ => Ok(bytes),
                }
            }
            Ok((size, ..)) => {
                let what = format!("has {size} bytes, but {} were written", file.object);
                Err(self.changed(file, &what).into_store_error())
            }
            Err(Error::Precondition { .. }) => {
                Err(self.changed(file, "was replaced while it was read").into_store_error())
            }
            Err(e) => {
                let failure = self.place.failure(&e);
                let failure = if failure.is_missing_object() {
                    self.changed(file, "is missing")
                } else if failure.is_out_of_range() {
                    let bytes = file.object;
                    self.changed(
                        file,
                        &format!("is shorter than the {bytes} bytes that were written"),
                    )
                } else {
                    failure
                };
                Err(failure.into_store_error())
            }
        }
    }

    /// Whether a request found the object that the first request for it found.
    fn is_first_or_same(&self, file: &FilePlace, etag: &str) -> bool {
        let mut known = self.etags.lock();
        known.entry(file.key.clone()).or_insert_with(|| etag.to_owned()) == etag
    }

    fn changed(&self, file: &FilePlace, what: &str) -> Failure {
        self.place.lasting(format!(
            "the object {} {what}. If its trace was just removed or replaced, run the command \
             again; otherwise `tracesql-full doctor {}` looks at the whole store",
            file.key, self.place.name
        ))
    }

    fn refused<T>(&self, operation: &str) -> Result<T> {
        Err(Error::NotImplemented {
            operation: operation.to_owned(),
            implementer: self.to_string(),
        })
    }
}

impl Display for View {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "the store {}", self.place.name)
    }
}

#[async_trait]
impl ObjectStore for View {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let (entry, file) = self.file(location)?;
        let size = file.range.end - file.range.start;
        let meta = ObjectMeta {
            location: location.clone(),
            // A generation is never written again, so all its files are as old.
            last_modified: Default::default(),
            size,
            e_tag: None,
            version: None,
        };
        options.check_preconditions(&meta)?;
        let range = match &options.range {
            _ if options.head => 0..0,
            None => 0..size,
            Some(range) => range.as_range(size).map_err(|e| {
                self.changed(&file, &format!("cannot be read ({e})")).into_store_error()
            })?,
        };
        let bytes = if range.is_empty() {
            Bytes::new()
        } else {
            self.read(location, &entry, &file, range.clone()).await?
        };
        let payload = GetResultPayload::Stream(stream::once(async { Ok(bytes) }).boxed());
        Ok(GetResult { payload, meta, range, attributes: Attributes::default() })
    }

    /// Lists nothing: a session asks for files by their names.
    fn list(&self, _prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        stream::empty().boxed()
    }

    async fn list_with_delimiter(&self, _prefix: Option<&Path>) -> Result<ListResult> {
        Ok(ListResult { common_prefixes: Vec::new(), objects: Vec::new() })
    }

    async fn put_opts(
        &self,
        _location: &Path,
        _payload: PutPayload,
        _options: PutOptions,
    ) -> Result<PutResult> {
        self.refused("writing")
    }

    async fn put_multipart_opts(
        &self,
        _location: &Path,
        _options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.refused("writing")
    }

    fn delete_stream(
        &self,
        _locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let refused = self.refused("removing");
        stream::once(async { refused }).boxed()
    }

    async fn copy_opts(&self, _from: &Path, _to: &Path, _options: CopyOptions) -> Result<()> {
        self.refused("copying")
    }
}
