//! Opens an input, and starts the thread that hashes its bytes and unpacks them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use super::content::{Content, ContentWriter, changed};
use super::decompress::{too_dense, unpacked};
use super::expand::Input;
use super::sniff::{Container, container};
use crate::counted::counted;
use crate::error::{IngestError, Result};
use crate::issues::{Code, Issues};

/// An input that was opened for reading.
pub struct Opened {
    /// The text, which is complete or still growing.
    pub content: Content,
    /// Hash and size of the input's own bytes. For standard input, archive members and files that
    /// are new to the store, they are known only after reading.
    pub hash: HashSource,
    /// The thread that unpacks the input, or only computes its hash.
    unpacker: Option<std::thread::JoinHandle<Result<(blake3::Hash, u64)>>>,
}

/// The time at which the content hash is known.
pub enum HashSource {
    /// The hash and the size are known before reading.
    Known(blake3::Hash, u64),
    /// The hash is known after [`Opened::finish`] returns.
    AtEnd,
}

impl Opened {
    /// Waits for the unpacking thread; returns the hash and the size of the input's own bytes.
    pub fn finish(&mut self, name: &str) -> Result<(blake3::Hash, u64)> {
        let from_thread = match self.unpacker.take() {
            Some(thread) => Some(
                thread
                    .join()
                    .map_err(|_| IngestError::input(name, "unpacking failed unexpectedly"))??,
            ),
            None => None,
        };
        match (&self.hash, from_thread) {
            (HashSource::Known(hash, _), Some((unpacked, _))) if *hash != unpacked => {
                Err(changed(name))
            }
            (HashSource::Known(hash, len), _) => Ok((*hash, *len)),
            (HashSource::AtEnd, Some(end)) => Ok(end),
            (HashSource::AtEnd, None) => Err(IngestError::input(name, "its end was read already")),
        }
    }
}

/// Computes the hash of a file.
fn hash_file(content: &Content) -> Result<(blake3::Hash, u64)> {
    let (len, _) = content.wait(0)?;
    let mut hasher = blake3::Hasher::new();
    let mut at = 0;
    while at < len {
        let end = len.min(at + (1 << 20));
        hasher.update(&content.map(at, end)?);
        at = end;
    }
    Ok((hasher.finalize(), len))
}

/// Opens an input. `scratch` is a folder for unpacked text. `may_be_known` returns whether the
/// store may already contain a file of this size. In that case the hash of the file is computed
/// before it is read.
pub fn open(
    input: &Input,
    scratch: &Path,
    may_be_known: impl FnOnce(u64) -> Result<bool>,
) -> Result<Opened> {
    match input {
        Input::File(path) => open_file(path, scratch, may_be_known),
        Input::Copy { input, .. } => open(input, scratch, may_be_known),
        Input::Stdin => spool(scratch, "-", || Ok(Box::new(std::io::stdin().lock()))),
        Input::ZipMember { archive, index, .. } => {
            let (path, index) = (archive.clone(), *index);
            spool_with(scratch, &input.name(), move |writer| {
                let fail = |e: zip::result::ZipError| {
                    IngestError::input(&path.display().to_string(), format!("zip: {e}"))
                };
                let io = |e| IngestError::io(&path, e);
                let file = File::open(&path).map_err(io)?;
                let len = file.metadata().map_err(io)?.len();
                let mut archive = zip::ZipArchive::new(file).map_err(fail)?;
                let member = archive.by_index(index).map_err(fail)?;
                // The size in the archive's directory may be larger than the archive itself.
                let packed = member.compressed_size().min(len);
                copy_unpacked(member, writer, Some(packed))
            })
        }
        Input::TarMember { archive, index, .. } => {
            let (path, index) = (archive.clone(), *index);
            spool_with(scratch, &input.name(), move |writer| {
                let io = |e| IngestError::io(&path, e);
                let packed = std::fs::metadata(&path).map_err(io)?.len();
                let mut archive = tar::Archive::new(unpacked(&path)?);
                match archive.entries().map_err(io)?.nth(index) {
                    Some(entry) => copy_unpacked(entry.map_err(io)?, writer, Some(packed)),
                    None => Err(IngestError::input(
                        &path.display().to_string(),
                        "the archive changed while it was read",
                    )),
                }
            })
        }
    }
}

fn open_file(
    path: &Path,
    scratch: &Path,
    may_be_known: impl FnOnce(u64) -> Result<bool>,
) -> Result<Opened> {
    let io = |e| IngestError::io(path, e);
    let mut file = File::open(path).map_err(io)?;
    if !file.metadata().map_err(io)?.is_file() {
        // The bytes of a pipe or device can be read only once.
        return spool(scratch, &path.display().to_string(), {
            let path = path.to_owned();
            move || Ok(Box::new(File::open(&path).map_err(|e| IngestError::io(&path, e))?))
        });
    }
    let mut magic = [0u8; 4];
    let n = file.read(&mut magic).map_err(io)?;
    let is_plain = container(&magic[..n]) == Container::Plain;
    let content = Content::of_file(file, path)?;
    if is_plain && !may_be_known(content.wait(0)?.0)? {
        let hasher = std::thread::spawn({
            let content = content.clone();
            move || hash_file(&content)
        });
        return Ok(Opened { content, hash: HashSource::AtEnd, unpacker: Some(hasher) });
    }
    let (hash, len) = hash_file(&content)?;
    if is_plain {
        return Ok(Opened { content, hash: HashSource::Known(hash, len), unpacker: None });
    }
    let mut opened = spool(scratch, &path.display().to_string(), {
        let path = path.to_owned();
        move || Ok(Box::new(File::open(&path).map_err(|e| IngestError::io(&path, e))?))
    })?;
    opened.hash = HashSource::Known(hash, len);
    Ok(opened)
}

type Source = Box<dyn Read>;

fn spool(
    scratch: &Path,
    name: &str,
    source: impl FnOnce() -> Result<Source> + Send + 'static,
) -> Result<Opened> {
    spool_with(scratch, name, move |writer| copy_unpacked(source()?, writer, None))
}

type Copied = (Issues, blake3::Hash, u64);

fn spool_with(
    scratch: &Path,
    name: &str,
    copy: impl FnOnce(&mut ContentWriter) -> Result<Copied> + Send + 'static,
) -> Result<Opened> {
    let (content, mut writer) = Content::growing(scratch)?;
    let name = name.to_owned();
    let unpacker = std::thread::spawn(move || match copy(&mut writer) {
        Ok((issues, hash, len)) => {
            writer.finish(issues);
            Ok((hash, len))
        }
        Err(error) => {
            let error = match error {
                IngestError::Input { reason, byte_offset, .. } => {
                    IngestError::Input { input: name, reason, byte_offset }
                }
                other => other,
            };
            writer.fail(error);
            Ok((blake3::hash(b""), 0))
        }
    });
    Ok(Opened { content, hash: HashSource::AtEnd, unpacker: Some(unpacker) })
}

/// A limit that prevents a few packed bytes from filling the disk.
struct Bound {
    /// Number of packed bytes read.
    read: Arc<AtomicU64>,
    /// Size in packed bytes of the archive's member, or of the archive.
    packed: Option<u64>,
    /// The operating system error that ended reading; 0 if there was none.
    os_error: Arc<AtomicI32>,
}

impl Bound {
    fn check(&self, unpacked: u64) -> Result<()> {
        let packed = self.packed.unwrap_or(u64::MAX).min(self.read.load(Ordering::Relaxed));
        match too_dense(packed, unpacked) {
            Some(reason) => {
                Err(IngestError::Input { input: String::new(), reason, byte_offset: None })
            }
            None => Ok(()),
        }
    }
}

/// A reader that computes the hash of the bytes read and counts them.
struct Hashing<R> {
    inner: R,
    hasher: blake3::Hasher,
    read: Arc<AtomicU64>,
    os_error: Arc<AtomicI32>,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer).inspect_err(|e| {
            if e.kind() != std::io::ErrorKind::Interrupted {
                self.os_error.store(e.raw_os_error().unwrap_or(0), Ordering::Relaxed);
            }
        })?;
        self.hasher.update(&buffer[..n]);
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

fn copy_unpacked(
    source: impl Read,
    writer: &mut ContentWriter,
    packed: Option<u64>,
) -> Result<Copied> {
    let bound = Bound { read: Arc::default(), packed, os_error: Arc::default() };
    let hashing = Hashing {
        inner: source,
        hasher: blake3::Hasher::new(),
        read: bound.read.clone(),
        os_error: bound.os_error.clone(),
    };
    let mut source = BufReader::with_capacity(1 << 18, hashing);
    let mut issues = Issues::default();
    let refuse =
        |reason: String| IngestError::Input { input: String::new(), reason, byte_offset: Some(0) };
    let head = source.fill_buf().map_err(|e| refuse(format!("cannot be read: {e}")))?;
    match container(head) {
        Container::Gzip => gunzip(&mut source, writer, &mut issues, &bound)?,
        Container::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(&mut source)
                .map_err(|e| refuse(format!("not a Zstandard stream: {e}")))?;
            if let Some(e) = pour(&mut decoder, writer, &bound)? {
                damaged(writer, &mut issues, &e, "Zstandard", &bound)?;
            }
        }
        _ => {
            if let Some(e) = pour(&mut source, writer, &bound)? {
                return Err(refuse(format!("cannot be read: {e}")));
            }
        }
    }
    // The hash covers the whole input, including bytes that were not needed.
    std::io::copy(&mut source, &mut std::io::sink()).ok();
    let hashing = source.into_inner();
    Ok((issues, hashing.hasher.finalize(), hashing.hasher.count()))
}

/// Copies until the end, or until no more bytes are needed. A read error is returned as a value,
/// because the bytes before it are kept. A write error (for example a full disk) does not depend on
/// the input and ends everything.
fn pour(
    reader: &mut impl Read,
    writer: &mut ContentWriter,
    bound: &Bound,
) -> Result<Option<std::io::Error>> {
    let mut buffer = vec![0u8; 1 << 20];
    loop {
        let mut n = 0;
        let mut failure = None;
        while n < buffer.len() {
            match reader.read(&mut buffer[n..]) {
                Ok(0) => break,
                Ok(k) => n += k,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => {
                    failure = Some(e);
                    break;
                }
            }
        }
        bound.check(writer.len() + n as u64)?;
        let wanted = n == 0
            || writer
                .write(&buffer[..n])
                .map_err(|e| IngestError::io("temporary file for the unpacked text", e))?;
        if failure.is_some() || n < buffer.len() || !wanted {
            return Ok(failure);
        }
    }
}

/// Keeps the text that was unpacked before the stream turned out to be damaged. Returns an error if
/// there is no such text, or if the disk failed.
fn damaged(
    writer: &ContentWriter,
    issues: &mut Issues,
    error: &std::io::Error,
    format: &str,
    bound: &Bound,
) -> Result<()> {
    // A disk failure does not mean that the stream is damaged.
    let os_error = bound.os_error.load(Ordering::Relaxed);
    if os_error != 0 {
        let reason = format!("cannot be read: {}", std::io::Error::from_raw_os_error(os_error));
        return Err(IngestError::Input { input: String::new(), reason, byte_offset: None });
    }
    let len = writer.len();
    if len == 0 {
        return Err(IngestError::Input {
            input: String::new(),
            reason: format!("not a usable {format} stream: {error}"),
            byte_offset: Some(0),
        });
    }
    issues.add(Code::DamagedCompression, None, Some(len), b"");
    issues.detail(
        Code::DamagedCompression,
        format!("{format}: {error}; unpacked before that: {}", counted(len, "byte")),
    );
    Ok(())
}

fn gunzip(
    source: &mut impl BufRead,
    writer: &mut ContentWriter,
    issues: &mut Issues,
    bound: &Bound,
) -> Result<()> {
    loop {
        let mut member = flate2::bufread::GzDecoder::new(&mut *source);
        if let Some(e) = pour(&mut member, writer, bound)? {
            if e.kind() == std::io::ErrorKind::InvalidInput
                && e.to_string().contains("corrupt gzip stream does not have a matching checksum")
            {
                issues.add(Code::ChecksumMismatch, None, Some(writer.len()), b"");
            } else {
                damaged(writer, issues, &e, "gzip", bound)?;
                return Ok(());
            }
        }
        // More members or zero padding may follow; any other bytes are not part of the stream.
        loop {
            let Ok(rest) = source.fill_buf() else { return Ok(()) };
            match rest {
                [] => return Ok(()),
                [0x1f, 0x8b, ..] | [0x1f] => break,
                [0, ..] => {
                    let zeros = rest.iter().take_while(|&&b| b == 0).count();
                    source.consume(zeros);
                }
                _ => {
                    let example = rest[..rest.len().min(40)].to_vec();
                    issues.add(Code::TrailingData, None, Some(writer.len()), &example);
                    return Ok(());
                }
            }
        }
    }
}
