//! `tracesql check`: rules, assertions, baselines.

mod rules;
