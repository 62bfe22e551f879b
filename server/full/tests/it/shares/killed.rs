//! Writers that are killed, at any moment.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{call, contents, done, number, program, rounds, text};
use crate::support::moto::bucket;
use crate::support::traces::{RANDOM_EVENTS, random_trace};
use crate::support::{Bucket, Finished};

/// The longest time that one writer may take.
const LIMIT: Duration = Duration::from_secs(100);
const TRACES: u64 = 3;

/// Checks a store of which a writer died. Returns how many traces it has, and how many objects were
/// left over and removed.
fn check(at: &Path, bucket: &Bucket, store: &str) -> (usize, usize) {
    let url = bucket.url(store);
    let visible = bucket.keys(&format!("{store}/manifests")).len();
    let before = bucket.keys(store);
    if before.is_empty() {
        return (0, 0);
    }
    let events = number(at, bucket, &url, "SELECT count(*) FROM events");
    assert_eq!(events, visible * RANDOM_EVENTS, "each visible trace is whole");
    let found = call(at, bucket, &["doctor", &url]).success();
    assert!(found.contains(": sound; "), "{found}");
    done(at, bucket, &["gc", &url, "--older-than", "1ms"]);
    let after = bucket.keys(store);
    assert_eq!(after.len(), 1 + 2 * visible, "marker, manifests and events: {after:?}");
    let found = call(at, bucket, &["doctor", &url]).success();
    assert!(!found.contains("note: "), "{found}");
    (visible, before.len() - after.len())
}

/// `server/scripts/kill-writers` runs 50 rounds.
#[test]
fn a_killed_writer_leaves_nothing_that_is_visible() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let traces: Vec<_> = (0..TRACES).map(|number| random_trace(at, number)).collect();
    let arguments = |url: &str| {
        let inputs = traces.iter().map(|path| text(path).to_owned());
        let rest = ["-o".to_owned(), url.to_owned(), "--threads".to_owned(), "1".to_owned()];
        ["ingest".to_owned(), "-q".to_owned()].into_iter().chain(inputs).chain(rest).collect()
    };
    let start = |url: &str| {
        let arguments: Vec<String> = arguments(url);
        program(at, &bucket, &arguments.iter().map(String::as_str).collect::<Vec<_>>()).start()
    };
    let began = Instant::now();
    Finished::of(&mut start(&bucket.url("whole")), LIMIT).success();
    let whole = began.elapsed();
    let (wanted, rounds) = (contents(&bucket, "whole"), rounds(4));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(std::process::id());
    let (mut visible, mut leftovers, mut with_leftovers) = (BTreeSet::new(), 0, 0);
    for round in 0..rounds {
        let store = format!("killed{round}");
        let mut writer = start(&bucket.url(&store));
        if round % 2 == 0 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            std::thread::sleep(whole.mul_f64((state >> 40) as f64 / (1 << 24) as f64));
        } else {
            // As soon as a file of a trace is there, which is before its manifest is.
            let seen = |key: &String| key.ends_with(".parquet");
            while !bucket.keys(&store).iter().any(seen) && writer.is_running() {}
        }
        writer.kill();
        let (traces, objects) = check(at, &bucket, &store);
        visible.insert(traces);
        leftovers += objects;
        with_leftovers += usize::from(objects > 0);
        // The same call again finishes the work.
        Finished::of(&mut start(&bucket.url(&store)), LIMIT).success();
        assert_eq!(contents(&bucket, &store), wanted, "round {round}");
    }
    println!(
        "{rounds} writers were killed within {whole:?}; {visible:?} of {TRACES} traces were \
         visible; {leftovers} objects were left over in {with_leftovers} rounds and removed"
    );
}
