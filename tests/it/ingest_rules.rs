//! The rules for reading a trace. Each test has a small trace and the expected content of the
//! tables.

mod flows;
mod links;
mod modules;
mod mtia;
mod nesting;
mod pairs;
mod perf_blobs;
mod rows;
mod span;
mod steps;
mod texts;
mod times;
mod top_level;
mod tracks;
