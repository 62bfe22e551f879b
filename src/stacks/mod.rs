//! Stacks for other tools: which samples a store gives, and the formats that profilers read.
//!
//! Samples come from SQL and nowhere else; what is written here can be queried too.

mod flamegraph;
mod folded;
mod inclusive;
mod measured;
mod pprof;
mod samples;
mod speedscope;

pub use flamegraph::{Direction, flamegraph};
pub use folded::folded;
pub use pprof::pprof;
pub use samples::{Request, Rule, Samples, collect};
pub use speedscope::speedscope;
