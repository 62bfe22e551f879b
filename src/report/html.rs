//! Writes the report as one page that needs no network: styles, scripts and data are in one file.
//!
//! The data is JSON without any `<`, and scripts only show it as text. The content security policy
//! of the page lets nothing run or load unless it carries the page's nonce. The nonce is made from
//! the content, so no trace can know it.

use std::borrow::Cow;

use super::answer::Answer;
use super::bounded_rows::BoundedRows;
use super::{Report, json};
use crate::web::{self, Module, modules};

/// The maximum size of the data of a page, in bytes. With scripts and styles, a page stays below 5
/// MB.
const MAX_DATA_BYTES: usize = 3_600_000;
/// The maximum length of a text, in characters.
const MAX_TEXT_CHARS: usize = 2_000;

const PAGE: &str = include_str!("assets/page.html");
const STYLES: &[&str] = &[
    include_str!("assets/css/base.css"),
    include_str!("assets/css/layout.css"),
    include_str!("assets/css/table.css"),
    include_str!("assets/css/figures.css"),
];
/// The modules of this page. Each comes after the modules that it imports.
const SCRIPTS: &[Module] = modules!("assets/js/":
    "data", "navigation", "panels", "class_colours", "share_bar", "names", "column_widths",
    "scroll_hint", "table", "charts", "classes", "stack_tree", "flame_tree", "flame", "relations",
    "call_sunburst", "findings", "parts", "cards", "layout", "overview", "rooflines", "time",
    "memory", "modules", "rank_lost_time", "ranks", "mllm", "snapshots", "flight",
    "provenance", "app",
);

pub fn write(report: &Report) -> String {
    let data = bounded(report).replace('<', "\\u003c");
    let nonce = blake3::hash(data.as_bytes()).to_hex();
    let styles = web::inline_styles(&[web::STYLES, STYLES].concat());
    let scripts = web::inline(&[web::BASE, web::CHARTS, SCRIPTS]);
    let part = |name: &str| -> &str {
        match name {
            "nonce" => &nonce[..32],
            "styles" => &styles,
            "scripts" => &scripts,
            "data" => &data,
            _ => "",
        }
    };
    // Each part is inserted once and not searched again, so a placeholder within the data stays
    // unchanged.
    let mut page = String::with_capacity(data.len() + scripts.len() + styles.len() + PAGE.len());
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        page.push_str(before);
        page.push_str(part(name));
        rest = after;
    }
    page.push_str(rest);
    page
}

/// The data. If it is too large, it gets fewer rows and shorter texts.
pub fn bounded(report: &Report) -> String {
    let (mut report, mut max_chars) = (Cow::Borrowed(report), MAX_TEXT_CHARS);
    loop {
        let data = json::compact(&report, max_chars);
        if data.len() <= MAX_DATA_BYTES || max_chars < 20 {
            return data;
        }
        max_chars /= 2;
        let smaller = report.answers.iter().map(halved).collect();
        report = Cow::Owned(Report { answers: smaller, ..report.into_owned() });
    }
}

/// An answer with half of its rows if it has many. The others are added to the remainder. Trees
/// stay whole, because their rows depend on each other.
fn halved(answer: &Answer) -> Answer {
    let super::sections::Shape::Rows { add, .. } = answer.section.shape else {
        return answer.clone();
    };
    let max_rows = answer.rows.len().div_ceil(2 * answer.traces().max(1)).max(20);
    let sums = add.iter().filter_map(|name| answer.column(name)).collect();
    let mut kept = BoundedRows::new(max_rows, sums).with(answer.rests.clone());
    answer.rows.iter().for_each(|row| kept.add(row.clone()));
    let (rows, rests) = kept.finish();
    Answer { rows, rests, ..answer.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modules_of_the_page_import_what_comes_before_them() {
        web::tests::check_modules(&[web::BASE, web::CHARTS, SCRIPTS]);
    }
}
