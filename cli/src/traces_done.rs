//! How many traces of a query are computed on a cluster, for the line that shows progress.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

static DONE: Mutex<Option<(usize, usize)>> = Mutex::new(None);

/// The number of queries that show a line.
static LINES: AtomicUsize = AtomicUsize::new(0);

/// Sets how many traces of how many are computed; `None` if no query runs on a cluster. Returns
/// whether the shell shows it, so that the caller does not have to.
pub fn set_traces_done(done: Option<(usize, usize)>) -> bool {
    if let Ok(mut known) = DONE.lock() {
        *known = done;
    }
    LINES.load(Ordering::Relaxed) > 0
}

/// What was set last.
pub fn traces_done() -> Option<(usize, usize)> {
    DONE.lock().ok().and_then(|done| *done)
}

/// Notes that the shell shows progress until it is dropped.
#[derive(Debug)]
pub struct ShellLine(());

impl ShellLine {
    /// Begins to show progress.
    pub fn begin() -> Self {
        LINES.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for ShellLine {
    fn drop(&mut self) {
        LINES.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{ShellLine, set_traces_done, traces_done};

    #[test]
    fn a_line_of_the_shell_shows_the_traces() {
        assert!(!set_traces_done(Some((1, 3))));
        let line = ShellLine::begin();
        assert!(set_traces_done(Some((2, 3))));
        assert_eq!(traces_done(), Some((2, 3)));
        drop(line);
        assert!(!set_traces_done(None));
        assert_eq!(traces_done(), None);
    }
}
