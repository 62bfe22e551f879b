#[path = "../../../../udfs/src/pprof/build.rs"]
mod build;
#[path = "../../../../udfs/src/pprof/collect.rs"]
mod collect;
#[path = "../../../../udfs/src/pprof/frame.rs"]
mod frame;
#[path = "../../../../udfs/src/pprof/labels.rs"]
mod labels;
#[path = "../../../../udfs/src/pprof/proto.rs"]
mod proto;

pub use build::{Builder, Header, LabelValue, Labels, SampleType};
pub use collect::{BASE, Collector, LABEL_NAMES, is_base};
pub use frame::{FILE, FrameName, without_address};
