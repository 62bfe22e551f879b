//! Compares the bytes of a file with its manifest while they are copied, so that a damaged file
//! never becomes part of another store.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use tracesql_ingest::{IngestError, TableFacts, schema};

/// The number of bytes that are copied at once.
const PART: usize = 1 << 20;

/// The bytes of a file so far.
#[derive(Debug, Default)]
pub struct Bytes {
    hash: Box<blake3::Hasher>,
    count: u64,
}

impl Bytes {
    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.count += bytes.len() as u64;
    }

    /// Fails if these are not the bytes that a manifest describes. `store` is the store of the
    /// file.
    pub fn check(&self, facts: &TableFacts, file: &str, store: &str) -> Result<(), IngestError> {
        let reason = if self.count != facts.bytes {
            format!("{file} has {} bytes, but {} were written", self.count, facts.bytes)
        } else if self.hash.finalize().to_hex().as_str() != facts.blake3 {
            format!("the bytes of {file} are not those that were written")
        } else {
            return Ok(());
        };
        Err(IngestError::Store {
            path: store.into(),
            reason: format!(
                "{reason}; the trace was not copied. Look at its store: `tracesql-full doctor \
                 {store}`"
            ),
        })
    }
}

/// Copies the file of a table from the folder of a trace to another folder. Fails if the file is
/// not the one that the manifest describes.
pub fn copy_file(
    from: &Path,
    to: &Path,
    table: &str,
    facts: &TableFacts,
) -> Result<(), IngestError> {
    let file = format!("{table}.parquet");
    let (from_file, to_file) = (from.join(&file), to.join(&file));
    let io = |path: &Path, e| IngestError::io(path, e);
    if schema::table(table).is_none() {
        let reason = format!("its manifest names {table:?}, which cannot be a table");
        return Err(IngestError::Store { path: from.to_owned(), reason });
    }
    let mut source = File::open(&from_file).map_err(|e| io(&from_file, e))?;
    let mut target = File::create(&to_file).map_err(|e| io(&to_file, e))?;
    let (mut read, mut part) = (Bytes::default(), vec![0; PART]);
    loop {
        let length = source.read(&mut part).map_err(|e| io(&from_file, e))?;
        if length == 0 {
            return read.check(facts, &from_file.display().to_string(), &store_of(from));
        }
        read.add(&part[..length]);
        target.write_all(&part[..length]).map_err(|e| io(&to_file, e))?;
    }
}

/// The name of the store that contains the folder of a trace.
pub fn store_of(folder: &Path) -> String {
    folder.parent().unwrap_or(folder).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Fault, Trial};

    #[test]
    fn files_of_a_copied_trace_are_written_to_the_disk_before_it_is_visible() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = tracesql_ingest::Store::open_or_create(folder.path()).expect("a store");
        let manifest = Trial::new(|_| Fault::None).described(1);
        let added = store.add::<IngestError>(&manifest, false, |folder| {
            for table in manifest.tables.keys() {
                // It can be read, and refuses to be synced.
                let file = folder.join(format!("{table}.parquet"));
                std::os::unix::fs::symlink("/dev/null", &file).expect("a link");
            }
            Ok(())
        });
        assert!(added.is_err(), "each file is synced");
        assert!(store.traces().expect("a list").is_empty());
    }
}
