//! Any bytes as an input: refused, or stored so that every element is counted and every page can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesql_fuzz_store::store;

#[path = "../store.rs"]
mod tracesql_fuzz_store;

fuzz_target!(|data: &[u8]| store(data));
