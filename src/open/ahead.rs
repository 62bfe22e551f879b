//! Reads several small inputs at the same time.
//!
//! The work on one small trace can hardly be spread over several threads: writing its files takes
//! most of the time. So each thread reads an input of its own. The caller takes the
//! results in the order of the inputs, so that messages and results do not depend on which thread
//! was faster.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use tracesql_ingest::{Input, trace_hash};

use crate::error::{Error, Result};
use crate::runtime::STACK_BYTES;

/// The largest file that is read by one thread. A packed file of this size has some 30 MB of text.
const SMALL_BYTES: u64 = 2 << 20;

/// Whether an input is a small file.
pub fn is_small(input: &Input) -> bool {
    size(input).is_some_and(|bytes| bytes <= SMALL_BYTES)
}

fn size(input: &Input) -> Option<u64> {
    let Input::File(path) = input else { return None };
    path.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| about.len())
}

/// The places of inputs that have the same bytes as an input before them. They are read after it,
/// because a store keeps the trace of the first.
fn repeated(inputs: &[Input]) -> HashSet<usize> {
    let sizes: Vec<_> = inputs.iter().map(size).collect();
    let mut of_size: HashMap<_, usize> = HashMap::new();
    for size in &sizes {
        *of_size.entry(size).or_default() += 1;
    }
    let mut hashes = HashSet::new();
    let places = (0..inputs.len()).filter(|&at| of_size[&sizes[at]] > 1);
    places
        .filter(|&at| match trace_hash(&inputs[at]) {
            Ok(Some(hash)) => !hashes.insert(hash),
            _ => true,
        })
        .collect()
}

/// Calls `read` for each input on this number of threads, except for inputs with the same bytes as
/// one before them. Calls `take` for each input in their order, with what `read` returned.
///
/// Fails if no thread can be started, or with the first error of `take`. No further input is read
/// then.
pub fn each<A: Send>(
    inputs: &[Input],
    threads: usize,
    read: impl Fn(&Input) -> A + Sync,
    mut take: impl FnMut(&Input, Option<A>) -> Result<()>,
) -> Result<()> {
    let repeated = repeated(inputs);
    let next = AtomicUsize::new(0);
    let work = |results: mpsc::Sender<(usize, Option<A>)>| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = inputs.get(at) else { break };
            let result = (!repeated.contains(&at)).then(|| read(input));
            if results.send((at, result)).is_err() {
                break;
            }
        }
    };
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        let mut readers = Vec::new();
        for _ in 0..threads.min(inputs.len()) {
            let (sender, work) = (sender.clone(), &work);
            let reader = thread::Builder::new().name("reader".into()).stack_size(STACK_BYTES);
            match reader.spawn_scoped(scope, move || work(sender)) {
                Ok(reader) => readers.push(reader),
                Err(source) if readers.is_empty() => {
                    return Err(Error::Start { what: "threads", source });
                }
                Err(_) => break,
            }
        }
        drop(sender);
        let mut take_all = || {
            let (mut waiting, mut turn) = (BTreeMap::new(), 0);
            for (at, result) in &results {
                waiting.insert(at, result);
                while let Some(result) = waiting.remove(&turn) {
                    take(&inputs[turn], result)?;
                    turn += 1;
                }
            }
            Ok(())
        };
        let taken = take_all();
        next.store(inputs.len(), Ordering::Relaxed);
        drop(results);
        for reader in readers {
            reader.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        taken
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Mutex;
    use std::thread::sleep;
    use std::time::Duration;

    use tracesql_ingest::Input;

    use super::{SMALL_BYTES, each, is_small};
    use crate::error::Error;

    /// Files of these texts, in this order.
    fn files(folder: &Path, texts: &[&str]) -> Vec<Input> {
        let file = |(at, text): (usize, &&str)| {
            let path = folder.join(format!("{at}.json"));
            std::fs::write(&path, text).expect("written");
            Input::File(path)
        };
        texts.iter().enumerate().map(file).collect()
    }

    #[test]
    fn results_are_taken_in_the_order_of_the_inputs() {
        let folder = tempfile::tempdir().expect("a folder");
        let inputs = files(folder.path(), &["a", "bb", "ccc", "dddd", "eeeee", "ffffff"]);
        for threads in [1, 2, 4, 100] {
            let mut taken = Vec::new();
            let read = |input: &Input| {
                // The first inputs take longest.
                let late = inputs.iter().rev().position(|other| other.name() == input.name());
                sleep(Duration::from_millis(3 * late.expect("an input") as u64));
                input.name()
            };
            let take = |input: &Input, name: Option<String>| {
                assert_eq!(Some(input.name()), name);
                taken.push(input.name());
                Ok(())
            };
            each(&inputs, threads, read, take).expect("taken");
            assert_eq!(taken, inputs.iter().map(Input::name).collect::<Vec<_>>());
        }
    }

    #[test]
    fn repetitions_wait_for_the_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let inputs = files(folder.path(), &["same", "else", "same", "longer", "same"]);
        let mut early = Vec::new();
        each(
            &inputs,
            2,
            |_| (),
            |_, read| {
                early.push(read.is_some());
                Ok(())
            },
        )
        .expect("taken");
        assert_eq!(early, [true, true, false, true, false]);
    }

    #[test]
    fn an_error_ends_the_reading() {
        let folder = tempfile::tempdir().expect("a folder");
        let inputs = files(folder.path(), &["a"; 1000]);
        let read = Mutex::new(0);
        let mut count = 0;
        let failed = each(
            &inputs,
            2,
            |_| *read.lock().expect("a number") += 1,
            |_, _| {
                count += 1;
                if count == 2 { Err(Error::Cancelled) } else { Ok(()) }
            },
        );
        assert!(matches!(failed, Err(Error::Cancelled)));
        assert_eq!(count, 2);
        assert!(*read.lock().expect("a number") <= 1, "the others are repetitions");
    }

    #[test]
    fn large_files_and_streams_are_not_small() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("big.json");
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(SMALL_BYTES).expect("a size");
        assert!(is_small(&Input::File(path.clone())));
        file.set_len(SMALL_BYTES + 1).expect("a size");
        assert!(!is_small(&Input::File(path)));
        assert!(!is_small(&Input::File(folder.path().to_owned())));
        assert!(!is_small(&Input::File("/dev/null".into())));
    }
}
