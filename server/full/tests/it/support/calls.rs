//! Calls of the program on a bucket.

use std::path::Path;

use super::{Bucket, Finished, Program};

/// A call of the program on a bucket.
pub fn program(folder: &Path, bucket: &Bucket, arguments: &[&str]) -> Program {
    Program::new(folder).envs(bucket.environment()).args(arguments)
}

/// Runs the program on a bucket.
pub fn call(folder: &Path, bucket: &Bucket, arguments: &[&str]) -> Finished {
    program(folder, bucket, arguments).run()
}

/// Standard output of a call on a bucket that must succeed.
#[track_caller]
pub fn done(folder: &Path, bucket: &Bucket, arguments: &[&str]) -> String {
    call(folder, bucket, arguments).success()
}

/// The number that a query returns.
#[track_caller]
pub fn number(folder: &Path, bucket: &Bucket, url: &str, sql: &str) -> usize {
    let csv = done(folder, bucket, &["query", url, "--format", "csv", "-c", sql]);
    let line = csv.lines().nth(1).unwrap_or_else(|| panic!("no row: {csv}"));
    line.parse().unwrap_or_else(|_| panic!("no number: {csv}"))
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a text")
}
