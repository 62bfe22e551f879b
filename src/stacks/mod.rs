//! Samples of a store: which ones a command takes, as a profile that the formats are written from.
//!
//! Samples come from SQL and nowhere else, so whatever is written can also be queried.

mod inclusive;
mod samples;

pub use samples::{Request, Rule, Samples, collect};
pub use tracesql_formats::pprof::gzipped as pprof;
pub use tracesql_formats::{Direction, flamegraph, folded, speedscope};
