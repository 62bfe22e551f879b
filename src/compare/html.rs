//! A comparison as one page that needs nothing else: tables that can be sorted and searched.
//!
//! As on the page of a report, nothing runs but what carries a nonce that is made from the content.

use super::{Comparison, json};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Rows of each dimension that the page holds; the greatest differences come first.
const MOST: usize = 5000;

/// Characters of a name.
const LONGEST: usize = 2000;

/// The page. Data is JSON in which no markup can begin; the script shows it as text only.
pub fn page(comparison: &Comparison) -> String {
    let mut data = json::value(comparison);
    let mut left_out = 0;
    if let Some(rows) = data["rows"].as_array_mut() {
        let mut seen = std::collections::BTreeMap::<String, usize>::new();
        let before = rows.len();
        rows.retain(|row| {
            let count = seen.entry(row["dimension"].to_string()).or_default();
            *count += 1;
            *count <= MOST
        });
        left_out = before - rows.len();
        for row in rows {
            if let Some(key) = row["key"].as_str().filter(|k| k.len() > LONGEST) {
                row["key"] = key.chars().take(LONGEST).chain(['…']).collect::<String>().into();
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
    // Data comes last, so that nothing in it is taken for a place of the page.
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
