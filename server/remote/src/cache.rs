//! Keeps the beginnings of manifest objects on this disk, so that opening a store again reads only
//! the list of its manifests. An entry is used only while the object has the same ETag.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;

use crate::record::bare;

/// The folder within the cache of tracesql.
const FOLDER: &str = "manifests-v2";
/// The most bytes that all stores together take.
const MAX_BYTES: u64 = 512 << 20;
/// The length of the checksum at the beginning of a file.
const CHECKSUM: usize = 32;

/// The beginning of a manifest object, and what else is needed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The ETag as it was returned with the object. Lists may have it in another form.
    pub etag: String,
    /// The number of the version, on servers that count them.
    pub number: Option<String>,
    /// The size of the object.
    pub size: u64,
    /// Its beginning.
    pub head: Bytes,
}

/// The facts in a kept file, before the beginning of the object.
type Facts = (String, Option<String>, u64);

/// The kept manifests of one store.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The cache of the store with a URL on a server. Without a folder, nothing is kept.
    pub fn of(store: &str) -> Self {
        let hash = blake3::hash(store.as_bytes()).to_hex();
        let folder = tracesql::open::cache_folder().map(|f| f.join(FOLDER).join(&hash[..32]));
        Self { folder }
    }

    /// A cache that keeps nothing.
    pub fn none() -> Self {
        Self { folder: None }
    }

    /// A cache in a folder.
    #[cfg(test)]
    pub fn within(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// A manifest object, if it is kept and undamaged.
    pub fn get(&self, hash: &str, etag: &str) -> Option<Kept> {
        let kept = Bytes::from(fs::read(self.file(hash, etag)?).ok()?);
        let (checksum, content) = kept.split_at_checked(CHECKSUM)?;
        if *blake3::hash(content).as_bytes() != checksum {
            return None;
        }
        let end = content.iter().position(|&byte| byte == b'\n')?;
        let (etag, number, size) = serde_json::from_slice::<Facts>(&content[..end]).ok()?;
        Some(Kept { etag, number, size, head: kept.slice(CHECKSUM + end + 1..) })
    }

    /// Keeps a manifest object. If this fails, it is only read again next time.
    pub fn put(&self, hash: &str, kept: &Kept) {
        let Some(file) = self.file(hash, &kept.etag) else { return };
        let facts: Facts = (kept.etag.clone(), kept.number.clone(), kept.size);
        let Ok(mut content) = serde_json::to_vec(&facts) else { return };
        content.push(b'\n');
        content.extend_from_slice(&kept.head);
        let mut all = blake3::hash(&content).as_bytes().to_vec();
        all.append(&mut content);
        let _ = write(&file, &all);
    }

    /// Removes what is no longer in the store, and old entries of all stores if there are too many
    /// bytes.
    pub fn prune<'a>(&self, listed: impl Iterator<Item = (&'a str, &'a str)>) {
        let Some(folder) = &self.folder else { return };
        let keep: std::collections::HashSet<PathBuf> =
            listed.filter_map(|(hash, etag)| self.file(hash, etag)).collect();
        for (path, _, _) in files(folder).filter(|(path, ..)| !keep.contains(path)) {
            let _ = fs::remove_file(path);
        }
        let Some(all) = folder.parent() else { return };
        let stores = fs::read_dir(all).into_iter().flatten().flatten().map(|e| e.path());
        let mut kept: Vec<_> = stores.flat_map(|store| files(&store).collect::<Vec<_>>()).collect();
        let mut bytes: u64 = kept.iter().map(|(_, _, bytes)| bytes).sum();
        kept.sort_by_key(|(_, changed, _)| *changed);
        for (path, _, size) in kept {
            if bytes <= MAX_BYTES {
                break;
            }
            let _ = fs::remove_file(path);
            bytes -= size;
        }
    }

    fn file(&self, hash: &str, etag: &str) -> Option<PathBuf> {
        let etag = blake3::hash(bare(etag).as_bytes()).to_hex();
        Some(self.folder.as_ref()?.join(format!("{hash}.{}", &etag[..16])))
    }
}

/// The files of a folder with their times of change and sizes.
fn files(folder: &Path) -> impl Iterator<Item = (PathBuf, SystemTime, u64)> {
    fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| {
        let about = entry.metadata().ok().filter(|about| about.is_file())?;
        Some((entry.path(), about.modified().ok()?, about.len()))
    })
}

fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut partial = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut partial, bytes)?;
    partial.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_entries_are_not_used_and_absent_ones_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache { folder: Some(folder.path().join("store")) };
        assert_eq!(cache.get("aa", "1"), None);
        let kept = Kept {
            etag: "\"1\"".to_owned(),
            number: Some("7".to_owned()),
            size: 9,
            head: Bytes::from("head\n"),
        };
        cache.put("aa", &kept);
        // A list may have the ETag without quotation marks.
        for etag in ["1", "\"1\"", "W/\"1\""] {
            assert_eq!(cache.get("aa", etag).as_ref(), Some(&kept), "{etag}");
        }
        assert_eq!(cache.get("aa", "2"), None);
        let file = cache.file("aa", "1").expect("a file");
        let mut bytes = fs::read(&file).expect("read");
        if let Some(last) = bytes.last_mut() {
            *last ^= 1;
        }
        fs::write(&file, bytes).expect("written");
        assert_eq!(cache.get("aa", "1"), None);
        cache.put("bb", &kept);
        cache.prune([("bb", "1")].into_iter());
        assert!(!file.exists() && cache.get("bb", "1").is_some());
    }
}
