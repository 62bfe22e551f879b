//! What could come next while a statement or command is typed.

use super::catalog::{Catalog, Relation};
use super::commands::{self, Argument};
use super::keywords::{KEYWORDS, is_keyword};
use super::lex::{self, Kind, Token};
use super::scope::{Output, Scope, Source};
use super::split::{Piece, split};

/// What could replace the text from a place to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub enum Completion {
    /// These words, from a byte on.
    Words(usize, Vec<String>),
    /// Names of files, by the editor's own rules.
    Files,
}

/// Names besides those of the catalogue.
#[derive(Debug, Default, Clone)]
pub struct Values {
    /// Parameters, which statements write as `$name`.
    pub parameters: Vec<String>,
    /// Settings, which statements read with `setting('name')`.
    pub settings: Vec<String>,
}

/// The completion at a place of a text.
pub fn complete(text: &str, at: usize, catalog: &Catalog, values: &Values) -> Completion {
    let parts = split(text);
    let part = parts.iter().find(|p| {
        let end = p.start + p.text.len();
        p.start < at
            && (at < end || (at == end && matches!(p.piece, Piece::Unfinished | Piece::Command)))
    });
    match part {
        Some(part) if part.piece == Piece::Command => {
            in_command(&part.text[..at - part.start], part.start, catalog, values)
        }
        Some(part) => in_statement(part.text, at - part.start, catalog, values).shifted(part.start),
        None => in_statement("", 0, catalog, values).shifted(at),
    }
}

/// The signature of the function whose brackets the end of a text is in.
pub fn signature<'a>(text: &str, catalog: &'a Catalog) -> Option<&'a str> {
    let parts = split(text);
    let last = parts.last().filter(|p| p.piece == Piece::Unfinished)?;
    let tokens = lex::words(&lex::tokens(last.text));
    if tokens.last().is_some_and(|t| t.kind == Kind::Open) {
        return None;
    }
    let mut closed = 0;
    for i in (1..tokens.len()).rev() {
        match tokens[i].text {
            ")" => closed += 1,
            "(" if closed > 0 => closed -= 1,
            "(" if tokens[i - 1].kind == Kind::Word => {
                return catalog.function(tokens[i - 1].text).map(|f| f.signature.as_str());
            }
            _ => {}
        }
    }
    None
}

impl Completion {
    fn shifted(self, by: usize) -> Self {
        match self {
            Self::Words(start, words) => Self::Words(start + by, words),
            Self::Files => Self::Files,
        }
    }
}

fn in_command(text: &str, start: usize, catalog: &Catalog, values: &Values) -> Completion {
    let Some(blank) = text.find(char::is_whitespace) else {
        let all =
            commands::COMMANDS.iter().flat_map(|c| c.names).map(|n| format!("{}{n}", &text[..1]));
        return Completion::Words(start, all.filter(|n| n.starts_with(text)).collect());
    };
    let Some(command) = commands::find(&text[1..blank]) else {
        return Completion::Words(start, Vec::new());
    };
    let word = text.rfind(char::is_whitespace).map_or(0, |i| i + 1);
    let prefix = &text[word..];
    let matching = |names: Vec<String>| {
        Completion::Words(
            start + word,
            names.into_iter().filter(|n| n.starts_with(prefix)).collect(),
        )
    };
    let relations = |kind: &str| {
        catalog
            .relations
            .iter()
            .filter(|r| kind.is_empty() || r.kind.ends_with(kind))
            .map(|r| r.name.clone())
            .collect::<Vec<_>>()
    };
    let functions = || catalog.functions.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
    match command.argument {
        Argument::None => matching(Vec::new()),
        Argument::Name => matching([relations(""), functions()].concat()),
        Argument::Table => matching(relations("table")),
        Argument::View => matching(relations("view")),
        Argument::Function => matching(functions()),
        Argument::Words(words) => matching(words.iter().map(|w| w.to_string()).collect()),
        Argument::Value if text[blank..].trim_start().contains(char::is_whitespace) => {
            matching(Vec::new())
        }
        Argument::Value => matching([values.parameters.clone(), values.settings.clone()].concat()),
        Argument::Files => Completion::Files,
        Argument::Sql => {
            in_statement(&text[blank..], text.len() - blank, catalog, values).shifted(start + blank)
        }
    }
}

fn in_statement(text: &str, at: usize, catalog: &Catalog, values: &Values) -> Completion {
    let all = lex::tokens(text);
    let under = all.iter().find(|t| t.start < at && at <= t.end());
    let (start, prefix, quote) = match under {
        Some(t) if t.kind == Kind::Open && t.text.starts_with('"') => {
            (t.start, &text[t.start + 1..at], true)
        }
        Some(t) if t.kind == Kind::Open && t.text.starts_with('\'') => {
            return in_string(&all, t, &text[t.start + 1..at], values);
        }
        Some(t) if t.kind == Kind::Open => return Completion::Words(at, Vec::new()),
        Some(t) if matches!(t.kind, Kind::Text | Kind::QuotedName) && at < t.end() => {
            return Completion::Words(at, Vec::new());
        }
        Some(t) if t.kind == Kind::Comment && (at < t.end() || !t.text.ends_with(['\n', '/'])) => {
            return Completion::Words(at, Vec::new());
        }
        Some(t) if matches!(t.kind, Kind::Word | Kind::Number) => {
            (t.start, &text[t.start..at], false)
        }
        Some(t) if t.kind == Kind::Parameter || t.text == "$" => {
            let names = values
                .parameters
                .iter()
                .map(|n| format!("${n}"))
                .filter(|n| n.starts_with(&text[t.start..at]));
            return Completion::Words(t.start, names.collect());
        }
        _ => (at, "", false),
    };
    if prefix.starts_with(|c: char| c.is_ascii_digit()) {
        return Completion::Words(at, Vec::new());
    }
    // The word that is being typed is no name yet.
    let mut tokens = lex::words(&all);
    tokens.retain(|t| t.end() <= start || t.start >= at);
    let before: Vec<Token> = tokens.iter().copied().filter(|t| t.end() <= start).collect();
    let scope = Scope::of(&tokens);
    let found = Finder { scope: &scope, query: scope.query_at(start), catalog, prefix, quote }
        .candidates(&before);
    Completion::Words(start, found)
}

/// In an open string: names of settings where a function for them stands before it.
fn in_string(tokens: &[Token], string: &Token, prefix: &str, values: &Values) -> Completion {
    let before = lex::words(tokens);
    let before: Vec<&Token> = before.iter().take_while(|t| t.start < string.start).collect();
    let is_setting = matches!(before.as_slice(), [.., function, open] if function.text.to_lowercase().starts_with("setting") && open.text == "(");
    let names = values
        .settings
        .iter()
        .filter(|n| is_setting && n.starts_with(prefix))
        .map(|n| format!("'{n}'"));
    Completion::Words(string.start, names.collect())
}

struct Finder<'a> {
    scope: &'a Scope<'a>,
    query: usize,
    catalog: &'a Catalog,
    prefix: &'a str,
    quote: bool,
}

impl Finder<'_> {
    fn candidates(&self, before: &[Token]) -> Vec<String> {
        let last = before.last();
        if let [.., qualifier, dot] = before
            && dot.text == "."
        {
            return qualifier.name().map_or(Vec::new(), |q| self.names(self.columns_of_alias(&q)));
        }
        let Some(last) = last else {
            return self.keywords(&[
                "SELECT", "WITH", "EXPLAIN", "DESCRIBE", "SHOW", "CREATE", "DROP", "VALUES", "SET",
            ]);
        };
        let is_distinct_from = matches!(before, [.., distinct, from] if distinct.is_word("DISTINCT") && from.is_word("FROM"));
        let clause = self.clause(before);
        let wants_relation =
            ["FROM", "JOIN", "DESCRIBE", "TABLE", "VIEW"].iter().any(|w| last.is_word(w))
                || (last.text == "," && clause == "FROM");
        if wants_relation && !is_distinct_from {
            return self.relations();
        }
        if matches!(clause.as_str(), "FROM" | "JOIN") && last.text != "(" {
            return if self.prefix.is_empty() { Vec::new() } else { self.keywords(KEYWORDS) };
        }
        self.expressions()
    }

    /// The keyword that begins the part of the query before the cursor.
    fn clause(&self, before: &[Token]) -> String {
        let mut closed = 0;
        for token in before.iter().rev() {
            match token.text {
                ")" => closed += 1,
                "(" if closed > 0 => closed -= 1,
                "(" => return "(".to_owned(),
                _ => {}
            }
            let begins = [
                "SELECT", "FROM", "JOIN", "ON", "WHERE", "BY", "HAVING", "LIMIT", "USING",
                "QUALIFY", "WITH",
            ];
            if closed == 0
                && let Some(word) = begins.iter().find(|w| token.is_word(w))
            {
                return word.to_string();
            }
        }
        String::new()
    }

    fn relations(&self) -> Vec<String> {
        let mut names: Vec<String> = self.scope.ctes().map(str::to_owned).collect();
        names.extend(self.catalog.relations.iter().map(|r| r.name.clone()));
        let mut found = self.names(names);
        let relation_functions =
            self.catalog.functions.iter().filter(|f| matches!(f.kind, "relation" | "table"));
        found.extend(
            relation_functions.map(|f| format!("{}(", f.name)).filter(|n| self.is_wanted(n)),
        );
        found
    }

    fn expressions(&self) -> Vec<String> {
        let named = self.scope.named(self.query);
        let mut names = Vec::new();
        for n in &named {
            names.extend(self.columns(&n.source, 0));
        }
        names.extend(named.iter().map(|n| n.alias.clone()).filter(|a| !a.is_empty()));
        names.extend(self.scope.outputs(self.query).into_iter().filter_map(|o| match o {
            Output::Column(name) => Some(name),
            Output::All(_) => None,
        }));
        if named.is_empty() && !self.prefix.is_empty() {
            names.extend(
                self.catalog
                    .relations
                    .iter()
                    .filter(|r| r.kind == "table")
                    .flat_map(|r| r.columns.iter().map(|c| c.name.clone())),
            );
        }
        let mut found = self.names(names);
        if !self.prefix.is_empty() && !self.quote {
            let functions =
                self.catalog.functions.iter().filter(|f| !matches!(f.kind, "relation" | "table"));
            found.extend(functions.map(|f| format!("{}(", f.name)).filter(|n| self.is_wanted(n)));
            found.extend(self.keywords(KEYWORDS));
        }
        found
    }

    fn columns_of_alias(&self, alias: &str) -> Vec<String> {
        match self.scope.find(alias, self.query) {
            Some(named) => self.columns(&named.source, 0),
            None => self.catalog.relation(alias).map_or(Vec::new(), column_names),
        }
    }

    fn columns(&self, source: &Source, depth: usize) -> Vec<String> {
        // A CTE may name itself.
        if depth > 8 {
            return Vec::new();
        }
        let query = match source {
            Source::Query(query) => *query,
            Source::Relation(name) => match self.scope.cte(name) {
                Some(query) => query,
                None => return self.catalog.relation(name).map_or(Vec::new(), column_names),
            },
        };
        let mut names = Vec::new();
        for output in self.scope.outputs(query) {
            match output {
                Output::Column(name) => names.push(name),
                Output::All(alias) => {
                    let sources = self
                        .scope
                        .named(query)
                        .into_iter()
                        .filter(|n| alias.as_ref().is_none_or(|a| n.alias == *a));
                    names.extend(sources.flat_map(|n| self.columns(&n.source, depth + 1)));
                }
            }
        }
        names
    }

    fn is_wanted(&self, name: &str) -> bool {
        name.len() >= self.prefix.len()
            && name.is_char_boundary(self.prefix.len())
            && name[..self.prefix.len()].eq_ignore_ascii_case(self.prefix)
    }

    /// Names that begin with the prefix, each once, in quotes where they need them.
    fn names(&self, names: Vec<String>) -> Vec<String> {
        let mut found: Vec<String> = names
            .into_iter()
            .filter(|n| self.is_wanted(n))
            .map(|n| quoted(&n, self.quote))
            .collect();
        let mut seen = std::collections::HashSet::new();
        found.retain(|n| seen.insert(n.clone()));
        found
    }

    /// Keywords as they are being typed: in capitals or not.
    fn keywords(&self, keywords: &[&str]) -> Vec<String> {
        let is_lower = self.prefix.chars().next().is_some_and(char::is_lowercase);
        let found = keywords.iter().filter(|k| self.is_wanted(k));
        found.map(|k| if is_lower { k.to_lowercase() } else { k.to_string() }).collect()
    }
}

fn column_names(relation: &Relation) -> Vec<String> {
    relation.columns.iter().map(|c| c.name.clone()).collect()
}

fn quoted(name: &str, always: bool) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && (!is_keyword(name) || ["first", "last", "rows", "range", "format"].contains(&name));
    if plain && !always { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::super::catalog::{Column, Function};
    use super::*;

    fn catalog() -> Catalog {
        let relation = |name: &str, kind, columns: &[&str]| Relation {
            name: name.into(),
            kind,
            columns: columns
                .iter()
                .map(|c| Column { name: c.to_string(), ..Column::default() })
                .collect(),
            ..Relation::default()
        };
        let function = |name: &str, kind| Function {
            name: name.into(),
            kind,
            signature: format!("{name}(x) → y"),
            ..Function::default()
        };
        Catalog {
            relations: vec![
                relation("events", "table", &["event_id", "name", "dur_ns"]),
                relation("kernels", "table", &["event_id", "name", "stream"]),
                relation("operators", "view", &["name", "host_self_ns", "Odd Name"]),
            ],
            functions: vec![
                function("format_ns", "scalar"),
                function("sum", "aggregate"),
                function("interval_merge", "relation"),
            ],
        }
    }

    /// The words that complete a text at its `|`.
    fn words(text: &str) -> Vec<String> {
        let at = text.find('|').expect("a cursor");
        let text = text.replacen('|', "", 1);
        match complete(
            &text,
            at,
            &catalog(),
            &Values { parameters: vec!["limit_ns".into()], settings: vec!["gap_us".into()] },
        ) {
            Completion::Words(start, words) => {
                assert!(start <= at);
                words
            }
            Completion::Files => vec!["files".into()],
        }
    }

    #[test]
    fn relations_come_after_from_and_join() {
        assert_eq!(words("SELECT * FROM |"), ["events", "kernels", "operators", "interval_merge("]);
        assert_eq!(words("SELECT * FROM ev|"), ["events"]);
        assert_eq!(words("select * from events e join k|"), ["kernels"]);
        assert_eq!(words("SELECT * FROM events, o|"), ["operators"]);
        assert_eq!(words("DESCRIBE k|"), ["kernels"]);
        assert_eq!(words("WITH worst AS (SELECT 1) SELECT * FROM w|"), ["worst"]);
        assert_eq!(words("SELECT 1; SELECT * FROM ke|"), ["kernels"]);
    }

    #[test]
    fn columns_are_those_of_the_relations_named() {
        assert_eq!(words("SELECT | FROM kernels"), ["event_id", "name", "stream", "kernels"]);
        assert_eq!(words("SELECT str| FROM kernels"), ["stream"]);
        assert!(!words("SELECT d| FROM kernels").contains(&"dur_ns".to_owned()));
        assert_eq!(words("SELECT * FROM events WHERE dur|"), ["dur_ns"]);
        assert_eq!(
            words("SELECT * FROM events WHERE event_id IN (SELECT ev| FROM kernels)"),
            ["event_id"]
        );
        assert!(
            words("SELECT dur|").contains(&"dur_ns".to_owned()),
            "of any table while none is named"
        );
    }

    #[test]
    fn columns_of_an_alias_come_after_its_dot() {
        assert_eq!(
            words("SELECT k.| FROM events e JOIN kernels k ON true"),
            ["event_id", "name", "stream"]
        );
        assert_eq!(words("SELECT e.d| FROM events e JOIN kernels k ON true"), ["dur_ns"]);
        assert_eq!(
            words("SELECT * FROM events e JOIN kernels k ON e.event_id = k.ev|"),
            ["event_id"]
        );
        assert_eq!(
            words("SELECT q.| FROM (SELECT name, dur_ns AS d FROM events) q"),
            ["name", "d"]
        );
        assert_eq!(
            words("WITH w AS (SELECT * FROM kernels) SELECT w.| FROM w"),
            ["event_id", "name", "stream"]
        );
        assert_eq!(words("SELECT operators.O|"), ["\"Odd Name\""]);
        assert!(words("SELECT nobody.|").is_empty());
    }

    #[test]
    fn a_cte_that_names_itself_ends() {
        assert!(words("WITH w AS (SELECT * FROM w) SELECT w.| FROM w").is_empty());
    }

    #[test]
    fn functions_and_keywords() {
        assert_eq!(words("SELECT form| FROM events"), ["format_ns(", "format"]);
        assert_eq!(words("SELECT SU| FROM events"), ["sum("]);
        assert_eq!(words("SEL|"), ["SELECT"]);
        assert_eq!(words("sel|"), ["select"]);
        assert_eq!(words("SELECT name FROM events WHE|"), ["WHEN", "WHERE"]);
        assert_eq!(words("SELECT sum(dur_ns) AS total FROM events ORDER BY tot|"), ["total"]);
    }

    #[test]
    fn nothing_in_strings_comments_and_numbers() {
        for text in [
            "SELECT 'na|",
            "SELECT 'na|me' FROM events",
            "SELECT 1 -- na|",
            "SELECT /* na|",
            "SELECT /* n| */ 1",
            "SELECT 12|",
            "SELECT $$na|",
        ] {
            assert!(words(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn quoted_names_and_parameters() {
        assert_eq!(words("SELECT \"O| FROM operators").len(), 0, "the quote takes FROM in");
        assert_eq!(words("SELECT * FROM operators WHERE \"Od|"), ["\"Odd Name\""]);
        assert_eq!(words("SELECT $li|"), ["$limit_ns"]);
        assert_eq!(words("SELECT $|"), ["$limit_ns"]);
        assert_eq!(words("SELECT setting('g|"), ["'gap_us'"]);
        assert!(words("SELECT upper('g|").is_empty());
    }

    #[test]
    fn commands_and_their_arguments() {
        assert_eq!(words("\\tim|"), ["\\timing"]);
        assert_eq!(words(".tim|"), [".timing"]);
        assert_eq!(words("\\timing o|"), ["on", "off"]);
        assert_eq!(words("\\d ker|"), ["kernels"]);
        assert_eq!(words("\\dv |"), ["operators"]);
        assert_eq!(words("\\df form|"), ["format_ns"]);
        assert_eq!(words("\\i |"), ["files"]);
        assert_eq!(words("\\explain SELECT str| FROM kernels"), ["stream"]);
        assert_eq!(words("\\set lim|"), ["limit_ns"]);
        assert!(words("\\nonsense x|").is_empty());
    }

    #[test]
    fn the_signature_of_the_function_around() {
        let all = catalog();
        assert_eq!(signature("SELECT format_ns(", &all), Some("format_ns(x) → y"));
        assert_eq!(signature("SELECT format_ns(sum(a) + ", &all), Some("format_ns(x) → y"));
        assert_eq!(signature("SELECT format_ns(a) ", &all), None);
        assert_eq!(signature("SELECT format_ns('", &all), None);
        assert_eq!(signature("SELECT nobody(", &all), None);
    }
}
