//! Progress on a terminal: a bar with bytes, events per second and remaining time while a trace is
//! read, and a line with the time and the rows read while a query runs.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use tracesql::output::units::plural;
use tracesql_ingest::{Input, Progress};

/// The shares of the bar for reading, for sorting and nesting, and for writing, in proportion to
/// their time.
const READING: f64 = 0.26;
const NESTING: f64 = 0.14;
const WRITING: f64 = 0.60;
const ALL: u64 = 1000;

/// Shows the progress of an input until it is dropped.
pub struct Shown {
    done: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Shown {
    /// Starts to show progress if standard error is a terminal.
    pub fn start(input: &Input, progress: &Arc<Progress>, quiet: bool) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        if quiet || !std::io::stderr().is_terminal() {
            return Self { done, thread: None };
        }
        let (progress, stop, expected, name) =
            (progress.clone(), done.clone(), expected_text(input), input.name());
        let thread = std::thread::spawn(move || show(&name, &progress, expected, &stop));
        Self { done, thread: Some(thread) }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn show(name: &str, progress: &Progress, expected: Option<u64>, stop: &AtomicBool) {
    let bar = match expected {
        Some(_) => {
            ProgressBar::new(ALL).with_style(style("{msg} [{bar:30}] {percent:>3}% {eta} left"))
        }
        None => ProgressBar::new_spinner().with_style(style("{msg} {spinner}")),
    };
    let name = name
        .rsplit('/')
        .next()
        .unwrap_or(name)
        .chars()
        .filter(|c| !c.is_control())
        .collect::<String>();
    let start = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (bytes, elements) = (now(&progress.bytes), now(&progress.elements));
        let rate = elements as f64 / start.elapsed().as_secs_f64().max(0.001);
        bar.set_message(format!(
            "{name}: {}, {elements} {}, {:.1} M events/s",
            HumanBytes(bytes),
            plural(elements, "event"),
            rate / 1e6
        ));
        if let Some(expected) = expected {
            bar.set_position((share(progress, expected) * ALL as f64) as u64);
        }
        bar.tick();
        std::thread::sleep(Duration::from_millis(100));
    }
    bar.finish_and_clear();
}

/// Counts inputs that are read at the same time, if standard error is a terminal.
pub fn count(inputs: usize) -> Option<ProgressBar> {
    let template = "{pos} of {len} traces [{bar:30}] {percent:>3}% {eta} left";
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::new(inputs as u64).with_style(style(template));
    bar.tick();
    Some(bar)
}

/// The share of the work on an input that is done, if its text has this size.
pub fn share(progress: &Progress, expected_bytes: u64) -> f64 {
    let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
    let part = |done: f64, all: f64| (done / all.max(1.0)).min(1.0);
    let elements = now(&progress.elements);
    part(now(&progress.bytes), expected_bytes as f64) * READING
        + part(now(&progress.nested), elements) * NESTING
        + part(now(&progress.rows), elements) * WRITING
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// The line that shows the progress of a query.
pub fn of_query(
    elapsed: Duration,
    rows_read: usize,
    traces_done: Option<(usize, usize)>,
) -> String {
    let rows = match rows_read {
        0 => String::new(),
        1 => ", 1 row read".to_owned(),
        count => format!(", {} rows read", HumanCount(count as u64)),
    };
    let traces = match traces_done {
        Some((done, total)) => format!(", {done} of {total} traces computed"),
        None => String::new(),
    };
    format!("running for {:.1} s{traces}{rows}; Ctrl-C stops the query", elapsed.as_secs_f64())
}

/// The size of the uncompressed text if it is known before the text is read. gzip stores it at the
/// end, modulo 4 GiB.
pub fn expected_text(input: &Input) -> Option<u64> {
    use std::io::{Read, Seek, SeekFrom};
    let path = match input {
        Input::File(path) => path,
        Input::Copy { input, .. } => return expected_text(input),
        _ => return None,
    };
    let mut file = std::fs::File::open(path).ok()?;
    let len = file.metadata().ok()?.len();
    let mut magic = [0u8; 4];
    file.read_exact(&mut magic).ok()?;
    match magic {
        [0x1f, 0x8b, ..] => {
            file.seek(SeekFrom::End(-4)).ok()?;
            file.read_exact(&mut magic).ok()?;
            Some(u32::from_le_bytes(magic) as u64).filter(|&size| size > len)
        }
        [0x28, 0xb5, 0x2f, 0xfd] => None,
        _ => Some(len),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_reports_its_time_and_rows() {
        let after = |rows| of_query(Duration::from_millis(1234), rows, None);
        assert_eq!(after(0), "running for 1.2 s; Ctrl-C stops the query");
        assert_eq!(after(1), "running for 1.2 s, 1 row read; Ctrl-C stops the query");
        assert_eq!(after(12_345), "running for 1.2 s, 12,345 rows read; Ctrl-C stops the query");
        let on_a_cluster = of_query(Duration::from_millis(1234), 0, Some((3, 64)));
        let expected = "running for 1.2 s, 3 of 64 traces computed; Ctrl-C stops the query";
        assert_eq!(on_a_cluster, expected);
    }
}
