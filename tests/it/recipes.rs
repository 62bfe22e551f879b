//! The Python and shell code in the documentation runs as shown: docs/recipes.md and the notebooks.

use std::path::Path;
use std::process::Command;

use crate::support::{fixture, needs, root, texts};

/// A fenced block of a page: its language, the other words of its first line, and its text.
struct Block<'a> {
    language: &'a str,
    needs: Option<&'a str>,
    text: String,
    line: usize,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block> = Vec::new();
    let mut is_open = false;
    for (number, line) in page.lines().enumerate() {
        match (is_open, line.strip_prefix("```")) {
            (false, Some(info)) => {
                let mut words = info.split(' ');
                found.push(Block {
                    language: words.next().unwrap_or(""),
                    needs: words.next(),
                    text: String::new(),
                    line: number + 1,
                });
                is_open = true;
            }
            (true, Some(_)) => is_open = false,
            (true, None) => {
                let text = &mut found.last_mut().expect("an open block").text;
                text.push_str(line);
                text.push('\n');
            }
            _ => {}
        }
    }
    found
}

/// Standard output without blanks at the ends of lines.
fn trimmed(text: &str) -> String {
    text.trim_end().lines().map(|l| format!("{}\n", l.trim_end())).collect()
}

/// A command with the built program and the packages of the tests on its search paths.
fn command(program: &str, python: &Path, folder: &Path) -> Command {
    let built = Path::new(env!("CARGO_BIN_EXE_tracesql")).parent().expect("a folder").to_owned();
    let mut paths = vec![python.parent().expect("a folder").to_owned(), built];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env("PATH", std::env::join_paths(paths).expect("a path"))
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8");
    command
}

#[test]
fn every_recipe_gives_what_the_page_shows() {
    let Some(python) = needs::python() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("traces")).expect("a folder");
    for rank in [0, 1] {
        let to = folder.path().join(format!("traces/rank{rank}.json.gz"));
        std::fs::copy(fixture(&format!("synthetic_gpu_rank{rank}.json.gz")), to).expect("a copy");
    }
    let page = std::fs::read_to_string(root().join("docs/recipes.md")).expect("the page");
    let blocks = blocks(&page);
    let mut ran = 0;
    for (i, block) in blocks.iter().enumerate() {
        let arguments: &[&str] = match block.language {
            "sh" => &["bash", "-euo", "pipefail", "-c"],
            "python" => &["python", "-c"],
            "sql" => &["tracesql", "query", "store", "-c"],
            "text" => continue,
            other => {
                panic!("line {}: a block of `{other}` is not run; mark output as text", block.line)
            }
        };
        if let Some(package) = block.needs
            && needs::large_package(&python, package).is_none()
        {
            continue;
        }
        let output = command(arguments[0], &python, folder.path())
            .args(&arguments[1..])
            .arg(&block.text)
            .output()
            .expect("it runs");
        let (stdout, stderr) = texts(&output);
        assert!(
            output.status.success(),
            "docs/recipes.md, line {}: {}\n{stderr}",
            block.line,
            output.status
        );
        let shown = blocks
            .get(i + 1)
            .filter(|b| b.language == "text")
            .map(|b| trimmed(&b.text))
            .unwrap_or_default();
        assert_eq!(trimmed(&stdout), shown, "docs/recipes.md, line {}\n{}", block.line, block.text);
        ran += 1;
    }
    assert!(ran > 10, "only {ran} recipes were run");
}

#[test]
fn notebooks_print_what_they_hold() {
    let Some(python) = needs::python() else { return };
    let output = command("python", &python, root())
        .args(["notebooks/run.py", "--check"])
        .env("TRACESQL", env!("CARGO_BIN_EXE_tracesql"))
        .output()
        .expect("python runs");
    let (stdout, stderr) = texts(&output);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.lines().filter(|l| l.contains("as kept")).count() >= 4, "{stdout}\n{stderr}");
}
