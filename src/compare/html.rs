//! Writes a comparison as a single HTML page with tables that can be sorted and searched.
//!
//! As on the page of a report, a script or style only takes effect if it carries a nonce, which is
//! made from the content.

use tracesql_formats::names::short_name;

use super::{By, Comparison, json, label};
use crate::environment;
use crate::web::{self, Module, modules};

const PAGE: &str = include_str!("page/page.html");
/// The look of reports, then what only this page has.
const STYLES: &[&str] = &[
    include_str!("../report/assets/css/base.css"),
    include_str!("../report/assets/css/layout.css"),
    include_str!("../report/assets/css/table.css"),
    include_str!("page/page.css"),
];
/// The modules of this page. Each comes after the modules that it imports.
const SCRIPTS: &[Module] =
    modules!("page/": "comparison", "rows_table", "overview", "dark_button", "app");

/// The rows of each dimension on the page, starting with the largest differences.
const MAX_ROWS: usize = 5000;

/// The maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 2000;

/// The page. The data is JSON without any `<`, and the script only shows it as text.
pub fn page(comparison: &Comparison) -> String {
    let mut data = json::value(comparison);
    let mut left_out = 0;
    if let Some(rows) = data["rows"].as_array_mut() {
        let mut seen = std::collections::BTreeMap::<String, usize>::new();
        let before = rows.len();
        rows.retain(|row| {
            let count = seen.entry(row["dimension"].to_string()).or_default();
            *count += 1;
            *count <= MAX_ROWS
        });
        left_out = before - rows.len();
        for row in rows {
            let by = By::ALL.into_iter().find(|b| row["dimension"] == b.name());
            let key = row["key"].as_str().unwrap_or_default();
            let shown = match by {
                Some(By::Kernel) => short_name(key),
                Some(by) => label(by, key).unwrap_or(key).to_owned(),
                None => key.to_owned(),
            };
            if shown != key {
                row["label"] = shown.chars().take(MAX_NAME_CHARS).collect::<String>().into();
            }
            if let Some(key) = row["key"].as_str().filter(|k| k.len() > MAX_NAME_CHARS) {
                row["key"] =
                    key.chars().take(MAX_NAME_CHARS).chain(['…']).collect::<String>().into();
            }
        }
    }
    data["left_out"] = left_out.into();
    data["environment_title"] = environment::heading(&comparison.differences).into();
    let (base, cand) = short_names(&comparison.base.name, &comparison.cand.name);
    data["base"]["short_name"] = base.as_str().into();
    data["candidate"]["short_name"] = cand.as_str().into();
    let data = data
        .to_string()
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    let nonce = blake3::hash(data.as_bytes()).to_hex();
    // The data is inserted last, so that nothing in it can be mistaken for a placeholder.
    PAGE.replace("{{title}}", &escape(&format!("{cand} compared with {base}")))
        .replace("{{nonce}}", &nonce[..32])
        .replace("{{style}}", &[web::STYLES, STYLES].concat().concat())
        .replace("{{script}}", &web::inline(&[web::BASE, SCRIPTS]))
        .replacen("{{data}}", &data, 1)
}

/// The names of both sides without folders and endings. Where these are the same, each name keeps
/// the folders from the first that differs, counted from the end.
fn short_names(base: &str, cand: &str) -> (String, String) {
    let parts = |name: &str| -> Vec<String> {
        let name = name.trim_end_matches(['/', '\\']);
        name.split(['/', '\\']).map(str::to_owned).collect()
    };
    let (base, cand) = (parts(base), parts(cand));
    let longest = base.len().max(cand.len());
    let last = |parts: &[String], count: usize| -> String {
        let kept = &parts[parts.len().saturating_sub(count)..];
        let joined = kept.join("/");
        let endings = [".gz", ".zst", ".json", ".pt.trace", ".trace"];
        endings.iter().fold(joined, |name, ending| {
            name.strip_suffix(ending).filter(|rest| !rest.is_empty()).unwrap_or(&name).to_owned()
        })
    };
    for count in 1..=longest {
        let names = (last(&base, count), last(&cand, count));
        if names.0 != names.1 {
            return names;
        }
    }
    (last(&base, 1), last(&cand, 1))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('{', "&#123;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modules_of_the_page_import_what_comes_before_them() {
        web::tests::check_modules(&[web::BASE, SCRIPTS]);
    }

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let names = |a: &str, b: &str| short_names(a, b);
        assert_eq!(
            names("/a/base.pt.trace.json.gz", "b/new.json"),
            ("base".to_owned(), "new".to_owned())
        );
        assert_eq!(names("runs/1/store/", "runs/2/store"), ("1/store".into(), "2/store".into()));
        assert_eq!(names("x.json", "x.json"), ("x".to_owned(), "x".to_owned()));
        assert_eq!(names("x.json", "x.json.gz"), ("x".to_owned(), "x".to_owned()));
    }
}
