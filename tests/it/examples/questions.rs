//! The form of the pages that newcomers read first. `snippets.rs` runs their code.

use super::links::anchor;
use super::markdown::blocks;
use crate::support::root;

/// The maximum length of a line of a command and of its output.
const MAX_WIDTH: usize = 100;

/// The maximum number of lines of an answer: ten rows, with the heading and the frame of a table.
const MAX_ANSWER_LINES: usize = 14;

fn page(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn the_readme_is_short() {
    let lines = page("README.md").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines; move details to docs/");
}

#[test]
fn every_question_has_a_view_an_answer_and_an_advice() {
    let page = page("docs/questions.md");
    let mut problems = Vec::new();
    let questions: Vec<&str> = page.split("\n### ").skip(1).collect();
    for question in &questions {
        let question = question.split("\n## ").next().unwrap_or(question);
        let title = question.lines().next().unwrap_or_default();
        let mut wrong = |what: &str| problems.push(format!("{title}: {what}"));
        if !page.contains(&format!("(#{})", anchor(title))) {
            wrong("it is not in the contents");
        }
        for part in ["\nView", "\n**How to read it.** ", "\n**What to do.** "] {
            if !question.contains(part) {
                wrong(&format!("it has no {part:?}"));
            }
        }
        let found = blocks(question);
        let answers: Vec<&str> = found.iter().filter_map(|b| b.prints.as_deref()).collect();
        if answers.len() != found.len() || answers.is_empty() {
            wrong("it has a query without an answer, or no query");
        }
        if answers.iter().any(|a| a.lines().count() > MAX_ANSWER_LINES || a.lines().count() < 3) {
            wrong("its answer is empty or too long");
        }
        let mut lines = found.iter().map(|b| &b.code[..]).chain(answers).flat_map(str::lines);
        if lines.any(|line| line.chars().count() > MAX_WIDTH) {
            wrong("its query or answer is too wide");
        }
    }
    assert!(questions.len() >= 40, "only {} questions", questions.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
