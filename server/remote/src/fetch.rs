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

/// Copies the files of a trace into a folder, which then looks like the folder of a trace in a
/// store on this machine. Returns the manifest of the trace. Fails if a file is missing.
pub fn copy_to_folder(store: &ObjectTraces, trace_id: &str, folder: &FilePath) -> Result<Manifest> {
    let (entry, store, folder) = (store.entry(trace_id)?, store.clone(), folder.to_owned());
    io::wait(async move {
        let tables: Vec<String> = entry.record.manifest.tables.keys().cloned().collect();
        for table in tables {
            copy_table(&store, &entry, &table, &folder).await?;
        }
        entry.record.manifest.write(&folder)?;
        Ok(entry.record.manifest.clone())
    })
}

/// Copies the file of one table, whatever it contains.
pub async fn copy_table(
    store: &ObjectTraces,
    entry: &Entry,
    table: &str,
    folder: &FilePath,
) -> Result<()> {
    let place = &store.place;
    let Some(file) = entry.file(&place.key, table) else { return Ok(()) };
    let path = folder.join(format!("{table}.parquet"));
    let io = |e| Error::from(IngestError::io(&path, e));
    let is_inline = file.key == entry.key;
    if is_inline && let Some(bytes) = entry.in_head(&file.range) {
        return tokio::fs::write(&path, &bytes).await.map_err(io);
    }
    let options = match is_inline {
        true if file.range.is_empty() => return tokio::fs::write(&path, []).await.map_err(io),
        true => GetOptions::new().with_range(Some(file.range)).with_if_match(file.etag),
        false => GetOptions::new(),
    };
    let got = place.objects.get_opts(&file.key, options).await;
    let mut content = got.map_err(|e| place.failure(&e))?.into_stream();
    let mut target = tokio::fs::File::create(&path).await.map_err(io)?;
    while let Some(bytes) = content.next().await {
        let bytes = bytes.map_err(|e| place.failure(&e))?;
        target.write_all(&bytes).await.map_err(io)?;
    }
    target.flush().await.map_err(io)
}
