//! View families: one file that defines several views which differ only in a few places.
//!
//! ```text
//! -- The operator table, by name alone or by name and input shapes.
//! -- @expand operators          by="name" keys="name"
//! -- @expand operators_by_input by="name and input shapes" keys="name, input_shapes" shapes
//! --
//! -- Operators by {by}: calls and time on the host.
//! --
//! -- @column name VARCHAR text Name of the operator.
//! -- @if shapes
//! -- @column input_shapes VARCHAR json Shapes of the inputs.
//! -- @end
//! -- @column calls BIGINT count Number of calls.
//! SELECT {keys}, count(*) AS calls FROM operator_calls GROUP BY {keys}
//! ```
//!
//! Each `@expand` line names a view, with parameters (`NAME="TEXT"`) and flags (`NAME`). The lines
//! after the `@expand` lines are the file of that view, in which `{NAME}` stands for the parameter
//! and `{view}` for the name of the view. Lines from `-- @if FLAG` to `-- @else` or `-- @end` are
//! left out of views without the flag. Lines from `-- @else` to `-- @end` are left out of views
//! that have it.
//!
//! Lines that are left out become empty lines, so that line numbers in errors are those of the
//! file.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, Problem};

const EXPAND: &str = "@expand ";

/// The parameter that every member has. Its value is the name of the view.
const VIEW: &str = "view";

/// The files with each family replaced by its members, and the problems in families.
pub fn families(files: Vec<File>) -> (Vec<File>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut all = Vec::with_capacity(files.len());
    for file in files {
        if file.extension != "sql" || !is_family(&file) {
            all.push(file);
            continue;
        }
        match Family::parse(&file).and_then(|family| family.views(&file)) {
            Ok(views) => all.extend(views),
            Err(problem) => problems.push(problem),
        }
    }
    (all, problems)
}

fn is_family(file: &File) -> bool {
    file.text.lines().map_while(comment).any(|text| text.starts_with(EXPAND))
}

/// The text of a comment line; `None` for other lines.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("--").map(str::trim)
}

/// A file with `@expand` lines.
struct Family<'a> {
    members: Vec<Member<'a>>,
    /// The lines after the `@expand` lines, with their line numbers.
    template: Vec<(usize, &'a str)>,
    /// The number of lines before the template.
    skipped: usize,
}

/// A view of a family.
struct Member<'a> {
    line: usize,
    name: &'a str,
    parameters: BTreeMap<&'a str, &'a str>,
    flags: BTreeSet<&'a str>,
}

impl<'a> Family<'a> {
    fn parse(file: &'a File) -> Result<Self, Problem> {
        let mut lines = file.text.lines().enumerate().map(|(i, line)| (i + 1, line)).peekable();
        let mut members: Vec<Member<'a>> = Vec::new();
        let mut skipped = 0;
        while let Some(&(number, line)) = lines.peek() {
            let text = comment(line).unwrap_or_default();
            if let Some(rest) = text.strip_prefix(EXPAND) {
                members.push(Member::parse(rest, number).map_err(|m| file.problem(number, m))?);
            } else if let Some(member) = members.last_mut() {
                // An empty comment line may separate the members from their text.
                if !line.starts_with("--   ") && line.trim_end() != "--" {
                    break;
                }
                member.add(text).map_err(|m| file.problem(number, m))?;
            }
            skipped = number;
            lines.next();
        }
        let family = Self { members, template: lines.collect(), skipped };
        family.lint(file)?;
        Ok(family)
    }

    /// Checks for errors that no single view would show: names that nothing uses, and `@expand`
    /// lines in the wrong place.
    fn lint(&self, file: &File) -> Result<(), Problem> {
        let mut used = BTreeSet::from([VIEW]);
        for (number, line) in &self.template {
            used.extend(placeholders(line).map(|(name, _)| name));
            match comment(line) {
                Some(text) if text.starts_with(EXPAND) => {
                    let message = "all @expand lines stand together, before the text of the views";
                    return Err(file.problem(*number, message));
                }
                Some(text) => used.extend(text.strip_prefix("@if ").map(str::trim)),
                None => {}
            }
        }
        for (i, member) in self.members.iter().enumerate() {
            if self.members[..i].iter().any(|m| m.name == member.name) {
                let message = format!("{} is a view of this file already", member.name);
                return Err(file.problem(member.line, message));
            }
            let mut names = member.parameters.keys().chain(&member.flags);
            if let Some(unused) = names.find(|name| !used.contains(*name)) {
                let message = format!("{}: nothing in the file uses {unused}", member.name);
                return Err(file.problem(member.line, message));
            }
        }
        Ok(())
    }

    fn views(&self, file: &File) -> Result<Vec<File>, Problem> {
        self.members.iter().map(|member| self.view(member, file)).collect()
    }

    fn view(&self, member: &Member<'a>, file: &File) -> Result<File, Problem> {
        let mut text = "\n".repeat(self.skipped);
        // The line of the open `@if`, and whether the lines after it count for this view.
        let mut open: Option<(usize, bool)> = None;
        for (number, line) in &self.template {
            match (comment(line).unwrap_or_default(), open) {
                (condition, _) if condition.starts_with("@if ") => {
                    if open.is_some() {
                        return Err(file.problem(*number, "an @if cannot stand inside another one"));
                    }
                    let flag = condition.trim_start_matches("@if ").trim();
                    if !self.members.iter().any(|m| m.flags.contains(flag)) {
                        let message = format!("no @expand line has the flag {flag}");
                        return Err(file.problem(*number, message));
                    }
                    open = Some((*number, member.flags.contains(flag)));
                }
                ("@else", Some((start, counts))) => open = Some((start, !counts)),
                ("@end", Some(_)) => open = None,
                ("@else" | "@end", None) => {
                    return Err(file.problem(*number, "there is no @if before this line"));
                }
                (_, Some((_, false))) => {}
                _ => text.push_str(&member.fill(line).map_err(|m| file.problem(*number, m))?),
            }
            text.push('\n');
        }
        if let Some((number, _)) = open {
            return Err(file.problem(number, "this @if has no @end"));
        }
        Ok(File {
            area: file.area.clone(),
            stem: member.name.to_owned(),
            extension: file.extension.clone(),
            shown: file.shown.clone(),
            text,
        })
    }
}

impl<'a> Member<'a> {
    fn parse(text: &'a str, line: usize) -> Result<Self, String> {
        let (name, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text, ""));
        let mut member =
            Self { line, name: name.trim(), parameters: BTreeMap::new(), flags: BTreeSet::new() };
        member.add(rest)?;
        Ok(member)
    }

    /// Adds parameters and flags.
    fn add(&mut self, text: &'a str) -> Result<(), String> {
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            let is_new = if let Some(quoted) = after.strip_prefix("=\"") {
                let (value, left) = quoted.split_once('"').ok_or_else(|| usage(rest))?;
                rest = left;
                self.parameters.insert(name, value).is_none()
            } else {
                rest = after;
                self.flags.insert(name)
            };
            if name.is_empty() || rest.starts_with(|c: char| !c.is_whitespace()) {
                return Err(usage(text));
            }
            if !is_new || name == VIEW {
                return Err(format!("{}: {name} has a value already", self.name));
            }
            rest = rest.trim_start();
        }
        Ok(())
    }

    /// A line of the template in which the placeholders are replaced by the values of the
    /// parameters.
    fn fill(&self, line: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(line.len());
        let mut done = 0;
        for (name, at) in placeholders(line) {
            let value = match self.parameters.get(name) {
                Some(value) => value,
                None if name == VIEW => self.name,
                None => return Err(format!("{} has no parameter {name}", self.name)),
            };
            filled.push_str(&line[done..at]);
            filled.push_str(value);
            done = at + name.len() + 2;
        }
        filled.push_str(&line[done..]);
        Ok(filled)
    }
}

fn usage(text: &str) -> String {
    format!("{text:?}: write it as `-- @expand VIEW FLAG … NAME=\"TEXT\" …`")
}

fn is_name(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'
}

/// The names in braces in a line, and the positions of the braces. Braces around anything else, for
/// example in a regular expression, are plain text.
fn placeholders(line: &str) -> impl Iterator<Item = (&str, usize)> {
    line.match_indices('{').filter_map(|(at, _)| {
        let inside = &line[at + 1..];
        let name = &inside[..inside.find('}')?];
        let is_word =
            name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_name);
        is_word.then_some((name, at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILY: &str = r#"-- Counts of events.
-- @expand by_name by="name" keys="name"
-- @expand by_cat  by="name and category"
--   keys="name, cat" cat
--
-- Events by {by}; see {view}.
-- @column name VARCHAR text Name.
-- @if cat
-- @column cat VARCHAR text Category.
-- @else
-- @column other VARCHAR text Nothing.
-- @end
SELECT {keys}, '{2}' FROM events GROUP BY {keys}
"#;

    fn expand(text: &str) -> (Vec<File>, Vec<Problem>) {
        families(vec![File {
            area: "own".into(),
            stem: "family".into(),
            extension: "sql".into(),
            shown: "own/family.sql".into(),
            text: text.into(),
        }])
    }

    #[test]
    fn a_family_makes_a_file_for_each_member_with_lines_in_their_places() {
        let (files, problems) = expand(FAMILY);
        assert_eq!(problems, []);
        let names: Vec<&str> = files.iter().map(|f| f.stem.as_str()).collect();
        assert_eq!(names, ["by_name", "by_cat"]);
        let lines: Vec<&str> = files[1].text.lines().collect();
        assert_eq!(lines.len(), FAMILY.lines().count());
        assert_eq!(lines[..4], [""; 4]);
        assert_eq!(lines[5], "-- Events by name and category; see by_cat.");
        assert_eq!(lines[7..12], ["", "-- @column cat VARCHAR text Category.", "", "", ""]);
        assert_eq!(lines[12], "SELECT name, cat, '{2}' FROM events GROUP BY name, cat");
        assert!(files[0].text.contains("@column other") && !files[0].text.contains("@column cat"));
    }

    #[test]
    fn a_file_without_members_stays_as_it_is() {
        let text = "-- One row.\n-- @column n BIGINT count N.\nSELECT '{n}' -- @expand no\n";
        let (files, problems) = expand(text);
        assert_eq!((files.len(), problems.len()), (1, 0));
        assert_eq!(files[0].text, text);
    }

    #[test]
    fn what_is_wrong_with_a_family_is_reported_with_its_line() {
        let wrong = |from: &str, to: &str| {
            let (files, problems) = expand(&FAMILY.replacen(from, to, 1));
            assert!(files.is_empty(), "{to}");
            problems[0].to_string()
        };
        for (from, to, message) in [
            ("see {view}", "see {veiw}", "own/family.sql:6: by_name has no parameter veiw"),
            ("@if cat", "@if cats", "own/family.sql:3: by_cat: nothing in the file uses cat"),
            ("by=\"name\"", "bye=\"name\" by=\"\"", "nothing in the file uses bye"),
            ("by=\"name\"", "by=\"name\" by=\"\"", "by_name: by has a value already"),
            ("@expand by_cat ", "@expand by_name", "family.sql:3: by_name is a view of this file"),
            ("by=\"name\"", "by=name", "write it as `-- @expand VIEW FLAG"),
            ("-- @end\n", "", "own/family.sql:8: this @if has no @end"),
            ("-- @else", "-- @if cat", "own/family.sql:10: an @if cannot stand inside another"),
            ("@end", "@end\n-- @if dog", "own/family.sql:13: no @expand line has the flag dog"),
            ("-- @if cat\n", "", "nothing in the file uses cat"),
            ("SELECT", "-- @end\nSELECT", "own/family.sql:13: there is no @if before this line"),
            ("SELECT", "-- @expand c\nSELECT", "own/family.sql:13: all @expand lines stand"),
        ] {
            let found = wrong(from, to);
            assert!(found.contains(message), "{to}: {found}");
        }
    }
}
