//! Several processes that publish the same trace at the same time.

use std::time::Duration;

use super::{call, done, number, program, rounds, text};
use crate::support::moto::bucket;
use crate::support::traces::{RANDOM_EVENTS, random_trace};
use crate::support::{Bucket, Finished};

/// The longest time that one writer may take.
const LIMIT: Duration = Duration::from_secs(100);
const COUNT: &str = "SELECT count(*) FROM events";

/// Starts writers at once and waits for their success.
fn write(at: &std::path::Path, bucket: &Bucket, calls: &[Vec<&str>]) {
    let writers: Vec<_> = calls.iter().map(|call| program(at, bucket, call).start()).collect();
    for mut writer in writers {
        Finished::of(&mut writer, LIMIT).success();
    }
}

#[test]
fn sixteen_writers_of_the_same_bytes_leave_one_trace() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (at, url) = (folder.path(), bucket.url("run"));
    let one = random_trace(at, 0);
    let other = at.join("other.json");
    std::fs::copy(&one, &other).expect("the same bytes");
    let calls: Vec<Vec<&str>> = (0..16)
        .map(|n| vec!["ingest", "-q", text(if n % 2 == 0 { &one } else { &other }), "-o", &url])
        .collect();
    write(at, &bucket, &calls);
    assert_eq!(bucket.keys("run/manifests").len(), 1);
    let keys = bucket.keys("run");
    assert_eq!(keys.len(), 3, "the marker, the manifest and the events: {keys:?}");
    let found = done(at, &bucket, &["doctor", &url]);
    assert!(found.contains("sound; 1 trace,"), "{found}");
    assert_eq!(number(at, &bucket, &url, COUNT), RANDOM_EVENTS);
}

/// `server/scripts/race-writers` runs 50 rounds.
#[test]
fn of_two_racing_writers_one_wins_and_nothing_is_half_there() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let trace = random_trace(at, 0);
    let rounds = rounds(3);
    let mut replaced = 0;
    for round in 0..rounds {
        let (store, url) = (format!("run{round}"), bucket.url(&format!("run{round}")));
        let plain = vec!["ingest", "-q", text(&trace), "-o", &url];
        write(at, &bucket, &[plain.clone(), plain.clone()]);
        let keys = bucket.keys(&store);
        assert_eq!(keys.len(), 3, "round {round}: {keys:?}");
        // The files that a replaced trace had stay for its readers, until gc removes them.
        let replacing = [plain.clone(), vec!["--replace"]].concat();
        write(at, &bucket, &[replacing.clone(), replacing]);
        let found = call(at, &bucket, &["doctor", &url]).success();
        assert!(found.contains("sound; 1 trace,"), "round {round}: {found}");
        let both = bucket.keys(&store).len() - 3;
        assert_eq!(both, 2, "round {round}: each of the two writers replaced a trace");
        replaced += both;
        done(at, &bucket, &["gc", &url, "--older-than", "1ms"]);
        let keys = bucket.keys(&store);
        assert_eq!(keys.len(), 3, "round {round}: {keys:?}");
        assert_eq!(number(at, &bucket, &url, COUNT), RANDOM_EVENTS, "round {round}");
    }
    println!("{rounds} rounds of 2 and 2 writers; {replaced} replaced generations were removed");
}
