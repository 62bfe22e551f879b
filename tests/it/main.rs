//! All integration tests, in one binary because each binary costs a link of the whole query engine.

mod bad_inputs;
mod check;
mod cli;
mod concurrency;
mod corpus;
mod examples;
mod export;
mod findings;
mod fixtures;
mod interop;
mod library;
mod limits;
mod memory;
mod operator_costs;
mod pack;
mod random_traces;
mod recount;
mod rules;
mod shell;
mod slt;
mod sources;
mod stacks;
mod support;
mod tensorboard;
mod timeline;
