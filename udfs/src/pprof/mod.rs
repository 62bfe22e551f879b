//! Profiles in the format of pprof: made from stacks, as an aggregate function and for whoever
//! writes files.

mod aggregate;
mod build;
mod collect;
mod frame;
mod labels;
mod proto;

use crate::doc::Function;

pub use build::{Builder, Header, LabelValue, Labels, SampleType};
pub use collect::{BASE, Collector, LABEL_NAMES, is_base};
pub use frame::{FILE, FrameName, without_address};
pub use labels::{LabelColumns, LabelReader};

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    vec![aggregate::function()]
}
