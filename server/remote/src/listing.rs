//! Reads the manifests of a store.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta};
use tracesql::Result;

use crate::cache::{Cache, Kept};
use crate::layout;
use crate::place::Place;
use crate::record::{Entry, HEAD, MAX_LINE, Version};

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
    let kept = cache.get(meta.location.filename()?, etag)?;
    if kept.size != meta.size {
        return None;
    }
    let version =
        Version { etag: Some(kept.etag), number: kept.number, written: meta.last_modified.into() };
    let entry = Entry::read(meta.location.clone(), version, kept.size, kept.head).ok()?;
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
    Ok(Some(match Entry::read(key.clone(), Version::of(&meta), meta.size, head) {
        Ok(entry) => {
            if let Some(etag) = entry.version.etag.clone() {
                let (number, head) = (entry.version.number.clone(), entry.head.clone());
                cache.put(&hash, &Kept { etag, number, size: entry.size, head });
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
        Err(error) if place.failure(&error).is_out_of_range() => {
            let got = place.objects.get_opts(key, GetOptions::new()).await;
            got.map_err(|e| place.failure(&e))?
        }
        other => other.map_err(|e| place.failure(&e))?,
    };
    let meta = got.meta.clone();
    let head = got.bytes().await.map_err(|e| place.failure(&e))?;
    Ok(Some((meta, head)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Fault, Trial};

    #[tokio::test]
    async fn the_cache_serves_lists_whose_etags_have_another_form() {
        let folder = tempfile::tempdir().expect("a folder");
        let trial = Trial::new(|_| Fault::None);
        let store = trial.store();
        trial.publish(&store, 1, false).await.expect("published");
        let cache = Cache::within(folder.path().join("cache"));
        for round in 0..2 {
            let before = trial.requests("get");
            let found = manifests(&store.place, &cache).await.expect("a list");
            let [Found::Sound(entry)] = &found[..] else { panic!("{found:?}") };
            let etag = entry.version.etag.as_deref().expect("an ETag");
            assert!(etag.starts_with('"'), "the form of a GET: {etag}");
            assert_eq!(entry.version.number.as_deref(), Some("0"));
            let gets = trial.requests("get") - before;
            assert_eq!(gets, usize::from(round == 0), "the second time the cache has it");
        }
    }
}
