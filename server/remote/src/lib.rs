//! Stores of traces on object storage: Amazon S3 and servers with its protocol, Google Cloud
//! Storage, Azure Blob Storage, and folders by a `file://` URL.
//!
//! A store has a marker, one manifest object per trace, and the Parquet files that are too large
//! for the manifest object. `layout` names the objects, `record` describes a manifest object,
//! `publish` writes a trace, and `view` is what a query reads.

mod aws;
mod cache;
mod counted;
mod examine;
mod failure;
mod fetch;
mod gc;
mod inputs;
mod io;
mod kind;
mod layout;
mod listing;
mod marker;
mod near;
mod opener;
mod patience;
mod place;
mod profile;
mod publish;
mod recent;
mod record;
mod remove;
mod staged;
mod store;
#[cfg(test)]
mod trial;
mod upload;
mod verified;
mod view;
mod words;

pub use counted::{Counts, counts};
pub use failure::Failure;
pub use fetch::copy_to_folder;
pub use gc::{Leftover, gc};
pub use inputs::Objects;
pub use io::wait;
pub use opener::Urls;
pub use place::Place;
pub use store::ObjectTraces;
pub use verified::copy_file;

/// Makes the URLs of object storage known to this process.
pub fn register() {
    tracesql::store::register(std::sync::Arc::new(Urls::default()));
    tracesql::open::register_inputs(std::sync::Arc::new(Objects::default()));
}
