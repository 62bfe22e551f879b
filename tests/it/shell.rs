//! The shell on a terminal, which `script` of util-linux provides.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support::{fixture, tracesql_in};

/// A shell over the fixture chrome_mixed, on a terminal of 100 columns and 30 lines.
struct Shell {
    folder: TempDir,
    child: Child,
    keys: ChildStdin,
    output: Receiver<Vec<u8>>,
    seen: String,
}

impl Shell {
    /// Nothing where there is no `script`.
    fn start() -> Option<Self> {
        if !Command::new("script").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success()) {
            eprintln!("left out: there is no `script` of util-linux here");
            return None;
        }
        let folder = TempDir::new().expect("a folder");
        let trace = fixture("chrome_mixed.json");
        let made = tracesql_in(folder.path(), &["ingest", "-q", trace.to_str().expect("a name"), "-o", "s"], &[]);
        assert!(made.status.success());
        let run = format!("stty cols 100 rows 30; exec '{}' query s", env!("CARGO_BIN_EXE_tracesql"));
        let mut command = Command::new("script");
        command.args(["-qefc", &run, "/dev/null"]).current_dir(folder.path());
        command.env("TERM", "xterm").env("NO_COLOR", "1").env("PAGER", "cat > paged").env("TRACESQL_CACHE", folder.path().join("cache"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script runs");
        let (sender, output) = channel();
        let mut out = child.stdout.take().expect("its output");
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = out.read(&mut bytes) {
                if sender.send(bytes[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        let keys = child.stdin.take().expect("its input");
        let mut shell = Self { folder, child, keys, output, seen: String::new() };
        shell.until("tracesql> ");
        Some(shell)
    }

    fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys are taken");
        self.keys.flush().expect("keys are taken");
    }

    /// What comes on the screen up to a text, which must come within half a minute.
    fn until(&mut self, wanted: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some(at) = self.seen.find(wanted) {
                let rest = self.seen.split_off(at + wanted.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            assert!(start.elapsed() < Duration::from_secs(30), "{wanted:?} does not come after\n{}", self.seen);
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(100)) {
                self.seen.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
    }

    /// Leaves; the exit code, and whatever came.
    fn leave(mut self) -> (Option<i32>, TempDir) {
        self.keys("\x04");
        let start = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                break status.code();
            }
            if start.elapsed() > Duration::from_secs(30) {
                self.child.kill().expect("it can be killed");
                panic!("the shell does not leave");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        (code, self.folder)
    }
}

#[test]
fn statements_span_lines_and_their_results_are_counted() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT 'a;b' AS x, -- not yet;\r");
    shell.keys("40 + 2 AS y\r;\r");
    shell.until("│ a;b ┆ 42 │");
    shell.until("(1 row)");
    assert_eq!(shell.leave().0, Some(0));
}

#[test]
fn it_says_what_is_loaded() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("\\loaded\r");
    shell.until("1 trace, 98 events");
    shell.until("chrome_mixed.json");
    shell.until("issues: ");
    shell.leave();
}

#[test]
fn errors_do_not_end_it() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT nam FROM events;\r");
    shell.until("^^^ did you mean name?");
    shell.keys("\\nonsense\r");
    shell.until("there is no command \\nonsense");
    shell.keys("SELECT 6 * 7 AS n;\r");
    shell.until("│ 42 │");
    assert_eq!(shell.leave().0, Some(0));
}

#[test]
fn ctrl_c_ends_the_query_and_not_the_shell() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT sum(a.ts_ns * b.ts_ns % (c.event_id + d.event_id + e.event_id + f.event_id)) FROM events a, events b, events c, events d, events e, events f;\r");
    std::thread::sleep(Duration::from_secs(1));
    let start = Instant::now();
    shell.keys("\x03");
    shell.until("cancelled");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    shell.keys("SELECT 6 * 7 AS n;\r");
    shell.until("│ 42 │");
    assert_eq!(shell.leave().0, Some(0));
}

#[test]
fn ctrl_c_at_the_prompt_clears_the_line() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT 'never closed\r\x03");
    shell.keys("SELECT 6 * 7 AS n;\r");
    shell.until("│ 42 │");
    shell.leave();
}

#[test]
fn tab_completes() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT count(*) AS n FROM ingest_i\t WHERE 1 = 0;\r");
    shell.until("│ 0 │");
    shell.keys("SELECT kernels.\t\x03");
    shell.until("grid_x");
    shell.leave();
}

#[test]
fn what_was_typed_is_remembered() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT 6 * 7\rAS n;\r");
    shell.until("│ 42 │");
    shell.keys("\x1b[A\r");
    shell.until("│ 42 │");
    let (_, folder) = shell.leave();
    let history = std::fs::read_to_string(folder.path().join("cache/history")).expect("a history");
    assert_eq!(history.matches("SELECT 6 * 7").count(), 1, "{history}");
}

#[test]
fn long_results_go_through_the_pager() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT event_id FROM events;\rSELECT 6 * 7 AS n;\r");
    shell.until("│ 42 │");
    let path = shell.folder.path().join("paged");
    let paged = std::fs::read_to_string(&path).expect("the pager ran");
    assert!(paged.contains("event_id") && paged.ends_with("(98 rows)\n"), "{paged}");
    std::fs::remove_file(&path).expect("it is there");
    shell.keys("\\pager off\rSELECT event_id FROM events;\r");
    shell.until("(98 rows)");
    assert!(!path.exists());
    shell.leave();
}

#[test]
fn tables_fit_the_terminal() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT repeat('long ', 50) AS text, 123456789012345 AS number;\r");
    let shown = shell.until("(1 row)");
    assert!(shown.contains("123456789012345 │") && shown.contains("…"), "{shown}");
    assert!(shown.lines().filter(|l| l.starts_with(['│', '┌'])).all(|l| l.trim_end().chars().count() <= 100), "{shown}");
    shell.keys("\\fit off\r\\pager off\rSELECT repeat('long ', 50) AS text;\r");
    shell.until(&"long ".repeat(50));
    shell.leave();
}

#[test]
fn commands_change_what_follows() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("\\set n 41\r\\x on\r\\timing on\rSELECT $n + 1 AS more;\r");
    shell.until("more │ 42");
    shell.until(" ms for 1 row");
    shell.keys("\\o out.csv\rSELECT 1 AS a;\r");
    shell.until("1 row to out.csv");
    assert_eq!(std::fs::read_to_string(shell.folder.path().join("out.csv")).expect("a file"), "a\n1\n");
    shell.leave();
}

#[test]
fn nothing_raw_of_a_trace_reaches_the_terminal() {
    let Some(mut shell) = Shell::start() else { return };
    let name = r#"{"traceEvents":[{"ph":"i","name":"\u001b[31mred\u0007","ts":1}]}"#;
    std::fs::write(shell.folder.path().join("odd\u{1b}[31m.json"), name).expect("a file");
    shell.keys("\\open odd*.json\rSELECT name FROM events;\r");
    let shown = shell.until("\\u{1b}[31mred\\u{7}");
    assert!(!shown.contains("\x1b[31m"), "{shown:?}");
    shell.leave();
}

#[test]
fn a_file_that_is_cancelled_leaves_nothing() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("\\o out.csv\rSELECT a.name FROM events a, events b, events c, events d, events e;\r");
    std::thread::sleep(Duration::from_secs(1));
    shell.keys("\x03");
    shell.until("cancelled");
    let left = |name: &str| Path::exists(&shell.folder.path().join(name));
    assert!(!left("out.csv") && !left("out.csv.partial"));
    shell.leave();
}
