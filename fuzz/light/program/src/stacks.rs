#[path = "../../../../src/stacks/flamegraph.rs"]
mod flamegraph;
#[path = "../../../../src/stacks/folded.rs"]
mod folded;
#[path = "../../../../src/stacks/measured.rs"]
mod measured;
#[path = "../../../../src/stacks/pprof.rs"]
mod pprof;
#[path = "../../../../src/stacks/speedscope.rs"]
mod speedscope;

pub use flamegraph::{Direction, flamegraph};
pub use folded::folded;
pub use pprof::pprof;
pub use speedscope::speedscope;
