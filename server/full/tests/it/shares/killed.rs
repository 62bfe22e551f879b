//! Writers that are killed, at any moment.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{call, contents, done, number, program, rounds, text};
use crate::support::moto::bucket;
use crate::support::traces::{RANDOM_EVENTS, random_trace};
use crate::support::{Bucket, Child, Finished};

/// The longest time that one writer may take.
const LIMIT: Duration = Duration::from_secs(100);
const TRACES: u64 = 3;

/// Stands before the S3 server, and holds back one of the manifests that are written.
pub struct Gate {
    pub address: String,
    /// The number of manifests that were on their way.
    manifests: Arc<AtomicUsize>,
}

impl Gate {
    /// Holds back the manifest with a number, from 1.
    pub fn before(server: &str, held: usize) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let manifests = Arc::new(AtomicUsize::new(0));
        let (server, seen) = (server.trim_start_matches("http://").to_owned(), manifests.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(to_server) = TcpStream::connect(&server) else { return };
                let both = (client.try_clone(), to_server.try_clone());
                let (Ok(mut answer_to), Ok(mut answers)) = both else { return };
                std::thread::spawn(move || std::io::copy(&mut answers, &mut answer_to));
                let seen = seen.clone();
                std::thread::spawn(move || forward(client, to_server, &seen, held));
            }
        });
        Self { address, manifests }
    }

    /// Waits until a writer sends the manifest with a number.
    pub fn wait_for(&self, writer: &mut Child, held: usize) {
        while self.manifests.load(Ordering::SeqCst) < held {
            assert!(writer.is_running(), "it ended before the manifest {held}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Hands requests on, up to that which writes the manifest that is held back.
fn forward(mut client: TcpStream, mut server: TcpStream, seen: &AtomicUsize, held: usize) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = client.read(&mut bytes) {
        let head = String::from_utf8_lossy(&bytes[..length.min(512)]);
        let line = head.lines().next().unwrap_or_default();
        if line.starts_with("PUT ") && line.contains("/manifests/") {
            let number = seen.fetch_add(1, Ordering::SeqCst) + 1;
            if number == held {
                // Until the writer is killed.
                while let Ok(1..) = client.read(&mut bytes) {}
                break;
            }
        }
        if server.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}

/// Checks a store after one of its writers died. Returns how many traces it has, and how many
/// objects were left over and removed.
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
    let start = |url: &str, endpoint: Option<&str>| {
        let arguments: Vec<String> = arguments(url);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let writer = program(at, &bucket, &arguments);
        match endpoint {
            Some(endpoint) => writer.env("AWS_ENDPOINT", endpoint).start(),
            None => writer.start(),
        }
    };
    let began = Instant::now();
    Finished::of(&mut start(&bucket.url("whole"), None), LIMIT).success();
    let whole = began.elapsed();
    let (wanted, rounds) = (contents(&bucket, "whole"), rounds(4));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(std::process::id());
    let (mut visible, mut leftovers, mut with_leftovers) = (BTreeSet::new(), 0, 0);
    for round in 0..rounds {
        let store = format!("killed{round}");
        let url = bucket.url(&store);
        let mut writer = if round % 2 == 0 {
            let writer = start(&url, None);
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            std::thread::sleep(whole.mul_f64((state >> 40) as f64 / (1 << 24) as f64));
            writer
        } else {
            // Between the tables of a trace and its manifest.
            let held = 1 + round / 2 % TRACES as usize;
            let gate = Gate::before(&bucket.server().endpoint(), held);
            let mut writer = start(&url, Some(&gate.address));
            gate.wait_for(&mut writer, held);
            writer
        };
        writer.kill();
        let (traces, objects) = check(at, &bucket, &store);
        assert!(round % 2 == 0 || objects == 1, "the events without a manifest: {objects}");
        visible.insert(traces);
        leftovers += objects;
        with_leftovers += usize::from(objects > 0);
        // The same call again finishes the work.
        Finished::of(&mut start(&url, None), LIMIT).success();
        assert_eq!(contents(&bucket, &store), wanted, "round {round}");
    }
    println!(
        "{rounds} writers were killed within {whole:?} or before a manifest; {visible:?} of \
         {TRACES} traces were visible; {leftovers} objects were left over in {with_leftovers} \
         rounds and removed"
    );
}
