//! The bytes of each case of `tests/expected/bad_inputs.tsv`.

use std::path::Path;

use crate::support::archives::{Part, gzip, tar, zip, zstd};
use crate::support::fixture;

const EVENTS: [&str; 3] = [
    r#"{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1000, "dur": 50}"#,
    r#"{"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 1010, "dur": 20}"#,
    r#"{"ph": "X", "cat": "cpu_op", "name": "c", "pid": 1, "tid": 1, "ts": 1035, "dur": 5}"#,
];

/// A JSON object with these events.
fn object(events: &[&str]) -> Vec<u8> {
    format!("{{\"schemaVersion\": 1,\n\"traceEvents\": [\n{}\n]}}\n", events.join(",\n"))
        .into_bytes()
}

/// A valid trace with three events.
fn good() -> Vec<u8> {
    object(&EVENTS)
}

/// An event with this name, which is inserted between the quotes unchanged.
fn named(name: &str) -> String {
    EVENTS[1].replace("\"b\"", &format!("\"{name}\""))
}

fn cut(mut bytes: Vec<u8>, from_end: usize) -> Vec<u8> {
    bytes.truncate(bytes.len() - from_end);
    bytes
}

fn flip(mut bytes: Vec<u8>, from_end: usize) -> Vec<u8> {
    let at = bytes.len() - from_end;
    bytes[at] ^= 0x55;
    bytes
}

fn utf16(bytes: &[u8], mark: &[u8]) -> Vec<u8> {
    [mark.to_vec(), bytes.iter().flat_map(|&b| [b, 0]).collect()].concat()
}

/// Writes the input of a case. Some cases are not files.
pub fn write(path: &Path, name: &str) {
    match name {
        "missing.json" | "no_match_*.json" => {}
        "empty_folder" => std::fs::create_dir(path).expect("a folder"),
        _ => std::fs::write(path, bytes(name)).expect("write a case"),
    }
}

fn bytes(name: &str) -> Vec<u8> {
    let text = |text: &str| text.as_bytes().to_vec();
    match name {
        "good.json" | "plain_named_gz.json.gz" | "odd name 'quotes\" $x `y` ünï.json" => good(),
        "good.json.gz" | "gz_named_plain.json" => gzip(&good()),
        "zst_named_plain.json" => zstd(&[Part::Text(&good())]),
        "gz_members.json.gz" => [gzip(&good()[..80]), gzip(&good()[80..])].concat(),
        "gz_empty_member.json.gz" => [gzip(b""), gzip(&good()), gzip(b"")].concat(),
        "gz_trailing_zeros.json.gz" => [gzip(&good()), vec![0; 512]].concat(),
        "gz_trailing_garbage.json.gz" => [gzip(&good()), text("GARBAGE after the end")].concat(),
        "gz_truncated.json.gz" => cut(gzip(&good()), 30),
        "gz_truncated_real.json.gz" => {
            cut(std::fs::read(fixture("resnet_cpu.pt.trace.json.gz")).expect("a fixture"), 20_000)
        }
        "gz_bad_crc.json.gz" => flip(gzip(&good()), 8),
        "gz_bad_length.json.gz" => flip(gzip(&good()), 4),
        "gz_bad_block.json.gz" => [&gzip(&good())[..10], &[0xff; 40]].concat(),
        "gz_header_only.json.gz" => gzip(&good())[..7].to_vec(),
        "gz_of_nothing.json.gz" => gzip(b""),
        "gz_twice.json.gz" => gzip(&gzip(&good())),
        // The text is in two blocks, and the second is truncated.
        "zst_truncated.json.zst" => cut(
            zstd(&[
                Part::Text(&good()[..good().len() - 60]),
                Part::Text(&good()[good().len() - 60..]),
            ]),
            10,
        ),
        "zst_magic_only.json.zst" => zstd(&[])[..4].to_vec(),
        "zip_without_traces.zip" => zip(&[("readme.txt", b"nothing")]),
        "zip_cut.zip" => cut(zip(&[("a.json", &good())]), 40),
        "tar_without_traces.tar" => tar(&[("readme.txt", b"nothing")]),
        "empty.json" => Vec::new(),
        "whitespace_only.json" => b" \n\t\r\n".repeat(50),
        "bom.json" => [b"\xef\xbb\xbf".to_vec(), good()].concat(),
        "crlf.json" => text(&String::from_utf8(good()).expect("text").replace('\n', "\r\n")),
        "utf16.json" => utf16(&good(), b"\xff\xfe"),
        "utf16_without_mark.json" => utf16(&good(), b""),
        "invalid_utf8.json" => object(&[EVENTS[0], EVENTS[1]])
            .iter()
            .map(|&b| if b == b'b' { 0xe9 } else { b })
            .collect(),
        _ => more_bytes(name),
    }
}

fn more_bytes(name: &str) -> Vec<u8> {
    let text = |text: &str| text.as_bytes().to_vec();
    let deep = |n: usize| {
        named("deep")
            .replace('}', &format!(r#", "args": {{"k": {}1{}}}}}"#, "[".repeat(n), "]".repeat(n)))
    };
    match name {
        "lone_surrogate.json" => object(&[&named(r"\ud83d")]),
        "raw_newline.json" => object(&[&named("two\nlines"), EVENTS[2]]),
        "quote_in_name.json" => object(&[EVENTS[0], &named("say \"hi\" twice"), EVENTS[2]]),
        "trailing_nuls.json" => [good(), vec![0; 4096]].concat(),
        "hole_of_nuls.json" => [vec![0; 4096], good()].concat(),
        "cut_in_event.json" => cut(good(), 20),
        "stray_brace.json" => object(&[EVENTS[0], &format!("{}}}", EVENTS[1]), EVENTS[2]]),
        "stray_brace_at_the_end.json" => text(&format!("[{}}}", EVENTS.join(","))),
        "cut_in_head.json" => good()[..25].to_vec(),
        "array_cut_in_event.json" => {
            text(&format!("[{}", &EVENTS.join(",")[..EVENTS.join(",").len() - 10]))
        }
        "array_unterminated.json" => text(&format!("[{}", EVENTS.join(","))),
        "deep_unclosed.json" => b"[".repeat(1_000_000),
        "deep_args.json" => object(&[EVENTS[0], &deep(200_000), EVENTS[2]]),
        "deep_top_level.json" => text(&format!(
            "{{\"k\": {}1{}, \"traceEvents\": []}}",
            "[".repeat(2000),
            "]".repeat(2000)
        )),
        "bomb_spaces.json.zst" => zstd(&[Part::Repeat(b' ', 256)]),
        "bomb_one_string.json.zst" => bomb(r#"{"ph": "i", "ts": 1, "name": ""#, 64, r#""}"#),
        "bomb_args.json.zst" => {
            bomb(r#"{"ph": "i", "ts": 1, "name": "a", "args": {"k": ""#, 65, r#""}}"#)
        }
        "top_number.json" => text("42\n"),
        "top_null.json" => text("null"),
        "top_text.json" => text("\"traceEvents\""),
        "other_object.json" => text(r#"{"name": "x", "version": "1.0"}"#),
        "case_wrong.json" => text(&format!(r#"{{"TraceEvents": [{}]}}"#, EVENTS[0])),
        "event_list_null.json" => text(r#"{"traceEvents": null}"#),
        "event_list_object.json" => text(&format!(r#"{{"traceEvents": {}}}"#, EVENTS[0])),
        "event_list_text.json" => text(r#"{"traceEvents": "none"}"#),
        "no_event_in_list.json" => object(&["{}", "1", "null"]),
        "list_of_numbers.json" => text("[1, 2, 3]"),
        "single_quotes.json" => text("{'traceEvents': [{'ph': 'X'}]}"),
        "comments.json" => [text("// a trace\n"), good()].concat(),
        "one_event_a_line.json" => text(&EVENTS.join("\n")),
        "html_page.json" => text("<!DOCTYPE html>\n<html><body>404</body></html>"),
        "parquet_file.json" => text("PAR1\u{15}\u{4}\u{15}PAR1"),
        "sqlite_file.json" => text("SQLite format 3\0\u{10}\0\u{1}\u{1}"),
        "pickle_file.json" => b"\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94.".to_vec(),
        "elf_binary.json" => b"\x7fELF\x02\x01\x01\0\0\0\0\0".to_vec(),
        "perfetto.json" => b"\x0a\x1a\x08\x01\x12\x16\x0a\x04boot\x10\x01".to_vec(),
        "git_lfs_pointer.json" => {
            text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
        }
        "zlib_stream.json" => b"\x78\x9c\x4b\xcc\xcc\x03\0\0".to_vec(),
        "execution_trace.json" => text(r#"{"schema": "1.1", "pid": 1, "nodes": []}"#),
        "cpu_profile.json" => text(r#"{"nodes": [], "samples": [], "timeDeltas": []}"#),
        "memory_snapshot.json" => text(r#"{"segments": [], "device_traces": [[]]}"#),
        "speedscope.json" => text(
            r#"{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {}, "profiles": []}"#,
        ),
        "blobs_not_a_list.json" => text(r#"{"init_time": 1, "memory_blobs": {}}"#),
        "no_events.json" => text(r#"{"traceEvents": []}"#),
        _ => panic!("{name} is not written here"),
    }
}

/// An event list that contains one element of many MiB.
fn bomb(before: &str, mebibytes: usize, after: &str) -> Vec<u8> {
    let (before, after) = (format!("{{\"traceEvents\": [{before}"), format!("{after}]}}"));
    zstd(&[
        Part::Text(before.as_bytes()),
        Part::Repeat(b'x', mebibytes),
        Part::Text(after.as_bytes()),
    ])
}
