//! Explains unknown and ambiguous columns.

use std::ops::Range;

use datafusion::common::Column;

use super::{Failed, Report, meant};
use crate::sql_text::lex::{Kind, Token};
use crate::suggest::nearest;

/// The number of columns that are listed if no name is near.
const MAX_LISTED: usize = 10;
/// The number of columns that are listed of each relation if there are several.
const MAX_LISTED_EACH: usize = 5;

/// Names that users of other tools expect, and the names of ours. The first of a column that the
/// query has is suggested.
const USUAL_NAMES: &[(&str, &[&str])] = &[
    ("category", &["cat", "class"]),
    ("duration", &["dur_ns", "duration_ns"]),
    ("id", &["event_id", "trace_id"]),
    ("kernel", &["name", "kernel"]),
    ("kernel_name", &["name", "kernel"]),
    ("process", &["pid"]),
    ("start", &["start_ns", "ts_ns"]),
    ("thread", &["tid"]),
    ("time", &["dur_ns", "time_ns", "ts_ns"]),
    ("timestamp", &["ts_ns", "start_ns"]),
    ("ts", &["ts_ns", "start_ns"]),
];

/// Explains a column that the query does not have.
pub fn unknown(failed: &Failed, field: &Column, valid: &[Column]) -> Report {
    let name = &field.name;
    let place = failed.placed(name);
    let relations = relations_of(valid);
    let report = |message: String, help| Report { message, place: place.clone(), help };
    if let Some(relation) = field.relation.as_ref().map(|r| r.table()) {
        let columns = of_relation(valid, relation);
        if columns.is_empty() && !relations.is_empty() {
            let help = other_relation(failed, relation, name, valid, &relations);
            return report(format!("the query has no relation {relation}"), help);
        }
        let near = near(name, &columns);
        let help = meant(&near)
            .or_else(|| owners(failed, name))
            .or_else(|| listed(&columns, MAX_LISTED).map(|list| format!("there are {list}")));
        return report(format!("there is no column {name} in {relation}"), help);
    }
    let message = format!("there is no column {name}");
    let columns: Vec<&str> = valid.iter().map(|c| c.name.as_str()).collect();
    let near = near(name, &columns);
    if let Some(help) = place.as_ref().and_then(|place| double_quotes(failed, place, &near)) {
        return report(message, Some(help));
    }
    if is_alias(failed, name) && failed.has_word("WHERE") {
        let help = "WHERE runs before SELECT and cannot use its names: repeat the expression, or \
                    put the query into FROM (…)";
        return report(message, Some(help.to_owned()));
    }
    let qualified: Vec<String> =
        near.iter().flat_map(|near| with_relation(near, valid, &relations)).collect();
    let help = meant(&qualified.iter().map(String::as_str).collect::<Vec<_>>())
        .or_else(|| owners(failed, name))
        .or_else(|| list_all(valid, &relations));
    report(message, help)
}

/// Explains a column that several relations have.
pub fn ambiguous(failed: &Failed, field: &Column) -> Report {
    Report {
        message: format!("several tables have a column {}", field.name),
        place: failed.placed(&field.name),
        help: Some(format!("write whose it is, as in t.{}", field.name)),
    }
}

/// The columns that a name may stand for: those that begin with it, such as `dur_ns` for `dur`,
/// else those that are spelled in a similar way.
fn near<'v>(name: &str, columns: &[&'v str]) -> Vec<&'v str> {
    let wanted = name.to_lowercase();
    let beginning = format!("{wanted}_");
    let mut longer: Vec<&str> =
        columns.iter().copied().filter(|c| c.to_lowercase().starts_with(&beginning)).collect();
    longer.sort_by_key(|c| c.len());
    longer.dedup();
    longer.truncate(3);
    let usual = || {
        let (_, ours) = USUAL_NAMES.iter().find(|(usual, _)| *usual == wanted)?;
        ours.iter().find_map(|our| columns.iter().copied().find(|c| c == our))
    };
    if !longer.is_empty() {
        return longer;
    }
    match usual() {
        Some(column) => vec![column],
        None => nearest(name, columns.iter().copied()),
    }
}

/// The relations of columns, in order.
fn relations_of(valid: &[Column]) -> Vec<&str> {
    let mut relations: Vec<&str> = Vec::new();
    for relation in valid.iter().filter_map(|c| c.relation.as_ref()) {
        if !relations.contains(&relation.table()) {
            relations.push(relation.table());
        }
    }
    relations
}

fn of_relation<'v>(valid: &'v [Column], relation: &str) -> Vec<&'v str> {
    let is_of = |c: &&Column| c.relation.as_ref().is_some_and(|r| r.table() == relation);
    valid.iter().filter(is_of).map(|c| c.name.as_str()).collect()
}

/// A column with the names of the relations that have it, if the query has several relations.
fn with_relation(name: &str, valid: &[Column], relations: &[&str]) -> Vec<String> {
    if relations.len() < 2 {
        return vec![name.to_owned()];
    }
    let owners = valid.iter().filter(|c| c.name == name);
    owners
        .map(|c| match &c.relation {
            Some(relation) => format!("{}.{name}", relation.table()),
            None => name.to_owned(),
        })
        .take(3)
        .collect()
}

/// The advice for a column of a relation that the query does not have under this name.
fn other_relation(
    failed: &Failed,
    relation: &str,
    name: &str,
    valid: &[Column],
    relations: &[&str],
) -> Option<String> {
    if let Some(alias) = alias_of(&failed.tokens, relation, relations) {
        return Some(format!("{relation} is called {alias} here: write {alias}.{name}"));
    }
    let owners: Vec<String> = relations
        .iter()
        .filter(|r| of_relation(valid, r).contains(&name))
        .map(|r| format!("{r}.{name}"))
        .collect();
    let owners: Vec<&str> = owners.iter().map(String::as_str).take(3).collect();
    meant(&owners)
        .or_else(|| meant(&nearest(relation, relations.iter().copied())))
        .or_else(|| Some(format!("it has {}", relations.join(", "))))
}

/// The name that a query gives to a relation: `k` in `FROM kernels k` and `FROM kernels AS k`.
fn alias_of<'r>(tokens: &[Token], relation: &str, relations: &[&'r str]) -> Option<&'r str> {
    let is_named = |token: Option<&Token>, name: &str| {
        token.and_then(Token::name).is_some_and(|n| n.eq_ignore_ascii_case(name))
    };
    (0..tokens.len()).filter(|&at| is_named(tokens.get(at), relation)).find_map(|at| {
        let next = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|t| t.is_word("AS")));
        relations.iter().copied().find(|alias| is_named(tokens.get(next), alias))
    })
}

/// The advice for a text in double quotes, which SQL reads as the name of a column.
fn double_quotes(failed: &Failed, place: &Range<usize>, near: &[&str]) -> Option<String> {
    let at = failed.tokens.iter().position(|t| t.start == place.start)?;
    let token = &failed.tokens[at];
    if token.kind != Kind::QuotedName || !token.text.starts_with('"') {
        return None;
    }
    let name = token.name()?;
    if near.iter().any(|n| n.eq_ignore_ascii_case(&name)) {
        return None;
    }
    let before = at.checked_sub(1).map(|at| &failed.tokens[at]);
    let is_compared = before.is_some_and(|t| {
        matches!(t.text, "=" | "==" | "<>" | "!=" | "<" | ">" | "<=" | ">=" | "(" | ",")
            || ["LIKE", "ILIKE", "IN", "BETWEEN", "AND", "THEN", "ELSE"]
                .iter()
                .any(|w| t.is_word(w))
    });
    (is_compared || near.is_empty())
        .then(|| format!("double quotes name columns; write '{}'", name.replace('\'', "''")))
}

/// Whether SELECT gives this name to an expression.
fn is_alias(failed: &Failed, name: &str) -> bool {
    failed.tokens.windows(2).any(|pair| {
        pair[0].is_word("AS") && pair[1].name().is_some_and(|n| n.eq_ignore_ascii_case(name))
    })
}

/// The relations that have a column, as advice.
fn owners(failed: &Failed, name: &str) -> Option<String> {
    let owners: Vec<&str> = failed
        .catalog
        .relations
        .iter()
        .filter(|r| r.columns.iter().any(|c| c.name.eq_ignore_ascii_case(name)))
        .map(|r| r.name.as_str())
        .take(4)
        .collect();
    (!owners.is_empty()).then(|| format!("a column of {}", owners.join(", ")))
}

/// The columns of all relations, as advice.
fn list_all(valid: &[Column], relations: &[&str]) -> Option<String> {
    if relations.len() < 2 {
        let columns: Vec<&str> = valid.iter().map(|c| c.name.as_str()).collect();
        return listed(&columns, MAX_LISTED).map(|list| format!("there are {list}"));
    }
    let lists = relations.iter().filter_map(|relation| {
        let list = listed(&of_relation(valid, relation), MAX_LISTED_EACH)?;
        Some(format!("{relation} has {list}"))
    });
    Some(lists.collect::<Vec<_>>().join("; "))
}

/// Names as a list, cut after some of them.
fn listed(names: &[&str], most: usize) -> Option<String> {
    let mut names = names.to_vec();
    names.dedup();
    match names.len() {
        0 => None,
        n if n <= most + 2 => Some(names.join(", ")),
        n => Some(format!("{} and {} more", names[..most].join(", "), n - most)),
    }
}
