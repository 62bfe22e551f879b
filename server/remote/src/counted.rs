//! Counts the requests to object storage and the bytes that they move.

use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

/// The number of entries in one answer about the content of a bucket.
const PAGE: u64 = 1000;

/// Numbers of requests and bytes.
#[derive(Debug, Default)]
pub struct Counts {
    gets: AtomicU64,
    heads: AtomicU64,
    lists: AtomicU64,
    puts: AtomicU64,
    deletes: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
}

/// The requests of this process so far.
pub fn counts() -> &'static Counts {
    static COUNTS: LazyLock<Counts> = LazyLock::new(Counts::default);
    &COUNTS
}

impl Counts {
    /// Whether there was no request.
    pub fn is_empty(&self) -> bool {
        [&self.gets, &self.heads, &self.lists, &self.puts, &self.deletes]
            .iter()
            .all(|count| count.load(Relaxed) == 0)
    }
}

impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let of = |count: &AtomicU64| count.load(Relaxed);
        write!(
            f,
            "{} get, {} head, {} list, {} put, {} delete; {} bytes read, {} bytes written",
            of(&self.gets),
            of(&self.heads),
            of(&self.lists),
            of(&self.puts),
            of(&self.deletes),
            of(&self.read),
            of(&self.written)
        )
    }
}

/// An object store whose requests are counted.
#[derive(Debug)]
pub struct Counted {
    inner: Arc<dyn ObjectStore>,
}

impl Counted {
    /// Counts the requests to an object store.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self { inner }
    }
}

impl Display for Counted {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Counted {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        counts().puts.fetch_add(1, Relaxed);
        counts().written.fetch_add(payload.content_length() as u64, Relaxed);
        self.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        counts().puts.fetch_add(1, Relaxed);
        let upload = self.inner.put_multipart_opts(location, options).await?;
        Ok(Box::new(CountedUpload(upload)))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let count = if options.head { &counts().heads } else { &counts().gets };
        count.fetch_add(1, Relaxed);
        let is_head = options.head;
        let got = self.inner.get_opts(location, options).await?;
        if !is_head {
            counts().read.fetch_add(got.range.end - got.range.start, Relaxed);
        }
        Ok(got)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let counted = locations.inspect(|_| {
            counts().deletes.fetch_add(1, Relaxed);
        });
        self.inner.delete_stream(counted.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        counts().lists.fetch_add(1, Relaxed);
        let mut seen = 0;
        let listed = self.inner.list(prefix).inspect(move |_| {
            seen += 1;
            if seen % PAGE == 1 && seen > 1 {
                counts().lists.fetch_add(1, Relaxed);
            }
        });
        listed.boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        counts().lists.fetch_add(1, Relaxed);
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct CountedUpload(Box<dyn MultipartUpload>);

#[async_trait]
impl MultipartUpload for CountedUpload {
    fn put_part(&mut self, part: PutPayload) -> UploadPart {
        counts().puts.fetch_add(1, Relaxed);
        counts().written.fetch_add(part.content_length() as u64, Relaxed);
        self.0.put_part(part)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        counts().puts.fetch_add(1, Relaxed);
        self.0.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        counts().deletes.fetch_add(1, Relaxed);
        self.0.abort().await
    }
}
