//! Inputs on object storage: one object, a folder, a pattern; and what is refused.

use super::{call, contents, done, number};
use crate::support::moto::bucket;
use crate::support::small_trace;

#[test]
fn inputs_are_an_object_a_folder_or_a_pattern() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for rank in 0..4 {
        bucket.put(&format!("raw/job/rank{rank}.json"), small_trace(rank, 30));
    }
    bucket.put("raw/job/notes.txt", b"text".to_vec());
    bucket.put("raw/other/rank9.json", small_trace(9, 30));
    for (name, traces) in [
        ("raw/job/rank2.json", 1),
        ("raw/job", 4),
        ("raw/job/", 4),
        ("raw/job/rank[01].json", 2),
        ("raw/*/rank*.json", 5),
        ("raw", 5),
    ] {
        let url = bucket.url(&format!("store-{traces}-{}", name.len()));
        let ids = done(at, &bucket, &["ingest", "-q", &bucket.url(name), "-o", &url]);
        assert_eq!(ids.lines().count(), traces, "{name}: {ids}");
        assert_eq!(number(at, &bucket, &url, "SELECT count(*) FROM events"), 30 * traces);
    }
    let store = at.join("store");
    let local = super::text(&store);
    done(at, &bucket, &["ingest", "-q", &bucket.url("raw/job"), "-o", local]);
    let paths = "SELECT count(*) FROM traces WHERE path LIKE 's3://%/raw/job/rank%.json'";
    assert_eq!(number(at, &bucket, local, paths), 4, "the URL is the path of a trace");
}

#[test]
fn shares_of_objects_are_the_whole_and_known_objects_are_not_fetched() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (at, url) = (folder.path(), bucket.url("run"));
    for rank in 0..6 {
        bucket.put(&format!("raw/rank{rank}.json"), small_trace(rank, 400));
    }
    let raw = bucket.url("raw/*.json");
    done(at, &bucket, &["ingest", "-q", &raw, "-o", &bucket.url("whole")]);
    for share in ["0/2", "1/2"] {
        done(at, &bucket, &["ingest", "-q", &raw, "-o", &url, "--share", share]);
    }
    assert_eq!(contents(&bucket, "run"), contents(&bucket, "whole"));
    // Only listings and manifests are read again: 6 traces have 6 × 30 kB.
    let again = call(at, &bucket, &["ingest", "-v", &raw, "-o", &url]);
    let line = again.stderr.lines().find(|line| line.starts_with("requests to object storage"));
    let line = line.unwrap_or_else(|| panic!("{}", again.stderr)).to_owned();
    let read = line.split("; ").nth(1).and_then(|part| part.split(' ').next());
    let read: usize = read.and_then(|text| text.parse().ok()).expect("a number of bytes");
    assert!(read < 100_000, "{line}");
    assert_eq!(again.success().lines().count(), 6);
}

#[test]
fn inputs_that_cannot_be_read_are_refused_with_the_reason() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (at, url) = (folder.path(), bucket.url("run"));
    bucket.put("raw/rank0.json", small_trace(0, 30));
    bucket.put("raw/rank1.json", b"[1, 2".to_vec());
    done(at, &bucket, &["ingest", "-q", &bucket.url("raw/rank0.json"), "-o", &url]);
    for (name, wanted) in [
        ("raw/none.json", "there is no such object"),
        ("raw/*.gz", "no object matches this pattern"),
        ("run", "this is a store, not a trace"),
    ] {
        let name = bucket.url(name);
        let error = call(at, &bucket, &["ingest", &name, "-o", &url]).failure(3);
        assert!(error.contains(&format!("{name}: {wanted}")), "{error}");
    }
    let missing = call(at, &bucket, &["ingest", "s3://no-bucket-here/x.json", "-o", &url]);
    let missing = missing.failure(3);
    assert!(missing.contains("there is no such bucket"), "{missing}");
    // In a folder, other files are left out with a warning. A file that is named must be a trace.
    let both = call(at, &bucket, &["ingest", &bucket.url("raw"), "-o", &bucket.url("both")]);
    assert!(both.stderr.contains("left out: s3://"), "{}", both.stderr);
    both.success();
    assert_eq!(contents(&bucket, "both").len(), 1);
    let named = bucket.url("raw/rank1.json");
    let error = call(at, &bucket, &["ingest", &named, "-o", &url]).failure(3);
    assert!(error.contains(&format!("{named}: a list, but not of trace events")), "{error}");
    let piped = call(at, &bucket, &["ingest", "-", "-o", &url, "--share", "0/2"]).failure(2);
    assert!(piped.contains("--share needs files or objects"), "{piped}");
}
