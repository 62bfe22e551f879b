//! What `--help` shows for each command, and options that a command does not use.

use super::Place;
use crate::support::{texts, tracesql};

fn help(command: &[&str]) -> String {
    texts(&tracesql(&[command, &["--help"]].concat())).0
}

#[test]
fn help_shows_the_options_that_apply() {
    for (command, shown, hidden) in [
        ("query", &["--memory-limit", "--no-commands", "--rules"][..], &[][..]),
        ("report", &["--memory-limit", "--rules", "--timeout"], &["--no-commands"]),
        ("mcp", &["--memory-limit", "--timeout", "--sql"], &["--no-commands", "--allow-files"]),
        ("ingest", &["--memory-limit", "--threads"], &["--rules", "--timeout", "--set"]),
        ("docs", &["--rules", "--sql"], &["--memory-limit", "--timeout"]),
        ("list", &["--quiet"], &["--memory-limit", "--rules", "--set"]),
        ("remove", &["--quiet"], &["--memory-limit", "--rules", "--set"]),
        ("man", &["--output"], &["--memory-limit", "--rules", "--timeout"]),
        ("completions", &[], &["--memory-limit", "--rules", "--timeout"]),
    ] {
        let help = help(&[command]);
        for option in shown {
            assert!(help.contains(option), "{command} {option}:\n{help}");
        }
        for option in hidden {
            assert!(!help.contains(option), "{command} {option}:\n{help}");
        }
        let page = texts(&tracesql(&["man", command])).0.replace('\\', "");
        assert!(hidden.iter().all(|option| !page.contains(option)), "{command}:\n{page}");
    }
    let all = help(&[]);
    for heading in ["Limits:", "SQL, views and rules:", "Messages:", "Exit codes:"] {
        assert!(all.contains(&format!("\n{heading}\n")), "{heading}:\n{all}");
    }
}

#[test]
fn backslashes_are_shown_as_they_are_typed() {
    assert!(help(&["query"]).contains(r" \o FILE"));
    for command in ["", "query", "man"] {
        let command: Vec<&str> = [command].into_iter().filter(|c| !c.is_empty()).collect();
        assert!(!help(&command).contains(r"\\"), "{command:?}");
    }
}

#[test]
fn an_option_that_a_command_does_not_use_is_refused() {
    let place = Place::new();
    for call in [
        &["list", "s", "--memory-limit", "1GiB"][..],
        &["--memory-limit", "1GiB", "list", "s"],
        &["doctor", "s", "--set", "a=b"],
        &["completions", "bash", "--timeout", "1s"],
    ] {
        let error = place.fails(2, call);
        assert!(error.contains("means nothing to `tracesql"), "{call:?}: {error}");
    }
    place.ok(&["list", "s", "--quiet"]);
}
