//! Stores on object storage: an S3 server on loopback, and `file://` URLs.

mod access;
mod damage;
mod faults;
mod housekeeping;
mod proxy;
mod requests;
mod round_trip;

use crate::support::calls::{call, done, text};
use crate::support::traces::{large_trace, trace_of};
