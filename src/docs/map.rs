//! Writes a short map of the reference: every area with its purpose, and its views with a line
//! each.

use std::fmt::Write;

use super::areas::{AREAS, Area};
use super::{Reference, by_area};
use crate::library::View;
use crate::output::clip;

/// The maximum length of a line, in characters.
const WIDTH: usize = 100;

/// The map of everything that a user can ask for.
pub fn map(reference: &Reference) -> String {
    let mut out = String::new();
    let tables = of_area(&reference.tables, "tables");
    let _ = writeln!(out, "Tables of a store");
    lines(&mut out, tables.iter().map(|v| (v.name.as_str(), v.summary.as_str())));
    for Area { name, purpose, brief } in AREAS {
        let views = of_area(&reference.views, name);
        if views.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{purpose} ({name})");
        if *brief {
            names(&mut out, views.iter().map(|v| v.name.as_str()));
        } else {
            lines(&mut out, views.iter().map(|v| (v.name.as_str(), v.summary.as_str())));
        }
    }
    for (area, views) in by_area(&reference.views, |v| &v.area) {
        if !AREAS.iter().any(|a| a.name == area) {
            let _ = writeln!(out, "\nViews: {area}");
            lines(&mut out, views.iter().map(|v| (v.name.as_str(), v.summary.as_str())));
        }
    }
    let _ = writeln!(out, "\nFunctions");
    for (area, functions) in by_area(&reference.functions, |f| f.doc.area) {
        let all: Vec<&str> = functions.iter().map(|f| f.doc.name).collect();
        let _ = writeln!(out, "{}", clip(&format!("  {area:<12}{}", all.join(", ")), WIDTH));
    }
    let _ = writeln!(out, "\nTopics");
    lines(&mut out, reference.topics.iter().map(|t| (t.name, t.summary)));
    out.push_str(
        "\n`tracesql docs NAME` describes one of these, or all of an area.\n\
         `tracesql docs --search WORDS` searches everything, `tracesql docs --all` lists \
         everything.\n",
    );
    out
}

fn of_area<'v>(views: &'v [View], area: &str) -> Vec<&'v View> {
    views.iter().filter(|v| v.area == area).collect()
}

fn lines<'a>(out: &mut String, entries: impl Iterator<Item = (&'a str, &'a str)> + Clone) {
    let width = entries.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, summary) in entries {
        let _ = writeln!(out, "{}", clip(&format!("  {name:width$}  {summary}"), WIDTH));
    }
}

/// Names separated by commas, in lines of at most [`WIDTH`] characters.
fn names<'a>(out: &mut String, names: impl Iterator<Item = &'a str>) {
    let mut line = String::from("  ");
    for name in names {
        if line.len() + name.len() + 1 > WIDTH {
            let _ = writeln!(out, "{}", line.trim_end());
            line = String::from("  ");
        }
        let _ = write!(line, "{name}, ");
    }
    let _ = writeln!(out, "{}", line.trim_end().trim_end_matches(','));
}
