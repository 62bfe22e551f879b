//! Explains errors of the planner: grouping, members of JSON texts, aggregates in the wrong clause,
//! and types that do not fit.

use std::ops::Range;

use super::{Failed, Report, between};
use crate::sql_text::lex::{Kind, Token};

/// Explains an error of the planner that is known.
pub fn explain(failed: &Failed) -> Option<Report> {
    let text = failed.text.as_str();
    if text.contains("must be in GROUP BY or an aggregate function")
        || text.contains("must appear in the GROUP BY clause")
    {
        Some(grouping(failed))
    } else if text.contains("Cannot access field at argument") {
        Some(member(failed))
    } else if text.contains("Aggregate functions are not allowed in the WHERE clause") {
        let report = Report {
            message: "WHERE cannot use aggregate functions".to_owned(),
            place: in_where(failed),
            help: Some("HAVING, after GROUP BY, filters by them".to_owned()),
        };
        Some(report)
    } else if text.contains("does not support logical expression AggregateFunction") {
        let report = Report {
            message: "an aggregate function cannot be computed here".to_owned(),
            place: None,
            help: Some(
                "after UNION, ORDER BY takes names or positions of columns, as in ORDER BY 2"
                    .to_owned(),
            ),
        };
        Some(report)
    } else if text.contains("user-defined coercion failed with") {
        refused_arguments(failed)
    } else if text.contains("failed to match any signature")
        || text.contains("Failed to coerce arguments")
    {
        argument_types(failed)
    } else {
        None
    }
}

/// Explains a column that is neither grouped nor aggregated.
fn grouping(failed: &Failed) -> Report {
    let named = between(&failed.text, "column \"", "\"")
        .or_else(|| between(&failed.text, "HAVING clause references: ", " "))
        .map(|column| column.rsplit('.').next().unwrap_or(column));
    let Some(name) = named else { return failed.generic() };
    let place = failed.placed(name);
    let help = match failed.has_word("GROUP") {
        true => format!("add {name} to GROUP BY, or aggregate it, as in max({name})"),
        false => format!("add GROUP BY {name}, or aggregate it, as in max({name})"),
    };
    Report { message: format!("{name} is neither grouped nor aggregated"), place, help: Some(help) }
}

/// Explains `args.key` and `args['key']`, which are no access to JSON here.
fn member(failed: &Failed) -> Report {
    let mut found = failed.tokens.iter().enumerate().filter_map(|(at, _)| access(failed, at));
    let (place, help) = match (found.next(), found.next()) {
        (Some((place, help)), None) => (Some(place), help),
        (Some((_, help)), Some(_)) => (None, help),
        (None, _) => (None, "write args->>'key'".to_owned()),
    };
    Report {
        message: "a text with JSON has no fields or elements".to_owned(),
        place,
        help: Some(help),
    }
}

/// The place of an access to a column with text that begins at a token, and how to write it.
fn access(failed: &Failed, at: usize) -> Option<(Range<usize>, String)> {
    let tokens = &failed.tokens;
    let column = tokens.get(at)?;
    let name = column.name()?;
    let unit_is = |unit: &str| {
        let relations = failed.catalog.relations.iter();
        relations.flat_map(|r| &r.columns).any(|c| c.name == name && c.unit == unit)
    };
    let (key, end) = match (tokens.get(at + 1)?.text, tokens.get(at + 2)?) {
        ("[", key) if key.kind == Kind::Text && unit_is("json") => {
            (key.text.trim_matches('\'').to_owned(), tokens.get(at + 3)?.end())
        }
        (".", key) if unit_is("json") => (key.name()?, key.end()),
        _ => return None,
    };
    // A relation may be part of the name: e.args.stream.
    let owner = at
        .checked_sub(2)
        .filter(|&owner| tokens[owner + 1].text == "." && tokens[owner].name().is_some());
    let start = owner.map_or(column.start, |owner| tokens[owner].start);
    let written = &failed.statement[start..column.end()];
    Some((start..end, format!("write {written}->>'{key}'")))
}

/// The place of the aggregate function in WHERE, if there is only one call of one.
fn in_where(failed: &Failed) -> Option<Range<usize>> {
    let from = failed.tokens.iter().position(|t| t.is_word("WHERE"))?;
    let is_call = |pair: &&[Token]| {
        pair[1].text == "("
            && pair[0].name().is_some_and(|name| {
                failed.catalog.function(&name).is_some_and(|f| f.kind == "aggregate")
            })
    };
    let mut calls = failed.tokens[from..].windows(2).filter(is_call);
    match (calls.next(), calls.next()) {
        (Some(call), None) => Some(call[0].start..call[0].end()),
        _ => None,
    }
}

/// Explains a function that is called with other types than it takes.
fn argument_types(failed: &Failed) -> Option<Report> {
    let call = between(&failed.text, "argument types '", "'")?;
    let (name, types) = call.strip_suffix(')')?.split_once('(')?;
    let types: Vec<String> = types.split(", ").map(sql_name).collect();
    let own = failed.catalog.function(name).filter(|f| !f.area.is_empty());
    let help = match own {
        Some(function) => Some(format!("it is called as {}", function.signature)),
        None if types.iter().all(|t| t == "VARCHAR") => {
            Some("TRY_CAST(x AS BIGINT) makes a number of a text".to_owned())
        }
        None => None,
    };
    Some(Report {
        message: format!("{name} does not take {}", types.join(", ")),
        place: failed.placed(name),
        help,
    })
}

/// Explains arguments that a function refuses with a message of its own.
fn refused_arguments(failed: &Failed) -> Option<Report> {
    let name = between(&failed.text, "Function '", "'")?;
    let (_, own) = failed.text.split_once("failed with: ")?;
    let own = own.strip_prefix("Error during planning: ").unwrap_or(own);
    let own = own.split(" No function matches").next().unwrap_or(own);
    let message = own.trim().trim_end_matches('.').to_owned();
    Some(Report { message, place: failed.placed(name), help: None })
}

/// The SQL name of an Arrow type that a message names.
pub fn sql_name(arrow: &str) -> String {
    match arrow {
        "Int8" => "TINYINT",
        "Int16" => "SMALLINT",
        "Int32" => "INTEGER",
        "Int64" => "BIGINT",
        "UInt32" => "UINTEGER",
        "UInt64" => "UBIGINT",
        "Float32" => "REAL",
        "Float64" => "DOUBLE",
        "Utf8" | "Utf8View" | "LargeUtf8" => "VARCHAR",
        "Boolean" => "BOOLEAN",
        other => other,
    }
    .to_owned()
}
