//! `--help`, completions and manual pages contain all commands with examples, and the examples run.

use super::{Place, commands, help};
use crate::support::{texts, tracesql};

/// The name of a trace in examples. Each store has other names.
const TRACE: &str = "trace-0123456789ab";

/// The lines of a block of examples, without the comments after them.
fn examples(help: &str) -> Vec<String> {
    let Some((_, block)) = help.split_once("\nExamples:\n") else { return Vec::new() };
    let lines = block.lines().take_while(|l| l.starts_with("  "));
    lines.map(|l| l.trim().split("    ").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_command_says_what_it_is_for_and_shows_examples() {
    let commands = commands();
    for command in ["ingest", "query", "pprof", "list", "docs", "completions", "man"] {
        assert!(commands.iter().any(|c| c == command), "{command} is not among {commands:?}");
    }
    for command in commands {
        let help = help(&command);
        let first = help.lines().next().unwrap_or_default();
        assert!(
            first.split_whitespace().count() >= 3 && !first.starts_with("Usage"),
            "{command} begins with {first:?}"
        );
        let examples = examples(&help);
        assert!(!examples.is_empty(), "{command} has no examples");
        let named = |e: &String| e.contains(&format!("tracesql {command}"));
        assert!(
            examples.iter().all(named),
            "an example of {command} is about something else: {examples:?}"
        );
    }
}

#[test]
fn every_example_of_help_runs() {
    let mut all: Vec<(String, String)> =
        examples(&help("")).into_iter().map(|e| (String::new(), e)).collect();
    for command in commands() {
        all.extend(examples(&help(&command)).into_iter().map(|e| (command.clone(), e)));
    }
    let place = Place::new();
    let trace = std::fs::read_to_string(place.path("names"))
        .expect("the names")
        .lines()
        .next()
        .expect("a name")
        .to_owned();
    let mut failed = Vec::new();
    for (command, example) in &all {
        if command == "remove" {
            place.runs("rm -r store && cp -r runs/base store");
        }
        let mut example = example.replace(TRACE, &trace);
        if command == "ui" {
            // It serves until it is stopped.
            example = format!("timeout --preserve-status -s INT 5 {example}");
        }
        let output = place.shell(&example);
        if !output.status.success() {
            failed.push(format!("{example}\n    {}: {}", output.status, texts(&output).1.trim()));
        }
    }
    assert!(all.len() > 30, "examples: {}", all.len());
    assert!(
        failed.is_empty(),
        "{} of {} examples fail:\n{}",
        failed.len(),
        all.len(),
        failed.join("\n")
    );
}

#[test]
fn shells_complete_every_command() {
    let commands = commands();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = tracesql(&["completions", shell]);
        assert!(output.status.success());
        let script = texts(&output).0;
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell}: {command}");
        }
        for option in ["memory-limit", "threads", "format"] {
            assert!(script.contains(option), "{shell}: {option}");
        }
    }
    assert_eq!(tracesql(&["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn bash_completes_commands_and_options() {
    let place = Place::new();
    let script = r#"
        source <(tracesql completions bash)
        COMP_WORDS=(tracesql in) COMP_CWORD=1 COMP_LINE="tracesql in" COMP_POINT=11
        _tracesql tracesql in tracesql; echo "${COMPREPLY[*]}"
        COMP_WORDS=(tracesql ingest --rep) COMP_CWORD=2
        COMP_LINE="tracesql ingest --rep" COMP_POINT=21
        _tracesql tracesql --rep ingest; echo "${COMPREPLY[*]}""#;
    let (stdout, stderr) = texts(&place.shell(&script.replace("set -u", "")));
    assert_eq!(stdout, "ingest\n--replace\n", "{stderr}");
}

#[test]
fn shells_complete_the_names_of_rules_views_and_settings() {
    for shell in ["bash", "zsh", "fish"] {
        let script = texts(&tracesql(&["completions", shell])).0;
        for name in ["gpu_idle", "kernels_by_name", "rule_data_loading_pct="] {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    place.runs("tracesql man -o pages/man1");
    let main = std::fs::read_to_string(place.path("pages/man1/tracesql.1"))
        .expect("the page of the program");
    for command in commands() {
        let file = place.path(&format!("pages/man1/tracesql-{command}.1"));
        let page =
            std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert!(page.contains(".SH SYNOPSIS") && page.contains("Examples:"), "{command}\n{page}");
        assert!(
            main.contains(&format!("tracesql\\-{}", command.replace('-', "\\-"))),
            "{command} is not named in tracesql(1)"
        );
        let one = texts(&tracesql(&["man", &command])).0;
        assert!(one.contains(".SH SYNOPSIS"), "{command}");
    }
    assert_eq!(tracesql(&["man", "nothing"]).status.code(), Some(2));
    assert_eq!(place.shell("tracesql man -o /dev/null/x").status.code(), Some(4));
}
