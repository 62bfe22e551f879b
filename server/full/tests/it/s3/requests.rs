//! The number of requests that commands send.

use std::path::Path;

use super::{done, text};
use crate::support::moto::bucket;
use crate::support::{Bucket, Program, small_trace};

/// Requests of one kind, from the line that `-v` prints.
fn requests(folder: &Path, bucket: &Bucket, arguments: &[&str]) -> impl Fn(&str) -> u64 + use<> {
    let all = Program::new(folder).envs(bucket.environment()).args(arguments).args(["-v"]).run();
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    let line = all.stderr.lines().find_map(|l| l.strip_prefix("requests to object storage: "));
    let line = line.expect("-v reports requests").to_owned();
    move |kind| {
        let part =
            line.split([',', ';']).find_map(|p| p.trim().strip_suffix(kind)).expect("a kind");
        part.trim().parse().expect("a number")
    }
}

fn store_of(folder: &Path, bucket: &Bucket, traces: usize) -> String {
    let inputs = folder.join("inputs");
    std::fs::create_dir_all(&inputs).expect("a folder");
    for number in 0..traces {
        let path = inputs.join(format!("rank{number}.json"));
        std::fs::write(path, small_trace(number, 8)).expect("a trace");
    }
    let url = bucket.url("run");
    done(folder, bucket, &["ingest", "-q", text(&inputs), "-o", &url]);
    url
}

#[test]
fn opening_costs_a_list_and_a_get_per_manifest_and_nothing_again() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = store_of(folder.path(), &bucket, 20);
    let other = tempfile::tempdir().expect("an empty cache");
    let query = ["query", &url, "-c", "SELECT count(*) FROM traces"];
    let cold = requests(other.path(), &bucket, &query);
    // One more get is for the marker.
    assert_eq!((cold("list"), cold("get"), cold("head")), (1, 21, 0));
    let again = requests(other.path(), &bucket, &query);
    assert_eq!((again("list"), again("get"), again("head")), (1, 1, 0));
    // A trace that is published is looked for once.
    let more = folder.path().join("more.json");
    std::fs::write(&more, small_trace(99, 8)).expect("a trace");
    let ingest = ["ingest", text(&more), "-o", &bucket.url("other")];
    let first = requests(other.path(), &bucket, &ingest);
    // One get looks for the marker and one for the manifest. The puts write both.
    assert_eq!((first("get"), first("put")), (2, 2));
    let findings = ["query", &url, "-c", "SELECT count(*) FROM operators"];
    let small = requests(other.path(), &bucket, &findings);
    assert_eq!((small("list"), small("get"), small("head")), (1, 1, 0), "small tables are there");
}

/// Takes minutes: `cargo nextest run --run-ignored only -E 'test(a_thousand_traces)' --no-capture`.
#[test]
#[ignore = "takes minutes"]
fn a_thousand_traces() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = store_of(folder.path(), &bucket, 1000);
    let other = tempfile::tempdir().expect("an empty cache");
    for query in ["SELECT count(*) FROM traces", "SELECT count(*) FROM events"] {
        for _ in 0..2 {
            let begin = std::time::Instant::now();
            let counts = requests(other.path(), &bucket, &["query", &url, "-c", query]);
            let (lists, gets, heads) = (counts("list"), counts("get"), counts("head"));
            println!("{query}: {lists} list, {gets} get, {heads} head, {:?}", begin.elapsed());
            assert!(lists <= 2 && heads == 0 && gets <= 2001);
        }
    }
}
