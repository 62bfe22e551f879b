//! Samples of a store: the samples that a command selects, as a profile from which all formats are
//! written.
//!
//! All samples come from SQL, so everything in a profile can also be queried.

mod header;
mod inclusive;
mod notes;
mod request;
mod samples;

pub use request::{Request, Rule};
pub use samples::{Samples, collect};
pub use tracesql_formats::pprof::gzipped as pprof;
pub use tracesql_formats::{Direction, flamegraph, folded, speedscope};
