//! Finds the tables that each part of a statement names. It does not parse the statement, which is
//! unfinished while the user types.

use crate::sql_text::is_keyword;
use crate::sql_text::lex::{Kind, Token};

/// An entry of FROM with its name and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The alias, or the name itself.
    pub alias: String,
    /// Its source.
    pub source: Source,
    /// The query that the FROM belongs to.
    query: usize,
}

/// The source of an entry of FROM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A table, view or CTE.
    Relation(String),
    /// A query in brackets.
    Query(usize),
}

/// A query or subquery with the tokens that belong to it.
#[derive(Debug, Clone, Default)]
struct Query {
    /// The query around it.
    outer: Option<usize>,
    /// Bracket depth of its own tokens.
    depth: usize,
}

/// The queries of a statement and the names in them.
#[derive(Debug)]
pub struct Scope<'a> {
    tokens: &'a [Token<'a>],
    /// For each token, the query that it belongs to and its bracket depth.
    places: Vec<(usize, usize)>,
    queries: Vec<Query>,
    named: Vec<Named>,
    ctes: Vec<(String, usize)>,
}

/// An output column of a query, or all columns of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// One column.
    Column(String),
    /// `*`, or `alias.*`.
    All(Option<String>),
}

impl<'a> Scope<'a> {
    /// Analyzes the tokens of a statement, which must contain no blanks and comments.
    pub fn of(tokens: &'a [Token<'a>]) -> Self {
        let (places, queries) = places(tokens);
        let mut scope = Self { tokens, places, queries, named: Vec::new(), ctes: Vec::new() };
        scope.find_names();
        scope
    }

    /// The query that contains a byte of the text.
    pub fn query_at(&self, byte: usize) -> usize {
        let before = self.tokens.iter().take_while(|t| t.end() <= byte).count();
        let (query, depth) = before.checked_sub(1).map_or((0, 0), |i| self.after(i));
        // `(SELECT` begins a query. A `(` alone belongs to the outer query.
        if depth >= self.queries[query].depth {
            query
        } else {
            self.queries[query].outer.unwrap_or(0)
        }
    }

    /// The entries of a query's FROM. If it has none yet, the entries of all queries.
    pub fn named(&self, query: usize) -> Vec<&Named> {
        let own: Vec<&Named> = self.named.iter().filter(|n| n.query == query).collect();
        if own.is_empty() { self.named.iter().collect() } else { own }
    }

    /// The entry with an alias, as seen from a query.
    pub fn find(&self, alias: &str, query: usize) -> Option<&Named> {
        let mut at = Some(query);
        while let Some(q) = at {
            if let Some(named) = self.named.iter().find(|n| n.query == q && n.alias == alias) {
                return Some(named);
            }
            at = self.queries[q].outer;
        }
        self.named.iter().find(|n| n.alias == alias)
    }

    /// The query of a CTE.
    pub fn cte(&self, name: &str) -> Option<usize> {
        self.ctes.iter().find(|(n, _)| n == name).map(|(_, q)| *q)
    }

    /// Names of CTEs.
    pub fn ctes(&self) -> impl Iterator<Item = &str> {
        self.ctes.iter().map(|(n, _)| n.as_str())
    }

    /// The output columns of a query.
    pub fn outputs(&self, query: usize) -> Vec<Output> {
        let own: Vec<usize> =
            (0..self.tokens.len()).filter(|&i| self.places[i].0 == query).collect();
        let depth = self.queries[query].depth;
        let Some(select) = own.iter().position(|&i| self.tokens[i].is_word("SELECT")) else {
            return Vec::new();
        };
        let is_own = |i: usize| self.places[i] == (query, depth);
        let end = own[select..]
            .iter()
            .position(|&i| is_own(i) && self.tokens[i].is_word("FROM"))
            .map_or(own.len(), |n| select + n);
        let list = &own[select + 1..end];
        list.split(|&i| is_own(i) && self.tokens[i].text == ",")
            .filter_map(|item| self.output(item))
            .collect()
    }

    fn output(&self, item: &[usize]) -> Option<Output> {
        let (&last, before) = item.split_last()?;
        if self.tokens[last].text == "*"
            && before
                .last()
                .is_none_or(|&i| self.tokens[i].text == "." || self.tokens[i].is_word("DISTINCT"))
        {
            return Some(Output::All(
                before.first().filter(|_| before.len() >= 2).and_then(|&i| self.tokens[i].name()),
            ));
        }
        let name = self.tokens[last].name().filter(|n| !n.is_empty() && !is_keyword(n))?;
        Some(Output::Column(name))
    }

    /// The query and bracket depth of the token that follows a token.
    fn after(&self, i: usize) -> (usize, usize) {
        let (query, depth) = self.places[i];
        match self.tokens[i].text {
            "(" => (query, depth + 1),
            ")" if depth == self.queries[query].depth && self.queries[query].outer.is_some() => {
                (self.queries[query].outer.unwrap_or(0), depth.saturating_sub(1))
            }
            _ => (query, depth),
        }
    }

    fn find_names(&mut self) {
        let tokens = self.tokens;
        let mut is_list = vec![false; self.queries.len()];
        let mut i = 0;
        while i < tokens.len() {
            let (query, depth) = self.places[i];
            let token = &tokens[i];
            let is_own = depth == self.queries[query].depth;
            let wants_name = if token.is_word("FROM") {
                let is_from = is_own && !(i > 0 && tokens[i - 1].is_word("DISTINCT"));
                is_list[query] |= is_from;
                is_from
            } else if token.is_word("JOIN") {
                is_own
            } else if token.text == "," {
                is_own && is_list[query]
            } else {
                if is_own
                    && [
                        "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "ON", "USING", "UNION",
                        "SELECT", "WINDOW",
                    ]
                    .iter()
                    .any(|w| token.is_word(w))
                {
                    is_list[query] = false;
                }
                false
            };
            self.find_cte(i);
            i += 1;
            if wants_name {
                self.name_at(i, query);
            }
        }
    }

    /// Reads a relation with its alias, starting at a token.
    fn name_at(&mut self, at: usize, query: usize) {
        let tokens = self.tokens;
        let Some(first) = tokens.get(at) else { return };
        let (source, mut next) = if first.text == "(" {
            let Some(&(inner, _)) = self.places.get(at + 1) else { return };
            let close = (at + 1..tokens.len()).find(|&i| {
                tokens[i].text == ")" && self.places[i] == (inner, self.places[at].1 + 1)
            });
            (Source::Query(inner), close.map_or(tokens.len(), |c| c + 1))
        } else {
            let Some(mut name) =
                first.name().filter(|n| first.kind == Kind::QuotedName || !is_keyword(n))
            else {
                return;
            };
            let mut next = at + 1;
            while tokens.get(next).is_some_and(|t| t.text == ".") {
                let Some(part) = tokens.get(next + 1).and_then(Token::name) else { break };
                name = part;
                next += 2;
            }
            (Source::Relation(name), next)
        };
        if tokens.get(next).is_some_and(|t| t.is_word("AS")) {
            next += 1;
        }
        let is_alias = |t: &&Token| {
            t.kind == Kind::QuotedName || (t.kind == Kind::Word && !is_keyword(t.text))
        };
        let alias = tokens.get(next).filter(is_alias).and_then(Token::name);
        let alias = match (&source, alias) {
            (_, Some(alias)) => alias,
            (Source::Relation(name), None) => name.clone(),
            (Source::Query(_), None) => String::new(),
        };
        self.named.push(Named { alias, source, query });
    }

    /// Recognizes `name AS (SELECT` as a CTE.
    fn find_cte(&mut self, i: usize) {
        let [name, is_as, open, ..] = &self.tokens[i..] else { return };
        if is_as.is_word("AS")
            && open.text == "("
            && let Some(&(inner, depth)) = self.places.get(i + 3)
            && inner != self.places[i].0
            && depth == self.queries[inner].depth
            && let Some(name) = name.name()
        {
            self.ctes.push((name, inner));
        }
    }
}

/// The query and bracket depth of each token.
fn places(tokens: &[Token]) -> (Vec<(usize, usize)>, Vec<Query>) {
    let mut queries = vec![Query::default()];
    let (mut query, mut depth) = (0, 0);
    let mut places = Vec::with_capacity(tokens.len());
    for (i, token) in tokens.iter().enumerate() {
        match token.text {
            "(" => {
                places.push((query, depth));
                depth += 1;
                if tokens.get(i + 1).is_some_and(|t| t.is_word("SELECT") || t.is_word("WITH")) {
                    queries.push(Query { outer: Some(query), depth });
                    query = queries.len() - 1;
                }
            }
            ")" => {
                places.push((query, depth));
                if depth == queries[query].depth
                    && let Some(outer) = queries[query].outer
                {
                    query = outer;
                }
                depth = depth.saturating_sub(1);
            }
            _ => places.push((query, depth)),
        }
    }
    (places, queries)
}

#[cfg(test)]
mod tests {
    use crate::sql_text::lex;

    use super::*;

    fn with<T>(text: &str, look: impl FnOnce(&Scope) -> T) -> T {
        let tokens = lex::words(&lex::tokens(text));
        look(&Scope::of(&tokens))
    }

    fn names(text: &str) -> Vec<String> {
        with(text, |s| s.named(s.query_at(text.len())).iter().map(|n| n.alias.clone()).collect())
    }

    #[test]
    fn tables_and_aliases_of_from() {
        assert_eq!(names("SELECT * FROM events"), ["events"]);
        assert_eq!(names("SELECT * FROM events e JOIN kernels AS k ON true WHERE "), ["e", "k"]);
        assert_eq!(
            names("SELECT * FROM events, kernels k, \"Odd\" WHERE a IN (1, 2), b"),
            ["events", "k", "Odd"]
        );
        assert_eq!(names("SELECT * FROM tracesql.main.events WHERE "), ["events"]);
        assert_eq!(names("SELECT 1 WHERE a IS DISTINCT FROM b"), Vec::<String>::new());
    }

    #[test]
    fn subqueries_have_names_of_their_own() {
        assert_eq!(
            names("SELECT * FROM events WHERE a IN (SELECT x FROM kernels WHERE "),
            ["kernels"]
        );
        assert_eq!(names("SELECT * FROM (SELECT a, b AS c FROM kernels) q WHERE "), ["q"]);
        assert_eq!(names("SELECT count(*) FROM events WHERE f("), ["events"]);
    }

    #[test]
    fn outputs_are_aliases_columns_and_stars() {
        let text =
            "WITH w AS (SELECT a, t.b, sum(c) AS total, d e, count(*), k.* FROM t) SELECT  FROM w";
        let found = with(text, |s| s.outputs(s.cte("w").expect("a query")));
        let column = |n: &str| Output::Column(n.into());
        assert_eq!(
            found,
            [column("a"), column("b"), column("total"), column("e"), Output::All(Some("k".into()))]
        );
        assert_eq!(with("SELECT * FROM t", |s| s.outputs(0)), [Output::All(None)]);
    }

    #[test]
    fn brackets_that_do_not_match_do_no_harm() {
        for text in [
            "))) SELECT ((",
            "(((",
            ")",
            "FROM (",
            "WITH a AS (",
            "FROM a.",
            "SELECT FROM , ,",
            "x AS (",
            "",
        ] {
            names(text);
            with(text, |s| s.outputs(s.query_at(text.len())));
        }
    }
}
