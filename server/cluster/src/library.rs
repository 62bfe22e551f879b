//! The views and rules of a session on another machine: the files of the user travel, and a hash
//! shows that both have the same library.

use std::path::{Path, PathBuf};

use tracesql::Result;
use tracesql::library::{Body, Library, source_files};

use crate::wire::File;

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
        files.extend(source_files(option, folder)?.into_iter().map(|file| File {
            folder: u32::try_from(number).unwrap_or(u32::MAX),
            path: file.inside.to_string_lossy().into_owned(),
            content: file.text.into_bytes(),
        }));
    }
    Ok(files)
}

/// The numbered folders below a folder where [`write`] puts files.
pub fn folders(files: &[File], below: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for file in files {
        let folder = below.join(file.folder.to_string());
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// Writes files into numbered folders below a folder.
pub fn write(files: &[File], below: &Path) -> std::io::Result<()> {
    for file in files {
        let inside = Path::new(&file.path);
        let is_inside =
            inside.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !is_inside {
            return Err(std::io::Error::other(format!("{}: not inside a folder", file.path)));
        }
        let path = below.join(file.folder.to_string()).join(inside);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, &file.content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tracesql::library::Library;

    use super::{files, folders, hash, write};
    use crate::wire::File;

    #[test]
    fn files_of_a_user_give_the_same_library_elsewhere() {
        let here = tempfile::tempdir().expect("a folder");
        let there = tempfile::tempdir().expect("a folder");
        let area = here.path().join("mine");
        std::fs::create_dir(&area).expect("a folder");
        let view = "-- One row.\n-- @scope trace\n-- @column n BIGINT count The number one.\n\
                    SELECT 1 AS n\n";
        std::fs::write(area.join("first.SQL"), view).expect("a file");
        std::fs::write(area.join("notes.txt"), "notes").expect("a file");
        let own = [here.path().to_owned()];
        let load = |folders: &[_]| Library::load(folders).expect("a library");
        assert_eq!(load(&own).problems(), []);
        let files = files("--sql", &own).expect("files");
        assert_eq!(files.len(), 1);
        write(&files, there.path()).expect("written");
        let written = folders(&files, there.path());
        assert_eq!(hash(&load(&own)), hash(&load(&written)));
        assert_ne!(hash(&load(&own)), hash(&load(&[])));
    }

    #[test]
    fn files_outside_the_folder_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = File { folder: 0, path: "../evil.sql".into(), content: Vec::new() };
        assert!(write(&[file], folder.path()).is_err());
    }
}
