//! Finds the first of many patterns in a text.
//!
//! A single automaton for all patterns would be the simplest solution. But it is built lazily,
//! state by state, and the names of kernels differ so much that they need tens of thousands of
//! states. Therefore the matcher computes, for each pattern, literal texts that must occur in any
//! match. One Aho-Corasick pass finds these texts, and only patterns that can still match are
//! tried, in order.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum size of a compiled pattern in bytes.
const SIZE_LIMIT: usize = 16 << 20;
/// Maximum number of texts for a part of a pattern. A part with more texts is not used.
const MAX_TEXTS: usize = 64;
/// Maximum number of characters in a class, where upper and lower case count as one.
const MAX_CHARACTERS: usize = 4;

/// Patterns in the order in which they are tried.
#[derive(Debug)]
pub(super) struct Matcher {
    patterns: Vec<(String, OnceLock<Regex>)>,
    /// Finds the texts that patterns require; `None` if there are no such texts.
    texts: Option<AhoCorasick>,
    /// The pattern that requires each text.
    owners: Vec<usize>,
    /// Patterns that require no text.
    always: Vec<usize>,
}

impl Matcher {
    /// Creates a matcher without compiling the patterns. An invalid regular expression is reported
    /// when it is first tried.
    pub fn new<'a>(patterns: impl Iterator<Item = &'a str>) -> Self {
        let patterns: Vec<(String, OnceLock<Regex>)> =
            patterns.map(|pattern| (pattern.to_owned(), OnceLock::new())).collect();
        let mut needles: Vec<String> = Vec::new();
        let mut owners = Vec::new();
        let mut always = Vec::new();
        for (at, (pattern, _)) in patterns.iter().enumerate() {
            match needed(pattern) {
                Some(texts) => {
                    owners.extend(std::iter::repeat_n(at, texts.len()));
                    needles.extend(texts);
                }
                None => always.push(at),
            }
        }
        let texts = AhoCorasickBuilder::new().ascii_case_insensitive(true).build(&needles).ok();
        if texts.is_none() {
            always = (0..patterns.len()).collect();
        }
        Self { patterns, texts, owners, always }
    }

    /// Returns the first pattern that matches the text.
    ///
    /// # Errors
    ///
    /// Returns an invalid regular expression with its position.
    pub fn first(&self, text: &[u8]) -> Result<Option<usize>, (usize, regex::Error)> {
        let mut candidates = self.always.clone();
        if let Some(texts) = &self.texts {
            candidates.extend(
                texts
                    .find_overlapping_iter(text)
                    .filter_map(|found| self.owners.get(found.pattern().as_usize())),
            );
        }
        candidates.sort_unstable();
        candidates.dedup();
        for at in candidates {
            if self.regex(at)?.is_some_and(|regex| regex.is_match(text)) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Compiles all patterns.
    ///
    /// # Errors
    ///
    /// Returns the first invalid regular expression with its position.
    pub fn check(&self) -> Result<(), (usize, regex::Error)> {
        (0..self.patterns.len()).try_for_each(|at| self.regex(at).map(|_| ()))
    }

    fn regex(&self, at: usize) -> Result<Option<&Regex>, (usize, regex::Error)> {
        let Some((pattern, regex)) = self.patterns.get(at) else { return Ok(None) };
        if let Some(regex) = regex.get() {
            return Ok(Some(regex));
        }
        // Almost all names are ASCII, and character classes are smaller without Unicode.
        let compiled = RegexBuilder::new(pattern)
            .unicode(false)
            .dot_matches_new_line(true)
            .size_limit(SIZE_LIMIT)
            .build();
        compiled.map(|compiled| Some(regex.get_or_init(|| compiled))).map_err(|error| (at, error))
    }
}

/// Returns lower-case texts, at least one of which must occur, in any case, in each match of the
/// pattern. Returns `None` if no such texts are known.
fn needed(pattern: &str) -> Option<Vec<String>> {
    let hir = ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .dot_matches_new_line(true)
        .build()
        .parse(pattern)
        .ok()?;
    Needs::of(&hir).texts()
}

/// The texts that a part of a pattern requires.
enum Needs {
    /// A match is exactly one of these texts.
    Exactly(Vec<String>),
    /// A match contains at least one of these texts.
    OneOf(Vec<String>),
    Nothing,
}

impl Needs {
    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::Exactly(vec![String::new()]),
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => Self::Exactly(vec![text.to_ascii_lowercase()]),
                Err(_) => Self::Nothing,
            },
            HirKind::Class(class) => Self::class(class),
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Repetition(repetition) => {
                match (repetition.min, repetition.max, Self::of(&repetition.sub)) {
                    (1, Some(1), needs) => needs,
                    (0, Some(1), Self::Exactly(mut texts)) => {
                        texts.push(String::new());
                        Self::Exactly(texts)
                    }
                    (0, _, _) => Self::Nothing,
                    (_, _, needs) => needs.texts().map_or(Self::Nothing, Self::OneOf),
                }
            }
            HirKind::Concat(parts) => Self::concat(parts),
            HirKind::Alternation(parts) => Self::alternation(parts.iter().map(Self::of).collect()),
        }
    }

    fn class(class: &Class) -> Self {
        let Class::Bytes(class) = class else { return Self::Nothing };
        let mut characters: Vec<u8> = Vec::new();
        for range in class.iter() {
            if range.end() - range.start() > 2 * MAX_CHARACTERS as u8 {
                return Self::Nothing;
            }
            characters.extend((range.start()..=range.end()).map(|c| c.to_ascii_lowercase()));
        }
        characters.sort_unstable();
        characters.dedup();
        if characters.len() > MAX_CHARACTERS || characters.iter().any(|c| !c.is_ascii()) {
            return Self::Nothing;
        }
        Self::Exactly(characters.into_iter().map(|c| char::from(c).to_string()).collect())
    }

    fn concat(parts: &[Hir]) -> Self {
        let mut best: Option<Vec<String>> = None;
        let mut run = vec![String::new()];
        let mut is_exact = true;
        for part in parts {
            match Self::of(part) {
                Self::Exactly(texts) if run.len() * texts.len() <= MAX_TEXTS => {
                    run = run
                        .iter()
                        .flat_map(|head| texts.iter().map(move |tail| format!("{head}{tail}")))
                        .collect();
                }
                other => {
                    is_exact = false;
                    best = better(
                        best,
                        Self::Exactly(std::mem::replace(&mut run, vec![String::new()])).texts(),
                    );
                    best = better(best, other.texts());
                }
            }
        }
        if is_exact {
            return Self::Exactly(run);
        }
        better(best, Self::Exactly(run).texts()).map_or(Self::Nothing, Self::OneOf)
    }

    fn alternation(parts: Vec<Self>) -> Self {
        let all_exact = parts.iter().all(|part| matches!(part, Self::Exactly(_)));
        let mut texts = Vec::new();
        let mut exact = Vec::new();
        for part in parts {
            if let (true, Self::Exactly(part)) = (all_exact, &part) {
                exact.extend(part.iter().cloned());
                continue;
            }
            match part.texts() {
                Some(part) => texts.extend(part),
                None => return Self::Nothing,
            }
        }
        if all_exact { Self::Exactly(exact) } else { Self::OneOf(texts) }
    }

    /// Returns the texts, at least one of which must occur; `None` if one of them is empty.
    fn texts(self) -> Option<Vec<String>> {
        match self {
            Self::Exactly(texts) | Self::OneOf(texts) => {
                (!texts.is_empty() && texts.iter().all(|text| !text.is_empty())).then_some(texts)
            }
            Self::Nothing => None,
        }
    }
}

/// Returns the list whose shortest text is longer.
fn better(a: Option<Vec<String>>, b: Option<Vec<String>>) -> Option<Vec<String>> {
    let shortest = |texts: &Option<Vec<String>>| {
        texts.as_ref().and_then(|texts| texts.iter().map(String::len).min()).unwrap_or(0)
    };
    if shortest(&b) > shortest(&a) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_need_their_literal_texts() {
        let cases: [(&str, Option<&[&str]>); 12] = [
            ("abc", Some(&["abc"])),
            ("(?i)AbC", Some(&["abc"])),
            ("^[^<(]*(foo|ba[rz])", Some(&["foo", "bar", "baz"])),
            ("all_?reduce", Some(&["all_reduce", "allreduce"])),
            (r"^aclnn\w*(MatMul|Matmul)", Some(&["matmul", "matmul"])),
            (r"a\d+bcd", Some(&["bcd"])),
            ("(abc)?", None),
            ("x*", None),
            ("foo|x*", None),
            ("(?i)(^|[^a-z])mm(_|$)", Some(&["mm_", "mm"])),
            ("(ab){2,3}", Some(&["ab"])),
            (r"\w", None),
        ];
        for (pattern, expected) in cases {
            let found = needed(pattern);
            assert_eq!(
                found.as_deref(),
                expected
                    .map(|texts| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>())
                    .as_deref(),
                "{pattern}"
            );
        }
    }

    #[test]
    fn the_first_matching_pattern_wins() {
        let matcher = Matcher::new(["b+c", "(?i)A", "^$", "\u{e9}"].into_iter());
        for (text, expected) in [
            ("xbbc", Some(0)),
            ("abc", Some(0)),
            ("xA", Some(1)),
            ("", Some(2)),
            ("x", None),
            ("caf\u{e9}", Some(1)),
            ("\u{e9}", Some(3)),
        ] {
            assert_eq!(matcher.first(text.as_bytes()).unwrap(), expected, "{text}");
        }
        assert_eq!(Matcher::new(["a", "x("].into_iter()).check().unwrap_err().0, 1);
        assert_eq!(Matcher::new(std::iter::empty()).first(b"a").unwrap(), None);
    }
}
