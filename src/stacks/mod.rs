//! Samples of a store: the samples that a command selects, as a profile from which all formats are
//! written.
//!
//! All samples come from SQL, so everything in a profile can also be queried.

mod inclusive;
mod samples;

pub use samples::{Request, Rule, Samples, collect};
pub use tracesql_formats::pprof::gzipped as pprof;
pub use tracesql_formats::{Direction, flamegraph, folded, speedscope};
