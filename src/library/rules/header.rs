//! The header lines of a composed rule: `-- @finding …`, `-- @message …` and so on.
//!
//! A line continues in the lines after it that are indented by three spaces or more:
//!
//! ```text
//! -- @message Copies take {value} % of the time in which the device works:
//! --     {numerator:ns} of {denominator:ns}.
//! ```

use super::super::{File, Problem};

/// The keys of header lines that a rule may have at most once.
pub const KEYS: &[&str] = &[
    "finding", "subject", "numerator", "denominator", "message", "advice", "evidence",
    "unmeasured", "reason",
];

/// The key of header lines that define one setting each. A rule may have several of them.
const SETTING: &str = "setting";

/// The text of a header line, with the lines of the file that it comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The text of all its lines, joined by single spaces.
    pub text: String,
    /// For each line of the file, its start in `text` and its line number.
    lines: Vec<(usize, usize)>,
}

impl Text {
    fn new(line: usize, text: &str) -> Self {
        Self { text: text.to_owned(), lines: vec![(0, line)] }
    }

    fn push(&mut self, line: usize, text: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.lines.push((self.text.len(), line));
        self.text.push_str(text);
    }

    /// The line of the file that contains a byte of the text.
    pub fn line_at(&self, at: usize) -> usize {
        self.lines.iter().rev().find(|(start, _)| *start <= at).map_or(1, |(_, line)| *line)
    }

    /// The line of the file where the text begins.
    pub fn line(&self) -> usize {
        self.line_at(0)
    }
}

/// The header lines of a rule.
#[derive(Debug, Default)]
pub struct Header {
    texts: Vec<(&'static str, Text)>,
    /// The lines that define settings, without their key.
    pub settings: Vec<Text>,
}

impl Header {
    /// The text of the line with this key.
    pub fn get(&self, key: &str) -> Option<&Text> {
        self.texts.iter().find(|(k, _)| *k == key).map(|(_, text)| text)
    }

    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.settings.is_empty()
    }
}

/// The header of a file, and the file's text in which empty comments replace the lines of the
/// header, so that line numbers stay the same. `None` for a file without such lines.
pub fn take(file: &File) -> Result<Option<(Header, String)>, Problem> {
    let mut header = Header::default();
    let mut rest = String::with_capacity(file.text.len());
    let mut is_comment = true;
    // The previous line if it belongs to the header, so that an indented line can continue it.
    let mut last: Option<&mut Text> = None;
    for (number, line) in file.text.split_inclusive('\n').enumerate().map(|(i, l)| (i + 1, l)) {
        is_comment &= line.starts_with("--") || line.trim().is_empty();
        let comment = line.strip_prefix("--").filter(|_| is_comment);
        let is_taken = match (comment, comment.and_then(|c| c.trim().strip_prefix('@'))) {
            (_, Some(tag)) => {
                let (key, text) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
                last = if matches!(key, "column" | "data" | "scope") {
                    None
                } else {
                    Some(header.add(key, Text::new(number, text.trim()), file)?)
                };
                last.is_some()
            }
            (Some(comment), None) if comment.starts_with("   ") && !comment.trim().is_empty() => {
                if let Some(text) = &mut last {
                    text.push(number, comment.trim());
                }
                last.is_some()
            }
            _ => {
                last = None;
                false
            }
        };
        rest.push_str(if is_taken { "--\n" } else { line });
    }
    Ok(if header.is_empty() { None } else { Some((header, rest)) })
}

impl Header {
    fn add(&mut self, key: &str, text: Text, file: &File) -> Result<&mut Text, Problem> {
        let line = text.line();
        if key == SETTING {
            self.settings.push(text);
            let last = self.settings.last_mut();
            return last.ok_or_else(|| file.problem(line, "@setting has no text"));
        }
        let Some(known) = KEYS.iter().find(|k| **k == key) else {
            return Err(file.problem(
                line,
                format!(
                    "@{key} is not a header line of a rule; use @{}, @{SETTING}, @scope or @column",
                    KEYS.join(", @")
                ),
            ));
        };
        if self.get(key).is_some() {
            return Err(file.problem(line, format!("@{key} is there twice")));
        }
        self.texts.push((known, text));
        match self.texts.last_mut() {
            Some((_, text)) => Ok(text),
            None => Err(file.problem(line, format!("@{key} has no text"))),
        }
    }
}
