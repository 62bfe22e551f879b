//! Tests of the whole program. They are one binary, because each binary would have to link the
//! query engine, the cluster and the servers.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unreachable,
    clippy::unwrap_used,
    reason = "tests fail by panics"
)]

mod cluster;
mod flight;
mod lock_files;
mod pg;
mod s3;
mod shares;
mod support;
