//! Watches the memory of the process against a limit. Sessions with the same limit share a watch,
//! so that a server with many sessions has one watching thread.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use datafusion::error::{DataFusionError, Result};
use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

/// The time between two readings of the memory of the process.
const INTERVAL: Duration = Duration::from_millis(3);

/// The watches that are in use.
static WATCHES: Mutex<Vec<Weak<MemoryWatch>>> = Mutex::new(Vec::new());

/// A watch over the memory of the process. Nothing is read while no statement runs.
#[derive(Debug)]
pub struct MemoryWatch {
    bytes: usize,
    shared: Arc<Shared>,
    is_exceeded: watch::Receiver<bool>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The number of readers of [`MemoryWatch::begin`] that still read.
    readers: usize,
    is_over: bool,
}

impl MemoryWatch {
    /// The watch for a limit in bytes. Fails if its thread cannot start.
    pub fn of(bytes: usize) -> Result<Arc<Self>> {
        let mut watches = WATCHES.lock();
        watches.retain(|watch| watch.strong_count() > 0);
        let same = |watch: &Weak<Self>| watch.upgrade().filter(|watch| watch.bytes == bytes);
        if let Some(watch) = watches.iter().find_map(same) {
            return Ok(watch);
        }
        let (exceeded, is_exceeded) = watch::channel(false);
        let shared = Arc::new(Shared::default());
        let watched = shared.clone();
        thread::Builder::new()
            .name("memory".into())
            .spawn(move || run(&watched, bytes, &exceeded))
            .map_err(DataFusionError::IoError)?;
        let watch = Arc::new(Self { bytes, shared, is_exceeded });
        watches.push(Arc::downgrade(&watch));
        Ok(watch)
    }

    /// Reads the memory until the answer is dropped.
    pub fn begin(self: &Arc<Self>) -> Reading {
        self.shared.state.lock().readers += 1;
        self.shared.changed.notify_one();
        Reading { is_exceeded: self.is_exceeded.clone(), watch: self.clone() }
    }
}

impl Drop for MemoryWatch {
    fn drop(&mut self) {
        self.shared.state.lock().is_over = true;
        self.shared.changed.notify_one();
    }
}

/// Whether the process holds more memory than the limit.
#[derive(Debug)]
pub struct Reading {
    /// The answer of the last reading.
    pub is_exceeded: watch::Receiver<bool>,
    watch: Arc<MemoryWatch>,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.watch.shared.state.lock().readers -= 1;
    }
}

fn run(shared: &Shared, bytes: usize, exceeded: &watch::Sender<bool>) {
    loop {
        let mut state = shared.state.lock();
        while state.readers == 0 && !state.is_over {
            shared.changed.wait(&mut state);
        }
        if state.is_over {
            return;
        }
        drop(state);
        let is = resident_bytes().is_some_and(|held| held > bytes);
        exceeded.send_if_modified(|was| std::mem::replace(was, is) != is);
        thread::sleep(INTERVAL);
    }
}

/// The physical memory of the process; `None` if the system does not report it.
pub fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{MemoryWatch, resident_bytes};

    #[test]
    fn linux_reports_the_memory_of_the_process() {
        let before = resident_bytes().expect("a line VmRSS in /proc/self/status");
        let held = vec![1_u8; 64 << 20];
        let after = resident_bytes().expect("a line VmRSS in /proc/self/status");
        assert!(after >= before + held.len() / 2, "{before} bytes, then {after}");
    }

    #[tokio::test]
    async fn sessions_with_the_same_limit_share_a_watch() {
        let (tight, same) =
            (MemoryWatch::of(1).expect("a watch"), MemoryWatch::of(1).expect("one"));
        assert!(Arc::ptr_eq(&tight, &same));
        let wide = MemoryWatch::of(usize::MAX).expect("a watch");
        assert!(!Arc::ptr_eq(&tight, &wide));
        let mut reading = same.begin();
        let exceeded = reading.is_exceeded.wait_for(|is| *is).await;
        assert!(*exceeded.expect("the watch goes on"));
        assert!(!*wide.begin().is_exceeded.borrow());
    }
}
