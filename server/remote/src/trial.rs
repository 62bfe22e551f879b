//! An object store for tests, with faults. Like Google's it demands the number of the version of an
//! object that is replaced, and like Azure's its lists have ETags without quotation marks.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use futures::stream::{BoxStream, TryStreamExt};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error as StoreError, GetOptions, GetResult, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result, UploadPart,
};
use parking_lot::Mutex;
use tempfile::TempDir;
use tracesql_ingest::Manifest;
use tracesql_ingest::schema::SCHEMA_VERSION;

use crate::place::Place;
use crate::publish;
use crate::store::ObjectTraces;

/// What happens to a request.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// It is answered.
    None,
    /// It is not carried out, and the answer has this status and this code.
    Refuse(&'static str, &'static str),
    /// It is not carried out, and no answer comes.
    LoseRequest,
    /// It is carried out, but no answer comes.
    LoseAnswer,
}

/// A request.
#[derive(Debug)]
pub struct Request<'a> {
    /// `put`, `get`, `head`, `list`, `delete`, `part`, `complete` or `abort`.
    pub op: &'static str,
    /// The key.
    pub key: &'a str,
    /// The number of requests with the same operation for the same key, from 1.
    pub number: usize,
}

type Fate = dyn Fn(&Request<'_>) -> Fault + Send + Sync;

/// An object store with faults, and traces for it.
#[derive(Clone)]
pub struct Trial {
    objects: Arc<InMemory>,
    seen: Arc<Mutex<HashMap<(&'static str, String), usize>>>,
    fate: Arc<Fate>,
}

impl Trial {
    /// An empty store. `fate` decides about each request.
    pub fn new(fate: impl Fn(&Request<'_>) -> Fault + Send + Sync + 'static) -> Self {
        Self { objects: Arc::default(), seen: Arc::default(), fate: Arc::new(fate) }
    }

    /// A store of traces that gives up at once.
    pub fn store(&self) -> ObjectTraces {
        let objects = Arc::new(self.clone());
        let place = Place::over("s3://trial/run".to_owned(), objects, Path::from("run"));
        ObjectTraces::at(place).expect("a store").without_cache()
    }

    /// A store of traces that tries again.
    pub fn patient_store(&self) -> ObjectTraces {
        let mut store = self.store();
        store.place.retry_time = Duration::from_secs(60);
        store
    }

    /// The number of requests with an operation.
    pub fn requests(&self, op: &str) -> usize {
        self.seen.lock().iter().filter(|((of, _), _)| *of == op).map(|(_, count)| count).sum()
    }

    /// The keys of all objects.
    pub async fn keys(&self) -> Vec<String> {
        let listed = self.objects.list(None).map_ok(|meta| meta.location.to_string());
        listed.try_collect().await.expect("a list")
    }

    /// Writes an object without faults.
    pub async fn put(&self, key: &Path, bytes: &[u8]) {
        self.objects.put(key, bytes.to_vec().into()).await.expect("written");
    }

    /// The content hash of a trace.
    pub fn hash(&self, number: u8) -> String {
        format!("{number:02x}").repeat(32)
    }

    fn manifest(&self, number: u8, tables: &[(&str, Vec<u8>)]) -> Manifest {
        let facts = |bytes: &[u8]| {
            let hash = blake3::hash(bytes).to_hex().to_string();
            serde_json::json!({"rows": 1, "bytes": bytes.len(), "blake3": hash})
        };
        let tables: HashMap<_, _> =
            tables.iter().map(|(name, bytes)| (name, facts(bytes))).collect();
        serde_json::from_value(serde_json::json!({
            "schema_version": SCHEMA_VERSION, "tracesql_version": "0",
            "trace_id": format!("rank{number}-{number:02x}"), "content_hash": self.hash(number),
            "path": "rank.json", "input_bytes": 1, "text_bytes": 1, "element_count": 1,
            "tables": tables,
        }))
        .expect("a manifest")
    }

    /// The manifest of a trace.
    pub fn described(&self, number: u8) -> Manifest {
        self.manifest(number, &Self::tables(number))
    }

    fn tables(number: u8) -> [(&'static str, Vec<u8>); 2] {
        [("devices", vec![number; 100]), ("events", vec![number; 2_500])]
    }

    /// The folder of a trace with devices of 100 bytes and events of 2,500.
    pub fn folder(&self, number: u8) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, bytes) in Self::tables(number) {
            let path = folder.path().join(format!("{name}.parquet"));
            std::fs::write(path, bytes).expect("a file");
        }
        folder
    }

    /// Publishes a trace.
    pub async fn publish(
        &self,
        store: &ObjectTraces,
        number: u8,
        replace: bool,
    ) -> tracesql::Result<(Manifest, bool)> {
        self.publish_folder(store, &self.folder(number), number, replace).await
    }

    /// Publishes the folder of a trace.
    pub async fn publish_folder(
        &self,
        store: &ObjectTraces,
        folder: impl AsRef<FilePath>,
        number: u8,
        replace: bool,
    ) -> tracesql::Result<(Manifest, bool)> {
        let manifest = self.described(number);
        publish::publish(store, folder.as_ref(), &manifest, replace).await
    }

    /// Meets the fault of a request.
    async fn meet<T>(
        &self,
        op: &'static str,
        key: &Path,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let fault = {
            let mut seen = self.seen.lock();
            let number = seen.entry((op, key.to_string())).or_default();
            *number += 1;
            (self.fate)(&Request { op, key: key.as_ref(), number: *number })
        };
        let late = || StoreError::Generic {
            store: "S3",
            source: Box::new(HttpError::new(HttpErrorKind::Timeout, io::Error::other("late"))),
        };
        match fault {
            Fault::None => work.await,
            Fault::Refuse(status, code) => {
                let text =
                    format!("Server returned non-2xx status code: {status}: <Code>{code}</Code>");
                Err(StoreError::Generic { store: "S3", source: text.into() })
            }
            Fault::LoseRequest => Err(late()),
            Fault::LoseAnswer => {
                work.await?;
                Err(late())
            }
        }
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Trial")
    }
}

impl Display for Trial {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Trial")
    }
}

/// The properties of an object as a GET returns them.
fn as_gotten(meta: &mut ObjectMeta) {
    meta.version = meta.e_tag.clone();
    meta.e_tag = meta.e_tag.take().map(|etag| format!("\"{etag}\""));
}

#[async_trait]
impl ObjectStore for Trial {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        mut options: PutOptions,
    ) -> Result<PutResult> {
        if let PutMode::Update(version) = &mut options.mode {
            let number = version.version.take().ok_or_else(|| StoreError::Generic {
                store: "GCS",
                source: "Version required for conditional update".into(),
            })?;
            version.e_tag = Some(number);
        }
        self.meet("put", location, self.objects.put_opts(location, payload, options)).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let inner = self.objects.put_multipart_opts(location, options).await?;
        Ok(Box::new(Upload { trial: self.clone(), key: location.clone(), inner }))
    }

    async fn get_opts(&self, location: &Path, mut options: GetOptions) -> Result<GetResult> {
        let op = if options.head { "head" } else { "get" };
        options.if_match = options.if_match.map(|etag| etag.trim_matches('"').to_owned());
        let mut got = self.meet(op, location, self.objects.get_opts(location, options)).await?;
        as_gotten(&mut got.meta);
        Ok(got)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.objects.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.objects.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.objects.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.objects.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct Upload {
    trial: Trial,
    key: Path,
    inner: Box<dyn MultipartUpload>,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, part: PutPayload) -> UploadPart {
        let (trial, key, put) = (self.trial.clone(), self.key.clone(), self.inner.put_part(part));
        async move { trial.meet("part", &key, put).await }.boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.trial.meet("complete", &self.key, self.inner.complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.trial.meet("abort", &self.key, self.inner.abort()).await
    }
}
