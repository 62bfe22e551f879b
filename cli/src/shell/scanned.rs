//! Words for the amount of data that a query read.

use indicatif::{HumanBytes, HumanCount};
use tracesql::engine::Scanned;

/// The amount in words; empty if nothing was read. Cached bytes are not counted, so there may be
/// rows without bytes.
pub fn text(scanned: Scanned) -> String {
    match (scanned.rows, scanned.bytes) {
        (0, 0) => String::new(),
        (count, 0) => format!("; read {}", rows(count)),
        (count, bytes) => {
            format!("; read {}, {} of the store", rows(count), HumanBytes(bytes as u64))
        }
    }
}

/// Formats a number of rows in words.
pub fn rows(count: usize) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{} rows", HumanCount(count as u64)) }
}
