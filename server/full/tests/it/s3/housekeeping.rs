//! Replaced traces, and files that no trace uses.

use super::{call, done, large_trace, text};
use crate::support::moto::bucket;

#[test]
fn files_of_replaced_traces_stay_until_gc_removes_them() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (at, url) = (folder.path(), bucket.url("run"));
    let large = large_trace(at, "large.json");
    done(at, &bucket, &["ingest", "-q", text(&large), "-o", &url]);
    let before = bucket.keys("run");
    done(at, &bucket, &["ingest", "-q", text(&large), "-o", &url, "--replace"]);
    assert_eq!(bucket.keys("run").len(), before.len() + 1, "the old events are still there");
    let found = done(at, &bucket, &["doctor", &url]);
    assert!(found.contains("note: ") && found.contains("(leftover)"), "{found}");
    let young = done(at, &bucket, &["gc", &url]);
    assert!(young.contains("0 files"), "{young}");
    let dry = done(at, &bucket, &["gc", &url, "--older-than", "0s", "--dry-run"]);
    assert!(dry.contains("1 file with") && dry.contains("would be removed"), "{dry}");
    let removed = done(at, &bucket, &["gc", &url, "--older-than", "0s"]);
    assert!(removed.contains("1 file with"), "{removed}");
    assert_eq!(bucket.keys("run").len(), before.len());
    let counted = done(at, &bucket, &["query", &url, "-c", "SELECT count(*) FROM events"]);
    assert!(counted.contains("2500"), "{counted}");
    let local = call(at, &bucket, &["gc", text(at)]).failure(2);
    assert!(local.contains("on object storage"), "{local}");
}
