//! Descriptions of tables, views and functions, for `\d`, `\dv` and `\df`.

use std::fmt::Write;

use tracesql::catalog::{Catalog, Column, Function, Relation};
use tracesql::docs::{TOPICS, topic};
use tracesql::output::{clip, lines, safe, width};
use tracesql::suggest::{hint, nearest};

use super::commands::fits;

/// The layout of descriptions.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// The maximum width, if there is one.
    pub width: Option<usize>,
    /// Whether headings are bold.
    pub colour: bool,
}

impl Page {
    fn heading(&self, text: &str) -> String {
        let bold = anstyle::Style::new().bold();
        if self.colour { format!("{bold}{text}{bold:#}\n") } else { format!("{text}\n") }
    }

    /// A line, which may be cut at the right edge.
    fn line(&self, text: &str) -> String {
        let text = safe(text);
        format!("{}\n", self.width.map_or(text.clone(), |w| clip(&text, w)))
    }

    /// A text broken at blanks. Each line is indented.
    fn wrapped(&self, text: &str, indent: usize) -> String {
        let room = self.width.map_or(usize::MAX, |w| w.saturating_sub(indent).max(20));
        let mut out = String::new();
        for line in text.lines() {
            let lead: String = line.chars().take_while(|c| *c == ' ').collect();
            let words = line.split_whitespace().map(safe);
            let start = format!("{}{lead}", " ".repeat(indent));
            let filled = lines(words, lead.len(), lead.len(), room);
            let filled: Vec<String> = filled.iter().map(|l| format!("{start}{l}")).collect();
            out.push_str(&filled.join("\n"));
            out.push('\n');
        }
        out
    }
}

/// Tables and views with their summaries, by area. `kind` selects tables or views, and `pattern`
/// selects names.
pub fn relations(catalog: &Catalog, kind: &str, pattern: &str, page: Page) -> String {
    let wanted: Vec<&Relation> = catalog
        .relations
        .iter()
        .filter(|r| r.kind.ends_with(kind) && fits(&r.name, pattern))
        .collect();
    if wanted.is_empty() {
        let what = if kind.is_empty() { "table or view" } else { kind };
        return if pattern.is_empty() {
            format!("There is no {what} here.\n")
        } else {
            format!("No {what} fits {}.\n", safe(pattern))
        };
    }
    let column = wanted.iter().map(|r| width(&safe(&r.name))).max().unwrap_or(0);
    let mut out = String::new();
    let mut group = String::new();
    for relation in wanted {
        let heading = match relation.kind {
            "table" if relation.area == "system" => "system tables".to_owned(),
            "table" => "tables".to_owned(),
            "view" => format!("views: {}", relation.area),
            kind => format!("{kind}s"),
        };
        if heading != group {
            out.push_str(if out.is_empty() { "" } else { "\n" });
            out.push_str(&page.heading(&heading));
            group = heading;
        }
        out.push_str(&listed(&relation.name, column, &relation.summary, page));
    }
    if pattern.is_empty() {
        let topics: Vec<&str> = TOPICS.iter().map(|t| t.name).collect();
        let _ = writeln!(
            out,
            "\n\\d NAME says more, also of {}; \\df lists functions.",
            topics.join(", ")
        );
    }
    out
}

/// Functions by area. Functions of the engine are included only if a pattern selects them.
pub fn functions(catalog: &Catalog, pattern: &str, page: Page) -> String {
    let wanted: Vec<&Function> = catalog
        .functions
        .iter()
        .filter(|f| if pattern.is_empty() { !f.area.is_empty() } else { fits(&f.name, pattern) })
        .collect();
    if wanted.is_empty() {
        return format!("No function fits {}.{}\n", safe(pattern), did_you_mean(pattern, catalog));
    }
    let mut areas: Vec<&str> = Vec::new();
    for function in &wanted {
        if !areas.contains(&function.area.as_str()) {
            areas.push(&function.area);
        }
    }
    let mut out = String::new();
    for area in areas {
        out.push_str(if out.is_empty() { "" } else { "\n" });
        out.push_str(&page.heading(if area.is_empty() { "of the engine" } else { area }));
        for function in wanted.iter().filter(|f| f.area == area) {
            out.push_str(&page.line(&format!("  {}", function.signature)));
            if !function.area.is_empty() {
                out.push_str(&page.line(&format!("      {}", function.summary)));
            }
        }
    }
    if pattern.is_empty() {
        let others = catalog.functions.iter().filter(|f| f.area.is_empty()).count();
        let _ = write!(
            out,
            "\n{others} more are functions of the engine: \\df * lists all, \\df PATTERN some, \
            \\d NAME says more.\n"
        );
    }
    out
}

/// The full description of a name.
pub fn name(catalog: &Catalog, name: &str, page: Page) -> Result<String, String> {
    let mut out = catalog.relation(name).map_or(String::new(), |r| of_relation(r, page));
    // An aggregate and a relation function may have the same name.
    for function in catalog.functions.iter().filter(|f| f.name.eq_ignore_ascii_case(name)) {
        out.push_str(if out.is_empty() { "" } else { "\n" });
        out.push_str(&of_function(function, page));
    }
    if !out.is_empty() {
        return Ok(out);
    }
    if let Some(topic) = topic(name) {
        return Ok(topic.text.to_owned());
    }
    if name.contains('*') {
        return Ok(relations(catalog, "", name, page));
    }
    Err(format!(
        "there is no table, view or function {}{}",
        safe(name),
        did_you_mean(name, catalog)
    ))
}

fn did_you_mean(name: &str, catalog: &Catalog) -> String {
    let names = catalog
        .relations
        .iter()
        .map(|r| r.name.as_str())
        .chain(catalog.functions.iter().map(|f| f.name.as_str()));
    hint(nearest(name, names).first().map(|near| safe(near)).as_deref())
}

fn listed(name: &str, column: usize, summary: &str, page: Page) -> String {
    let name = safe(name);
    page.line(&format!("  {name}{}  {summary}", " ".repeat(column.saturating_sub(width(&name)))))
}

fn of_relation(relation: &Relation, page: Page) -> String {
    let area =
        if relation.kind == "view" { format!(" of area {}", relation.area) } else { String::new() };
    let mut out = page.heading(&safe(&format!("{}  ({}{area})", relation.name, relation.kind)));
    out.push_str(&page.wrapped(&relation.summary, 0));
    if !relation.detail.is_empty() {
        let _ = write!(out, "\n{}", page.wrapped(&relation.detail, 0));
    }
    out.push('\n');
    let measure = |of: fn(&Column) -> &String, least: usize| {
        relation.columns.iter().map(|c| width(&safe(of(c)))).max().unwrap_or(0).max(least)
    };
    let (name, kind, unit) =
        (measure(|c| &c.name, 6), measure(|c| &c.data_type, 4), measure(|c| &c.unit, 4));
    out.push_str(
        &page
            .heading(&format!("  {:name$}  {:kind$}  {:unit$}  meaning", "column", "type", "unit")),
    );
    let indent = name + kind + unit + 8;
    for column in &relation.columns {
        let lead = format!(
            "  {:name$}  {:kind$}  {:unit$}  ",
            safe(&column.name),
            safe(&column.data_type),
            safe(&column.unit)
        );
        let meaning = page.wrapped(&column.description, indent);
        let _ = writeln!(out, "{}", format!("{lead}{}", meaning.trim_start()).trim_end());
    }
    for (title, text) in
        [("Holds", &relation.truths), ("Source", &relation.source), ("Example", &relation.example)]
    {
        if !text.is_empty() {
            let _ = write!(out, "\n{title}:\n{}", page.wrapped(text, 2));
        }
    }
    out
}

fn of_function(function: &Function, page: Page) -> String {
    let area = if function.area.is_empty() {
        "of the engine".to_owned()
    } else {
        format!("for {}", function.area)
    };
    let mut out =
        page.heading(&safe(&format!("{}  ({} function {area})", function.name, function.kind)));
    out.push_str(&page.wrapped(&function.signature, 2));
    out.push_str(&page.wrapped(&function.summary, 0));
    for text in &function.detail {
        let _ = write!(out, "\n{}", page.wrapped(text, 0));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NARROW: Page = Page { width: Some(30), colour: false };

    #[test]
    fn texts_are_broken_at_blanks() {
        assert_eq!(
            NARROW.wrapped("one two three four five six seven", 10),
            "          one two three four\n          five six seven\n"
        );
        assert_eq!(
            Page { width: None, colour: false }.wrapped("one two three four five six seven", 0),
            "one two three four five six seven\n"
        );
    }

    #[test]
    fn names_from_traces_are_made_safe() {
        let relation =
            Relation { name: "\x1b[31m".into(), kind: "session view", ..Relation::default() };
        let catalog = Catalog { relations: vec![relation], functions: Vec::new() };
        assert!(!relations(&catalog, "", "", NARROW).contains('\x1b'));
        assert!(!name(&catalog, "\x1b[31m", NARROW).expect("a page").contains('\x1b'));
        assert!(!name(&catalog, "\x1b[32m", NARROW).expect_err("nothing").contains('\x1b'));
    }

    #[test]
    fn what_is_not_there_is_said() {
        assert_eq!(relations(&Catalog::default(), "view", "", NARROW), "There is no view here.\n");
        assert_eq!(relations(&Catalog::default(), "", "x", NARROW), "No table or view fits x.\n");
    }
}
