//! Profiles in the format of pprof (`profile.proto`).
//!
//! [`Builder`] takes stacks and values from any source, [`Collector`] takes the batches of a query.
//! A profile is also what [`folded`](crate::folded()), [`flamegraph`](crate::flamegraph()) and
//! [`speedscope`](crate::speedscope()) are written from.

mod builder;
mod collector;
mod frame;
mod labels;
mod proto;

use std::io::Write;

use flate2::{Compression, GzBuilder};

use crate::error::Result;

pub use builder::{Builder, Header, LabelValue, Labels, SampleType};
pub use collector::{BASE, Collector, LABEL_NAMES, is_base};
pub use frame::{FILE, FrameName, without_address};
pub use labels::{LabelColumns, LabelReader};

/// The bytes of a profile, packed with gzip as pprof writes its files. Equal samples give equal
/// bytes.
///
/// # Errors
///
/// Those of [`Builder::encode`].
pub fn gzipped(profile: &Builder, header: &Header) -> Result<Vec<u8>> {
    let message = profile.encode(header)?;
    // The gzip header carries no file name and no time: they would make each file different.
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::new(3));
    packed.write_all(&message)?;
    Ok(packed.finish()?)
}
