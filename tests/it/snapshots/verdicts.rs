//! Why an allocation failed, in made snapshots whose cause is known.

use crate::support::TestStore;

const MIB: i64 = 1 << 20;
const BASE: i64 = 0x7f00_0000_0000;

/// A value of a pickle.
enum Value {
    Dict(Vec<(&'static str, Value)>),
    List(Vec<Value>),
    Int(i64),
    Text(&'static str),
    Flag(bool),
    Pair(i64, i64),
}

impl Value {
    fn write(&self, out: &mut Vec<u8>) {
        let int = |n: i64, out: &mut Vec<u8>| {
            out.extend([0x8a, 8]);
            out.extend(n.to_le_bytes());
        };
        match self {
            Self::Int(n) => int(*n, out),
            Self::Flag(flag) => out.push(if *flag { 0x88 } else { 0x89 }),
            Self::Text(text) => {
                out.push(b'X');
                out.extend((text.len() as u32).to_le_bytes());
                out.extend(text.as_bytes());
            }
            Self::Pair(a, b) => {
                int(*a, out);
                int(*b, out);
                out.push(0x86);
            }
            Self::List(items) => {
                out.extend(b"](");
                items.iter().for_each(|item| item.write(out));
                out.push(b'e');
            }
            Self::Dict(items) => {
                out.extend(b"}(");
                for (key, value) in items {
                    Self::Text(key).write(out);
                    value.write(out);
                }
                out.push(b'u');
            }
        }
    }
}

use Value::{Dict, Flag, Int, List, Pair, Text};

/// A block: its state, size, and what the program asked for.
type Block = (&'static str, i64, i64);

const LIVE: &str = "active_allocated";
const FREE: &str = "inactive";

fn segment(address: i64, pool: (i64, i64), blocks: &[Block]) -> Value {
    let mut at = address;
    let listed = blocks.iter().map(|(state, bytes, requested)| {
        let block = Dict(vec![
            ("address", Int(at)),
            ("size", Int(*bytes)),
            ("requested_size", Int(*requested)),
            ("state", Text(state)),
        ]);
        at += bytes;
        block
    });
    let listed: Vec<Value> = listed.collect();
    Dict(vec![
        ("device", Int(0)),
        ("address", Int(address)),
        ("total_size", Int(at - address)),
        ("stream", Int(0)),
        ("segment_type", Text("large")),
        ("segment_pool_id", Pair(pool.0, pool.1)),
        ("is_expandable", Flag(false)),
        ("blocks", List(listed)),
    ])
}

fn entry(action: &'static str, addr: i64, bytes: i64, pool: (i64, i64)) -> Value {
    let addr_key = if action == "oom" { "device_free" } else { "addr" };
    Dict(vec![
        ("action", Text(action)),
        (addr_key, Int(addr)),
        ("size", Int(bytes)),
        ("stream", Int(0)),
        ("time_us", Int(1_790_000_000_000_000)),
        ("pool_id", Pair(pool.0, pool.1)),
    ])
}

/// The verdict and the missing bytes of the one failure of a snapshot.
fn verdict(segments: Vec<Value>, entries: Vec<Value>) -> String {
    let traces = List(vec![List(entries)]);
    let top = Dict(vec![("segments", List(segments)), ("device_traces", traces)]);
    let mut bytes = vec![0x80, 2];
    top.write(&mut bytes);
    bytes.push(b'.');
    let store = TestStore::new();
    let path = store.folder.path().join("made.pickle");
    std::fs::write(&path, bytes).expect("a file");
    store.ingest(&path).unwrap_or_else(|e| panic!("{e}"));
    store.lines("SELECT verdict, missing_bytes FROM snapshot_ooms").join("; ")
}

const DEFAULT: (i64, i64) = (0, 0);
const PRIVATE: (i64, i64) = (0, 1);

/// Memory of one segment that is live as a whole, and a request that failed.
fn all_live(live: i64, requested: i64, free: i64, request: i64) -> String {
    verdict(
        vec![segment(BASE, DEFAULT, &[(LIVE, live, requested)])],
        vec![
            entry("segment_alloc", BASE, live, DEFAULT),
            entry("alloc", BASE, requested, DEFAULT),
            entry("oom", free, request, DEFAULT),
        ],
    )
}

#[test]
fn the_driver_has_enough_so_that_a_limit_refused_it() {
    let all = 1024 * MIB;
    assert_eq!(all_live(all, all, 60 * all, all), "limit 0");
}

#[test]
fn a_small_request_needs_a_whole_segment() {
    let found = all_live(100 * MIB, 100 * MIB, 10 * MIB, 4 * MIB);
    assert_eq!(found, format!("full {}", 10 * MIB));
}

#[test]
fn rounding_is_not_free_memory() {
    let found = all_live(100 * MIB, 60 * MIB, MIB, 30 * MIB);
    assert_eq!(found, format!("full {}", 29 * MIB));
}

#[test]
fn what_is_more_than_the_program_and_the_driver_have_is_too_big() {
    let found = all_live(100 * MIB, 100 * MIB, 50 * MIB, 200 * MIB);
    assert_eq!(found, format!("too_big {}", 150 * MIB));
}

/// Free memory of another pool is of no use. Without a pool of the request, nothing is said.
#[test]
fn free_memory_of_another_pool_is_of_no_use() {
    let other = BASE + (1 << 32);
    let segments = |pool| {
        vec![
            segment(BASE, DEFAULT, &[(LIVE, 100 * MIB, 100 * MIB)]),
            segment(other, pool, &[(LIVE, 2 * MIB, 2 * MIB), (FREE, 398 * MIB, 0)]),
        ]
    };
    let entries = |pool| {
        vec![
            entry("segment_alloc", BASE, 100 * MIB, DEFAULT),
            entry("alloc", BASE, 100 * MIB, DEFAULT),
            entry("segment_alloc", other, 400 * MIB, pool),
            entry("alloc", other, 2 * MIB, pool),
            entry("oom", 10 * MIB, 200 * MIB, DEFAULT),
        ]
    };
    let missing = 190 * MIB;
    assert_eq!(verdict(segments(PRIVATE), entries(PRIVATE)), format!("other_pool {missing}"));
    // A block of its own pool that would serve it was not taken: the snapshot does not say why.
    assert_eq!(verdict(segments(DEFAULT), entries(DEFAULT)), format!("unclear {missing}"));
    // Blocks of 99 MiB are free memory, but none is large enough.
    let pieces = [(FREE, 99 * MIB, 0), (LIVE, 2 * MIB, 2 * MIB)].repeat(4);
    let holes = vec![segment(BASE, DEFAULT, &pieces)];
    let mut history = vec![entry("segment_alloc", BASE, 404 * MIB, DEFAULT)];
    let live = (0..4).map(|n| BASE + 101 * n * MIB + 99 * MIB);
    history.extend(live.map(|at| entry("alloc", at, 2 * MIB, DEFAULT)));
    history.push(entry("oom", 10 * MIB, 200 * MIB, DEFAULT));
    assert_eq!(verdict(holes, history), format!("fragmented {missing}"));
}
