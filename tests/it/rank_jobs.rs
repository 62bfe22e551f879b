//! Jobs of several ranks that are made with known clocks, waits and missing members: the calls that
//! are matched, the clocks that are found, and what is not said about calls that cannot be judged.

mod causes;
mod changes;
mod clocks;
mod durations;
mod generated;
mod layout;
mod made;
mod matching;
mod paths;
mod simulated;
mod truth;
mod waits;
