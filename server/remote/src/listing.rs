//! Reads the manifests of a store.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta};
use tracesql::Result;

use crate::cache::Cache;
use crate::layout;
use crate::place::Place;
use crate::record::{Entry, HEAD, MAX_LINE};

/// The number of manifests that are fetched at once.
const AT_ONCE: usize = 64;

/// A manifest object.
#[derive(Debug, Clone)]
pub enum Found {
    /// It can be read.
    Sound(Arc<Entry>),
    /// It cannot be used.
    Damaged {
        /// Its key.
        key: Path,
        /// Why.
        reason: String,
    },
}

/// All manifests of a store, in the order of their keys.
pub async fn manifests(place: &Place, cache: &Cache) -> Result<Vec<Found>> {
    let prefix = layout::manifests(&place.key);
    let listed: Vec<ObjectMeta> =
        place.objects.list(Some(&prefix)).try_collect().await.map_err(|e| place.failure(&e))?;
    let is_manifest = |meta: &ObjectMeta| {
        matches!(layout::kind(&place.key, &meta.location), layout::Object::Manifest(_))
    };
    let listed: Vec<ObjectMeta> = listed.into_iter().filter(is_manifest).collect();
    let (mut all, mut absent) = (Vec::with_capacity(listed.len()), Vec::new());
    for meta in &listed {
        match kept(cache, meta) {
            Some(found) => all.push(found),
            None => absent.push(meta.location.clone()),
        }
    }
    if !absent.is_empty() {
        let fetched: Vec<Option<Found>> = stream::iter(absent)
            .map(|key| fetch(place.clone(), key, cache.clone()))
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await?;
        all.extend(fetched.into_iter().flatten());
        let names =
            listed.iter().filter_map(|m| Some((m.location.filename()?, m.e_tag.as_deref()?)));
        cache.prune(names);
    }
    all.sort_by(|a, b| key(a).cmp(key(b)));
    Ok(all)
}

fn key(found: &Found) -> &Path {
    match found {
        Found::Sound(entry) => &entry.key,
        Found::Damaged { key, .. } => key,
    }
}

/// A manifest from the cache.
fn kept(cache: &Cache, meta: &ObjectMeta) -> Option<Found> {
    let etag = meta.e_tag.as_deref()?;
    let (size, head) = cache.get(meta.location.filename()?, etag)?;
    if size != meta.size {
        return None;
    }
    let entry = Entry::read(meta.location.clone(), meta.e_tag.clone(), size, head).ok()?;
    Some(Found::Sound(Arc::new(entry)))
}

/// Reads one manifest; `None` if no object has this key.
pub async fn fetch(place: Place, key: Path, cache: Cache) -> Result<Option<Found>> {
    let Some((meta, mut head)) = beginning(&place, &key, HEAD).await? else { return Ok(None) };
    if !head.contains(&b'\n') && (head.len() as u64) < meta.size {
        let Some((_, more)) = beginning(&place, &key, MAX_LINE).await? else { return Ok(None) };
        head = more;
    }
    let hash = key.filename().unwrap_or_default().to_owned();
    Ok(Some(match Entry::read(key.clone(), meta.e_tag.clone(), meta.size, head) {
        Ok(entry) => {
            if let Some(etag) = &entry.etag {
                cache.put(&hash, etag, entry.size, &entry.head);
            }
            Found::Sound(Arc::new(entry))
        }
        Err(reason) => Found::Damaged { key, reason },
    }))
}

async fn beginning(place: &Place, key: &Path, bytes: u64) -> Result<Option<(ObjectMeta, Bytes)>> {
    let options = GetOptions::new().with_range(Some(GetRange::Bounded(0..bytes)));
    let got = match place.objects.get_opts(key, options).await {
        Err(error @ object_store::Error::NotFound { .. }) => {
            let failure = place.failure(&error);
            return if failure.is_missing_object() { Ok(None) } else { Err(failure.into()) };
        }
        // An empty object has no range.
        Err(error) if is_out_of_range(&error) => {
            let got = place.objects.get_opts(key, GetOptions::new()).await;
            got.map_err(|e| place.failure(&e))?
        }
        other => other.map_err(|e| place.failure(&e))?,
    };
    let meta = got.meta.clone();
    let head = got.bytes().await.map_err(|e| place.failure(&e))?;
    Ok(Some((meta, head)))
}

/// Whether an object is shorter than the range that was asked for.
pub fn is_out_of_range(error: &object_store::Error) -> bool {
    // Keys, ports and ids of requests are parts of the text, so a bare number proves nothing.
    let text = error.to_string();
    !matches!(error, object_store::Error::NotFound { .. })
        && ["status code: 416", "<Code>InvalidRange<", "Wanted range", "Requested range"]
            .iter()
            .any(|part| text.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_status_of_an_answer_means_that_a_range_is_too_long() {
        let error = |text: &str| object_store::Error::Generic {
            store: "S3",
            source: text.to_owned().into(),
        };
        assert!(is_out_of_range(&error("non-2xx status code: 416 Range Not Satisfiable: ")));
        assert!(is_out_of_range(&error("<Error><Code>InvalidRange</Code></Error>")));
        assert!(!is_out_of_range(&error("GET http://127.0.0.1:41600/b/416: status code: 403")));
        let missing = object_store::Error::NotFound {
            path: "416".to_owned(),
            source: "status code: 416".into(),
        };
        assert!(!is_out_of_range(&missing));
    }
}
