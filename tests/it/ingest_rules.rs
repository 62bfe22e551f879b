//! The rules of reading a trace, one mini-trace each: what is written, and what the tables then
//! say.

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
