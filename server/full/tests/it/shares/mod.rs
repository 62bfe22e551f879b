//! Ingest by many processes at once into one store on object storage: writers of the same bytes,
//! writers that are killed, readers meanwhile, shares of the inputs, and the files of `deploy/`.
//!
//! `TRACESQL_ROUNDS` sets the number of rounds of a trial; the scripts in `server/scripts` set it.

mod deploy;
mod inputs;
mod killed;
mod page;
mod parts;
mod races;
mod readers;

use crate::support::Bucket;
use crate::support::calls::{call, done, number, program, text};
use std::collections::BTreeMap;

/// The number of rounds of a trial: `TRACESQL_ROUNDS`, or a few.
fn rounds(few: usize) -> usize {
    let named = std::env::var("TRACESQL_ROUNDS").ok();
    named.map_or(few, |text| text.parse().expect("TRACESQL_ROUNDS is a number"))
}

/// The hashes of the tables of a trace, by their names.
type Tables = BTreeMap<String, String>;

/// The ids of the traces in a store of a bucket, with their tables.
fn contents(bucket: &Bucket, store: &str) -> BTreeMap<String, Tables> {
    let manifest = |key: &String| {
        let object = bucket.get(key);
        let line = object.split(|&byte| byte == b'\n').next().expect("a line");
        let json: serde_json::Value = serde_json::from_slice(line).expect("JSON");
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let tables = json["tables"].as_object().expect("tables").iter();
        let hashes = tables.map(|(name, table)| (name.clone(), text(&table["blake3"])));
        (text(&json["trace_id"]), hashes.collect())
    };
    bucket.keys(&format!("{store}/manifests")).iter().map(manifest).collect()
}
