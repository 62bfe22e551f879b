//! Converts names, as given on a command line, to one [`Input`] per trace.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::decompress::unpacked;
use super::sniff::{Container, container, read_head};
use crate::error::{IngestError, Result};
use crate::store::Store;

/// The source of one trace.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input {
    /// A file, compressed or not.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// One member of a zip archive.
    ZipMember {
        /// The archive.
        archive: PathBuf,
        /// The position of the member in the archive.
        index: usize,
        /// The name of the member.
        member: String,
    },
    /// One member of a tar archive, which may be compressed with gzip or Zstandard.
    TarMember {
        /// The archive.
        archive: PathBuf,
        /// The position of the member in the archive.
        index: usize,
        /// The name of the member.
        member: String,
    },
    /// A copy of a trace that is elsewhere, or a member of a copied archive.
    Copy {
        /// The copy.
        input: Box<Input>,
        /// The path of the copy or of the copied archive.
        file: PathBuf,
        /// The place of the original, such as a URL.
        origin: String,
        /// The version of the original, as the server that keeps it reports it.
        etag: Option<String>,
    },
}

impl Input {
    /// Returns the input's name for messages and for `traces.path`.
    pub fn name(&self) -> String {
        match self {
            Self::Copy { input, file, origin, .. } => {
                input.name().replacen(&file.display().to_string(), origin, 1)
            }
            Self::File(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
            Self::ZipMember { archive, member, .. } | Self::TarMember { archive, member, .. } => {
                format!("{}!{member}", archive.display())
            }
        }
    }

    /// Returns the file that is read; `None` for standard input.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::File(file) | Self::Copy { file, .. } => Some(file),
            Self::ZipMember { archive, .. } | Self::TarMember { archive, .. } => Some(archive),
        }
    }
}

/// Endings of files that may be traces, for files that are found in folders.
pub const TRACE_ENDINGS: &[&str] = &[
    ".json",
    ".json.gz",
    ".json.zst",
    ".gz",
    ".zst",
    ".pickle",
    ".pkl",
    ".sqlite",
    "_results.db",
    ".rpd",
    ".xplane.pb",
    ".pftrace",
    ".perfetto-trace",
    ".folded",
    ".zip",
    ".tar",
    ".tgz",
];
/// Number of [`TRACE_ENDINGS`] that are not those of archives.
const PLAIN_ENDINGS: usize = 14;

/// Converts files, folders, glob patterns and `-` (standard input) to inputs, in a stable order.
/// The traces are not opened.
///
/// A folder represents all files in it whose extension is that of a trace, and an archive
/// represents all such members. Fails if a name matches nothing or if an archive cannot be read.
pub fn expand(names: &[String]) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for name in names {
        let path = Path::new(name);
        if name == "-" {
            inputs.push(Input::Stdin);
        } else if path.is_dir() {
            let mut files = Vec::new();
            walk(path, &mut files)?;
            if files.is_empty() {
                return Err(IngestError::input(
                    name,
                    "this folder holds no traces (.json, .pickle, .pkl, .xplane.pb, .pftrace, \
                     also .gz or .zst, .zip, .tar)",
                ));
            }
            for file in files {
                push_file(file, &mut inputs)?;
            }
        } else if !path.exists() && name.contains(['*', '?', '[']) {
            let paths = glob::glob(name)
                .map_err(|e| IngestError::input(name, format!("not a pattern: {e}")))?;
            let before = inputs.len();
            for file in paths.flatten().filter(|p| p.is_file()) {
                push_file(file, &mut inputs)?;
            }
            if inputs.len() == before {
                return Err(IngestError::input(name, "no file matches this pattern"));
            }
        } else {
            push_file(path.to_owned(), &mut inputs)?;
        }
    }
    Ok(inputs)
}

/// Converts a copy of a file that is elsewhere to inputs, like [`expand`]. The inputs and errors
/// have the name of the original.
pub fn expand_copy(file: &Path, origin: &str, etag: Option<&str>) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    push_file(file.to_owned(), &mut inputs).map_err(|e| e.renamed(file, origin))?;
    let copies = inputs.into_iter().map(|input| Input::Copy {
        input: Box::new(input),
        file: file.to_owned(),
        origin: origin.to_owned(),
        etag: etag.map(str::to_owned),
    });
    Ok(copies.collect())
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|e| IngestError::io(folder, e))?;
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    let lower = |path: &Path| {
        path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default()
    };
    if paths.iter().any(|path| is_xplane(&lower(path))) {
        paths.retain(|path| !is_sibling(&lower(path)));
    }
    for path in paths {
        let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        // Skip stores, because they are output.
        if path.is_dir() && !path.is_symlink() && !name.starts_with('.') && !Store::is_store(&path)
        {
            walk(&path, files)?;
        } else if path.is_file()
            && (TRACE_ENDINGS.iter().any(|e| name.ends_with(e)) || is_flight_dump(&name))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a file without an ending has the name of a flight recorder dump, such as
/// `nccl_trace_rank_3`.
fn is_flight_dump(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.len() < name.len()
        && !stem.contains('.')
        && ["trace_rank_", "trace_rank", "trace_rank-"].iter().any(|end| stem.ends_with(end))
}

/// Whether a file is an XPlane file, by its name.
fn is_xplane(name: &str) -> bool {
    [".xplane.pb", ".xplane.pb.gz", ".xplane.pb.zst"].iter().any(|e| name.ends_with(e))
}

/// Whether a file next to an XPlane file holds the same run, or what tools derived from it.
fn is_sibling(name: &str) -> bool {
    [".trace.json.gz", ".trace.json", ".memory_profile.json.gz", ".op_profile.json"]
        .iter()
        .any(|e| name.ends_with(e))
        || name.starts_with("perfetto_trace.json")
}

fn push_file(path: PathBuf, inputs: &mut Vec<Input>) -> Result<()> {
    let io = |e| IngestError::io(&path, e);
    if !path.metadata().map_err(io)?.is_file() {
        // The bytes of a pipe or device can be read only once.
        inputs.push(Input::File(path));
        return Ok(());
    }
    let mut file = File::open(&path).map_err(|e| IngestError::io(&path, e))?;
    let mut head = [0u8; 512];
    let n = read_head(&mut file, &mut head).map_err(|e| IngestError::io(&path, e))?;
    match container(&head[..n]) {
        Container::Zip => zip_members(path, inputs),
        Container::Tar => tar_members(path, inputs),
        Container::Gzip | Container::Zstd if packs_a_tar(&path)? => tar_members(path, inputs),
        _ => {
            inputs.push(Input::File(path));
            Ok(())
        }
    }
}

fn packs_a_tar(path: &Path) -> Result<bool> {
    let mut reader = unpacked(path)?;
    let mut head = [0u8; 512];
    // A damaged stream is reported later, when its trace is read.
    let n = read_head(&mut reader, &mut head).unwrap_or(0);
    Ok(container(&head[..n]) == Container::Tar)
}

fn is_trace_member(name: &str) -> bool {
    let lower = name.to_lowercase();
    let base = lower.rsplit('/').next().unwrap_or(&lower);
    !base.starts_with('.')
        && !lower.starts_with("__macosx/")
        // A checkpoint of torch.save is a zip archive with such a member.
        && base != "data.pkl"
        && (TRACE_ENDINGS[..PLAIN_ENDINGS].iter().any(|e| lower.ends_with(e))
            || is_flight_dump(base))
}

fn zip_members(path: PathBuf, inputs: &mut Vec<Input>) -> Result<()> {
    let refuse = |e: &dyn std::fmt::Display| {
        IngestError::input(&path.display().to_string(), format!("not a usable zip archive: {e}"))
    };
    let file = File::open(&path).map_err(|e| IngestError::io(&path, e))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|e| refuse(&e))?;
    let before = inputs.len();
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(|e| refuse(&e))?;
        let name = member.name().map_err(|e| refuse(&e))?.into_owned();
        if member.is_file() && is_trace_member(&name) {
            inputs.push(Input::ZipMember { archive: path.clone(), index, member: name });
        }
    }
    if inputs.len() == before {
        return Err(refuse(&"it holds no .json, .json.gz or .pickle member"));
    }
    Ok(())
}

fn tar_members(path: PathBuf, inputs: &mut Vec<Input>) -> Result<()> {
    let refuse = |e: &dyn std::fmt::Display| {
        IngestError::input(&path.display().to_string(), format!("not a usable tar archive: {e}"))
    };
    let mut archive = tar::Archive::new(unpacked(&path)?);
    let before = inputs.len();
    for (index, entry) in archive.entries().map_err(|e| refuse(&e))?.enumerate() {
        let entry = entry.map_err(|e| refuse(&e))?;
        let member = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type().is_file() && is_trace_member(&member) {
            inputs.push(Input::TarMember { archive: path.clone(), index, member });
        }
    }
    if inputs.len() == before {
        return Err(refuse(&"it holds no .json, .json.gz or .pickle member"));
    }
    Ok(())
}
