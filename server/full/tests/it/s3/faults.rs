//! Servers that fail for a while or for good, and objects that change while a query reads them.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use super::proxy::{Fate, Proxy};
use super::{done, text, trace_of};
use crate::support::moto::bucket;
use crate::support::{Bucket, Program, fixture, free_port};

const QUERY: &str = "SELECT count(DISTINCT args), min(ts_ns) FROM events";

/// The number of events of the trace. Its file of events is large enough for several requests.
const EVENTS: usize = 8_000;

/// A store with one trace whose events are an object of their own. Returns its URL, and the key of
/// the events.
fn store(at: &std::path::Path, bucket: &Bucket) -> (String, String) {
    let url = bucket.url("run");
    done(at, bucket, &["ingest", "-q", text(&trace_of(at, "large.json", EVENTS)), "-o", &url]);
    let keys = bucket.keys("run");
    let events = keys.iter().find(|key| key.ends_with("/events.parquet")).expect("events");
    (url, events.clone())
}

/// Makes what happens to a request.
type MakeFate = fn() -> Fate;

/// The first `count` requests that fit meet a fault, and the others do not.
fn at_first(
    count: usize,
    fits: &'static str,
    fault: MakeFate,
) -> impl Fn(&str) -> Fate + Send + Sync {
    let seen = AtomicUsize::new(0);
    move |line| match line.contains(fits) && seen.fetch_add(1, SeqCst) < count {
        true => fault(),
        false => Fate::Pass,
    }
}

#[test]
fn a_server_that_recovers_costs_time_only() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, _) = store(at, &bucket);
    let faults: [(&str, MakeFate); 4] = [
        ("GET", || Fate::Refuse("503 Service Unavailable", "SlowDown")),
        ("GET", || Fate::Refuse("500 Internal Server Error", "InternalError")),
        ("events.parquet", || Fate::Refuse("503 Service Unavailable", "SlowDown")),
        ("events.parquet", || Fate::Cut(1000)),
    ];
    for (fits, fault) in faults {
        let proxy = Proxy::start(&bucket, at_first(2, fits, fault));
        let answer = proxy.program(at, &bucket).args(["query", &url, "-c", QUERY]).run().success();
        assert!(answer.contains("8000"), "{answer}");
    }
    let proxy = Proxy::start(
        &bucket,
        at_first(3, "PUT", || Fate::Refuse("503 Service Unavailable", "SlowDown")),
    );
    let small = fixture("synthetic_gpu_rank0.json.gz");
    let ingest = ["ingest", "-q", text(&small), "-o", &url];
    proxy.program(at, &bucket).args(ingest).run().success();
    assert!(done(at, &bucket, &["doctor", &url]).contains("sound; 2 traces"));
}

#[test]
fn tries_again_have_an_end() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, events) = store(at, &bucket);
    let faults: [(&str, MakeFate, &str); 4] = [
        ("GET", || Fate::Refuse("503 Service Unavailable", "SlowDown"), "overloaded"),
        ("events.parquet", || Fate::Refuse("503 Service Unavailable", "SlowDown"), "SlowDown"),
        ("events.parquet", || Fate::Cut(1000), "ended early"),
        ("events.parquet", || Fate::Silence, "AWS_TIMEOUT"),
    ];
    for (fits, fault, wanted) in faults {
        let proxy = Proxy::start(&bucket, at_first(usize::MAX, fits, fault));
        let program = proxy.program(at, &bucket).env("AWS_TIMEOUT", "1s");
        let begin = Instant::now();
        let error = program.args(["query", &url, "-c", QUERY]).run().failure(3);
        assert!(error.contains(wanted) && error.contains(&url), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
        assert!(proxy.faults() > 1, "the request is repeated: {wanted}");
    }
    let program = Program::new(at).envs(bucket.environment()).env("TRACESQL_RETRY_SECONDS", "1");
    let endpoint = format!("http://127.0.0.1:{}", free_port());
    let error = program.env("AWS_ENDPOINT", endpoint).args(["list", &url]).run().failure(3);
    assert!(error.contains("cannot be reached"), "{error}");
    let wrong = Program::new(at).envs(bucket.environment()).env("TRACESQL_RETRY_SECONDS", "soon");
    let error = wrong.args(["list", &url]).run().failure(2);
    assert!(error.contains("TRACESQL_RETRY_SECONDS"), "{error}");
    assert!(bucket.keys("run").contains(&events), "nothing was changed");
}

#[test]
fn a_server_that_refuses_writes_leaves_nothing_half_there() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, _) = store(at, &bucket);
    let large = trace_of(at, "other.json", 2_500);
    for (fits, kept) in [("PUT", "access"), ("/manifests/", "manifest")] {
        let proxy = Proxy::start(&bucket, move |line| {
            match line.starts_with("PUT") && line.contains(fits) {
                true => Fate::Refuse("403 Forbidden", "AccessDenied"),
                false => Fate::Pass,
            }
        });
        let ingest = ["ingest", text(&large), "-o", &url];
        let error = proxy.program(at, &bucket).args(ingest).run().failure(3);
        assert!(error.contains("need the rights to"), "{kept}: {error}");
        let listed = done(at, &bucket, &["list", &url]);
        assert!(listed.contains("large") && !listed.contains("other"), "{listed}");
    }
    done(at, &bucket, &["gc", &url, "--older-than", "0s"]);
    assert_eq!(bucket.keys("run").len(), 3, "{:?}", bucket.keys("run"));
}

/// A query whose store changes before its `n`th request for the events.
fn query_with_change(n: usize, change: impl Fn(&Bucket, &str) + Send + Sync + 'static) -> String {
    let Some(bucket) = bucket() else { return "skipped".to_owned() };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, events) = store(at, &bucket);
    let (seen, store, key) = (AtomicUsize::new(0), bucket.clone(), events.clone());
    let proxy = Proxy::start(&bucket, move |line| {
        if line.contains("events.parquet") && seen.fetch_add(1, SeqCst) + 1 == n {
            change(&store, &key);
        }
        Fate::Pass
    });
    let finished = proxy.program(at, &bucket).args(["query", &url, "-c", QUERY]).run();
    assert!(proxy.requests() > n, "the query reads the events in several requests");
    let error = finished.failure(3);
    assert!(error.contains(&events) && error.contains("run the command again"), "{error}");
    error
}

#[test]
fn objects_that_change_under_a_query_are_an_error_and_no_wrong_rows() {
    let removed = query_with_change(2, |bucket, key| bucket.remove(key));
    assert!(removed.contains("is missing") || removed == "skipped", "{removed}");
    let replaced = query_with_change(2, |bucket, key| {
        let mut other = bucket.get(key);
        other[1000] ^= 1;
        bucket.put(key, other);
    });
    assert!(replaced.contains("replaced while it was read") || replaced == "skipped", "{replaced}");
    let cut = query_with_change(1, |bucket, key| bucket.put(key, bucket.get(key)[..9].to_vec()));
    assert!(cut.contains("were written") || cut == "skipped", "{cut}");
}

/// Counts the events of a trace that is replaced at the `n`th request for them.
fn query_with_replacement(size: usize, n: usize) {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, input) = (bucket.url("run"), trace_of(at, "large.json", size));
    done(at, &bucket, &["ingest", "-q", text(&input), "-o", &url]);
    let (opened, seen, store) = (AtomicUsize::new(0), AtomicUsize::new(0), bucket.clone());
    let (other, target) = (at.join("other"), url.clone());
    let proxy = Proxy::start(&bucket, move |line| {
        // The first read of the manifest opens the store. Another one would read a table in it.
        let is_manifest = line.starts_with("GET") && line.contains("/manifests/");
        let reads_events =
            line.contains("events.parquet") || (is_manifest && opened.fetch_add(1, SeqCst) > 0);
        if reads_events && seen.fetch_add(1, SeqCst) + 1 == n {
            done(&other, &store, &["ingest", "-q", text(&input), "-o", &target, "--replace"]);
        }
        Fate::Pass
    });
    let reader = at.join("reader");
    let answer = proxy.program(&reader, &bucket).args(["query", &url, "-c", QUERY]).run().success();
    assert!(answer.contains(&size.to_string()), "{answer}");
    let events = bucket.keys("run").iter().filter(|key| key.ends_with("events.parquet")).count();
    assert_eq!(events, 2, "the trace was replaced meanwhile");
}

#[test]
fn a_query_reads_the_old_files_of_a_trace_that_is_replaced() {
    query_with_replacement(EVENTS, 2);
    // Its events fit neither into the beginning of the manifest object nor into several requests.
    query_with_replacement(700, 1);
}

/// The most traces that were in the folder for unfinished traces when a manifest was written.
fn most_unfinished(temporary: &std::path::Path) -> usize {
    let folders = |path: &std::path::Path| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let visible = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        visible.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    folders(temporary)
        .iter()
        .map(|scratch| folders(&scratch.join("store")).len())
        .max()
        .unwrap_or(0)
}

#[test]
fn unfinished_traces_do_not_fill_the_disk_and_refusals_end_the_ingest() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (url, _) = store(at, &bucket);
    let inputs = at.join("inputs");
    crate::support::traces::ranks(&inputs, 4);
    let temporary = at.join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    for (status, code, tried) in
        [("400 Bad Request", "OddRequest", 4), ("403 Forbidden", "AccessDenied", 1)]
    {
        let most = std::sync::Arc::new(AtomicUsize::new(0));
        let (seen, scratch) = (most.clone(), temporary.clone());
        let proxy = Proxy::start(&bucket, move |line| {
            match line.starts_with("PUT") && line.contains("/manifests/") {
                true => {
                    seen.fetch_max(most_unfinished(&scratch), SeqCst);
                    Fate::Refuse(status, code)
                }
                false => Fate::Pass,
            }
        });
        let ingest = ["ingest", text(&inputs), "-o", &url];
        let program = proxy.program(at, &bucket).env("TMPDIR", &temporary).args(ingest);
        let error = program.run().failure(3);
        assert_eq!(proxy.faults(), tried, "{code}: {error}");
        assert_eq!(most.load(SeqCst), 1, "each trace is removed before the next one is built");
        assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 0);
    }
}
