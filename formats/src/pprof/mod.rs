//! Profiles in the format of pprof (`profile.proto`).
//!
//! [`Builder`] takes stacks and values from any source. [`Collector`] takes the batches of a query.
//! The formats of [`folded`](crate::folded()), [`flamegraph`](crate::flamegraph()) and
//! [`speedscope`](crate::speedscope()) are written from a profile too.

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

/// Returns the bytes of a profile, compressed with gzip as in pprof's own files. Equal samples give
/// equal bytes.
///
/// # Errors
///
/// Returns the errors of [`Builder::encode`].
pub fn gzipped(profile: &Builder, header: &Header) -> Result<Vec<u8>> {
    let message = profile.encode(header)?;
    // The gzip header has no file name and no time, because they would make each file different.
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::new(3));
    packed.write_all(&message)?;
    Ok(packed.finish()?)
}
