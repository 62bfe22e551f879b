//! Finds the words that may stand at a position in a statement: relations, columns, functions,
//! keywords.

use crate::catalog::{Catalog, Relation};
use crate::sql_text::lex::Token;
use crate::sql_text::{KEYWORDS, is_keyword};

use super::scope::{Output, Scope, Source};

/// Finds the words that may stand at a position in a statement.
pub struct Finder<'a> {
    pub scope: &'a Scope<'a>,
    /// The query that contains the position.
    pub query: usize,
    pub catalog: &'a Catalog,
    /// The beginning of the word.
    pub prefix: &'a str,
    /// Whether the word starts with a quote.
    pub quote: bool,
}

impl Finder<'_> {
    /// The words that may follow the tokens before the position.
    pub fn candidates(&self, before: &[Token]) -> Vec<String> {
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
        let is_distinct_from = match before {
            [.., distinct, from] => distinct.is_word("DISTINCT") && from.is_word("FROM"),
            _ => false,
        };
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

    /// The keyword of the clause that contains the cursor.
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
        // A CTE may name itself, so the depth is bounded.
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

    /// The names that begin with the prefix, without duplicates. They are quoted where necessary.
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

    /// The keywords, in upper or lower case as the user types them.
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
