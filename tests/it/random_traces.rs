//! Random traces, in which all rules interact, compared with the independent recount.

use std::path::PathBuf;
use std::process::Command;

use crate::corpus::recount;
use crate::recount::differences;
use crate::support::root;

#[test]
fn random_traces_equal_the_recount() {
    let number =
        std::env::var("TRACESQL_RANDOM_TRACES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let folder = tempfile::tempdir().expect("a folder");
    let made = Command::new("python3")
        .arg(root().join("tests/oracle/random_traces.py"))
        .arg(folder.path())
        .arg(number.to_string())
        .status();
    assert!(made.expect("python3 runs").success());
    let paths: Vec<PathBuf> =
        (0..number).map(|i| folder.path().join(format!("{i}.json"))).collect();
    let mut failures = Vec::new();
    for (path, want) in paths.iter().zip(recount(&paths)) {
        failures.extend(
            differences(path, &want).into_iter().map(|d| format!("{}: {d}", path.display())),
        );
    }
    if !failures.is_empty() {
        let kept = folder.keep();
        panic!(
            "{} differences, traces kept in {}:\n{}",
            failures.len(),
            kept.display(),
            failures.join("\n")
        );
    }
}
