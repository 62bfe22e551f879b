//! The command line: formats, files, parameters, exit codes and output channels.

mod cache;
mod formats;
mod help_texts;
mod scripts;
mod stores;
mod trace_names;

use std::path::PathBuf;
use std::process::Output;

use tempfile::TempDir;

use crate::support::{fixture, needs, texts, tracesql_in};

/// A folder with a store `s` of the fixture chrome_mixed. The program runs in it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self::empty();
        place.ok(&[
            "ingest",
            "--quiet",
            fixture("chrome_mixed.json").to_str().expect("a name"),
            "-o",
            "s",
        ]);
        place
    }

    fn empty() -> Self {
        Self { folder: TempDir::new().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), bytes).expect("a file");
        self.path(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        tracesql_in(self.folder.path(), args, &[("TRACESQL_CACHE", &self.path("cache"))])
    }

    /// Runs a call that must succeed; returns its standard output.
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{args:?}\n{stderr}");
        assert!(!stderr.contains("error:"), "{args:?}\n{stderr}");
        stdout
    }

    /// Runs a call that must fail with this exit code; returns its standard error.
    fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{stderr}");
        assert!(stdout.is_empty(), "results of a failure: {stdout}");
        assert!(stderr.contains("error: "), "{args:?}\n{stderr}");
        stderr
    }

    /// Runs a call that must fail with this exit code after some results; returns its standard
    /// error.
    fn fails_after(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let (_, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{stderr}");
        stderr
    }

    /// The CSV result of a query over the store.
    fn csv(&self, sql: &str) -> String {
        self.ok(&["query", "s", "--format", "csv", "-c", sql])
    }
}

#[test]
fn exit_code_0_for_help_and_version() {
    let place = Place::empty();
    assert!(place.ok(&["--version"]).starts_with("tracesql "));
    let help = place.ok(&["--help"]);
    for word in ["ingest", "query", "list", "remove", "Exit codes"] {
        assert!(help.contains(word), "{word}");
    }
    for command in ["ingest", "query", "list", "remove"] {
        assert!(place.ok(&[command, "--help"]).contains("Usage: tracesql"), "{command}");
    }
}

/// The trace of a file that was opened before has the path by which it is opened now, so that it
/// belongs to the job in its folder.
#[test]
fn a_trace_in_the_cache_is_called_what_it_is_called_now() {
    let place = Place::empty();
    std::fs::create_dir(place.path("run")).expect("a folder");
    for rank in 0..2 {
        let file = format!("synthetic_gpu_rank{rank}.json.gz");
        std::fs::copy(fixture(&file), place.path(&format!("run/{file}"))).expect("a copy");
    }
    std::fs::copy(fixture("synthetic_gpu_rank0.json.gz"), place.path("alone.json.gz"))
        .expect("a copy");
    let paths = "SELECT path FROM traces ORDER BY path";
    let csv =
        |names: &[&str], sql: &str| place.ok(&[names, &["--format", "csv", "-c", sql]].concat());
    assert_eq!(csv(&["alone.json.gz"], paths), "path\nalone.json.gz\n");
    let both = "path\nrun/synthetic_gpu_rank0.json.gz\nrun/synthetic_gpu_rank1.json.gz\n";
    assert_eq!(csv(&["run"], paths), both);
    let jobs = "SELECT count(*) AS n FROM job_ranks WHERE ranks = 2 AND job LIKE 'run %'";
    assert_eq!(csv(&["run"], jobs), "n\n2\n");
    // Filters see the path of now too, also those that name no other column.
    let of = |path: &str| format!("SELECT count(*) AS n FROM traces WHERE path = '{path}'");
    assert_eq!(csv(&["run"], &of("run/synthetic_gpu_rank0.json.gz")), "n\n1\n");
    assert_eq!(csv(&["run"], &of("alone.json.gz")), "n\n0\n");
    assert_eq!(csv(&["alone.json.gz"], &of("alone.json.gz")), "n\n1\n");
}

/// Dumps of ranks that recorded nothing are often equal.
#[test]
fn equal_files_of_two_ranks_are_two_traces() {
    let place = Place::empty();
    let dump = r#"{"version":"2.10","pg_config":{},"entries":[]}"#;
    for rank in 0..3 {
        place.write(&format!("nccl_trace_rank_{rank}.json"), dump);
    }
    place.write("nccl_trace_rank_1.copy.json", dump);
    let sql = "SELECT rank, path FROM traces ORDER BY rank, path";
    let all = [0, 1, 2].map(|rank| format!("{rank},nccl_trace_rank_{rank}.json\n"));
    let names = [0, 1, 2].map(|rank| format!("nccl_trace_rank_{rank}.json"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let opened = place.ok(&[&names[..], &["--format", "csv", "-c", sql]].concat());
    assert_eq!(opened, format!("rank,path\n{}", all.concat()));
    place.ok(&[&["ingest", "-o", "s"], &names[..], &["nccl_trace_rank_1.copy.json"]].concat());
    assert_eq!(place.csv(sql), format!("rank,path\n{}", all.concat()));
}

#[test]
fn exit_code_2_for_usage() {
    let place = Place::new();
    place.fails(2, &[]);
    place.fails(2, &["query"]);
    place.fails(2, &["ingest", "x.json"]);
    place.fails(2, &["query", "s", "--format", "xml", "-c", "SELECT 1"]);
    place.fails(2, &["query", "s", "-c", "SELECT 1", "-f", "q.sql"]);
    place.fails(2, &["query", "s", "-p", "novalue", "-c", "SELECT 1"]);
    place.fails(2, &["query", "s", "-f", "not-here.sql"]);
    place.fails(2, &["query", "s", "-c", "  ;  "]);
    place.fails(2, &["query", "s", "--memory-limit", "12 parsecs", "-c", "SELECT 1"]);
    place.fails(2, &["query", "s", "--memory-limit", "10MB", "-c", "SELECT 1"]);
    place.fails(2, &["query", "s", "-o", "x.csv", "-c", "SELECT 1; SELECT 2"]);
    place.fails(2, &["s", "other.json", "-c", "SELECT 1"]);
    assert!(!place.path("x.csv").exists());
}

#[test]
fn exit_code_3_for_what_cannot_be_read() {
    let place = Place::new();
    place.write("page.json", "<html>");
    place.fails(3, &["ingest", "page.json", "-o", "new"]);
    place.fails(3, &["page.json", "-c", "SELECT 1"]);
    place.fails(3, &["not-here.json", "-c", "SELECT 1"]);
    assert!(place.fails(3, &["query", "not-here", "-c", "SELECT 1"]).contains("no such store"));
    std::fs::create_dir(place.path("folder")).expect("a folder");
    place.write("folder/file", "x");
    assert!(
        place.fails(3, &["query", "folder", "-c", "SELECT 1"]).contains("not a tracesql store")
    );
    assert!(place.fails(3, &["ingest", "page.json", "-o", "folder"]).contains("not a store"));
    assert!(place.fails(3, &["ingest", "page.json", "-o", "page.json"]).contains("in the way"));
    place.fails(2, &["remove", "s", "nobody"]);
}

#[test]
fn exit_code_4_for_queries() {
    let place = Place::new();
    assert!(place.fails(4, &["query", "s", "-c", "SELEC 1"]).contains("SELEC"));
    assert!(place.fails(4, &["query", "s", "-c", "SELECT nope FROM events"]).contains("nope"));
    assert!(place.fails(4, &["query", "s", "-c", "SELECT * FROM nope"]).contains("nope"));
    place.fails(4, &["query", "s", "-c", "SELECT 1 / 0"]);
    place.fails(4, &["query", "s", "-o", "no/such/folder/x.csv", "-c", "SELECT 1"]);
}

#[test]
fn queries_write_nothing_but_their_result() {
    let place = Place::new();
    place.fails(4, &["query", "s", "-c", "COPY events TO 'out.parquet'"]);
    place.fails(4, &["query", "s", "-c", "INSERT INTO events SELECT * FROM events"]);
    assert!(!place.path("out.parquet").exists());
    assert_eq!(place.csv("SELECT count(*) AS n FROM events"), "n\n98\n");
}

#[test]
fn results_go_to_standard_output_and_all_else_to_standard_error() {
    let place = Place::empty();
    let trace = place.write("t.json", r#"{"traceEvents":[{"ph":"i","name":"a","ts":1}, 7]}"#);
    let output = place.run(&["ingest", trace.to_str().expect("a name"), "-o", "s"]);
    let (stdout, stderr) = texts(&output);
    assert_eq!(stdout.lines().count(), 1, "the trace's name: {stdout}");
    assert!(stdout.starts_with("t-"));
    assert!(
        stderr.contains(": 1 event in ")
            && stderr.contains("warning: ")
            && stderr.contains("1 × not_an_object"),
        "{stderr}"
    );
    let (stdout, stderr) =
        texts(&place.run(&["query", "s", "--format", "csv", "-c", "SELECT name FROM events"]));
    assert_eq!((stdout.as_str(), stderr.as_str()), ("name\na\n", ""));
}

#[test]
fn quiet_says_nothing_but_errors() {
    let place = Place::empty();
    place.write("t.json", r#"{"traceEvents":[{"ph":"i","name":"a","ts":1}, 7]}"#);
    let output = place.run(&["ingest", "--quiet", "t.json", "-o", "s"]);
    assert_eq!(texts(&output).1, "");
    let name = texts(&output).0;
    assert_eq!(texts(&place.run(&["remove", "-q", "s", name.trim()])).1, "");
    place.fails(3, &["ingest", "-q", "not-here.json", "-o", "s"]);
}

#[test]
fn sql_from_a_file_from_standard_input_and_from_nowhere() {
    let place = Place::new();
    place.write("q.sql", "-- how many\nSELECT count(*) AS n FROM events;\n");
    assert_eq!(place.ok(&["query", "s", "--format", "csv", "-f", "q.sql"]), "n\n98\n");
    for args in [&["-f", "-"][..], &[]] {
        let all = [&["query", "s", "--format", "csv"], args].concat();
        assert_eq!(with_input(&place, &all, "SELECT 7 AS n"), "n\n7\n");
    }
    place.fails(2, &["query", "s"]);
}

#[test]
fn what_is_no_file_is_written_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let place = Place::new();
    let pipe = place.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).expect("the pipe is read")
    });
    place.ok(&["query", "s", "-c", "SELECT 7 AS n", "--format", "csv", "-o", "pipe"]);
    assert_eq!(reader.join().expect("the reader ends"), "n\n7\n");
    assert!(std::fs::symlink_metadata(&pipe).expect("it is there").file_type().is_fifo());

    place.write("real.csv", "old");
    std::os::unix::fs::symlink("real.csv", place.path("link.csv")).expect("a link");
    place.ok(&["query", "s", "-c", "SELECT 8 AS n", "-o", "link.csv"]);
    assert!(
        std::fs::symlink_metadata(place.path("link.csv"))
            .expect("it is there")
            .file_type()
            .is_symlink()
    );
    assert_eq!(std::fs::read_to_string(place.path("real.csv")).expect("the file"), "n\n8\n");
}

fn with_input(place: &Place, args: &[&str], input: &str) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracesql"));
    command
        .args(args)
        .current_dir(place.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    texts(&output).0
}

#[test]
fn parameters_stand_for_values() {
    let place = Place::new();
    let sql = "SELECT $n + 1 AS n, $t AS t, $f * 2 AS f, $b AS b, $z IS NULL AS z, $n AS again";
    let out = place.ok(&[
        "query", "s", "--format", "csv", "-c", sql, "-p", "n=41", "-p", "t=it's; x=1", "-p",
        "f=1.5", "-p", "b=true", "-p", "z=null",
    ]);
    assert_eq!(out, "n,t,f,b,z,again\n42,it's; x=1,3.0,true,true,41\n");
    assert_eq!(
        place.ok(&[
            "query",
            "s",
            "--format",
            "csv",
            "-c",
            "SELECT count(*) AS n FROM events WHERE ph = $ph",
            "-p",
            "ph=C"
        ]),
        place.csv("SELECT count(*) AS n FROM events WHERE ph = 'C'")
    );
    place.fails(4, &["query", "s", "-c", "SELECT $missing", "-p", "n=1"]);
}

#[test]
fn statements_run_in_order() {
    let place = Place::new();
    assert_eq!(place.csv("SELECT 1 AS a; SELECT 2 AS b"), "a\n1\nb\n2\n");
    assert_eq!(place.csv("CREATE VIEW v AS SELECT 5 AS x; SELECT x FROM v"), "x\n5\n");
}

#[test]
fn threads_and_memory_limits_are_taken_everywhere() {
    let place = Place::new();
    for args in [
        &["--threads", "1"][..],
        &["--memory-limit", "1GiB"],
        &["--threads", "3", "--memory-limit", "400MB"],
    ] {
        let all =
            [args, &["query", "s", "--format", "csv", "-c", "SELECT count(*) AS n FROM events"]]
                .concat();
        assert_eq!(place.ok(&all), "n\n98\n", "{args:?}");
    }
}

#[test]
fn a_reader_that_stops_is_no_error() {
    let place = Place::new();
    let script = format!(
        "'{}' query s --format csv -c 'SELECT e.* \
            FROM events e, events f, events g' | head -2; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_tracesql")
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(place.folder.path())
        .output()
        .expect("bash runs");
    let (stdout, stderr) = texts(&output);
    assert_eq!(stdout.lines().last(), Some("0"), "{stderr}");
    assert_eq!(stderr, "");
}

#[test]
fn a_full_disk_is_an_error() {
    let Some(full) = needs::full_device() else { return };
    let place = Place::new();
    for format in ["csv", "json", "table", "parquet", "arrow", "markdown", "vertical"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tracesql"));
        command
            .args(["query", "s", "--format", format, "-c", "SELECT * FROM events"])
            .current_dir(place.folder.path());
        let output = command
            .stdout(std::fs::File::options().write(true).open(&full).expect("/dev/full"))
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(4), "{format}");
        assert!(
            texts(&output).1.starts_with("error: cannot write standard output"),
            "{format}: {}",
            texts(&output).1
        );
    }
}
