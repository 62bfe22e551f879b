//! The stages of an ingest over a synthetic GPU trace: `cargo bench -p tracesql-ingest`.
#![allow(clippy::expect_used, reason = "a bench that cannot run says so")]

use std::io::Read;
use std::path::PathBuf;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tracesql_ingest::{IngestOptions, Input, Progress, Store, ingest, internals};

const COPIES: usize = 20;

fn fixture() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/synthetic_gpu_rank0.json.gz")
}

/// The elements of the fixture's event list, several times over.
fn events() -> Vec<u8> {
    let file = std::fs::File::open(fixture()).expect("the fixture is there");
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut text).expect("it is gzip");
    let start = memchr::memmem::find(&text, b"\"traceEvents\"")
        .and_then(|i| memchr::memchr(b'[', &text[i..]).map(|j| i + j + 1))
        .expect("a list");
    let end = memchr::memrchr(b']', &text).expect("its end");
    let list = text[start..end].trim_ascii();
    let mut out = Vec::with_capacity((list.len() + 2) * COPIES);
    for _ in 0..COPIES {
        out.extend_from_slice(list);
        out.extend_from_slice(b",\n");
    }
    out
}

fn stages(c: &mut Criterion) {
    let text = events();
    let folder = tempfile::tempdir().expect("a folder");
    let decoded = internals::decode(&text);
    assert_eq!(decoded.elements, internals::frame(&text));
    let mut group = c.benchmark_group("stage");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("framing", |b| b.iter(|| internals::frame(&text)));
    group.bench_function("decoding", |b| b.iter(|| internals::decode(&text).elements));
    group.bench_function("sorting and nesting", |b| {
        b.iter(|| internals::nest(&decoded, folder.path()).expect("nesting"))
    });
    let path = folder.path().join("trace.json");
    let mut whole = b"[".to_vec();
    whole.extend_from_slice(&text);
    std::fs::write(&path, whole).expect("a trace");
    let store = Store::open_or_create(&folder.path().join("store")).expect("a store");
    let options = IngestOptions { replace: true, ..Default::default() };
    group.sample_size(20);
    group.bench_function("all, to a finished store", |b| {
        b.iter(|| {
            ingest(&Input::File(path.clone()), &store, &options, &Progress::default())
                .expect("ingest")
                .manifest
                .element_count
        })
    });
    group.finish();
}

criterion_group!(benches, stages);
criterion_main!(benches);
