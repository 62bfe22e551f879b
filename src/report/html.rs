//! The report as one page that needs no network: styles, scripts and data in one file.
//!
//! Data goes in as JSON in which no `<` stands, and scripts show it as text only. The page's own
//! policy lets nothing run or load but what carries its nonce, which is made from the content, so
//! that no trace can know it.

use std::borrow::Cow;

use super::answer::Answer;
use super::fold::Fold;
use super::{Report, json};

/// Bytes of data that a page may hold; with the scripts it stays below 5 MB.
const MOST_DATA: usize = 3_600_000;
/// Characters of a text.
const LONGEST_TEXT: usize = 2_000;

const PAGE: &str = include_str!("assets/page.html");
const STYLES: &[&str] = &[
    include_str!("assets/css/base.css"),
    include_str!("assets/css/layout.css"),
    include_str!("assets/css/table.css"),
    include_str!("assets/css/figures.css"),
];
const CHARTS: &str = include_str!("assets/vendor/echarts.min.js");
/// In this order: what is used comes before what uses it.
const SCRIPTS: &[&str] = &[
    include_str!("assets/js/data.js"),
    include_str!("assets/js/format.js"),
    include_str!("assets/js/dom.js"),
    include_str!("assets/js/table.js"),
    include_str!("assets/js/chart.js"),
    include_str!("assets/js/classes.js"),
    include_str!("assets/js/flame.js"),
    include_str!("assets/js/overview.js"),
    include_str!("assets/js/findings.js"),
    include_str!("assets/js/time.js"),
    include_str!("assets/js/memory.js"),
    include_str!("assets/js/modules.js"),
    include_str!("assets/js/stacks.js"),
    include_str!("assets/js/ranks.js"),
    include_str!("assets/js/mllm.js"),
    include_str!("assets/js/provenance.js"),
    include_str!("assets/js/app.js"),
];

pub fn write(report: &Report) -> String {
    let data = bounded(report).replace('<', "\\u003c");
    let nonce = blake3::hash(data.as_bytes()).to_hex();
    let styles = STYLES.concat();
    let scripts = format!("(function () {{\n\"use strict\";\n{}\n}})();", SCRIPTS.join("\n"));
    let part = |name: &str| -> &str {
        match name {
            "nonce" => &nonce[..32],
            "styles" => &styles,
            "charts" => CHARTS,
            "scripts" => &scripts,
            "data" => &data,
            _ => "",
        }
    };
    // Parts are put in once: a mark within the data is not looked at.
    let mut page = String::with_capacity(
        data.len() + CHARTS.len() + scripts.len() + styles.len() + PAGE.len(),
    );
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

/// The data, with fewer rows and shorter texts until it fits.
fn bounded(report: &Report) -> String {
    let (mut report, mut longest) = (Cow::Borrowed(report), LONGEST_TEXT);
    loop {
        let data = json::compact(&report, longest);
        if data.len() <= MOST_DATA || longest < 20 {
            return data;
        }
        longest /= 2;
        let smaller = report.answers.iter().map(halved).collect();
        report = Cow::Owned(Report { answers: smaller, ..report.into_owned() });
    }
}

/// An answer with half of its rows, if it has many; the others go into the rest. Trees stay: their
/// rows need each other.
fn halved(answer: &Answer) -> Answer {
    let super::sections::Shape::Rows { add, .. } = answer.section.shape else {
        return answer.clone();
    };
    let most = answer.rows.len().div_ceil(2 * answer.traces().max(1)).max(20);
    let sums = add.iter().filter_map(|name| answer.column(name)).collect();
    let mut fold = Fold::new(most, sums).with(answer.rests.clone());
    answer.rows.iter().for_each(|row| fold.add(row.clone()));
    let (rows, rests) = fold.finish();
    Answer { rows, rests, ..answer.clone() }
}
