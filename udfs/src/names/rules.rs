//! Rules that classify names by regular expressions. The rules are data: `name_rules.csv` contains
//! the built-in ones.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use datafusion_common::{DataFusionError, Result};
use tracesql_formats::names::prefix;

use super::csv::{Record, records};
use super::matcher::Matcher;

/// The built-in rules as CSV. [`Rules::parse`] documents the columns.
pub const BUILT_IN_RULES: &str = include_str!("name_rules.csv");
/// Maximum number of bytes of a text that are matched.
const MAX_MATCHED: usize = 4096;
const COLUMNS: [&str; 6] = ["ruleset", "priority", "pattern", "value", "source", "description"];

/// A rule: a text that matches `pattern` has the class `value`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Name of the ruleset.
    pub ruleset: String,
    /// The priority. Rules are tried by ascending priority, and rules of equal priority in the
    /// order of their lines.
    pub priority: i64,
    /// A regular expression that can match anywhere in the text; `(?i)` at its start ignores case.
    pub pattern: String,
    /// The class. `None` ends the search without a class.
    pub value: Option<String>,
    /// The tool or library from which the rule comes.
    pub source: String,
    /// The purpose of the rule.
    pub description: String,
    /// The first line of the rule in the CSV.
    pub line: usize,
}

/// Rulesets by name.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    sets: BTreeMap<String, Arc<Ruleset>>,
}

impl Rules {
    /// Returns the built-in rules.
    pub fn built_in() -> Self {
        // Patterns are compiled when a ruleset is first used, so programs that classify nothing do
        // not spend time on them. A test reads and compiles all of them.
        read(BUILT_IN_RULES).map(Self::of).unwrap_or_default()
    }

    /// Parses rules from CSV with the columns ruleset, priority, pattern, value, source,
    /// description. The first line must contain these names in this order.
    ///
    /// # Errors
    ///
    /// Fails if a rule cannot be used. The message names the line, the ruleset and the pattern of
    /// the rule.
    pub fn parse(csv: &str) -> Result<Self> {
        let rules = Self::of(read(csv)?);
        for set in rules.sets.values() {
            set.check()?;
        }
        Ok(rules)
    }

    /// Combines these rules with `others`, ordered by priority. At equal priority, these rules come
    /// first.
    #[must_use]
    pub fn extend(self, others: Rules) -> Self {
        Self::of(self.into_rules().chain(others.into_rules()).collect())
    }

    /// Returns the names of the rulesets, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sets.keys().map(String::as_str)
    }

    /// Returns the rules of a ruleset, in the order in which they are tried.
    pub fn rules(&self, ruleset: &str) -> &[Rule] {
        self.sets.get(ruleset).map_or(&[], |set| &set.rules)
    }

    /// Finds a ruleset by name.
    ///
    /// # Errors
    ///
    /// Fails if there is no ruleset with this name. The message lists all rulesets.
    pub(super) fn ruleset(&self, name: &str) -> Result<&Arc<Ruleset>> {
        self.sets.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.names().collect();
            DataFusionError::Plan(format!(
                "classify: there is no ruleset '{name}'; there are {}",
                known.join(", ")
            ))
        })
    }

    fn of(rules: Vec<Rule>) -> Self {
        let mut sets: BTreeMap<String, Vec<Rule>> = BTreeMap::new();
        for rule in rules {
            sets.entry(rule.ruleset.clone()).or_default().push(rule);
        }
        let ordered = |(name, mut rules): (String, Vec<Rule>)| {
            rules.sort_by_key(|rule| rule.priority);
            (name, Arc::new(Ruleset { rules, matcher: OnceLock::new() }))
        };
        Self { sets: sets.into_iter().map(ordered).collect() }
    }

    fn into_rules(self) -> impl Iterator<Item = Rule> {
        self.sets.into_values().flat_map(|set| set.rules.clone())
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &Arc<Ruleset>, b: &Arc<Ruleset>| Arc::ptr_eq(a, b) || a.rules == b.rules;
        self.sets.len() == other.sets.len()
            && self.sets.iter().zip(&other.sets).all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
    }
}

impl Eq for Rules {}

impl std::hash::Hash for Rules {
    // Plans are hashed often, and hold hundreds of rules in each call. The numbers of rules are
    // enough.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for (name, set) in &self.sets {
            (name, set.rules.len()).hash(state);
        }
    }
}

/// The rules of one ruleset by priority, with the matcher that finds the first match.
#[derive(Debug)]
pub(super) struct Ruleset {
    rules: Vec<Rule>,
    matcher: OnceLock<Matcher>,
}

impl Ruleset {
    /// Returns the value of the first matching rule.
    ///
    /// # Errors
    ///
    /// Fails if a pattern is not a valid regular expression. The message names the ruleset, the
    /// line and the pattern.
    pub fn value(&self, text: &str) -> Result<Option<&str>> {
        Ok(self.rule(text)?.and_then(|rule| rule.value.as_deref()))
    }

    /// Returns the first rule whose pattern matches the text.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Ruleset::value`].
    pub fn rule(&self, text: &str) -> Result<Option<&Rule>> {
        let first = self
            .matcher()
            .first(prefix(text, MAX_MATCHED).as_bytes())
            .map_err(|broken| self.blame(broken))?;
        Ok(first.and_then(|at| self.rules.get(at)))
    }

    fn check(&self) -> Result<()> {
        self.matcher().check().map_err(|broken| self.blame(broken))
    }

    fn matcher(&self) -> &Matcher {
        self.matcher
            .get_or_init(|| Matcher::new(self.rules.iter().map(|rule| rule.pattern.as_str())))
    }

    /// Creates the error that names the rule with an invalid regular expression.
    fn blame(&self, (at, error): (usize, regex::Error)) -> DataFusionError {
        match self.rules.get(at) {
            Some(rule) => invalid(
                rule.line,
                &format!("ruleset '{}', pattern '{}': {error}", rule.ruleset, rule.pattern),
            ),
            None => DataFusionError::Configuration(format!("name rules: {error}")),
        }
    }
}

fn invalid(line: usize, problem: &str) -> DataFusionError {
    DataFusionError::Configuration(format!("name rules, line {line}: {problem}"))
}

fn read(csv: &str) -> Result<Vec<Rule>> {
    let mut records = records(csv).into_iter();
    match records.next() {
        Some(header) if header.fields == COLUMNS => {}
        Some(header) => {
            return Err(invalid(
                header.line,
                &format!(
                    "the columns are '{}', expected '{}'",
                    header.fields.join(","),
                    COLUMNS.join(",")
                ),
            ));
        }
        None => {
            return Err(invalid(
                1,
                &format!("the file is empty, expected a first line '{}'", COLUMNS.join(",")),
            ));
        }
    }
    records.map(rule).collect()
}

fn rule(record: Record) -> Result<Rule> {
    let line = record.line;
    let [ruleset, priority, pattern, value, source, description] =
        <[String; 6]>::try_from(record.fields).map_err(|fields| {
            invalid(
                line,
                &format!(
                    "{} fields, expected 6; a pattern with a comma needs double quotes around it",
                    fields.len()
                ),
            )
        })?;
    if ruleset.is_empty() || pattern.is_empty() {
        return Err(invalid(
            line,
            &format!("ruleset '{ruleset}', pattern '{pattern}': neither may be empty"),
        ));
    }
    let priority = priority.trim().parse().map_err(|_| {
        invalid(line, &format!("ruleset '{ruleset}': priority '{priority}' is no integer"))
    })?;
    Ok(Rule {
        ruleset,
        priority,
        pattern,
        value: Some(value).filter(|value| !value.is_empty()),
        source,
        description,
        line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "ruleset,priority,pattern,value,source,description\n";

    fn class<'a>(rules: &'a Rules, ruleset: &str, text: &str) -> Option<&'a str> {
        rules.sets[ruleset].value(text).unwrap()
    }

    #[test]
    fn the_built_in_rules_are_complete_and_valid() {
        let rules = Rules::parse(BUILT_IN_RULES).unwrap();
        assert_eq!(rules, Rules::built_in());
        for (name, set) in &rules.sets {
            assert!(
                set.rules.iter().all(|r| !r.source.is_empty() && r.description.ends_with('.')),
                "{name}"
            );
            let mut seen = std::collections::HashSet::new();
            assert!(set.rules.iter().all(|r| seen.insert(r.priority)), "{name}: a priority twice");
        }
    }

    #[test]
    fn the_lowest_priority_wins_then_the_earlier_line() {
        let rules = Rules::parse(&format!(
            "{HEADER}r,2,a,two,,\nr,1,ab,one,,\nr,1,abc,late,,\nr,0,none,,,\n"
        ))
        .unwrap();
        assert_eq!(class(&rules, "r", "abc"), Some("one"));
        assert_eq!(class(&rules, "r", "a"), Some("two"));
        assert_eq!(class(&rules, "r", "none a"), None, "an empty value ends the search");
        assert_eq!(class(&rules, "r", "A"), None, "case counts");
        let more =
            Rules::parse(&format!("{HEADER}r,-1,^abc$,mine,,\nother,1,(?i)A,x,,\n")).unwrap();
        let rules = rules.extend(more);
        assert_eq!(class(&rules, "r", "abc"), Some("mine"));
        assert_eq!(class(&rules, "other", "a"), Some("x"));
        assert_eq!(rules.names().collect::<Vec<_>>(), ["other", "r"]);
    }

    #[test]
    fn an_error_names_the_broken_rule() {
        let error = |rows: &str| Rules::parse(&format!("{HEADER}{rows}")).unwrap_err().to_string();
        let message = error("good,1,a,b,,\nmine,1,x(,b,,\n");
        for part in ["line 3", "ruleset 'mine'", "pattern 'x('", "unclosed group"] {
            assert!(message.contains(part), "{message}");
        }
        assert!(error("r,one,a,b,,\n").contains("priority 'one' is no integer"));
        assert!(error("r,1,a{1,2},b,,\n").contains("line 2: 7 fields"));
        assert!(error("r,1,,b,,\n").contains("neither may be empty"));
        assert!(Rules::parse("a,b\n").unwrap_err().to_string().contains("the columns are 'a,b'"));
        assert!(Rules::parse("").unwrap_err().to_string().contains("empty"));
        let missing = Rules::built_in().ruleset("nope").unwrap_err().to_string();
        assert!(missing.contains("'nope'") && missing.contains("kernel_class"), "{missing}");
    }
}
