//! The scripts and styles of web pages, and how they are embedded in a page that is a single file.
//!
//! Scripts are ES modules in `web/` (shared by all pages) and next to the page that they belong to.
//! A page cannot import from itself, so `inline` converts modules into one script: each module
//! becomes a function that returns its exports, and imports become variables. This is not a general
//! bundler. It supports `import { a, b } from "./file.js";` at the start of a line, and `export`
//! before functions and constants. The modules use nothing else. Comments and indentation, a
//! quarter of the text, are left out.

use include_dir::{Dir, File, include_dir};

/// A module: its text, and the name of its file without `.js`, by which other modules import it.
pub(crate) type Module = (&'static str, &'static str);

/// A list of the modules with these names in a folder.
macro_rules! modules {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!($folder, $name, ".js")))),+]
    };
}
pub(crate) use modules;

/// Helpers for elements and numbers, in the order in which they depend on each other.
pub(crate) const BASE: &[Module] = modules!("../web/base/": "elements", "format");

/// Charts, in the order in which they depend on each other.
pub(crate) const CHARTS: &[Module] = modules!("../web/charts/":
    "theme", "ticks", "axis", "surface", "tooltip", "legend", "zoom", "stack", "plot", "bars",
    "lying_bars", "lines", "heat_map", "sunburst", "log_points",
);

/// Colours and fonts, and the look of charts.
pub(crate) const STYLES: &[&str] =
    &[include_str!("../web/styles/colours.css"), include_str!("../web/charts/charts.css")];

/// Files for pages that a server hands out.
static SHARED: Dir = include_dir!("$CARGO_MANIFEST_DIR/web");
static OF_REPORT: Dir = include_dir!("$CARGO_MANIFEST_DIR/src/report/assets");

/// A module or style that all pages share, such as `base/elements.js`.
pub fn shared_file(path: &str) -> Option<&'static [u8]> {
    SHARED.get_file(path).map(File::contents)
}

/// A module or style of the report's page, such as `js/app.js`.
pub fn report_file(path: &str) -> Option<&'static [u8]> {
    OF_REPORT.get_file(path).map(File::contents)
}

/// Joins modules into one script. Each module must come after those that it imports.
pub(crate) fn inline(modules: &[&[Module]]) -> String {
    let mut script = String::from("\"use strict\";\nconst modules = {};\n");
    for (name, text) in modules.iter().copied().flatten() {
        script.push_str(&wrapped(name, text));
    }
    script
}

/// Joins styles, without comments and indentation.
pub(crate) fn inline_styles(styles: &[&str]) -> String {
    let mut joined = String::new();
    let mut is_comment = false;
    for line in styles.iter().flat_map(|text| text.lines()).map(str::trim) {
        is_comment |= line.starts_with("/*");
        if !is_comment && !line.is_empty() {
            joined.push_str(line);
            joined.push('\n');
        }
        is_comment &= !line.ends_with("*/");
    }
    joined
}

/// A module as a function that is called immediately and stores its exports in `modules`.
fn wrapped(name: &str, text: &str) -> String {
    let mut body = String::with_capacity(text.len() + 200);
    let mut exports: Vec<&str> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if rest.starts_with("import ") {
            let (statement, after) = rest.split_once(";\n").unwrap_or((rest, ""));
            let (names, from) = statement.split_once(" from ").unwrap_or((statement, ""));
            let names = names.trim_start_matches("import ");
            body.push_str(&format!("const {names} = modules.{};\n", file_stem(from)));
            rest = after;
            continue;
        }
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        let line = match line.strip_prefix("export ") {
            Some(declaration) => {
                exports.extend(declared(declaration));
                declaration
            }
            None => line.trim(),
        };
        if !line.is_empty() && !is_comment(line) {
            body.push_str(line);
            body.push('\n');
        }
    }
    format!("modules.{name} = (() => {{\n{body}return {{ {} }};\n}})();\n", exports.join(", "))
}

/// Whether a line without its indentation is only a comment.
fn is_comment(line: &str) -> bool {
    ["//", "/*", "* ", "*/"].iter().any(|start| line.starts_with(start)) || line == "*"
}

/// The name of a file in quotes, without folders and extension.
fn file_stem(path: &str) -> &str {
    let path = path.trim().trim_matches('"');
    let file = path.rsplit('/').next().unwrap_or(path);
    file.trim_end_matches(".js")
}

/// The name that a function or constant declares.
fn declared(line: &str) -> Option<&str> {
    let rest = ["async function ", "function ", "const "].iter().find_map(|w| line.strip_prefix(w));
    rest?.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The names that a module imports, with the module that they come from.
    fn imports(text: &str) -> Vec<(&str, &str)> {
        let statements = text.split(";\n").map(|s| s.rsplit("\nimport ").next().unwrap_or(s));
        statements
            .filter_map(|s| s.trim_start_matches("import ").split_once(" from "))
            .filter(|(names, _)| names.starts_with('{'))
            .flat_map(|(names, from)| {
                let names = names.trim_matches(['{', '}', ' ', '\n']);
                names.split(',').map(move |n| (n.trim(), file_stem(from)))
            })
            .filter(|(name, _)| !name.is_empty())
            .collect()
    }

    fn exports(text: &str) -> Vec<&str> {
        text.lines().filter_map(|l| l.strip_prefix("export ").and_then(declared)).collect()
    }

    /// Checks that every import names an export of an earlier module, and that no two modules have
    /// the same name.
    pub fn check_modules(modules: &[&[Module]]) {
        let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, text) in modules.iter().copied().flatten() {
            for (wanted, from) in imports(text) {
                let found = known.get(from).is_some_and(|e| e.contains(&wanted));
                assert!(found, "{name} imports {wanted} from {from}, which is not there before it");
            }
            assert!(!text.contains("export default") && !text.contains("import *"), "{name}");
            check_lines(name, text);
            assert!(known.insert(name, exports(text)).is_none(), "two modules are called {name}");
        }
    }

    /// Checks that lines can lose their indentation, and that lines which look like comments are
    /// comments.
    fn check_lines(name: &str, text: &str) {
        let mut is_block = false;
        for line in text.lines().map(str::trim) {
            let is_closed = line.matches('`').count().is_multiple_of(2);
            assert!(is_comment(line) || is_closed, "{name}: a text over several lines: {line}");
            is_block |= line.starts_with("/*");
            assert!(is_block || !line.starts_with('*'), "{name}: not a comment: {line}");
            is_block &= !line.ends_with("*/");
        }
    }

    #[test]
    fn shared_modules_import_what_comes_before_them() {
        check_modules(&[BASE, CHARTS]);
    }

    #[test]
    fn a_module_becomes_a_function_with_its_exports() {
        let text = "import { el } from \"../base/elements.js\";\n\n\
            // Why.\nexport const SIZE = 3;\n  function hidden() {}\n\
            export async function load(x) {\n}\n";
        let script = wrapped("some", text);
        assert_eq!(
            script,
            "modules.some = (() => {\nconst { el } = modules.elements;\nconst SIZE = 3;\n\
            function hidden() {}\nasync function load(x) {\n}\nreturn { SIZE, load };\n})();\n"
        );
        assert_eq!(imports(text), [("el", "elements")]);
    }

    #[test]
    fn styles_lose_comments_and_indentation() {
        let style =
            "/* Why,\n   over two lines. */\n* {\n  margin: 0; /* kept */\n}\n/* a */\n\np {\n}\n";
        assert_eq!(inline_styles(&[style]), "* {\nmargin: 0; /* kept */\n}\np {\n}\n");
    }

    #[test]
    fn imports_over_several_lines_are_understood() {
        let text = "import {\n  a,\n  b,\n} from \"./long_name.js\";\nconst c = 1;\n";
        assert_eq!(imports(text), [("a", "long_name"), ("b", "long_name")]);
        assert!(wrapped("x", text).contains("const {\n  a,\n  b,\n} = modules.long_name;\n"));
    }
}
