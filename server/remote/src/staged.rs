//! Unfinished files in stores that are folders on this machine. A file is written under its name
//! with `#` and a number after it, and is then renamed. A writer that dies leaves it, and lists do
//! not contain it.

use std::fs;
use std::path::{Path as FilePath, PathBuf};

use object_store::path::Path;
use tracesql::Result;
use tracesql_ingest::IngestError;

use crate::gc::Leftover;
use crate::layout::{self, Object};

/// The deepest level of files in a store.
const DEPTH: usize = 3;

/// The unfinished files of tracesql in the folder of a store.
pub fn find(root: &FilePath) -> Vec<Leftover> {
    let mut found = Vec::new();
    look(root, "", DEPTH, &mut found);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn look(folder: &FilePath, prefix: &str, depth: usize, found: &mut Vec<Leftover>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(about) = entry.metadata() else { continue };
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if about.is_dir() && depth > 1 {
            look(&entry.path(), &format!("{name}/"), depth - 1, found);
        } else if about.is_file() && is_unfinished(&name) {
            found.push(Leftover {
                keys: Vec::new(),
                staged: vec![entry.path()],
                name,
                bytes: about.len(),
                since: about.modified().unwrap_or_else(|_| std::time::SystemTime::now()),
            });
        }
    }
}

/// Whether this is the name of an unfinished object of a store.
fn is_unfinished(name: &str) -> bool {
    name.rsplit_once('#').is_some_and(|(object, number)| {
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        is_number && layout::kind(&Path::default(), &Path::from(object)) != Object::Foreign
    })
}

/// Removes unfinished files. Those that do not exist are no error.
pub fn remove(leftovers: &[Leftover]) -> Result<()> {
    let files: Vec<&PathBuf> = leftovers.iter().flat_map(|leftover| &leftover.staged).collect();
    for file in files {
        match fs::remove_file(file) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(IngestError::io(file, e).into());
            }
            _ => {}
        }
    }
    Ok(())
}
