//! Traces on object storage as inputs: one object, all traces below a prefix, or all objects that
//! match a pattern.

use std::fs::File;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};
use tokio::io::AsyncWriteExt;
use tracesql::open::{InputSource, RemoteInput};
use tracesql::{Error, Result};
use tracesql_ingest::{IngestError, TRACE_ENDINGS};

use crate::failure::Failure;
use crate::io;
use crate::layout;
use crate::place::{Buckets, Place};

/// The size of the parts in which an object is read.
const PART: u64 = 16 << 20;
/// The number of parts that are read at once.
const PARTS_AT_ONCE: usize = 4;

/// Reads traces by the URLs of object storage.
#[derive(Debug)]
pub struct Objects {
    /// The buckets that were opened for inputs.
    buckets: Arc<Buckets>,
    /// The size of the parts in which an object is read.
    part: u64,
}

impl Default for Objects {
    fn default() -> Self {
        Self { buckets: Arc::default(), part: PART }
    }
}

impl InputSource for Objects {
    fn takes(&self, name: &str) -> bool {
        Place::takes(name)
    }

    fn find(&self, name: &str) -> Result<Vec<RemoteInput>> {
        let (buckets, name) = (self.buckets.clone(), name.to_owned());
        io::wait(async move {
            let split = Split::of(&buckets, &name)?;
            let found = match split.rest.contains(['*', '[']) {
                true => matching(&name, &split).await?,
                false => named(&name, &split).await?,
            };
            let inputs = found.into_iter().map(|object| split.input(object));
            let mut inputs: Vec<RemoteInput> = inputs.collect();
            inputs.sort_by(|a, b| a.url.cmp(&b.url));
            Ok(inputs)
        })
    }

    fn fetch(&self, input: &RemoteInput, file: &mut File) -> Result<()> {
        let file = file.try_clone().map_err(|e| scratch(&input.url, e))?;
        let (split, part) = (Split::of(&self.buckets, &input.url)?, self.part);
        let input = input.clone();
        io::wait(async move { fetch(&input, &split, part, tokio::fs::File::from_std(file)).await })
    }
}

/// A URL in two parts: a folder, and a name, a pattern or nothing in it.
struct Split {
    folder: Place,
    rest: String,
}

impl Split {
    fn of(buckets: &Buckets, name: &str) -> Result<Self> {
        // Before a part of the name is printed.
        Place::check(name)?;
        let pattern = name.find(['*', '[']).unwrap_or(name.len());
        let after_scheme = name.find("://").map_or(0, |at| at + 3);
        let named = name[..pattern].rfind('/').filter(|&at| at >= after_scheme);
        // Without a slash the name is that of a whole bucket, and its last slash is no part of it.
        let (folder, rest) = match named {
            Some(at) => (&name[..at.max(after_scheme)], &name[at + 1..]),
            None => (name, ""),
        };
        let is_root = folder.len() == after_scheme;
        let folder = if is_root { format!("{folder}/") } else { folder.to_owned() };
        Ok(Self { folder: Place::open_in(buckets, &folder, false)?, rest: rest.to_owned() })
    }

    /// The key of an object whose name in the folder is written as in a URL.
    fn key(&self) -> Result<Path> {
        let rest = Path::from_url_path(&self.rest)
            .map_err(|e| self.folder.lasting(format!("{:?} cannot be a key: {e}", self.rest)))?;
        Ok(self.folder.key.parts().chain(rest.parts()).collect())
    }

    /// The part of a key below the folder.
    fn below<'a>(&self, key: &'a Path) -> &'a str {
        let key: &'a str = key.as_ref();
        key.strip_prefix(self.folder.key.as_ref()).unwrap_or(key).trim_start_matches('/')
    }

    fn input(&self, object: ObjectMeta) -> RemoteInput {
        let key = self.below(&object.location);
        let key = key.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
        RemoteInput {
            url: format!("{}/{key}", self.folder.name.trim_end_matches('/')),
            bytes: object.size,
            etag: object.e_tag.map(|etag| self.with_marks(etag)),
        }
    }

    /// An ETag with quotation marks, which some servers leave out in lists but demand in requests.
    fn with_marks(&self, etag: String) -> String {
        match self.folder.folder.is_some() || etag.ends_with('"') {
            true => etag,
            false => format!("\"{etag}\""),
        }
    }
}

/// The object with this name, or the traces in a folder with this name.
async fn named(name: &str, split: &Split) -> Result<Vec<ObjectMeta>> {
    let key = split.key()?;
    if !split.rest.is_empty() {
        match split.folder.objects.head(&key).await {
            Ok(object) => return Ok(vec![object]),
            Err(StoreError::NotFound { .. }) => {}
            // A server may refuse to tell whether an object exists without the right to list.
            Err(e) => return Err(Failure::of(name, &e).into()),
        }
    }
    let listed = list(name, split, &key).await?;
    if listed.iter().any(|object| object.location == layout::marker(&key)) {
        return Err(IngestError::Store {
            path: name.into(),
            reason: "this is a store, not a trace; name the objects that its traces were read from"
                .to_owned(),
        }
        .into());
    }
    let traces = traces(&key, listed);
    if traces.is_empty() {
        let reason = "there is no such object, and no trace (.json, .json.gz, .json.zst, .zip, \
                      .tar) in a folder with this name";
        return Err(IngestError::input(name, reason).into());
    }
    Ok(traces)
}

/// The objects that match a pattern. As in patterns of files, `*` does not stand for a slash. The
/// objects of stores are left out, because they are output.
async fn matching(name: &str, split: &Split) -> Result<Vec<ObjectMeta>> {
    let refuse = |reason: String| Error::from(IngestError::input(name, reason));
    let pattern =
        glob::Pattern::new(&split.rest).map_err(|e| refuse(format!("not a pattern: {e}")))?;
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let mut listed = list(name, split, &split.folder.key).await?;
    let stores = stores(&listed);
    listed.retain(|object| {
        pattern.matches_with(split.below(&object.location), options)
            && !stores.iter().any(|store| object.location.prefix_matches(store))
    });
    if listed.is_empty() {
        return Err(refuse("no object matches this pattern".to_owned()));
    }
    Ok(listed)
}

async fn list(name: &str, split: &Split, prefix: &Path) -> Result<Vec<ObjectMeta>> {
    let prefix = (!prefix.as_ref().is_empty()).then_some(prefix);
    let listed = split.folder.objects.list(prefix).try_collect().await;
    listed.map_err(|e| Failure::of(name, &e).into())
}

/// The objects that may be traces. Those of stores are left out, because they are output, and so
/// are hidden ones. A folder that the user named may be hidden itself.
fn traces(folder: &Path, listed: Vec<ObjectMeta>) -> Vec<ObjectMeta> {
    let stores = stores(&listed);
    let is_trace = |object: &ObjectMeta| {
        let name = object.location.filename().unwrap_or_default().to_lowercase();
        let mut below = object.location.prefix_match(folder).into_iter().flatten();
        let is_hidden = below.any(|part| part.as_ref().starts_with('.'));
        TRACE_ENDINGS.iter().any(|ending| name.ends_with(ending))
            && !is_hidden
            && !stores.iter().any(|store| object.location.prefix_matches(store))
    };
    listed.into_iter().filter(is_trace).collect()
}

/// The prefixes of the stores among objects.
fn stores(listed: &[ObjectMeta]) -> Vec<Path> {
    let markers = listed.iter().filter(|object| object.location.filename() == Some(layout::MARKER));
    markers
        .map(|object| {
            let parts: Vec<_> = object.location.parts().collect();
            parts[..parts.len() - 1].iter().cloned().collect()
        })
        .collect()
}

async fn fetch(
    input: &RemoteInput,
    split: &Split,
    part: u64,
    mut file: tokio::fs::File,
) -> Result<()> {
    let key = split.key()?;
    let starts = (0..input.bytes).step_by(part as usize);
    let parts = starts.map(|start| {
        let range = start..input.bytes.min(start + part);
        let length = range.end - range.start;
        let options = GetOptions::new().with_range(Some(range)).with_if_match(input.etag.clone());
        let (objects, key) = (split.folder.objects.clone(), key.clone());
        async move {
            let bytes = objects.get_opts(&key, options).await?.bytes().await?;
            Ok::<_, StoreError>((bytes, length))
        }
    });
    let mut parts = stream::iter(parts).buffered(PARTS_AT_ONCE);
    while let Some(part) = parts.next().await {
        let (bytes, length) = part.map_err(|e| refused(&input.url, &e))?;
        if bytes.len() as u64 != length {
            return Err(changed(&input.url));
        }
        file.write_all(&bytes).await.map_err(|e| scratch(&input.url, e))?;
    }
    file.flush().await.map_err(|e| scratch(&input.url, e))
}

fn refused(url: &str, error: &StoreError) -> Error {
    match error {
        StoreError::Precondition { .. } | StoreError::NotModified { .. } => changed(url),
        _ => Failure::of(url, error).into(),
    }
}

fn changed(url: &str) -> Error {
    let reason = "the object changed after it was found; read it again when it is complete";
    IngestError::input(url, reason).into()
}

fn scratch(url: &str, error: std::io::Error) -> Error {
    let folder = std::env::temp_dir();
    let reason = format!(
        "its copy in {} could not be written ({error}); TMPDIR names another folder, with room for \
         the object and its text",
        folder.display()
    );
    IngestError::input(url, reason).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str) -> Result<Vec<String>, String> {
        let found = Objects::default().find(name).map_err(|e| e.to_string())?;
        Ok(found.into_iter().map(|input| input.url).collect())
    }

    fn folder() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().expect("a folder");
        for name in [
            "a/one.json",
            "a/b/two.json.gz",
            "a/b/notes.txt",
            "a/.hidden/three.json",
            "a/store/tracesql-store.json",
            "a/store/x/manifest.json",
            "a/odd 100%.json",
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, name).expect("a file");
        }
        let url = format!("file://{}", folder.path().display());
        (folder, url)
    }

    #[test]
    fn a_url_is_an_object_a_folder_or_a_pattern() {
        let (_folder, url) = folder();
        let below = |names: &[&str]| {
            Ok::<_, String>(names.iter().map(|name| format!("{url}/{name}")).collect::<Vec<_>>())
        };
        assert_eq!(names(&format!("{url}/a/one.json")), below(&["a/one.json"]));
        let all = below(&["a/b/two.json.gz", "a/odd 100%25.json", "a/one.json"]);
        for name in ["", "/", "/a", "/a/"] {
            assert_eq!(names(&format!("{url}{name}")), all, "{name}");
        }
        assert_eq!(names(&format!("{url}/a/on*.json")), below(&["a/one.json"]));
        assert_eq!(names(&format!("{url}/a/*/*.json*")), below(&["a/b/two.json.gz"]));
        assert_eq!(names(&format!("{url}/**/t[wx]o*")), below(&["a/b/two.json.gz"]));
    }

    #[test]
    fn names_without_traces_are_explained() {
        let (_folder, url) = folder();
        for (name, wanted) in [
            ("/a/nothing.json", "there is no such object"),
            ("/a/b/*.zst", "no object matches"),
            ("/a/store", "this is a store, not a trace"),
            ("/a/***", "not a pattern"),
        ] {
            let error = names(&format!("{url}{name}")).expect_err("no inputs");
            assert!(error.starts_with(&format!("{url}{name}: {wanted}")), "{error}");
        }
    }

    #[test]
    fn an_object_is_copied_unless_it_changed() {
        let (folder, url) = folder();
        for name in ["a/one.json", "a/odd 100%25.json"] {
            let input = Objects::default().find(&format!("{url}/{name}")).expect("found").remove(0);
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            Objects::default().fetch(&input, file.as_file_mut()).expect("copied");
            let text = std::fs::read_to_string(file.path()).expect("text");
            assert_eq!(text, name.replace("%25", "%"));
        }
        let input = Objects::default().find(&format!("{url}/a/one.json")).expect("found").remove(0);
        std::fs::write(folder.path().join("a/one.json"), "other bytes").expect("a file");
        let mut file = tempfile::tempfile().expect("a file");
        let error = Objects::default().fetch(&input, &mut file).expect_err("changed").to_string();
        assert!(error.contains("changed after it was found"), "{error}");
    }
    #[test]
    fn question_marks_are_refused_and_not_taken_for_patterns() {
        let (_folder, url) = folder();
        for pattern in ["a/on?.json", "a/on?.*son"] {
            let error = names(&format!("{url}/{pattern}")).expect_err("refused");
            assert!(error.contains("write `*` or `[0-9]` in patterns, and %3F"), "{error}");
        }
    }

    #[test]
    fn a_large_object_is_copied_in_parts() {
        let (_folder, url) = folder();
        let objects = Objects { part: 4, ..Objects::default() };
        let input = objects.find(&format!("{url}/a/b/two.json.gz")).expect("found").remove(0);
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        objects.fetch(&input, file.as_file_mut()).expect("copied");
        assert_eq!(std::fs::read_to_string(file.path()).expect("text"), "a/b/two.json.gz");
    }
}
