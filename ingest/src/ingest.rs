//! Reads one input into a store.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use crate::arrange::StepPattern;
use crate::build::{self, BuildOptions, Origin};
use crate::error::{IngestError, Result};
use crate::issues::Issues;
use crate::schema::{SCHEMA_VERSION, TABLES};
use crate::side::flight::rank_after_word;
use crate::source::{HashSource, Input, open, without_comments};
use crate::store::{Manifest, Store, TableFacts, VERSION};
use crate::trace::Progress;

/// Options for reading an input. `default()` uses all cores and half of the machine's memory.
#[derive(Debug, Clone, Default)]
pub struct IngestOptions {
    /// Number of threads; 0 (the default) means all cores.
    pub threads: usize,
    /// Memory limit in bytes; 0 (the default) means half of the machine's memory.
    pub memory_limit: usize,
    /// Whether to refuse an input that has issues worse than an info.
    pub strict: bool,
    /// Whether to read an input again even if the store already contains it.
    pub replace: bool,
    /// The names of ranges that are steps, in place of `ProfilerStep#N`. A trace that the store
    /// contains with other steps is read again.
    pub steps_from: Option<StepPattern>,
}

/// The most inputs that are read at the same time. Each has about six files open.
const MAX_READERS: usize = 32;
/// The memory in bytes for which one more input is read at the same time.
const READER_BYTES: usize = 256 << 20;

/// The result of reading an input.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The trace in the store.
    pub manifest: Manifest,
    /// Whether the store already contained the trace.
    pub was_there: bool,
    /// Issues that were found; empty if the store already contained the trace.
    pub issues: Issues,
    /// Seconds that each phase took.
    pub phases: Vec<(&'static str, f64)>,
}

impl Outcome {
    /// The result for an input that the store contains already.
    pub fn known(manifest: Manifest) -> Self {
        Self { manifest, was_there: true, issues: Issues::default(), phases: Vec::new() }
    }
}

impl IngestOptions {
    fn thread_count(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        if self.threads == 0 { cores } else { self.threads }
    }

    fn memory_bytes(&self) -> usize {
        if self.memory_limit == 0 { physical_memory() / 2 } else { self.memory_limit }
    }

    /// The number of inputs that may be read at the same time by one thread each.
    pub fn readers(&self) -> usize {
        self.thread_count().min(self.memory_bytes() / READER_BYTES).clamp(1, MAX_READERS)
    }

    /// The options for each of several inputs that are read at the same time by one thread each.
    pub fn of_each(&self, readers: usize) -> Self {
        let memory_limit = self.memory_bytes() / readers.max(1);
        Self { threads: 1, memory_limit, ..self.clone() }
    }

    fn build_options(&self) -> BuildOptions {
        let (threads, limit) = (self.thread_count(), self.memory_bytes());
        // Mapped text, encoders and names take an amount of memory that does not grow with the
        // trace.
        let fixed = (threads * (96 << 20)).min(limit / 2);
        BuildOptions {
            threads,
            memory_limit: limit - fixed,
            strict: self.strict,
            steps_from: self.steps_from.clone(),
        }
    }

    /// Whether a trace that is stored already is what these options ask for.
    pub fn accept(&self, stored: &Manifest) -> bool {
        let pattern = self.steps_from.as_ref().map(StepPattern::as_str);
        !self.replace && (pattern.is_none() || stored.steps_from.as_deref() == pattern)
    }
}

/// The memory of the machine in bytes; 4 GiB if it is not known.
pub fn physical_memory() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|l| {
        l.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()
    });
    total.map_or(4 << 30, |kib| kib << 10)
}

/// Reads an input and stores it. Does nothing if the store already contains the same bytes.
///
/// Fails if the input cannot be read or is not a trace, if it changes while it is read, if
/// [`Progress::stop`] is set, or if the store cannot be written. The store is then unchanged.
pub fn ingest(
    input: &Input,
    store: &Store,
    options: &IngestOptions,
    progress: &Progress,
) -> Result<Outcome> {
    let done = read_into(input, store, options, progress);
    match input {
        Input::Copy { file, origin, .. } => done.map_err(|e| e.renamed(file, origin)),
        _ => done,
    }
}

fn read_into(
    input: &Input,
    store: &Store,
    options: &IngestOptions,
    progress: &Progress,
) -> Result<Outcome> {
    let name = input.name();
    let scratch = store.scratch()?;
    let may_be_known = |bytes| Ok(!options.replace && store.has_input_of(bytes)?);
    let mut opened = open(input, scratch.path(), may_be_known)?;
    if let HashSource::Known(hash, _) = &opened.hash
        && let Some(manifest) = store.find(&hash.to_hex(), &name)?
        && options.accept(&manifest)
    {
        opened.content.abandon();
        return Ok(Outcome::known(manifest));
    }
    let build_options = options.build_options();
    let content = without_comments(&opened.content, scratch.path())?;
    // A file that changes while it is read can look broken in many ways: report the change.
    let read = build::read(&name, &content, scratch.path(), &build_options, progress)
        .or_else(|e| opened.content.must_be_unchanged().and(Err(e)))?;
    let (hash, input_bytes) = opened.finish(&name)?;
    let content_hash = hash.to_hex().to_string();
    let stored = if options.replace { None } else { store.find(&content_hash, &name)? };
    if let Some(manifest) = stored.as_ref().filter(|manifest| options.accept(manifest)) {
        return Ok(Outcome::known(manifest.clone()));
    }
    let replace = options.replace || stored.is_some();
    let mut trace_id =
        stored.map_or_else(|| Store::trace_id(&slug(&name), &content_hash), |old| old.trace_id);
    if !replace && store.trace_folder(&trace_id).exists() {
        // The same bytes of another rank, with a name that is equal where it is cut.
        let rank = rank_after_word(&name).unwrap_or_default();
        trace_id = Store::trace_id(&format!("rank{rank}-{}", slug(&name)), &content_hash);
    }
    let origin = Origin {
        name: &name,
        trace_id: trace_id.clone(),
        content_hash: content_hash.clone(),
        input_bytes,
    };
    let folder = scratch.folder("trace")?;
    let built =
        read.write(&origin, &folder).or_else(|e| opened.content.must_be_unchanged().and(Err(e)))?;
    opened.content.must_be_unchanged()?;
    let mut tables = BTreeMap::new();
    for (table, rows) in &built.rows {
        let path = folder.join(format!("{table}.parquet"));
        let (bytes, blake3) = file_facts(&path)?;
        tables.insert((*table).to_owned(), TableFacts { rows: *rows, bytes, blake3 });
    }
    debug_assert_eq!(tables.len(), TABLES.len());
    let manifest = Manifest {
        schema_version: SCHEMA_VERSION,
        tracesql_version: VERSION.to_owned(),
        trace_id,
        content_hash,
        path: name,
        is_renamed: false,
        input_bytes,
        input_etag: match input {
            Input::Copy { etag, .. } => etag.clone(),
            _ => None,
        },
        text_bytes: built.text_bytes,
        element_count: built.elements,
        steps_from: options.steps_from.as_ref().map(|from| from.as_str().to_owned()),
        tables,
    };
    let manifest = store.commit(&folder, &manifest, replace)?;
    Ok(Outcome { manifest, was_there: false, issues: built.issues, phases: built.phases })
}

/// Returns the size of a file and the BLAKE3 hash of its bytes.
pub(crate) fn file_facts(path: &Path) -> Result<(u64, String)> {
    let io = |e| IngestError::io(path, e);
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path).map_err(io)?).map_err(io)?;
    Ok((hasher.count(), hasher.finalize().to_hex().to_string()))
}

/// Returns the hash of a file's bytes, as in `traces.content_hash`, or `None` for standard input
/// and archive members. Fails if the file cannot be read.
pub fn trace_hash(input: &Input) -> Result<Option<String>> {
    match input {
        Input::File(path) => Ok(Some(file_facts(path)?.1)),
        Input::Copy { input, .. } => trace_hash(input),
        _ => Ok(None),
    }
}

/// Returns the readable part of a trace's name.
fn slug(name: &str) -> String {
    let base = name.rsplit(['/', '\\', '!']).next().unwrap_or(name);
    let mut base = base.to_lowercase();
    for ending in [
        ".gz",
        ".zst",
        ".json",
        ".pickle",
        ".pkl",
        ".pb",
        ".xplane",
        ".pftrace",
        ".perfetto-trace",
        ".trace",
        ".pt",
        ".folded",
        ".speedscope",
        ".raw",
        ".et",
    ] {
        if let Some(stem) = base.strip_suffix(ending) {
            base = stem.to_owned();
        }
    }
    let mut slug = String::new();
    for c in base.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        if !(c == '-' && slug.ends_with('-')) {
            slug.push(c);
        }
    }
    let slug: String = slug.trim_matches('-').chars().take(48).collect();
    if slug.is_empty() { "trace".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn slugs_are_plain_names() {
        assert_eq!(slug("/a/b/worker0.1623.pt.trace.json.gz"), "worker0-1623");
        assert_eq!(slug("x.zip!dir/Trace 1.json"), "trace-1");
        assert_eq!(slug("-"), "trace");
        assert_eq!(slug("ünïcode '\"$.json"), "n-code");
    }
}
