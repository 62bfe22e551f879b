//! The shell on a terminal, which the program `script` of util-linux provides.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support::{fixture, needs, tracesql_in};

/// The text that the line editor sends when it starts to read.
const PROMPT: &str = "\x1b[?2004h";

/// A shell over the fixture chrome_mixed, on a terminal with 100 columns and 30 lines.
struct Shell {
    folder: TempDir,
    child: Child,
    keys: ChildStdin,
    output: Receiver<String>,
    seen: String,
}

impl Shell {
    /// Starts a shell; `None` if `script` is not installed.
    fn start() -> Option<Self> {
        Self::start_with_pager("cat > paged")
    }

    fn start_with_pager(pager: &str) -> Option<Self> {
        let script = needs::script()?;
        let folder = TempDir::new().expect("a folder");
        let trace = fixture("chrome_mixed.json");
        let made = tracesql_in(
            folder.path(),
            &["ingest", "-q", trace.to_str().expect("a name"), "-o", "s"],
            &[],
        );
        assert!(made.status.success());
        let run =
            format!("stty cols 100 rows 30; exec '{}' query s", env!("CARGO_BIN_EXE_tracesql"));
        let mut command = Command::new(script);
        command.args(["-qefc", &run, "/dev/null"]).current_dir(folder.path());
        command
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .env("PAGER", pager)
            .env("TRACESQL_CACHE", folder.path().join("cache"));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script runs");
        let (sender, output) = channel();
        let mut out = child.stdout.take().expect("its output");
        std::thread::spawn(move || {
            let (mut bytes, mut text) = ([0; 4096], Vec::new());
            while let Ok(n @ 1..) = out.read(&mut bytes) {
                text.extend_from_slice(&bytes[..n]);
                // A reading may end inside a character.
                let whole = match std::str::from_utf8(&text) {
                    Err(e) if e.error_len().is_none() => e.valid_up_to(),
                    _ => text.len(),
                };
                let rest = text.split_off(whole);
                let text = std::mem::replace(&mut text, rest);
                if sender.send(String::from_utf8_lossy(&text).into_owned()).is_err() {
                    break;
                }
            }
        });
        let keys = child.stdin.take().expect("its input");
        let mut shell = Self { folder, child, keys, output, seen: String::new() };
        shell.until(PROMPT);
        Some(shell)
    }

    fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys are taken");
        self.keys.flush().expect("keys are taken");
    }

    /// Types a line that completes an input. Returns the output up to the next prompt.
    fn line(&mut self, text: &str) -> String {
        self.keys(text);
        self.keys("\r");
        self.until(PROMPT)
    }

    /// Types a line whose output is longer than the screen. Returns the text that the pager got.
    fn paged(&mut self, text: &str) -> String {
        let shown = self.line(text);
        std::fs::read_to_string(self.folder.path().join("paged")).expect(&shown)
    }

    /// The screen output up to a text, which must appear within half a minute.
    fn until(&mut self, wanted: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some(at) = self.seen.find(wanted) {
                let rest = self.seen.split_off(at + wanted.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "{wanted:?} does not come after\n{}",
                self.seen
            );
            if let Ok(text) = self.output.recv_timeout(Duration::from_millis(100)) {
                self.seen.push_str(&text);
            }
        }
    }

    /// The screen output that has not been read yet.
    fn so_far(&mut self) -> &str {
        while let Ok(text) = self.output.try_recv() {
            self.seen.push_str(&text);
        }
        &self.seen
    }

    /// Leaves the shell. Returns the exit code, and the folder with the files that it left.
    fn leave(mut self) -> (Option<i32>, TempDir) {
        self.keys("\x03");
        self.until(PROMPT);
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
        (code, std::mem::replace(&mut self.folder, TempDir::new().expect("a folder")))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // A shell that a failed test leaves running must be stopped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn statements_span_lines_and_their_results_are_counted() {
    let Some(mut shell) = Shell::start() else { return };
    let shown = shell.line("SELECT 'a;b' AS x, -- not yet;\r40 + 2 AS y\r;");
    assert!(shown.contains("│ a;b ┆ 42 │") && shown.contains("(1 row)"), "{shown}");
    assert_eq!(shell.leave().0, Some(0));
}

#[test]
fn it_says_what_is_loaded() {
    let Some(mut shell) = Shell::start() else { return };
    let shown = shell.line("\\loaded");
    assert!(
        shown.contains("1 trace, 98 events")
            && shown.contains("chrome_mixed.json")
            && shown.contains("issues: "),
        "{shown}"
    );
    shell.leave();
}

#[test]
fn errors_do_not_end_it() {
    let Some(mut shell) = Shell::start() else { return };
    assert!(shell.line("SELECT nam FROM events;").contains("^^^ did you mean name?"));
    assert!(shell.line("\\nonsense").contains("there is no command \\nonsense"));
    assert!(shell.line("SELECT 6 * 7 AS n;").contains("│ 42 │"));
    assert_eq!(shell.leave().0, Some(0));
}

#[test]
fn ctrl_c_ends_the_query_and_not_the_shell() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys(
        "SELECT sum(a.event_id * b.event_id % (c.event_id + d.event_id + e.event_id + \
        f.event_id + 1)) FROM events a, events b, events c, events d, events e, events f;\r",
    );
    std::thread::sleep(Duration::from_secs(1));
    let start = Instant::now();
    shell.keys("\x03");
    shell.until("cancelled");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    shell.until(PROMPT);
    assert!(shell.line("SELECT 6 * 7 AS n;").contains("│ 42 │"));
    assert_eq!(shell.leave().0, Some(0));
}

#[test]
fn traces_are_opened_and_added_in_the_shell() {
    let Some(mut shell) = Shell::start() else { return };
    let trace = fixture("perf.json").display().to_string();
    let shown = shell.line(&format!("\\ingest '{trace}'"));
    assert!(shown.contains("2 traces, ") && shown.contains("perf.json"), "{shown}");
    let shown = shell.line("\\open 'nothing*.json'");
    assert!(shown.contains("error: "), "{shown}");
    assert!(shell.line("SELECT count(*) AS n FROM traces;").contains("│ 2 │"));
    let shown = shell.line(&format!("\\open '{trace}'"));
    assert!(shown.contains("1 trace, "), "{shown}");
    assert!(shell.line("\\open -").contains("standard input is the shell's"));
    assert_eq!(shell.leave().0, Some(0));
}

#[test]
fn ctrl_c_ends_the_reading_of_a_trace_and_not_the_shell() {
    let Some(mut shell) = Shell::start() else { return };
    let pipe = shell.folder.path().join("pipe.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().is_ok_and(|s| s.success()));
    shell.keys("\\open pipe.json\r");
    // The shell waits for text that never arrives.
    let writer = std::fs::File::options().write(true).open(&pipe).expect("the shell reads");
    std::thread::sleep(Duration::from_millis(200));
    shell.keys("\x03");
    shell.until("cancelled");
    shell.until(PROMPT);
    assert!(shell.line("SELECT 6 * 7 AS n;").contains("│ 42 │"));
    drop(writer);
    assert_eq!(shell.leave().0, Some(0));
}

/// The values in the results of `SELECT number AS n`, in order.
fn numbers(shown: &str) -> Vec<u32> {
    let cell = |line: &str| line.trim().strip_prefix('│')?.strip_suffix('│')?.trim().parse().ok();
    shown.lines().filter_map(cell).collect()
}

#[test]
fn pasted_statements_all_run_in_order() {
    let Some(mut shell) = Shell::start() else { return };
    for count in [4, 40, 200] {
        // One piece of text, as a terminal sends it that does not mark what is pasted. The largest
        // is longer than the line editor's buffer.
        let text: String = (1..=count).map(|n| format!("SELECT {n} AS n;\r")).collect();
        shell.keys(&text);
        let mut shown = String::new();
        for _ in 0..count {
            shown += &shell.until("(1 row)");
        }
        assert_eq!(numbers(&shown), (1..=count).collect::<Vec<u32>>(), "{shown}");
        shell.until(PROMPT);
    }
    assert_eq!(shell.leave().0, Some(0));
}

#[test]
fn statements_typed_during_a_query_run_after_it_even_after_ctrl_c() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys(
        "SELECT sum(a.event_id * b.event_id % (c.event_id + d.event_id + e.event_id + \
        f.event_id + 1)) FROM events a, events b, events c, events d, events e, events f;\r",
    );
    shell.until("running for ");
    shell.keys("SELECT 5 AS n;\rSELECT 6\rAS n;\r");
    std::thread::sleep(Duration::from_millis(300));
    shell.keys("\x03");
    let shown = shell.until("cancelled") + &shell.until("(1 row)") + &shell.until("(1 row)");
    assert_eq!(numbers(&shown), [5, 6], "{shown}");
    shell.until(PROMPT);
    assert_eq!(shell.leave().0, Some(0));
}

#[test]
fn statements_typed_after_ctrl_c_at_the_prompt_run() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT 'never closed\r\x03SELECT 5 AS n;\rSELECT 6 AS n;\r");
    let shown = shell.until("(1 row)") + &shell.until("(1 row)");
    assert_eq!(numbers(&shown), [5, 6], "{shown}");
    shell.until(PROMPT);
    shell.leave();
}

#[test]
fn the_time_in_the_pager_is_not_the_query_s() {
    let Some(mut shell) = Shell::start_with_pager("sleep 3; cat > paged") else { return };
    shell.line("\\timing on");
    let start = Instant::now();
    let shown = shell.line("SELECT event_id FROM events;");
    assert!(start.elapsed() >= Duration::from_secs(3), "the pager was not used");
    let line = shown.lines().find(|l| l.contains(" for 98 rows")).expect("the time");
    let words: Vec<&str> = line.split_whitespace().collect();
    let time: f64 = words[0].parse().expect("a number");
    assert!(words[1] == "ms" || time < 2.5, "{line}");
    shell.leave();
}

#[test]
fn further_lines_have_a_prompt_and_bare_words_are_commands() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT 'a\rb' AS x,\r");
    shell.until("       -> ");
    shell.keys("help");
    shell.until("is part of this statement");
    shell.keys("\x03");
    shell.until(PROMPT);
    let shown = shell.line("SELECT 'a\rb' AS x;");
    assert!(shown.contains("│ a\\nb │"), "{shown}");
    assert!(shell.paged("help").contains("\\timing [on|off]"));
    assert!(shell.paged("help kernels;").starts_with("kernels  (table)"));
    shell.keys("exit\r");
    let start = Instant::now();
    while shell.child.try_wait().expect("it can be waited for").is_none() {
        assert!(start.elapsed() < Duration::from_secs(30), "the shell does not leave");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn long_queries_report_progress_and_remove_it() {
    let Some(mut shell) = Shell::start() else { return };
    shell.line("\\timeout 2");
    shell.keys(
        "SELECT sum(a.event_id * b.event_id % (c.event_id + d.event_id + e.event_id + \
        f.event_id + 1)) FROM events a, events b, events c, events d, events e, events f;\r",
    );
    shell.until("running for 1.");
    let shown = shell.until("error: ");
    assert!(shown.contains("rows read; Ctrl-C stops the query"), "{shown}");
    assert!(shown.ends_with("query\r\x1b[Kerror: "), "{shown}");
    shell.until(PROMPT);
    shell.leave();
}

#[test]
fn one_wide_line_needs_no_pager() {
    let Some(mut shell) = Shell::start() else { return };
    let path = shell.folder.path().join("paged");
    let shown =
        shell.line("\\explain SELECT name, cat, ts_ns, dur_ns FROM events WHERE dur_ns > 5;");
    assert!(shown.contains("physical_plan") && !path.exists(), "{shown}");
    shell.leave();
}

#[test]
fn wide_tables_show_both_ends() {
    let Some(mut shell) = Shell::start() else { return };
    let numbers: Vec<String> =
        (1..7).map(|n| format!("event_id + {n}000000000000000 AS n{n}")).collect();
    let shown =
        shell.line(&format!("SELECT trace_id, {} FROM events LIMIT 3;", numbers.join(", ")));
    assert!(shown.contains("The same in all rows: trace_id = "), "{shown}");
    assert!(
        shown.contains("┆ … ┆") && shown.contains(" columns; \\x shows all of them"),
        "{shown}"
    );
    shell.leave();
}

#[test]
fn tab_completes_values() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT count(*) AS n FROM tracks WHERE kind = 'cpu");
    let start = Instant::now();
    // The first lookup may take longer than the key waits.
    while !shell.so_far().contains("'cpu_thread'") {
        assert!(start.elapsed() < Duration::from_secs(30), "{}", shell.seen);
        shell.keys("\t");
        std::thread::sleep(Duration::from_millis(500));
    }
    assert!(shell.line(";").contains("│ 10 │"));
    shell.leave();
}

#[test]
fn words_find_views() {
    let Some(mut shell) = Shell::start() else { return };
    assert!(shell.paged("\\search gpu idle").contains("gpu_idle_gaps"));
    assert!(shell.line("\\search xyzzy").contains("nothing contains"));
    shell.leave();
}

#[test]
fn commands_of_other_shells_work() {
    let Some(mut shell) = Shell::start() else { return };
    assert!(shell.line("\\l").contains("1 trace, 98 events"));
    assert!(shell.line(".databases").contains("1 trace, 98 events"));
    assert!(shell.paged("\\d+ kernels").starts_with("kernels  (table)"));
    shell.line(".mode line");
    assert!(shell.line(".mode").contains("format: vertical"));
    assert!(shell.line(".timer on").contains("timing: on"));
    assert!(shell.line("\\! echo $((6 * 7))").contains("42"));
    assert!(shell.line(".modes").contains("there is no command .modes; did you mean .mode?"));
    shell.line(".timeout 0.5");
    let slow = "SELECT sum(a.event_id * b.event_id % (c.event_id + d.event_id + 1)) \
        FROM events a, events b, events c, events d, events e, events f;";
    assert!(shell.line(slow).contains("error: "));
    shell.leave();
}

#[test]
fn ctrl_c_at_the_prompt_clears_the_line() {
    let Some(mut shell) = Shell::start() else { return };
    shell.keys("SELECT 'never closed\r\x03");
    shell.until(PROMPT);
    assert!(shell.line("SELECT 6 * 7 AS n;").contains("│ 42 │"));
    shell.leave();
}

#[test]
fn tab_completes() {
    let Some(mut shell) = Shell::start() else { return };
    assert!(shell.line("SELECT count(*) AS n FROM ingest_i\t WHERE 1 = 0;").contains("│ 0 │"));
    shell.keys("SELECT kernels.\t");
    shell.until("grid_x");
    shell.leave();
}

#[test]
fn what_was_typed_is_remembered() {
    let Some(mut shell) = Shell::start() else { return };
    assert!(shell.line("SELECT 6 * 7\rAS n;").contains("│ 42 │"));
    assert!(shell.line("\x1b[A").contains("│ 42 │"));
    let (_, folder) = shell.leave();
    let history = std::fs::read_to_string(folder.path().join("cache/history")).expect("a history");
    assert_eq!(history.matches("SELECT 6 * 7").count(), 1, "{history}");
}

#[test]
fn long_results_go_through_the_pager() {
    let Some(mut shell) = Shell::start() else { return };
    shell.line("SELECT event_id FROM events;");
    let path = shell.folder.path().join("paged");
    let paged = std::fs::read_to_string(&path).expect("the pager ran");
    assert!(paged.contains("event_id") && paged.ends_with("(98 rows)\n"), "{paged}");
    std::fs::remove_file(&path).expect("it is there");
    shell.line("\\pager off");
    assert!(shell.line("SELECT event_id FROM events;").contains("(98 rows)"));
    assert!(!path.exists());
    shell.leave();
}

#[test]
fn tables_fit_the_terminal() {
    let Some(mut shell) = Shell::start() else { return };
    let shown = shell.line("SELECT repeat('long ', 50) AS text, 123456789012345 AS number;");
    assert!(shown.contains("123456789012345 │") && shown.contains("…"), "{shown}");
    assert!(
        shown
            .lines()
            .filter(|l| l.starts_with(['│', '┌']))
            .all(|l| l.trim_end().chars().count() <= 100),
        "{shown}"
    );
    shell.line("\\fit off");
    shell.line("\\pager off");
    assert!(shell.line("SELECT repeat('long ', 50) AS text;").contains(&"long ".repeat(50)));
    shell.leave();
}

#[test]
fn commands_change_what_follows() {
    let Some(mut shell) = Shell::start() else { return };
    for command in ["\\set n 41", "\\x on", "\\timing on"] {
        shell.line(command);
    }
    let shown = shell.line("SELECT $n + 1 AS more;");
    assert!(shown.contains("more │ 42") && shown.contains(" ms for 1 row"), "{shown}");
    shell.line("\\o out.csv");
    assert!(shell.line("SELECT 1 AS a;").contains("1 row to out.csv"));
    assert_eq!(
        std::fs::read_to_string(shell.folder.path().join("out.csv")).expect("a file"),
        "a\n1\n"
    );
    shell.leave();
}

#[test]
fn nothing_raw_of_a_trace_reaches_the_terminal() {
    let Some(mut shell) = Shell::start() else { return };
    let name = r#"{"traceEvents":[{"ph":"i","name":"\u001b[31mred\u0007","ts":1}]}"#;
    std::fs::write(shell.folder.path().join("odd\u{1b}[31m.json"), name).expect("a file");
    let shown = shell.line("\\open odd*.json") + &shell.line("SELECT name FROM events;");
    assert!(
        shown.contains("\\u{1b}[31mred\\u{7}") && shown.contains("odd\\u{1b}[31m.json"),
        "{shown}"
    );
    assert!(!shown.contains("\x1b[31m"), "{shown:?}");
    shell.leave();
}

#[test]
fn a_file_that_is_cancelled_leaves_nothing() {
    let Some(mut shell) = Shell::start() else { return };
    shell.line("\\o out.csv");
    shell.keys("SELECT a.name FROM events a, events b, events c, events d, events e;\r");
    std::thread::sleep(Duration::from_secs(1));
    shell.keys("\x03");
    shell.until("cancelled");
    let left = |name: &str| Path::exists(&shell.folder.path().join(name));
    assert!(!left("out.csv") && !left("out.csv.partial"));
    shell.until(PROMPT);
    shell.leave();
}
