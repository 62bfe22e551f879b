//! `tracesql compare`: comparisons of two stores or traces.

mod fail_on;
mod formats;

use crate::check::Place;

/// Rows of the JSON of a comparison.
fn rows(place: &Place, args: &[&str]) -> Vec<serde_json::Value> {
    let out = place.run(&[&["compare"], args, &["--format", "json"]].concat());
    let json: serde_json::Value =
        serde_json::from_str(&out.0).unwrap_or_else(|e| panic!("{e}: {}{}", out.0, out.2));
    json["rows"].as_array().expect("rows").clone()
}

const RANK0: &str = "synthetic_gpu_rank0";
const RANK1: &str = "synthetic_gpu_rank1";
