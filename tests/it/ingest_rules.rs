//! The rules of reading a trace, each with a small trace and what the tables must hold
//! afterwards.

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
