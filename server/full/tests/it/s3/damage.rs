//! Objects that were changed, cut or removed, and objects that tracesql did not write.

use super::{call, done, large_trace, text};
use crate::support::calls::number;
use crate::support::moto::bucket;
use crate::support::{Bucket, fixture, small_trace};

/// A store with a large and a small trace. Returns its URL, and the keys of the large trace's
/// events and of the small trace's manifest.
fn store(at: &std::path::Path, bucket: &Bucket) -> (String, String, String) {
    let url = bucket.url("run");
    let (large, small) = (large_trace(at, "large.json"), fixture("synthetic_gpu_rank0.json.gz"));
    done(at, bucket, &["ingest", "-q", text(&large), "-o", &url]);
    let of_large = bucket.keys("run/manifests");
    done(at, bucket, &["ingest", "-q", text(&small), "-o", &url]);
    let keys = bucket.keys("run");
    let events = keys.iter().find(|key| key.ends_with("/events.parquet")).expect("events");
    let manifest = keys.iter().find(|key| key.contains("manifests/") && **key != of_large[0]);
    (url, events.clone(), manifest.expect("a manifest").clone())
}

#[test]
fn missing_and_cut_files_are_named_with_what_to_do() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, events, _) = store(at, &bucket);
    let query = [
        "query",
        &url,
        "-c",
        "SELECT count(DISTINCT args) FROM events WHERE trace_id LIKE 'large%'",
    ];
    assert!(done(at, &bucket, &query).contains("2500"));
    let whole = bucket.get(&events);
    bucket.put(&events, whole[..whole.len() / 2].to_vec());
    let cut = call(at, &bucket, &query).failure(3);
    assert!(cut.contains(&events) && cut.contains("were written"), "{cut}");
    assert!(cut.contains(&format!("tracesql-full doctor {url}")), "{cut}");
    let found = call(at, &bucket, &["doctor", &url]);
    assert!(found.stdout.contains(&format!("damaged: {events}")), "{}", found.stdout);
    found.failure(3);
    let mut other = whole.clone();
    other[whole.len() / 2] ^= 1;
    bucket.put(&events, other);
    let found = call(at, &bucket, &["doctor", &url]).stdout;
    assert!(found.contains("checksum"), "{found}");
    bucket.remove(&events);
    let missing = call(at, &bucket, &query).failure(3);
    assert!(missing.contains(&format!("{events} is missing")), "{missing}");
    let found = call(at, &bucket, &["doctor", &url]).stdout;
    assert_eq!(found.matches("damaged").count(), 2, "one problem and the verdict: {found}");
    let only =
        ["query", &url, "--trace", "synthetic_gpu_rank0", "-c", "SELECT count(*) FROM events"];
    assert!(done(at, &bucket, &only).contains("3518"), "other traces are usable");
    bucket.put(&events, whole);
    assert!(done(at, &bucket, &["doctor", &url]).contains("sound"));
}

#[test]
fn a_cut_manifest_is_named_and_can_be_replaced() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, _, manifest) = store(at, &bucket);
    let whole = bucket.get(&manifest);
    for damaged in [whole[..whole.len() - 1].to_vec(), whole[..100].to_vec(), Vec::new()] {
        bucket.put(&manifest, damaged);
        let error = call(at, &bucket, &["list", &url]).failure(3);
        assert!(error.contains(&manifest) && error.contains("damaged"), "{error}");
        let hash = manifest.rsplit('/').next().expect("a hash");
        let advice = format!("tracesql-full remove {url} {hash}");
        assert!(error.contains("--replace") && error.contains(&advice), "{error}");
        let found = call(at, &bucket, &["doctor", &url]).stdout;
        assert!(found.contains(&format!("damaged: {manifest}: cannot be used")), "{found}");
    }
    let small = fixture("synthetic_gpu_rank0.json.gz");
    let refused = call(at, &bucket, &["ingest", text(&small), "-o", &url]).failure(3);
    assert!(refused.contains("--replace") || refused.contains("delete this object"), "{refused}");
    done(at, &bucket, &["ingest", "-q", text(&small), "-o", &url, "--replace"]);
    assert!(done(at, &bucket, &["doctor", &url]).contains("sound; 2 traces"));
}

#[test]
fn a_damaged_manifest_does_not_stop_the_other_traces() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, _, manifest) = store(at, &bucket);
    let trace = small_trace(3, 30);
    bucket.put("raw/rank3.json", trace);
    bucket.put(&manifest, bucket.get(&manifest)[..100].to_vec());
    let count = "SELECT count(*) FROM events";
    let of = |trace: &'static str| ["query", &url, "--trace", trace, "-c", count];
    assert!(done(at, &bucket, &of("large")).contains("2500"));
    let damaged = call(at, &bucket, &of("synthetic_gpu_rank0")).failure(3);
    assert!(damaged.contains(&manifest), "it may be the trace that was named: {damaged}");
    let all = call(at, &bucket, &["query", &url, "-c", count]).failure(3);
    assert!(all.contains(&manifest), "{all}");
    // Traces are added, copied and removed.
    done(at, &bucket, &["ingest", "-q", &bucket.url("raw/rank3.json"), "-o", &url]);
    let other = bucket.url("other");
    done(at, &bucket, &["copy", &url, &other, "--trace", "rank3"]);
    assert_eq!(number(at, &bucket, &other, count), 30);
    call(at, &bucket, &["copy", &url, &bucket.url("all")]).failure(3);
    done(at, &bucket, &["remove", &url, "rank3"]);
    call(at, &bucket, &["remove", &url, "synthetic_gpu_rank0"]).failure(3);
    let hash = manifest.rsplit('/').next().expect("a hash");
    done(at, &bucket, &["remove", &url, hash]);
    assert_eq!(number(at, &bucket, &url, count), 2500);
    assert!(!bucket.keys("run").contains(&manifest));
}

#[test]
fn manifests_with_names_of_other_folders_write_no_files() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, _, manifest) = store(at, &bucket);
    let object = bucket.get(&manifest);
    let end = object.iter().position(|&byte| byte == b'\n').expect("a line");
    let line = String::from_utf8(object[..end].to_vec()).expect("text");
    let evil = at.join("evil");
    let name = format!("../../../../../../../../../..{}", text(&evil));
    let line = line.replace("\"devices\"", &format!("\"{name}\""));
    bucket.put(&manifest, [line.as_bytes(), &object[end..]].concat());
    call(at, &bucket, &["doctor", &url]).failure(3);
    call(at, &bucket, &["copy", &url, text(&at.join("copy"))]).failure(3);
    assert!(!evil.with_extension("parquet").exists());
}

#[test]
fn damaged_tables_are_not_copied() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, events, _) = store(at, &bucket);
    let whole = bucket.get(&events);
    bucket.put(&events, whole[..whole.len() - 1000].to_vec());
    let (local, other) = (at.join("local"), bucket.url("other"));
    for target in [text(&local), &other] {
        let error = call(at, &bucket, &["copy", &url, target]).failure(3);
        let advice = format!("tracesql-full doctor {url}");
        assert!(error.contains(&events) && error.contains(&advice), "{error}");
        let listed = call(at, &bucket, &["list", target]).stdout;
        assert!(!listed.contains("large"), "{listed}");
    }
    // From a folder, too.
    bucket.put(&events, whole);
    let sound = at.join("sound");
    done(at, &bucket, &["copy", &url, text(&sound), "--trace", "large"]);
    let trace = std::fs::read_dir(&sound)
        .expect("a store")
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with("large"));
    let file = trace.expect("a trace").path().join("events.parquet");
    let mut bytes = std::fs::read(&file).expect("a file");
    bytes[1000] ^= 1;
    std::fs::write(&file, bytes).expect("a file");
    for target in [text(&at.join("again")), &bucket.url("again")] {
        let error = call(at, &bucket, &["copy", text(&sound), target]).failure(3);
        assert!(error.contains("not those that were written"), "{error}");
        assert!(error.contains(&format!("doctor {}", text(&sound))), "{error}");
    }
}

#[test]
fn foreign_objects_are_left_alone_and_reported() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let small = fixture("synthetic_gpu_rank0.json.gz");
    bucket.put("taken/readme.txt", b"text".to_vec());
    let url = bucket.url("taken");
    let refused = call(at, &bucket, &["ingest", text(&small), "-o", &url]).failure(3);
    assert!(refused.contains("not empty") && refused.contains("taken/readme.txt"), "{refused}");
    let url = bucket.url("run");
    done(at, &bucket, &["ingest", "-q", text(&small), "-o", &url]);
    for key in ["run/notes.txt", "run/manifests/notes.txt", "run/a/b/events.parquet"] {
        bucket.put(key, b"text".to_vec());
    }
    assert_eq!(number(at, &bucket, &url, "SELECT count(*) FROM traces"), 1);
    let found = done(at, &bucket, &["doctor", &url]);
    assert_eq!(found.matches("note: ").count(), 3, "{found}");
    let before = bucket.keys("run");
    done(at, &bucket, &["gc", &url, "--older-than", "0s"]);
    assert_eq!(bucket.keys("run"), before, "gc removes only its own files");
}

#[test]
fn stores_of_other_versions_and_copies_of_folders_are_refused() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let url = bucket.url("run");
    for (marker, wanted) in [
        (r#"{"schema_version":1,"layout":1,"created_by":"x"}"#, "it has schema version 1"),
        ("{", "is damaged"),
    ] {
        bucket.put("run/tracesql-store.json", marker.as_bytes().to_vec());
        let error = call(at, &bucket, &["list", &url]).failure(3);
        assert!(error.contains(wanted), "{error}");
    }
    let small = fixture("synthetic_gpu_rank0.json.gz");
    let store = at.join("store");
    done(at, &bucket, &["ingest", "-q", text(&small), "-o", text(&store)]);
    let marker = std::fs::read(store.join("tracesql-store.json")).expect("a marker");
    bucket.put("run/tracesql-store.json", marker);
    let error = call(at, &bucket, &["list", &url]).failure(3);
    assert!(error.contains("tracesql-full copy FOLDER URL"), "{error}");
}
