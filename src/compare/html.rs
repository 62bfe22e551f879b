//! Writes a comparison as a single HTML page with tables that can be sorted and searched.
//!
//! As on the page of a report, a script or style only takes effect if it carries a nonce, which is
//! made from the content.

use super::{Comparison, json};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

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
            if let Some(key) = row["key"].as_str().filter(|k| k.len() > MAX_NAME_CHARS) {
                row["key"] =
                    key.chars().take(MAX_NAME_CHARS).chain(['…']).collect::<String>().into();
            }
        }
    }
    data["left_out"] = left_out.into();
    let data = data
        .to_string()
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    let title = format!("{} compared with {}", comparison.cand.name, comparison.base.name);
    let nonce = blake3::hash(data.as_bytes()).to_hex();
    // The data is inserted last, so that nothing in it can be mistaken for a placeholder.
    PAGE.replace("{{title}}", &escape(&title))
        .replace("{{nonce}}", &nonce[..32])
        .replace("{{style}}", STYLE)
        .replace("{{script}}", SCRIPT)
        .replacen("{{data}}", &data, 1)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('{', "&#123;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
