//! The views and rules of a session on another machine: the files of the user travel, and a hash
//! shows that both have the same library.

use std::path::{Path, PathBuf};

use tracesql::library::{Body, Library};
use tracesql::{Error, Result};

use crate::wire::File;

/// How deep folders with views are. They are laid out as AREA/NAME.sql, and areas may have folders.
const DEPTH: usize = 3;

/// A hash of all views and rules.
pub fn hash(library: &Library) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for view in library.views() {
        add(&view.name);
        add(view.scope().word());
        match &view.body {
            Body::Query(text) => add(text),
            Body::Data(files) => files.iter().for_each(|file| add(&file.text)),
        }
    }
    hasher.finalize().to_hex().as_str()[..16].to_owned()
}

/// The files of the user's folders.
pub fn files(option: &str, folders: &[PathBuf]) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for (number, folder) in folders.iter().enumerate() {
        let mut paths = Vec::new();
        let cannot =
            |e| Error::Usage(format!("{option} {}: cannot be read: {e}", folder.display()));
        collect(folder, DEPTH, &mut paths).map_err(cannot)?;
        paths.sort();
        for path in paths {
            let inside = path.strip_prefix(folder).unwrap_or(&path);
            files.push(File {
                folder: u32::try_from(number).unwrap_or(u32::MAX),
                path: inside.to_string_lossy().into_owned(),
                content: std::fs::read(&path).map_err(cannot)?,
            });
        }
    }
    Ok(files)
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let extension = path.extension().map(|e| e.to_ascii_lowercase());
        if path.is_dir() {
            if depth > 1 {
                collect(&path, depth - 1, found)?;
            }
        } else if extension.is_some_and(|e| e == "sql" || e == "csv") {
            found.push(path);
        }
    }
    Ok(())
}

/// Writes files into numbered folders below a folder. Returns these folders.
pub fn write(files: &[File], below: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for file in files {
        let folder = below.join(file.folder.to_string());
        let inside = Path::new(&file.path);
        let is_inside =
            inside.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !is_inside {
            return Err(std::io::Error::other(format!("{}: not inside a folder", file.path)));
        }
        let path = folder.join(inside);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, &file.content)?;
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use tracesql::library::Library;

    use super::{files, hash, write};
    use crate::wire::File;

    #[test]
    fn files_of_a_user_give_the_same_library_elsewhere() {
        let here = tempfile::tempdir().expect("a folder");
        let there = tempfile::tempdir().expect("a folder");
        let area = here.path().join("mine");
        std::fs::create_dir(&area).expect("a folder");
        std::fs::write(area.join("first.sql"), "-- First.\nSELECT 1 AS n").expect("a file");
        std::fs::write(area.join("notes.txt"), "notes").expect("a file");
        let folders = [here.path().to_owned()];
        let files = files("--sql", &folders).expect("files");
        assert_eq!(files.len(), 1);
        let written = write(&files, there.path()).expect("folders");
        let load = |folders| hash(&Library::load(folders).expect("a library"));
        assert_eq!(load(&folders), load(&written));
        assert_ne!(load(&folders), load(&[]));
    }

    #[test]
    fn files_outside_the_folder_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = File { folder: 0, path: "../evil.sql".into(), content: Vec::new() };
        assert!(write(&[file], folder.path()).is_err());
    }
}
