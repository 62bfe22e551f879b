//! All integration tests, in one binary because each binary costs a link of the whole query engine.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unreachable,
    clippy::unwrap_used,
    reason = "tests fail by panics"
)]

mod bad_inputs;
mod check;
mod cli;
mod collectives;
mod compare;
mod concurrency;
mod corpus;
mod differential;
mod doctor;
mod examples;
mod export;
mod findings;
mod fixtures;
mod fuzz;
mod hostile_values;
mod ingest_rules;
mod interop;
mod kernels;
mod library;
mod limits;
mod lone;
mod memory;
mod operator_costs;
mod own_rules;
mod pack;
mod parallel_rules;
mod random_traces;
mod recipes;
mod recount;
mod report;
mod shell;
mod slt;
mod sources;
mod stacks;
mod support;
mod tensorboard;
mod timeline;
mod true_findings;
mod trust;
mod truth;
