//! The documented differences: which view of which trace differs in how many cells, and the reason.

use std::collections::BTreeMap;

use super::Tally;
use crate::support::root;

/// A documented difference.
struct Known {
    cells: usize,
    rows: usize,
    digest: String,
}

/// The differences in one set of traces that have not occurred yet.
pub struct Differences {
    known: BTreeMap<(String, String), Known>,
}

impl Differences {
    /// Reads the lines of a set. Their columns are set, trace, view, number of cells that differ,
    /// number of additional rows, digest of the differences, and reason.
    pub fn read(set: &str) -> Self {
        let path = root().join("tests/expected/tb/differences.tsv");
        let lines = std::fs::read_to_string(&path).expect("differences.tsv");
        let docs = std::fs::read_to_string(root().join("docs/tensorboard.md"))
            .expect("docs/tensorboard.md");
        let mut known = BTreeMap::new();
        for line in lines.lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [of, trace, view, cells, rows, digest, reason] = fields[..] else {
                panic!("{line:?} has not seven fields")
            };
            assert!(
                docs.contains(&format!("- `{reason}`: ")),
                "the reason {reason} is not explained in docs/tensorboard.md"
            );
            if of == set {
                let number = |n: &str| {
                    n.parse().unwrap_or_else(|_| panic!("{n:?} in {line:?} is no number"))
                };
                let entry =
                    Known { cells: number(cells), rows: number(rows), digest: digest.to_owned() };
                let old = known.insert((trace.to_owned(), view.to_owned()), entry);
                assert!(old.is_none(), "{trace} {view} is listed twice");
            }
        }
        Self { known }
    }

    /// Returns the problem of a comparison that does not match the documented differences.
    pub fn accept(&mut self, trace: &str, view: &str, tally: &Tally) -> Option<String> {
        let known = self.known.remove(&(trace.to_owned(), view.to_owned()));
        let digest = digest(tally);
        let (cells, rows) = (tally.wrong.len(), tally.extra.len());
        let documented =
            known.map_or((0, 0, self::digest(&NOTHING)), |k| (k.cells, k.rows, k.digest));
        if documented == (cells, rows, digest.clone()) {
            return None;
        }
        let examples: String =
            tally.wrong.iter().chain(&tally.extra).take(4).map(|w| format!("\n    {w}")).collect();
        Some(format!(
            "{trace} {view}: {cells} cells differ and {rows} rows are only here (digest {digest}); \
                documented are {documented:?}{examples}"
        ))
    }

    /// The documented differences that did not occur.
    pub fn left(self) -> Vec<String> {
        self.known
            .into_keys()
            .map(|(trace, view)| {
                format!("{trace} {view}: it was not compared, or is listed for nothing")
            })
            .collect()
    }
}

const NOTHING: Tally = Tally { equal: 0, total: 0, wrong: Vec::new(), extra: Vec::new() };

/// The FNV-1a hash of all differences, so that no change goes unnoticed.
fn digest(tally: &Tally) -> String {
    let mut wrong: Vec<&String> = tally.wrong.iter().chain(&tally.extra).collect();
    wrong.sort();
    let bytes = wrong.iter().flat_map(|w| w.bytes().chain([b'\n']));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
