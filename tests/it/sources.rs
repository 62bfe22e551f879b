//! Sources of traces: files, compressed or not, archives, folders, patterns and standard input.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tracesql_ingest::{IngestOptions, Progress, expand, ingest};

use crate::support::archives::{Part, gzip, tar, zip, zstd};
use crate::support::{TestStore, fixture, root, texts, tracesql_in};

/// The content of all sources in this module.
fn trace() -> Vec<u8> {
    std::fs::read(fixture("chrome_mixed.json")).expect("a fixture")
}

/// A trace with one event that has this name.
fn small(name: &str) -> Vec<u8> {
    format!("[{{\"ph\":\"i\",\"name\":\"{name}\",\"ts\":1}}]").into_bytes()
}

/// All columns of all events, except the name of the trace.
fn events(store: &TestStore, of: &str) -> Vec<Vec<String>> {
    let sql = format!(
        "SELECT e.* EXCLUDE (trace_id) FROM events e JOIN traces t USING (trace_id) \
            WHERE t.path LIKE '%{of}' ORDER BY event_id"
    );
    store.rows(&sql)
}

/// The events of the plain file.
fn wanted() -> Vec<Vec<String>> {
    let (store, _) = TestStore::with(&fixture("chrome_mixed.json"));
    let events = events(&store, "");
    assert_eq!(events.len(), 98);
    events
}

/// Ingests the inputs that names on the command line stand for.
fn take(store: &TestStore, names: &[&Path]) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|n| n.to_str().expect("a name").to_owned()).collect();
    let inputs = expand(&names).unwrap_or_else(|e| panic!("{e}"));
    for input in &inputs {
        ingest(input, &store.store, &IngestOptions::default(), &Progress::default())
            .unwrap_or_else(|e| panic!("{e}"));
    }
    inputs.iter().map(|i| i.name()).collect()
}

fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, bytes).expect("a file");
    path
}

#[test]
fn files_in_every_packing_give_the_same_events() {
    let (folder, text, wanted) = (TempDir::new().expect("a folder"), trace(), wanted());
    let (a, b) = text.split_at(text.len() / 2);
    let members = [gzip(a), gzip(b)].concat();
    for (name, bytes) in [
        ("t.json", text.clone()),
        ("t.json.gz", gzip(&text)),
        ("members.json.gz", members),
        ("t.json.zst", zstd(&[Part::Text(&text)])),
        ("frames.json.zst", [zstd(&[Part::Text(a)]), zstd(&[Part::Text(b)])].concat()),
        (
            "real.json.zst",
            std::fs::read(root().join("tests/data/chrome_mixed.json.zst")).expect("test data"),
        ),
    ] {
        let (store, outcome) = TestStore::with(&write(&folder, name, &bytes));
        assert_eq!(events(&store, name), wanted, "{name}");
        assert_eq!(outcome.manifest.input_bytes as usize, bytes.len(), "{name}");
        assert_eq!(outcome.manifest.text_bytes as usize, text.len(), "{name}");
    }
}

#[test]
fn the_content_tells_the_packing_not_the_name() {
    let (folder, text, wanted) = (TempDir::new().expect("a folder"), trace(), wanted());
    for (name, bytes) in [
        ("plain.json.gz", text.clone()),
        ("plain.zip", text.clone()),
        ("gzip.json", gzip(&text)),
        ("zstd.gz", zstd(&[Part::Text(&text)])),
        ("no_ending", text.clone()),
    ] {
        let (store, _) = TestStore::with(&write(&folder, name, &bytes));
        assert_eq!(events(&store, name), wanted, "{name}");
    }
    for (name, bytes) in
        [("zip.json", zip(&[("a.json", &text)])), ("tar.json", tar(&[("a.json", &text)]))]
    {
        let store = TestStore::new();
        take(&store, &[&write(&folder, name, &bytes)]);
        assert_eq!(events(&store, "!a.json"), wanted, "{name}");
    }
}

#[test]
fn each_trace_of_an_archive_is_an_input_named_by_its_member() {
    let (folder, text, wanted) = (TempDir::new().expect("a folder"), trace(), wanted());
    let packed = gzip(&text);
    let members: [(&str, &[u8]); 6] = [
        ("run/a.json", &text),
        ("run/notes.txt", b"not a trace"),
        ("run/b.json.gz", &packed),
        (".hidden.json", b"{}"),
        ("__MACOSX/._a.json", b"junk"),
        ("c.json", b"[]"),
    ];
    for (name, bytes) in [
        ("z.zip", zip(&members)),
        ("t.tar", tar(&members)),
        ("t.tar.gz", gzip(&tar(&members))),
        ("t.tar.zst", zstd(&[Part::Text(&tar(&members))])),
    ] {
        let (store, path) = (TestStore::new(), write(&folder, name, &bytes));
        let names = take(&store, &[&path]);
        let named = |member: &str| format!("{}!{member}", path.display());
        assert_eq!(names, [named("run/a.json"), named("run/b.json.gz"), named("c.json")]);
        assert_eq!(events(&store, "!run/a.json"), wanted, "{name}");
        assert_eq!(events(&store, "!run/b.json.gz"), wanted, "{name}");
        assert_eq!(
            store.lines("SELECT path FROM traces ORDER BY 1"),
            [named("c.json"), named("run/a.json"), named("run/b.json.gz")]
        );
    }
}

#[test]
fn archives_of_real_packers_are_read() {
    for name in ["two_traces.zip", "two_traces.tar.gz"] {
        let store = TestStore::new();
        let names = take(&store, &[&root().join("tests/data").join(name)]);
        assert_eq!(names.len(), 2, "{name}");
        assert_eq!(events(&store, "!run/chrome_mixed.json"), wanted(), "{name}");
        assert_eq!(
            store.lines("SELECT format FROM traces ORDER BY path"),
            ["chrome", "mllm_perf"],
            "{name}"
        );
    }
}

#[test]
fn traces_are_named_after_their_file_and_their_bytes() {
    let (folder, store) = (TempDir::new().expect("a folder"), TestStore::new());
    let a = write(&folder, "Worker 0.1623.pt.trace.json.gz", &gzip(&small("a")));
    let outcome = store.ingest(&a).expect("it is read");
    let (id, hash) = (&outcome.manifest.trace_id, &outcome.manifest.content_hash);
    assert_eq!(*id, format!("worker-0-1623-{}", &hash[..12]));
    let z = write(&folder, "z.zip", &zip(&[("dir/Trace 1.json", &small("b"))]));
    take(&store, &[&z]);
    assert_eq!(
        store.lines(
            "SELECT split_part(trace_id, '-', 1), split_part(trace_id, '-', 2) \
        FROM traces WHERE path LIKE '%!%'"
        ),
        ["trace 1"]
    );
}

#[test]
fn a_folder_stands_for_all_traces_under_it() {
    let (folder, store) = (TempDir::new().expect("a folder"), TestStore::new());
    let run = folder.path().join("run");
    for name in [
        "run/b.json",
        "run/a.json.gz",
        "run/deep/er/c.json",
        "run/notes.txt",
        "run/.hidden/d.json",
        "run/model.pt",
    ] {
        write(&folder, name, &small(name));
    }
    write(&folder, "run/e.zip", &zip(&[("in.json", &small("e"))]));
    let at = |name: &str| run.join(name).to_str().expect("a name").to_owned();
    assert_eq!(
        take(&store, &[&run]),
        [at("a.json.gz"), at("b.json"), at("deep/er/c.json"), at("e.zip!in.json")]
    );
}

#[test]
fn a_store_in_a_folder_is_not_taken_for_traces() {
    let folder = TempDir::new().expect("a folder");
    write(&folder, "a.json", &small("a"));
    for _ in 0..2 {
        let output = tracesql_in(folder.path(), &["ingest", "--quiet", ".", "-o", "store"], &[]);
        let (stdout, stderr) = texts(&output);
        assert_eq!((stdout.lines().count(), stderr.as_str()), (1, ""));
    }
}

#[test]
fn a_pattern_stands_for_the_files_it_matches() {
    let (folder, store) = (TempDir::new().expect("a folder"), TestStore::new());
    for name in ["rank10.json", "rank2.json", "rank0.json", "other.json", "deep/rank9.json"] {
        write(&folder, name, &small(name));
    }
    let at = |name: &str| folder.path().join(name).to_str().expect("a name").to_owned();
    assert_eq!(
        take(&store, &[&folder.path().join("rank*.json")]),
        [at("rank0.json"), at("rank10.json"), at("rank2.json")]
    );
    assert_eq!(
        take(&store, &[&folder.path().join("**/rank?.json")]),
        [at("deep/rank9.json"), at("rank0.json"), at("rank2.json")]
    );
}

#[test]
fn a_file_whose_name_looks_like_a_pattern_is_that_file() {
    let (folder, store) = (TempDir::new().expect("a folder"), TestStore::new());
    let odd = write(&folder, "run[1]*.json", &small("odd"));
    write(&folder, "run1x.json", &small("other"));
    assert_eq!(take(&store, &[&odd]), [odd.to_str().expect("a name")]);
}

#[test]
fn standard_input_may_be_packed_too() {
    let (text, wanted) = (trace(), wanted());
    for (what, bytes) in
        [("plain", text.clone()), ("gzip", gzip(&text)), ("zstd", zstd(&[Part::Text(&text)]))]
    {
        let store = TestStore::new();
        let mut child = Command::new(env!("CARGO_BIN_EXE_tracesql"))
            .args(["ingest", "-", "-o"])
            .arg(store.store.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        child.stdin.take().expect("its input").write_all(&bytes).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{what}");
        assert_eq!(events(&store, "-"), wanted, "{what}");
        assert_eq!(texts(&output).0.trim(), store.value("SELECT trace_id FROM traces"), "{what}");
    }
}

#[test]
fn a_pipe_is_read_like_a_file() {
    let store = TestStore::new();
    let script = format!(
        "'{}' ingest <(cat '{}') -o '{}'",
        env!("CARGO_BIN_EXE_tracesql"),
        fixture("chrome_mixed.json").display(),
        store.store.root().display()
    );
    let output = Command::new("bash").args(["-c", &script]).output().expect("bash runs");
    assert!(output.status.success(), "{}", texts(&output).1);
    assert_eq!(events(&store, ""), wanted());
}

#[test]
fn the_same_trace_in_different_packings_is_different_bytes() {
    let (folder, store, text) = (TempDir::new().expect("a folder"), TestStore::new(), trace());
    let files = [write(&folder, "a.json", &text), write(&folder, "a.json.gz", &gzip(&text))];
    take(&store, &[&files[0], &files[1]]);
    assert_eq!(
        store.ints("SELECT count(*), count(DISTINCT content_hash), sum(event_count) FROM traces"),
        [2, 2, 196]
    );
}

#[test]
fn what_is_no_trace_in_an_archive_or_folder_is_left_out_with_a_warning() {
    let folder = TempDir::new().expect("a folder");
    let page = b"<html>";
    write(
        &folder,
        "z.zip",
        &zip(&[("a.json", &small("a")), ("page.json", page), ("config.json", b"{\"k\":1}")]),
    );
    write(&folder, "run/b.json", &small("b"));
    write(&folder, "run/package.json", b"{\"name\":\"x\"}");
    let output = tracesql_in(folder.path(), &["ingest", "z.zip", "run", "-o", "s"], &[]);
    let (stdout, stderr) = texts(&output);
    assert_eq!((output.status.code(), stdout.lines().count()), (Some(0), 2), "{stderr}");
    assert!(
        stderr.contains("warning: left out: z.zip!page.json: this is an HTML page"),
        "{stderr}"
    );
    assert_eq!(stderr.matches("warning: left out: ").count(), 3, "{stderr}");
    let output =
        tracesql_in(folder.path(), &["ingest", "run/b.json", "run/package.json", "-o", "t"], &[]);
    assert_eq!(output.status.code(), Some(3), "what is named must be a trace");
}

#[test]
fn an_archive_or_folder_without_a_trace_is_an_error() {
    let folder = TempDir::new().expect("a folder");
    write(&folder, "z.zip", &zip(&[("page.json", b"<html>"), ("config.json", b"{}")]));
    write(&folder, "run/package.json", b"{}");
    for input in ["z.zip", "run"] {
        let output = tracesql_in(folder.path(), &["ingest", input, "-o", "s"], &[]);
        assert_eq!(output.status.code(), Some(3), "{input}: {}", texts(&output).1);
    }
}

#[test]
fn a_damaged_member_leaves_the_others() {
    let (folder, store) = (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
    let archive = zip(&[
        ("a.json", &small("a")),
        ("broken.json.gz", b"\x1f\x8b\x08"),
        ("c.json", &small("c")),
    ]);
    let path = write(&folder, "z.zip", &archive);
    let output =
        tracesql_in(store.path(), &["ingest", path.to_str().expect("a name"), "-o", "s"], &[]);
    assert_eq!(output.status.code(), Some(3));
    let (stdout, stderr) = texts(&output);
    assert_eq!(stdout.lines().count(), 2);
    assert!(
        stderr.contains("error: ")
            && stderr.contains("z.zip!broken.json.gz: not a usable gzip stream"),
        "{stderr}"
    );
}

#[test]
fn an_unreadable_file_is_an_error_of_the_system() {
    let folder = TempDir::new().expect("a folder");
    let output = tracesql_in(folder.path(), &["ingest", "not/here.json", "-o", "store"], &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        texts(&output).1.starts_with("error: not/here.json: No such file"),
        "{}",
        texts(&output).1
    );
    assert!(!folder.path().join("store").exists(), "no store is made for nothing");
}
