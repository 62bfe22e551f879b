//! The Python SDK of the protocol in its three modes, and the inspector.

use std::path::PathBuf;
use std::process::Command;

use super::store;
use crate::support::{needs, root, texts, within_a_minute};

#[test]
fn the_python_sdk_accepts_every_answer() {
    let Some(python) = needs::python() else { return };
    if needs::package(&python, "mcp").is_none() {
        return;
    }
    let (_store, path) = store();
    for mode in ["auto", "legacy", "2026-07-28"] {
        let output =
            within_a_minute(Command::new(&python).arg(root().join("tests/mcp/sdk.py")).args([
                mode,
                env!("CARGO_BIN_EXE_tracesql"),
                &path,
            ]));
        let (out, error) = texts(&output);
        assert!(output.status.success(), "{mode}:\n{out}\n{error}");
        assert!(out.ends_with("ok\n"), "{mode}: {out}");
    }
}

/// The inspector of the protocol: a command that `TRACESQL_TEST_INSPECTOR` names. It needs Node.
#[test]
fn the_inspector_lists_and_calls_tools() {
    let Some(inspector) = std::env::var_os("TRACESQL_TEST_INSPECTOR").map(PathBuf::from) else {
        return needs::skip("inspector", "TRACESQL_TEST_INSPECTOR names no command");
    };
    let (_store, path) = store();
    let run = |more: &[&str]| {
        let program = env!("CARGO_BIN_EXE_tracesql");
        let mut command = Command::new(&inspector);
        within_a_minute(command.args(["--cli", program, "mcp", &path]).args(more))
    };
    for (more, expected) in [
        (&["--method", "tools/list"][..], "outputSchema"),
        (&["--method", "resources/list"], "tracesql://report"),
        (&["--method", "prompts/list"], "why_is_it_slow"),
        (&["--method", "tools/call", "--tool-name", "query", "--tool-arg", "sql=SELECT 42"], "42"),
    ] {
        let output = run(more);
        let (out, error) = texts(&output);
        assert!(output.status.success() && out.contains(expected), "{more:?}:\n{out}\n{error}");
    }
}
