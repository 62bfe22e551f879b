//! Putting elements in the order of rows and finding what encloses, launches and follows what.

mod flows;
mod launches;
mod links;
mod nest;
mod open;
mod pair;
mod sort;
mod spill;
mod tracks;
mod tree;

pub use flows::{Flows, pair_flows};
pub use launches::Launches;
pub use links::{DeviceLinks, DeviceRow, link_otherwise};
pub use nest::{ModuleCall, NO_ROW, Nest, Nester};
pub use pair::pair;
pub use sort::{Order, SortedKeys, Sorter};
pub use spill::SpillVec;
pub use tracks::{id_text, order_tracks, text_of};
