//! Runs the checks of the fuzzers without a fuzzer, on seeds, on inputs of old faults, and on both
//! with random damage. The damage is the same in each run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

use crate::support::root;

#[path = "../../fuzz/checks/mod.rs"]
mod checks;

/// User rules on names are either read or rejected. This check is not a fuzzer, because rules
/// depend on the SQL functions and thus on a query engine, which takes too long to build with a
/// sanitizer.
fn rules(data: &[u8]) {
    let _ = tracesql_udfs::names::Rules::parse(&String::from_utf8_lossy(data));
}

/// The number of damaged inputs for each check. Stores take milliseconds each, the others
/// microseconds.
const DAMAGED: usize = 10_000;
const DAMAGED_STORES: usize = 400;

#[test]
fn seeds_and_damaged_seeds_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = Command::new("python3")
        .arg(root().join("fuzz/seeds.py"))
        .arg(folder.path())
        .output()
        .expect("python3 runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let more: usize = std::env::var("TRACESQL_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut failures = Vec::new();
    for (name, check) in checks::CHECKS.into_iter().chain([("rules", rules as checks::Check)]) {
        let seeds = seeds(&folder.path().join(name));
        assert!(seeds.len() > 5, "{name} has {} seeds", seeds.len());
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let damaged = more
            * if matches!(
                name,
                "input" | "perf" | "snapshot" | "database" | "xplane" | "perfetto" | "beside"
            ) {
                DAMAGED_STORES
            } else {
                DAMAGED
            };
        let inputs = seeds.iter().cloned().chain((0..damaged).map(|_| damage(&seeds, &mut random)));
        let failed = inputs
            .into_iter()
            .find(|input| catch_unwind(AssertUnwindSafe(|| check(input))).is_err());
        if let Some(input) = failed {
            failures.push(format!("{name}: {}", input.escape_ascii()));
        }
    }
    assert!(
        failures.is_empty(),
        "put these into fuzz/faults when they are mended:\n{}",
        failures.join("\n")
    );
}

fn seeds(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("seeds")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).expect("a seed"))
        .filter(|seed| seed.len() < 1 << 16)
        .collect()
}

/// Pseudo-random numbers that are the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// A seed in which some bytes are changed, removed, repeated or taken from another seed.
fn damage(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..1 + random.below(6) {
        let at = random.below(bytes.len() + 1);
        let end = bytes.len().min(at + 1 + random.below(16));
        match random.below(6) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.insert(at, random.below(256) as u8),
            2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            3 if at < bytes.len() => bytes[at] = b"\0\xff\"\\{}[],:-.0"[random.below(13)],
            4 => bytes.truncate(at),
            _ => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                let part = &other[from..other.len().min(from + random.below(64))];
                bytes.splice(at..at, part.iter().copied());
            }
        }
    }
    bytes
}
