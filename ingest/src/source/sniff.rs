//! Recognizes file formats by content, never by name.

use std::io::Read;

use crate::json::Cursor;

/// The container format of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// Neither compressed nor an archive.
    Plain,
    /// A gzip stream with one or more members.
    Gzip,
    /// A Zstandard stream.
    Zstd,
    /// A zip archive.
    Zip,
    /// A tar archive.
    Tar,
}

/// Determines the container from the first bytes of a file (262 bytes are enough).
pub fn container(head: &[u8]) -> Container {
    match head {
        [0x1f, 0x8b, ..] => Container::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Container::Zstd,
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Container::Zip,
        _ if head.get(257..262) == Some(b"ustar") => Container::Tar,
        _ => Container::Plain,
    }
}

/// Fills `head` with the first bytes, as far as they exist; returns their number.
pub fn read_head(reader: &mut impl Read, head: &mut [u8]) -> std::io::Result<usize> {
    let mut n = 0;
    while n < head.len() {
        match reader.read(&mut head[n..])? {
            0 => break,
            k => n += k,
        }
    }
    Ok(n)
}

/// A known format that is not supported, and what the user can do instead.
struct Known {
    what: &'static str,
    advice: &'static str,
}

/// Advice for formats that Nsight Systems also exports.
const OF_NSYS: &str = "a profile of Nsight Systems is read as SQLite (`nsys export --type sqlite`)";

/// Explains why unpacked content that does not begin like JSON is refused, and at which offset.
/// Returns `None` if the content may be JSON.
pub fn refuse_by_content(head: &[u8]) -> Option<(String, u64)> {
    let known = |what, advice| Some(Known { what, advice });
    let found = match head {
        _ if head.starts_with(b"PAR1") => known(
            "a Parquet file",
            "give the trace it was made from, or open it with DuckDB or pandas",
        ),
        _ if head.starts_with(b"ARROW1") => known("an Arrow file", OF_NSYS),
        _ if head.starts_with(b"\x89HDF") => known("an HDF5 file", OF_NSYS),
        _ if head.starts_with(b"NVR") => {
            known("an Nsight Compute report (.ncu-rep)", "give the PyTorch profiler's JSON trace")
        }
        _ if is_nsys_report(head) => known(
            "a native report of Nsight Systems (.nsys-rep, .qdrep)",
            "export it with `nsys export --type sqlite --output report.sqlite report.nsys-rep` \
             and give report.sqlite",
        ),
        _ if head.starts_with(b"version https://git-lfs") => {
            known("a git-lfs pointer, not the file itself", "fetch the file with `git lfs pull`")
        }
        _ if head.starts_with(b"\x7fELF") => known("an ELF binary", "give a trace"),
        _ if head.starts_with(b"(dp") || head.starts_with(b"(lp") => known(
            "a Python pickle of protocol 0, which is text",
            "write it with protocol 2 or later, as torch.cuda.memory._dump_snapshot does",
        ),
        _ if is_rocprof_csv(head) => known(
            "a CSV file of rocprofv3, which holds one part of a profile",
            "give its database (`--output-format rocpd`) or its JSON (`--output-format json`)",
        ),
        [0x1f, 0x8b, ..] => known("gzip within gzip", "unpack it once"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            known("Zstandard within a compressed file", "unpack it once")
        }
        [b'P', b'K', 3, 4, ..] => known("a zip archive within a compressed file", "unpack it once"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{' | b'[', 0, ..] | [0, b'{' | b'[', ..] => {
            known("UTF-16 text", "write it as UTF-8")
        }
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => {
            known("a zlib stream", "write it plain or as gzip")
        }
        _ => None,
    };
    if let Some(Known { what, advice }) = found {
        return Some((format!("this is {what}; {advice}"), 0));
    }
    let mut c = Cursor::new(head, if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 });
    c.skip_space();
    let offset = c.pos as u64;
    let rest = &head[c.pos..];
    let lower: Vec<u8> = rest.iter().take(16).map(u8::to_ascii_lowercase).collect();
    let reason = match rest {
        [] | [b'{' | b'[', ..] => return None,
        _ if lower.starts_with(b"<!doctype") || lower.starts_with(b"<html") => {
            "this is an HTML page, not a trace: export_memory_timeline of torch.profiler writes \
             only a picture to .html, so give it a name that ends in .raw.json.gz or .json; for a \
             page of memory_viz give the pickle that it was made from; if you downloaded a trace, \
             the download was redirected"
                .to_owned()
        }
        [b'/', b'/' | b'*', ..] => "comments are not JSON; remove them".to_owned(),
        _ if looks_like_protobuf(head) => "this is a protobuf message, but neither an XPlane \
                                           file nor a Perfetto trace; a pprof profile is not a \
                                           trace"
            .to_owned(),
        [b, ..] if *b < 0x20 || *b >= 0x80 => format!("binary data (byte 0x{b:02x}), not JSON"),
        _ => "a trace is a JSON object with `traceEvents` or a list of events; this is neither"
            .to_owned(),
    };
    Some((reason, offset))
}

/// Whether the content is a native report of Nsight Systems, whose layout is not public.
fn is_nsys_report(head: &[u8]) -> bool {
    let starts: [&[u8]; 3] = [b"NVIDIA Tegra Profiler Report", b"QDSTRM", b"NSYS"];
    starts.iter().any(|start| head.starts_with(start))
}

/// Whether the content begins with the header line of a CSV file of rocprofv3.
fn is_rocprof_csv(head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    let has = |word: &[u8]| line.windows(word.len()).any(|w| w == word);
    line.starts_with(b"\"")
        && (has(b"\"Correlation_Id\"") || has(b"\"Start_Timestamp\""))
        && line.contains(&b',')
}

/// Whether the content starts with a length-delimited field 1, soon followed by bytes that JSON
/// does not allow.
fn looks_like_protobuf(head: &[u8]) -> bool {
    head.first() == Some(&0x0a)
        && head.iter().take(64).any(|&b| b < 0x09 || (0x0e..0x20).contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_recognized_by_content() {
        assert_eq!(container(b"\x1f\x8b\x08"), Container::Gzip);
        assert_eq!(container(b"{\"traceEvents\""), Container::Plain);
        assert_eq!(container(b""), Container::Plain);
    }

    #[test]
    fn refusals_name_the_format() {
        for (head, word) in [
            (&b"PAR1\x15"[..], "Parquet"),
            (b"ARROW1\0\0", "--type sqlite"),
            (b"\x89HDF\r\n", "HDF5"),
            (b"(dp0\nVsegments", "pickle"),
            (b"NVIDIA Tegra Profiler Report\0", "nsys export --type sqlite"),
            (b"<!DOCTYPE html>", "HTML"),
            (b"\x0a\x1a\x08\x01\x12\x16\x0a\x04boot", "protobuf"),
            (b"// x\n{}", "comments"),
            (b"\"Domain\",\"Function\",\"Correlation_Id\"\n", "CSV"),
            (b"\xff\xfe{\0", "UTF-16"),
            (b"42", "neither"),
        ] {
            let (reason, _) = refuse_by_content(head).expect(word);
            assert!(reason.contains(word), "{reason}");
        }
        assert!(refuse_by_content(b"\xef\xbb\xbf\n [").is_none());
    }
}
