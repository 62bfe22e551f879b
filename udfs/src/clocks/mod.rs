//! Several recordings of the same events, each on a clock of its own: equal events get equal
//! numbers, clocks are aligned by events that all recordings see at the same time, and chains of
//! activities are followed back across recordings.

mod align;
mod align_clocks;
mod fit;
mod line;
mod reference;
mod sequence;
mod sequence_number;
#[cfg(test)]
mod tests;
mod walk_back;

use crate::doc::Function;

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    vec![sequence_number::function(), align_clocks::function(), walk_back::function()]
}
