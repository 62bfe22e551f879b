//! Links between documents: every relative link, anchor and picture exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::support::root;

/// All Markdown files of the repository that are not part of a build.
fn pages() -> Vec<PathBuf> {
    const FOLDERS: [&str; 13] = [
        "",
        "bench",
        "deploy",
        "docs",
        "docs/evidence",
        "fixtures",
        "formats",
        "ingest",
        "notebooks",
        "python",
        "skills/tracesql",
        "tests/expected/tb",
        "tests/oracle",
    ];
    let mut pages: Vec<PathBuf> = FOLDERS
        .iter()
        .flat_map(|folder| std::fs::read_dir(root().join(folder)).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.sort();
    pages
}

/// The lines of a page outside of code blocks, without inline code, with their numbers.
fn prose(page: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (at, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let outside = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            lines.push((at + 1, outside));
        }
    }
    lines
}

/// The targets of `[text](target)` and `![text](target)`, with their lines. A text may be broken
/// over two lines; a target is not.
fn targets(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, text) in prose(page) {
        for after in text.split("](").skip(1) {
            if let Some((target, _)) = after.split_once(')') {
                found.push((line, target.to_owned()));
            }
        }
    }
    found
}

/// The anchor of a heading on GitHub, without a number for repeated headings.
pub fn anchor(title: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    title.to_lowercase().chars().filter(is_kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The anchors that GitHub gives to the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    let mut is_code = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let title = line.trim_start_matches('#');
        if is_code || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let anchor = anchor(title.trim());
        let number = times.entry(anchor.clone()).or_default();
        found.insert(if *number == 0 { anchor } else { format!("{anchor}-{number}") });
        *number += 1;
    }
    found
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// The problem of a link, if there is one.
fn problem(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() {
        page.to_owned()
    } else {
        normal(&page.parent().expect("a folder").join(path))
    };
    if !file.exists() {
        return Some(format!("{target} does not exist"));
    }
    if anchor.is_empty() || file.extension().is_none_or(|e| e != "md") {
        return None;
    }
    let text = std::fs::read_to_string(&file).expect("a page");
    (!anchors(&text).contains(anchor)).then(|| format!("{target}: there is no such heading"))
}

#[test]
fn links_and_pictures_exist() {
    let (mut checked, mut problems) = (0, Vec::new());
    for page in pages() {
        let name = page.strip_prefix(root()).expect("one of ours").display().to_string();
        let text = std::fs::read_to_string(&page).expect("a page");
        for (line, target) in targets(&text) {
            checked += 1;
            problems.extend(problem(&page, &target).map(|p| format!("{name}:{line}: {p}")));
        }
    }
    assert!(checked > 200, "only {checked} links were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_page_is_in_the_index() {
    let docs = root().join("docs");
    let index = std::fs::read_to_string(docs.join("index.md")).expect("the index");
    let named: BTreeSet<PathBuf> = targets(&index)
        .into_iter()
        .filter_map(|(_, target)| {
            let path = target.split('#').next().filter(|p| !p.is_empty())?.to_owned();
            Some(normal(&docs.join(path)))
        })
        .collect();
    let missing: Vec<_> = pages()
        .into_iter()
        .filter(|p| p.starts_with(&docs) && !p.ends_with("index.md") && !named.contains(p))
        .collect();
    assert!(missing.is_empty(), "docs/index.md does not name {missing:?}");
}

#[test]
fn anchors_are_those_of_github() {
    let page =
        "# A `view`: what it is?\n\n## tb_operators\n\n```sh\n# no heading\n```\n## tb_operators";
    let expected = ["a-view-what-it-is", "tb_operators", "tb_operators-1"];
    assert_eq!(anchors(page), expected.map(str::to_owned).into());
    assert_eq!(
        targets("See `[a](b)` and\n[c\nd](e.md#f), ![g](h.png)."),
        [(3, "e.md#f".to_owned()), (3, "h.png".to_owned())]
    );
}
