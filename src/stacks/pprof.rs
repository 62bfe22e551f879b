//! Profiles for pprof: profile.proto, packed with gzip.

use std::io::Write;

use flate2::{Compression, GzBuilder};
use tracesql_udfs::pprof::{Builder, Header};

use crate::error::{Error, Result};

/// The bytes of a profile; equal samples give equal bytes.
pub fn pprof(profile: &Builder, header: &Header) -> Result<Vec<u8>> {
    let message = profile.encode(header)?;
    // No name and no time in the head of the file: they would make each one different.
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::new(3));
    let bytes = packed.write_all(&message).and_then(|()| packed.finish());
    bytes.map_err(|e| Error::Output("the profile".to_owned(), e))
}
