//! Explains names that are neither a trace nor a store, and states what to type instead.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tracesql_ingest::{IngestError, Store};

use crate::error::{Error, Result};
use crate::store::{self, TraceStore};
use crate::suggest;

use super::without_secrets;

/// The number of stores that an error lists.
const MAX_STORES: usize = 5;
/// The number of files in a folder among which a misspelled name is looked for.
const MAX_FILES: usize = 4096;
/// Endings of files that are probably traces.
const TRACES: [&str; 7] = [".json", ".json.gz", ".json.zst", ".zip", ".tar", ".tar.gz", ".tgz"];

/// Opens a store by its path or URL. Fails if the name is not one, and explains what it is.
pub fn open_store(path: &Path) -> Result<TraceStore> {
    if let Some(name) = path.to_str().filter(|name| store::is_remote(name)) {
        return store::open_remote(name, false).map(TraceStore::Remote);
    }
    if Store::is_store(path) {
        return Ok(Store::open(path)?.into());
    }
    Err(not_a_store(path))
}

/// The error about a name that should be a store but is something else.
pub fn not_a_store(path: &Path) -> Error {
    let name = path.display();
    let reason = if let Some(error) = url(&name.to_string()).or_else(|| part_of_store(path)) {
        return error.into();
    } else if path.is_file() {
        format!(
            "this is a file, not a store; `tracesql {name} -c SQL` queries a trace, and `tracesql \
             ingest {name} -o STORE` makes a store of it"
        )
    } else if !path.exists() {
        let like = similar_file(path).map(|like| suggest::hint(Some(&like))).unwrap_or_default();
        format!("no such store{like}; make one with `tracesql ingest TRACE -o {name}`")
    } else if let Some(stores) = stores_in(path) {
        format!("not a tracesql store, but a folder with {stores}")
    } else if has_traces(path) {
        format!(
            "not a tracesql store, but a folder with traces; `tracesql {name} -c SQL` queries \
             them, and `tracesql ingest {name} -o STORE` makes a store of them"
        )
    } else {
        "not a tracesql store; make one with `tracesql ingest TRACE -o STORE`".to_owned()
    };
    IngestError::Store { path: path.to_owned(), reason }.into()
}

/// Refuses a name that cannot be an input, whatever it contains.
pub(super) fn refuse(name: &str) -> Result<(), IngestError> {
    let path = Path::new(name);
    if let Some(error) = url(name).or_else(|| part_of_store(path)) {
        return Err(error);
    }
    if Store::is_store(path) {
        return Err(IngestError::Store {
            path: path.to_owned(),
            reason: "this is a store, not a trace; name the files that its traces were read from"
                .to_owned(),
        });
    }
    Ok(())
}

/// The error about a name that stands for no input, with the next step if there is an obvious one.
pub(super) fn explain(name: &str, error: IngestError) -> IngestError {
    let path = Path::new(name);
    match &error {
        IngestError::Io { path: missing, source }
            if source.kind() == ErrorKind::NotFound && missing == path =>
        {
            let like = similar_file(path);
            let hint = suggest::hint(like.as_deref());
            IngestError::input(name, format!("No such file or folder{hint}"))
        }
        IngestError::Input { .. } if path.is_dir() => match stores_in(path) {
            Some(stores) => IngestError::input(name, format!("this folder holds {stores}")),
            None => error,
        },
        _ => error,
    }
}

/// The error about several names if at least one of them is a store.
pub(super) fn several(names: &[String]) -> Error {
    let (stores, traces): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| super::is_store(name).unwrap_or(false));
    Error::Usage(match (&stores[..], &traces[..]) {
        ([a, b], []) => format!(
            "a query reads one store; `tracesql compare {a} {b}` compares two. To query the \
             traces of both together, ingest their files into one store"
        ),
        (_, []) => format!(
            "a query reads one store, not {}. To query the traces of all together, ingest their \
             files into one store",
            stores.len()
        ),
        ([store, ..], [trace, ..]) => format!(
            "open either one store, or traces: {store} is a store, and {trace} is not. `tracesql \
             ingest {trace} -o {store}` adds a trace to a store"
        ),
        ([], _) => "open either one store, or traces".to_owned(),
    })
}

/// Beginnings of URLs of object storage.
const OBJECT_STORAGE: [&str; 8] = ["s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss"];

/// The error about an address on the network, if a name is one.
pub(super) fn url(name: &str) -> Option<IngestError> {
    let (scheme, rest) = name.split_once("://")?;
    if scheme.is_empty() || !scheme.chars().all(|c| c.is_ascii_alphanumeric()) {
        return None;
    }
    let shown = without_secrets(name);
    if OBJECT_STORAGE.contains(&scheme) {
        return Some(IngestError::input(&shown, object_storage(scheme, &shown)));
    }
    let instead = match scheme {
        "file" => format!("give the path: {rest}"),
        "http" | "https" if shown != name => "download the file first with curl -LO".to_owned(),
        "http" | "https" => format!("download the file first: curl -LO '{name}'"),
        _ => "download the file first".to_owned(),
    };
    Some(IngestError::input(
        &shown,
        format!("tracesql reads files, not addresses ({scheme}://); {instead}"),
    ))
}

/// The reason why a URL of object storage is refused: by a program that reads files only, or
/// because it names no bucket.
fn object_storage(scheme: &str, name: &str) -> String {
    if store::has_opener() {
        return format!("this is not the URL of a bucket; write {scheme}://BUCKET/PREFIX");
    }
    let copy = match scheme {
        "s3" | "s3a" => format!("; to download one file: aws s3 cp '{name}' ."),
        "gs" => format!("; to download one file: gcloud storage cp '{name}' ."),
        _ => String::new(),
    };
    format!(
        "object storage ({scheme}://) is read and written by the program tracesql-full; see \
         docs/object-storage.md{copy}"
    )
}

/// The error about the folder of a trace within a store, or a file in it.
fn part_of_store(path: &Path) -> Option<IngestError> {
    let full = path.canonicalize().ok()?;
    let folder = if full.is_dir() { full.as_path() } else { full.parent()? };
    let root = folder.parent()?;
    if !folder.join("manifest.json").is_file() || !Store::is_store(root) {
        return None;
    }
    let id = folder.file_name()?.to_string_lossy();
    // The name of the store as the user would write it.
    let levels = if full.is_dir() { 1 } else { 2 };
    let named = path.ancestors().nth(levels).filter(|p| !p.as_os_str().is_empty());
    let store = named.filter(|p| Store::is_store(p)).unwrap_or(root).display();
    let what = if full.is_dir() { "this is a trace" } else { "this is a file of a trace" };
    Some(IngestError::Store {
        path: path.to_owned(),
        reason: format!(
            "{what} of the store {store}; `tracesql {store} --trace {id} -c SQL` queries it"
        ),
    })
}

/// The stores in a folder, as the rest of a sentence.
fn stores_in(folder: &Path) -> Option<String> {
    let mut stores: Vec<PathBuf> = files(folder).filter(|path| Store::is_store(path)).collect();
    stores.sort();
    let more = stores.len().saturating_sub(MAX_STORES);
    let names: Vec<String> =
        stores.iter().take(MAX_STORES).map(|path| path.display().to_string()).collect();
    match (&names[..], more) {
        ([], _) => None,
        ([name], _) => Some(format!("a store; name it: {name}")),
        (_, 0) => Some(format!("stores; name one of them: {}", names.join(", "))),
        _ => Some(format!("stores; name one of them: {} and {more} more", names.join(", "))),
    }
}

fn has_traces(folder: &Path) -> bool {
    files(folder).any(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        TRACES.iter().any(|ending| name.ends_with(ending))
    })
}

/// A file or folder next to a missing one, with a similar name.
fn similar_file(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let names: Vec<String> =
        files(folder).filter_map(|p| Some(p.file_name()?.to_str()?.to_owned())).collect();
    let visible = names.iter().map(String::as_str).filter(|name| !name.starts_with('.'));
    let nearest = *suggest::nearest(wanted, visible).first()?;
    Some(path.with_file_name(nearest).display().to_string())
}

/// The files and folders in a folder; none if it cannot be read.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).take(MAX_FILES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_refused_with_the_command_that_fetches_them() {
        for (name, text) in [
            ("https://example.org/t.json", "curl -LO 'https://example.org/t.json'"),
            ("s3://bucket/t.json.gz", "aws s3 cp 's3://bucket/t.json.gz' ."),
            ("s3://bucket/run", "tracesql-full; see docs/object-storage.md"),
            ("gs://bucket/run", "tracesql-full; see docs/object-storage.md"),
            ("az://container/run", "tracesql-full; see docs/object-storage.md"),
            ("abfss://c@a.dfs.core.windows.net/run", "tracesql-full"),
            ("file:///data/t.json", "give the path: /data/t.json"),
            ("hdfs://name/t.json", "download the file first"),
        ] {
            let error = refuse(name).expect_err("an address").to_string();
            assert!(error.contains(text), "{error}");
        }
        for name in [
            "s3://ID:abc/hidden@bucket/x.json",
            "gs://bucket/x.json?X-Goog-Signature=hidden",
            "https://user:hidden@example.org/t.json",
            "https://example.org/t.json?sig=hidden",
        ] {
            let error = refuse(name).expect_err("an address").to_string();
            assert!(!error.contains("hidden"), "{error}");
        }
        let store = not_a_store(Path::new("s3://bucket/run")).to_string();
        assert!(store.contains("tracesql-full; see docs/object-storage.md"), "{store}");
        assert!(refuse("a:b/c.json").is_ok());
        assert!(refuse("odd ://name").is_ok());
    }
}
