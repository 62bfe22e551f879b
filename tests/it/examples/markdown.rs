//! Code blocks of Markdown files.

/// A code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The line of the file where the code begins.
    pub line: usize,
    /// The language; empty if none is given.
    pub language: String,
    /// The code.
    pub code: String,
    /// The reason why the block cannot be run: the comment `<!-- not run: why -->` before it.
    pub not_run: Option<String>,
    /// The expected output: the block in language `text` directly after it.
    pub prints: Option<String>,
    /// The line of the file where the expected output begins; 0 without it.
    pub prints_line: usize,
}

/// All blocks of a file. A block with the output of another block belongs to that one.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut open, mut not_run, mut between) = (None::<Block>, None, true);
    for (at, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(block), Some("")) => {
                let block = std::mem::replace(
                    block,
                    Block {
                        line: 0,
                        language: String::new(),
                        code: String::new(),
                        not_run: None,
                        prints: None,
                        prints_line: 0,
                    },
                );
                open = None;
                match blocks.last_mut() {
                    Some(before)
                        if block.language == "text"
                            && !between
                            && before.prints.is_none()
                            && before.language != "text" =>
                    {
                        before.prints = Some(block.code);
                        before.prints_line = block.line;
                    }
                    _ => blocks.push(block),
                }
                between = false;
            }
            (Some(block), _) => {
                block.code.push_str(line);
                block.code.push('\n');
            }
            (None, Some(language)) => {
                let language = language.split_whitespace().next().unwrap_or_default().to_owned();
                open = Some(Block {
                    line: at + 2,
                    language,
                    code: String::new(),
                    not_run: not_run.take(),
                    prints: None,
                    prints_line: 0,
                });
            }
            (None, None) if line.trim().is_empty() => {}
            (None, None) => {
                let marker =
                    line.trim().strip_prefix("<!-- not run:").and_then(|l| l.strip_suffix("-->"));
                not_run = marker.map(|why| why.trim().to_owned());
                between = true;
            }
        }
    }
    blocks
}

/// Whether a text is as expected. `[..]` in a line stands for any text, and a line `[...]` for any
/// lines. Blanks at line ends are ignored.
pub fn matches(expected: &str, found: &str) -> bool {
    let lines =
        |text: &str| text.trim_end().lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
    lines_match(&lines(expected), &lines(found))
}

fn lines_match(expected: &[String], found: &[String]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((any, rest)) if any.trim() == "[...]" => {
            (0..=found.len()).any(|skip| lines_match(rest, &found[skip..]))
        }
        Some((line, rest)) => found
            .split_first()
            .is_some_and(|(first, others)| line_matches(line, first) && lines_match(rest, others)),
    }
}

fn line_matches(expected: &str, found: &str) -> bool {
    match expected.split_once("[..]") {
        None => expected == found,
        Some((start, rest)) => {
            let Some(after) = found.strip_prefix(start) else { return false };
            after
                .char_indices()
                .map(|(at, _)| at)
                .chain([after.len()])
                .any(|at| line_matches(rest, &after[at..]))
        }
    }
}

#[test]
fn blocks_have_their_output_and_their_marker() {
    let text = "# A\n\n```sh\none\ntwo\n```\n\n```text\n1\n```\n\n\
        <!-- not run: needs a GPU -->\n\n```python\nx\n```\n\nBetween.\n\n```text\nfree\n```\n";
    let found = blocks(text);
    let short: Vec<_> = found
        .iter()
        .map(|b| {
            (
                b.line,
                b.language.as_str(),
                b.code.as_str(),
                b.not_run.as_deref(),
                b.prints.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        short,
        [
            (4, "sh", "one\ntwo\n", None, Some("1\n")),
            (15, "python", "x\n", Some("needs a GPU"), None),
            (21, "text", "free\n", None, None)
        ]
    );
}

#[test]
fn wildcards_stand_for_text_and_lines() {
    assert!(matches("a\nb\n", "a  \nb\n\n"));
    assert!(!matches("a\nb", "a\nc"));
    assert!(matches("took [..] ms, [..]", "took 1.5 ms, all of it"));
    assert!(!matches("took [..] ms", "took 1.5 s"));
    assert!(matches("a\n[...]\nz", "a\nb\nc\nz"));
    assert!(matches("a\n[...]\nz", "a\nz"));
    assert!(!matches("a\n[...]\nz", "a\nb"));
}
