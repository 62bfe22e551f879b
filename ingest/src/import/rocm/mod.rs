//! Reads AMD's profiles: the databases of rocprofv3 (rocpd) and of rocmProfileData (RPD), and the
//! JSON of rocprofv3.

mod devices;
mod json;
mod names;
mod rocpd;
mod rocpd_events;
mod rocpd_info;
mod rpd;
mod tracks;

pub use json::{is_output, read as read_json};
pub use rocpd::{is_rocpd, read as read_rocpd};
pub use rpd::{is_rpd, read as read_rpd};
