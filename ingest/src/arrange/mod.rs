//! Arranges elements: sorts them into the order of rows, and finds which events enclose, launch and
//! follow each other.

mod begin_end;
mod flows;
mod launches;
mod links;
mod named_steps;
mod nest;
mod nesting;
mod open_spans;
mod preorder;
mod runs;
mod sort;
mod spill;
mod tracks;

pub use begin_end::{Pairs, pair};
pub use flows::{FlowPoint, Flows, SIGNED, TEXT, UNSIGNED, pair_flows};
pub use launches::{Launch, Launches};
pub use links::{DeviceLinks, DeviceWork, OtherLink, link_otherwise};
pub use named_steps::{NamedSteps, StepPattern};
pub use nest::{NO_ROW, Nest};
pub use nesting::{ModuleCall, Nester};
pub use runs::Runs;
pub use sort::{Order, SortedRecords, Sorter};
pub use spill::SpillVec;
pub use tracks::{id_text, order_tracks, text_of};
