//! Removes a trace: its manifest first, so that no reader sees a trace without files.

use futures::{StreamExt, TryStreamExt, stream};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use tracesql::Result;

use crate::place::Place;
use crate::record::Entry;
use crate::store::ObjectTraces;

/// Removes a trace from a store.
pub async fn remove(store: &ObjectTraces, entry: &Entry) -> Result<()> {
    let place = &store.place;
    place.objects.delete(&entry.key).await.map_err(|e| place.failure(&e))?;
    let own = entry.own_objects().filter_map(|name| entry.file(&place.key, name));
    keys(place, own.map(|file| file.key).collect()).await
}

/// Removes objects. Those that do not exist are no error.
pub async fn keys(place: &Place, keys: Vec<Path>) -> Result<()> {
    let mut removed = place.objects.delete_stream(stream::iter(keys.into_iter().map(Ok)).boxed());
    loop {
        match removed.try_next().await {
            Ok(None) => return Ok(()),
            Ok(Some(_)) | Err(object_store::Error::NotFound { .. }) => {}
            Err(e) => return Err(place.failure(&e).into()),
        }
    }
}
