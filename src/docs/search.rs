//! Searches the reference for words: names, summaries and descriptions of tables, views, columns,
//! rules, functions and settings, and the sections of topics.

use std::cmp::Reverse;
use std::fmt::Write;

use super::Reference;
use crate::library::{Column, View};
use crate::output::clip;

/// The maximum number of entries that a search returns.
const MAX_HITS: usize = 20;
/// The maximum number of columns that are shown for an entry.
const MAX_COLUMNS: usize = 3;

/// An entry of the reference that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// table, view, rule, function, setting or topic.
    pub kind: &'static str,
    /// The name, which [`Reference::named`] accepts.
    pub name: String,
    /// A summary of one sentence, or the heading of the section of a topic.
    pub summary: String,
    /// Columns whose names or descriptions contain the words, with their descriptions.
    pub columns: Vec<(String, String)>,
}

impl Reference {
    /// The entries that contain all the words, best first; if there are none, those with the most
    /// of the words. Case does not matter, and a word also finds longer words that begin with it.
    pub fn search(&self, words: &str) -> Vec<Hit> {
        let words: Vec<Word> = words_of(words).filter(|w| !is_filler(w)).map(Word::new).collect();
        if words.is_empty() {
            return Vec::new();
        }
        let mut scored: Vec<(Score, Hit)> = Vec::new();
        let mut add = |score: Score, hit: Hit| {
            if score.words > 0 {
                scored.push((score, hit));
            }
        };
        for (kind, view) in self.tables.iter().map(|v| ("table", v)).chain(
            self.views.iter().map(|v| (if v.rule_name().is_some() { "rule" } else { "view" }, v)),
        ) {
            let (score, columns) = score_view(view, &words);
            let found = columns.iter().map(|c| (c.name.clone(), c.description.clone()));
            // All rules have the same columns.
            let columns = if kind == "rule" { Vec::new() } else { found.collect() };
            add(score.of_kind(kind), Hit { columns, ..hit(kind, &view.name, &view.summary) });
        }
        for function in &self.functions {
            let doc = &function.doc;
            add(
                score(&words, doc.name, doc.summary, doc.detail),
                hit("function", doc.name, doc.summary),
            );
        }
        for (name, setting) in &self.settings {
            let text = &setting.description;
            add(score(&words, name, text, "").of_kind("setting"), hit("setting", name, text));
        }
        for topic in &self.topics {
            for (heading, text) in sections(topic.text) {
                let heading = format!("{heading} (docs/{})", topic.file);
                add(score(&words, "", &heading, text), hit("topic", topic.name, &heading));
            }
        }
        let most = scored.iter().map(|(score, _)| score.words).max().unwrap_or(0);
        scored.retain(|(score, _)| score.words == most);
        scored.sort_by_key(|(score, _)| Reverse(score.points));
        // A page of documentation has many sections, which must not crowd out everything else.
        let mut shown: Vec<Hit> = Vec::new();
        for (_, hit) in scored {
            let same = shown.iter().filter(|h| h.kind == hit.kind && h.name == hit.name).count();
            if same < 2 && shown.len() < MAX_HITS {
                shown.push(hit);
            }
        }
        shown
    }
}

/// The found entries as lines of at most `width` characters.
pub fn hits_text(hits: &[Hit], width: usize) -> String {
    let names = hits.iter().map(|h| h.name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for Hit { kind, name, summary, columns } in hits {
        let line = format!("{kind:8}  {name:names$}  {}", summary.replace('\n', " "));
        let _ = writeln!(out, "{}", clip(&line, width));
        for (column, description) in columns {
            let line = format!("{:8}    .{column}: {}", "", description.replace('\n', " "));
            let _ = writeln!(out, "{}", clip(&line, width));
        }
    }
    out
}

fn hit(kind: &'static str, name: &str, summary: &str) -> Hit {
    Hit { kind, name: name.to_owned(), summary: summary.to_owned(), columns: Vec::new() }
}

/// A word of the search with words that mean the same in this field.
struct Word {
    word: String,
    synonyms: &'static [&'static str],
}

/// Words that only join others, as in a question.
const FILLERS: &[&str] = &[
    "a", "an", "and", "are", "by", "can", "do", "does", "for", "how", "i", "in", "is", "it", "my",
    "of", "on", "or", "the", "this", "to", "what", "where", "which", "why", "with",
];

fn is_filler(word: &str) -> bool {
    FILLERS.iter().any(|filler| filler.eq_ignore_ascii_case(word))
}

/// Words that people use for words of the reference, sorted.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("allreduce", &["collective"]),
    ("bubble", &["idle"]),
    ("comm", &["communication", "collective"]),
    ("cuda", &["device"]),
    ("dataloader", &["loading"]),
    ("gpu", &["device"]),
    ("layer", &["module"]),
    ("nccl", &["collective", "communication"]),
    ("oom", &["memory", "peak"]),
    ("op", &["operator"]),
    ("ops", &["operator"]),
    ("ram", &["memory"]),
    ("slow", &["slower", "time"]),
    ("vram", &["memory"]),
];

impl Word {
    fn new(word: &str) -> Self {
        let word = word.to_lowercase();
        let found = SYNONYMS.iter().find(|(name, _)| *name == word);
        let synonyms = found.map_or(&[][..], |(_, all)| all);
        let stem = word.strip_suffix('s').filter(|stem| stem.len() >= 3);
        Self { word: stem.unwrap_or(&word).to_owned(), synonyms }
    }

    /// The points that a text gets for this word: all of them for the whole word, most of them for
    /// the beginning of a word, a part of them for a synonym.
    fn points(&self, text: &str, full: u32) -> u32 {
        let mut best = 0;
        for found in words_of(text).map(str::to_lowercase) {
            let points = if found == self.word || found.strip_suffix('s') == Some(&self.word) {
                full
            } else if found.starts_with(&self.word) && self.word.len() >= 2 {
                full * 2 / 3
            } else if self.synonyms.iter().any(|s| found.starts_with(s)) {
                full / 2
            } else {
                0
            };
            best = best.max(points);
        }
        best
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Score {
    /// The number of words that were found.
    words: usize,
    points: u32,
}

impl Score {
    /// The score of an entry of a kind. Tables and views come before the rules and settings that
    /// have the same words in their names.
    fn of_kind(self, kind: &str) -> Self {
        let points = match kind {
            "rule" => self.points * 3 / 4,
            "setting" => self.points / 2,
            _ => self.points,
        };
        Self { points, ..self }
    }

    fn add(&mut self, points: u32) {
        self.words += usize::from(points > 0);
        self.points += points;
    }
}

/// Points for a word in a name, in a summary, in the name of a column, and in other text.
const NAME: u32 = 60;
const SUMMARY: u32 = 24;
const COLUMN: u32 = 12;
const TEXT: u32 = 6;

fn score(words: &[Word], name: &str, summary: &str, text: &str) -> Score {
    let mut score = Score::default();
    for word in words {
        score
            .add(word.points(name, NAME) + word.points(summary, SUMMARY) + word.points(text, TEXT));
    }
    score
}

fn score_view<'v>(view: &'v View, words: &[Word]) -> (Score, Vec<&'v Column>) {
    let mut score = Score::default();
    let mut columns: Vec<(u32, &Column)> = view.columns.iter().map(|c| (0, c)).collect();
    for word in words {
        let mut best = 0;
        for (points, column) in &mut columns {
            let found = word.points(&column.name, COLUMN) + word.points(&column.description, TEXT);
            *points += found;
            best = best.max(found);
        }
        score.add(
            word.points(&view.name, NAME)
                + word.points(&view.summary, SUMMARY)
                + word.points(&view.detail, TEXT)
                + word.points(&view.area, TEXT)
                + best,
        );
    }
    columns.retain(|(points, _)| *points >= COLUMN);
    columns.sort_by_key(|(points, _)| Reverse(*points));
    (score, columns.into_iter().take(MAX_COLUMNS).map(|(_, column)| column).collect())
}

/// The words of a text. Names such as `gpu_idle` are several words.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The sections of a page of Markdown: the heading and the text below it.
fn sections(page: &str) -> Vec<(&str, &str)> {
    let mut starts = Vec::new();
    let (mut at, mut in_code) = (0, false);
    for line in page.split_inclusive('\n') {
        in_code ^= line.starts_with("```");
        if !in_code && line.starts_with('#') {
            starts.push((at, at + line.len()));
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([page.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|((start, body), end)| {
            (page[*start..*body].trim_start_matches('#').trim(), &page[*body..end])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, EngineOptions};

    fn found(words: &str) -> Vec<String> {
        let engine = Engine::without_store(&EngineOptions::default()).expect("a session");
        let hits = Reference::of(&engine).search(words);
        hits.into_iter().map(|h| format!("{} {}", h.kind, h.name)).collect()
    }

    #[test]
    fn words_find_what_they_name() {
        assert!(found("gpu idle")[..3].contains(&"view gpu_idle_gaps".to_owned()));
        assert!(found("memory peak")[..3].contains(&"view memory_peak".to_owned()));
        assert!(found("GPU Idles")[..3].contains(&"view gpu_idle_gaps".to_owned()));
        assert!(found("format ns").contains(&"function format_ns".to_owned()));
        assert!(found("stragglers")[..3].contains(&"view stragglers".to_owned()));
        assert!(found("duckdb").iter().any(|h| h == "topic recipes"));
        assert!(found("tensor cores rule")[..3].contains(&"rule rule_tensor_cores".to_owned()));
        assert!(found("xyzzy").is_empty() && found(" ").is_empty());
    }

    #[test]
    fn entries_with_most_of_the_words_are_shown_if_none_has_all() {
        let some = found("stragglers xyzzy");
        assert!(some.contains(&"view stragglers".to_owned()), "{some:?}");
    }

    #[test]
    fn columns_that_match_are_shown() {
        let engine = Engine::without_store(&EngineOptions::default()).expect("a session");
        let hits = Reference::of(&engine).search("occupancy");
        let kernels = hits.iter().find(|h| h.name == "kernels").expect("kernels");
        assert!(kernels.columns.iter().any(|(name, _)| name.contains("occupancy")));
        let text = hits_text(&hits, 80);
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    }

    #[test]
    fn code_has_no_headings() {
        let page = "# A\none\n```sh\n# no\n```\n## B\ntwo\n";
        let headings: Vec<&str> = sections(page).into_iter().map(|(h, _)| h).collect();
        assert_eq!(headings, ["A", "B"]);
    }
}
