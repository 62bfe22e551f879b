//! All integration tests. They are one binary, because each binary would have to link the whole
//! query engine.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unreachable,
    clippy::unwrap_used,
    reason = "tests fail by panics"
)]

/// The allocator of the program. Much of the time of planning is allocation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod artifacts;
mod bad_inputs;
mod beside;
mod check;
mod cli;
mod collectives;
mod compare;
mod concurrency;
mod confinement;
mod corpus;
mod critical_path;
mod databases;
mod differential;
mod doctor;
mod examples;
mod export;
mod fault_injection;
mod findings;
mod fixtures;
mod fuzz;
mod hta;
mod hta_path;
mod ingest_rules;
mod interop;
mod kernels;
mod library;
mod limits;
mod mcp;
mod memory;
mod missing_information;
mod mistakes;
mod operator_costs;
mod own_rules;
mod parallel_rules;
mod pictures;
mod plan_rules;
mod protobufs;
mod queues;
mod random_traces;
mod rank_jobs;
mod ranks;
mod recount;
mod report;
mod roofline;
mod roofline_bad_input;
mod roofline_causes;
mod roofline_oracle;
mod roofline_planted;
mod rule_findings;
mod shell;
mod slt;
mod snapshots;
mod sources;
mod sql;
mod stacks;
mod support;
mod tensorboard;
mod timeline;
mod true_findings;
mod truth;
mod ui;
mod what_if;
mod wrong_values;
