//! The code in README.md, docs/ and skills/ runs as shown, and prints the output that is shown.
//!
//! Each file is run from top to bottom in a separate folder. For pages that newcomers follow, the
//! folder contains what a checkout contains; for others also copies of traces and the stores
//! `runs/base` and `runs/new`. Blocks in `sh` are bash scripts, blocks in `python` need the packages
//! of the tests, and blocks in `sql` query `runs/base`. A following block in `text` is the expected
//! output; if the block fails, it is the end of standard error. `TRACESQL_BLESS=1` writes the output
//! into the page, unless it contains wildcards. A block that cannot run here has the comment
//! `<!-- not run: why -->` before it.

use super::markdown::{Block, blocks, matches};
use super::*;

/// Files that are generated or tested elsewhere: `tests/it/library/` runs the examples of the
/// reference.
const ELSEWHERE: [&str; 2] = ["reference.md", "recipes.md"];

/// Pages whose blocks need nothing but a checkout.
const FOR_NEWCOMERS: [&str; 14] = [
    "README.md",
    "commands.md",
    "first-10-minutes.md",
    "index.md",
    "inputs.md",
    "kernels.md",
    "many-machines.md",
    "questions.md",
    "stacks.md",
    "store.md",
    "tour.md",
    "troubleshooting.md",
    "trust.md",
    "views.md",
];

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ["docs", "docs/evidence", "skills/tracesql"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root().join(folder)).expect("the documents"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "md"))
        .filter(|p| !ELSEWHERE.iter().any(|name| p.ends_with(name)))
        .collect();
    files.sort();
    files.insert(0, root().join("README.md"));
    files
}

/// Replaces the expected output of a block in a page.
fn bless(file: &Path, block: &Block, prints: &str) {
    let page = std::fs::read_to_string(file).expect("the page");
    let mut lines: Vec<&str> = page.lines().collect();
    let start = block.prints_line - 1;
    let length = block.prints.as_deref().unwrap_or_default().lines().count();
    lines.splice(start..start + length, prints.trim_end().lines().map(str::trim_end));
    std::fs::write(file, lines.join("\n") + "\n").expect("the page is written");
}

/// Runs a block; `None` if it needs a Python that is not available.
fn run(place: &Place, block: &Block) -> Option<Output> {
    match block.language.as_str() {
        "sh" => Some(place.shell(&block.code)),
        "sql" => {
            place.write("snippet.sql", &block.code);
            Some(place.shell("tracesql query runs/base -f snippet.sql"))
        }
        _ => {
            let python = needs::python()?;
            place.write("snippet.py", &block.code);
            Some(within_a_minute(place.command(python.to_str()?).arg("snippet.py")))
        }
    }
}

/// The problem with the outcome of a block.
fn problem(block: &Block, output: &Output) -> Option<String> {
    let (stdout, stderr) = texts(output);
    match (&block.prints, output.status.success()) {
        (None, true) => None,
        (Some(expected), true) if matches(expected, &stdout) => None,
        (Some(expected), true) => Some(format!("it prints\n{stdout}\n    and not\n{expected}")),
        (Some(expected), false)
            if matches(&format!("[...]\n{expected}"), &stderr)
                && expected.starts_with("error: ") =>
        {
            None
        }
        (_, false) => Some(format!("{}\n{}", output.status, stderr.trim())),
    }
}

/// Whether the output of a block may be written into its page.
fn may_bless(block: &Block, output: &Output) -> bool {
    std::env::var_os("TRACESQL_BLESS").is_some()
        && output.status.success()
        && block.prints.as_ref().is_some_and(|expected| !expected.contains("[.."))
}

/// Runs all blocks of pages. Returns the number of blocks.
fn run_pages(for_newcomers: bool) -> usize {
    let (mut ran, mut failed) = (0, Vec::new());
    let is_chosen = |f: &PathBuf| FOR_NEWCOMERS.iter().any(|n| f.ends_with(n)) == for_newcomers;
    for file in files().into_iter().filter(is_chosen) {
        let name = file.strip_prefix(root()).expect("one of ours").display().to_string();
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{name}: {e}"));
        let runnable = |b: &Block| matches!(b.language.as_str(), "sh" | "python" | "sql");
        let blocks: Vec<Block> = blocks(&text).into_iter().filter(runnable).collect();
        if blocks.is_empty() {
            continue;
        }
        let place = if for_newcomers { Place::checkout() } else { Place::new() };
        let mut blessed = Vec::new();
        for block in blocks {
            let at = format!("{name}:{}", block.line);
            if let Some(why) = &block.not_run {
                assert!(!why.is_empty(), "{at}: say why it is not run");
                eprintln!("{at}: not run: {why}");
                continue;
            }
            let Some(output) = run(&place, &block) else { continue };
            ran += 1;
            let first = block.code.lines().next().unwrap_or_default();
            match problem(&block, &output) {
                None => eprintln!(
                    "{at}: {} {first}{}",
                    block.language,
                    if block.prints.is_some() { " (output compared)" } else { "" }
                ),
                Some(_) if may_bless(&block, &output) => blessed.push((block, texts(&output).0)),
                Some(problem) => failed.push(format!("{at}: {first}\n    {problem}")),
            }
        }
        // From the end, so that the lines of the others stay in place.
        blessed.iter().rev().for_each(|(block, prints)| bless(&file, block, prints));
    }
    assert!(failed.is_empty(), "{} of {ran} blocks fail:\n{}", failed.len(), failed.join("\n\n"));
    ran
}

#[test]
fn code_in_pages_for_newcomers_runs_in_a_checkout() {
    let ran = run_pages(true);
    assert!(ran >= 80, "{ran} blocks ran");
}

#[test]
fn code_in_other_documents_runs() {
    let ran = run_pages(false);
    assert!(ran >= 10, "{ran} blocks ran");
}
