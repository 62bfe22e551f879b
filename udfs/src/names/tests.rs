//! Checks the classes that the built-in rules assign to names from real traces.

mod calls;
mod kernels;
mod tools;

use super::Rules;

/// A ruleset with texts and their expected classes; `-` means no class.
type Cases = (&'static str, &'static [(&'static str, &'static str)]);

fn cases() -> impl Iterator<Item = Cases> {
    [kernels::KERNELS, tools::TOOLS, calls::CALLS].into_iter().flatten().copied()
}

#[test]
fn names_from_real_traces_have_their_classes() {
    let rules = Rules::built_in();
    let mut wrong = Vec::new();
    for (ruleset, names) in cases() {
        let set = rules.ruleset(ruleset).unwrap();
        for (name, expected) in names {
            let class = set.value(name).unwrap().unwrap_or("-");
            if class != *expected {
                wrong.push(format!("{ruleset}: '{name}' is {class}, expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_ruleset_has_a_test() {
    let rules = Rules::built_in();
    let tested: Vec<&str> = cases().map(|(ruleset, _)| ruleset).collect();
    let untested: Vec<&str> = rules.names().filter(|name| !tested.contains(name)).collect();
    assert!(untested.is_empty(), "rulesets without a test: {untested:?}");
}

/// The texts required by a rule exclude only rules that cannot match.
#[test]
fn the_matcher_finds_what_trying_all_rules_finds() {
    let rules = Rules::built_in();
    let texts: Vec<&str> =
        cases().flat_map(|(_, names)| names.iter().map(|(name, _)| *name)).collect();
    let upper: Vec<String> = texts.iter().map(|text| text.to_ascii_uppercase()).collect();
    for ruleset in rules.names() {
        let all: Vec<(&super::Rule, regex::bytes::Regex)> = rules
            .rules(ruleset)
            .iter()
            .map(|rule| {
                (
                    rule,
                    regex::bytes::RegexBuilder::new(&rule.pattern)
                        .unicode(false)
                        .dot_matches_new_line(true)
                        .build()
                        .unwrap(),
                )
            })
            .collect();
        let set = rules.ruleset(ruleset).unwrap();
        for text in texts.iter().copied().chain(upper.iter().map(String::as_str)) {
            let expected = all
                .iter()
                .find(|(_, regex)| regex.is_match(text.as_bytes()))
                .map(|(rule, _)| (rule.priority, &rule.pattern));
            let found = set.rule(text).unwrap().map(|rule| (rule.priority, &rule.pattern));
            assert_eq!(found, expected, "{ruleset}: {text}");
        }
    }
}
