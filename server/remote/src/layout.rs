//! The names of a store's objects.
//!
//! ```text
//! PREFIX/tracesql-store.json                        the marker, with the version of the tables
//! PREFIX/manifests/<content hash>                   one per trace
//! PREFIX/<trace id>/<generation>/<table>.parquet    tables that are too large for the manifest
//! ```

use object_store::path::Path;
use tracesql_ingest::schema;

/// The name of the marker.
pub const MARKER: &str = "tracesql-store.json";
/// The folder with the manifests.
pub const MANIFESTS: &str = "manifests";
/// The number of hexadecimal digits of a generation.
const GENERATION: usize = 32;
/// The number of hexadecimal digits of a content hash.
const HASH: usize = 64;

/// A key below a prefix, which may be empty.
pub fn below<'a>(prefix: &'a Path, parts: impl IntoIterator<Item = &'a str>) -> Path {
    let all = prefix.parts().chain(parts.into_iter().map(Into::into));
    Path::from_iter(all)
}

/// The key of the marker.
pub fn marker(prefix: &Path) -> Path {
    below(prefix, [MARKER])
}

/// The prefix of all manifests.
pub fn manifests(prefix: &Path) -> Path {
    below(prefix, [MANIFESTS])
}

/// The key of the manifest of the input with this hash.
pub fn manifest(prefix: &Path, content_hash: &str) -> Path {
    below(prefix, [MANIFESTS, content_hash])
}

/// The key of a table's file.
pub fn table(prefix: &Path, trace_id: &str, generation: &str, table: &str) -> Path {
    below(prefix, [trace_id, generation, &format!("{table}.parquet")])
}

/// A new name for the files of one publication of a trace.
pub fn new_generation() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// Whether a text is a name that [`new_generation`] returns.
pub fn is_generation(text: &str) -> bool {
    is_hex(text, GENERATION)
}

/// Whether a text is the hash of an input.
pub fn is_hash(text: &str) -> bool {
    is_hex(text, HASH)
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Whether a text can be the id of a trace: one part of a key.
pub fn is_trace_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 255
        && text != MANIFESTS
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// What an object of a store is, by its key.
#[derive(Debug, PartialEq, Eq)]
pub enum Object {
    /// The marker.
    Marker,
    /// The manifest of the input with this hash.
    Manifest(String),
    /// A file of a table.
    Table {
        /// The trace.
        trace_id: String,
        /// The publication of the trace.
        generation: String,
    },
    /// Something that tracesql did not write.
    Foreign,
}

/// What an object below a prefix is, by its key.
pub fn kind(prefix: &Path, key: &Path) -> Object {
    let Some(parts) = key.prefix_match(prefix) else { return Object::Foreign };
    let parts: Vec<String> = parts.map(|p| p.as_ref().to_owned()).collect();
    match parts.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [MARKER] => Object::Marker,
        [MANIFESTS, hash] if is_hash(hash) => Object::Manifest(hash.to_owned()),
        [trace_id, generation, file]
            if is_trace_id(trace_id)
                && is_generation(generation)
                && file.strip_suffix(".parquet").is_some_and(|n| schema::table(n).is_some()) =>
        {
            Object::Table { trace_id: trace_id.to_owned(), generation: generation.to_owned() }
        }
        _ => Object::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_recognized_and_everything_else_is_foreign() {
        let prefix = Path::from("a/b");
        let generation = new_generation();
        assert!(is_generation(&generation), "{generation}");
        let key = table(&prefix, "rank0-12", &generation, "events");
        assert_eq!(key.as_ref(), format!("a/b/rank0-12/{generation}/events.parquet"));
        assert!(
            matches!(kind(&prefix, &key), Object::Table { trace_id, .. } if trace_id == "rank0-12")
        );
        assert_eq!(kind(&prefix, &marker(&prefix)), Object::Marker);
        let hash = "0a".repeat(32);
        assert_eq!(kind(&prefix, &manifest(&prefix, &hash)), Object::Manifest(hash));
        for other in ["a/b/x.txt", "a/b/manifests/x", "a/c/x", "a/b/t/g/events.parquet"] {
            assert_eq!(kind(&prefix, &Path::from(other)), Object::Foreign, "{other}");
        }
        assert_eq!(marker(&Path::from("")).as_ref(), MARKER);
    }
}
