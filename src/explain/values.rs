//! Explains errors about values, which queries report while they run: conversions and divisions.
//!
//! Such errors have no place. The place is given if only one part of the statement can have caused
//! the error, and no view of the user is involved.

use std::ops::Range;

use super::planning::sql_name;
use super::{Failed, Report};
use crate::sql_text::lex::{Kind, Token};

/// Explains a failed conversion or division.
pub fn explain(failed: &Failed) -> Option<Report> {
    if failed.text.contains("Divide by zero") {
        return Some(division(failed));
    }
    let (_, rest) = failed.text.split_once("Cannot cast string '")?;
    let (value, rest) = rest.rsplit_once("' to value of ")?;
    let target = rest.split(" type").next().unwrap_or(rest);
    Some(conversion(failed, value, target))
}

/// The function that reads a number with a unit: `ns` for `5 ms`, `bytes` for `5 MiB`.
pub fn unit_function(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = (&text[..end], text[end..].trim());
    if number.parse::<f64>().is_err() {
        return None;
    }
    match unit {
        "ns" | "us" | "µs" | "μs" | "ms" | "s" | "min" | "h" => Some("ns"),
        _ => ["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"]
            .iter()
            .any(|u| u.eq_ignore_ascii_case(unit))
            .then_some("bytes"),
    }
}

fn division(failed: &Failed) -> Report {
    let mut divisions = failed.tokens.iter().enumerate().filter(|(_, t)| {
        (t.kind == Kind::Other && matches!(t.text, "/" | "%"))
            || t.is_word("mod")
            || t.is_word("div")
    });
    let only = match (divisions.next(), divisions.next()) {
        (Some(first), None) if is_of_statement(failed) => Some(first),
        _ => None,
    };
    let divisor_is_zero = only
        .and_then(|(at, _)| failed.tokens.get(at + 1))
        .is_some_and(|t| t.kind == Kind::Number && t.text.parse::<f64>() == Ok(0.0));
    let help = match divisor_is_zero {
        true => "the divisor is 0",
        false => "a / nullif(b, 0) is NULL where b is 0",
    };
    Report {
        message: "division by zero".to_owned(),
        place: only.map(|(_, t)| t.start..t.end()),
        help: Some(help.to_owned()),
    }
}

/// A part of the statement that converts texts, with the advice for it.
struct Conversion {
    place: Range<usize>,
    help: String,
}

fn conversion(failed: &Failed, value: &str, target: &str) -> Report {
    let target = sql_name(target);
    let literal = failed
        .tokens
        .iter()
        .find(|t| t.kind == Kind::Text && t.text.trim_matches('\'').replace("''", "'") == value);
    let mut all = casts(failed, &target);
    all.extend(comparisons(failed));
    let unit = literal.and_then(|_| unit_function(value));
    if let Some(literal) = literal {
        let help = match unit {
            Some(function) => format!("write {function}('{value}')"),
            None => format!("this text is not a {target}"),
        };
        // A cast of the literal is the same place.
        all.retain(|c| {
            let contains = c.place.start <= literal.start && literal.end() <= c.place.end;
            !contains && c.place.start != literal.end()
        });
        all.push(Conversion { place: literal.start..literal.end(), help });
    }
    let message = format!("the text '{}' cannot become {target}", shown(value));
    let (place, help) = match (all.as_slice(), unit) {
        ([only], _) if is_of_statement(failed) => (Some(only.place.clone()), only.help.clone()),
        (_, Some(function)) => (None, format!("write {function}('{value}')")),
        _ => (None, TRY_CAST.to_owned()),
    };
    Report { message, place, help: Some(help) }
}

const TRY_CAST: &str = "TRY_CAST(x AS type) is NULL where a text cannot be converted";

/// The casts in a statement to a type.
fn casts(failed: &Failed, target: &str) -> Vec<Conversion> {
    let tokens = &failed.tokens;
    let fits = |token: Option<&Token>| {
        token.is_some_and(|t| canonical(t.text).is_none_or(|name| name == target))
    };
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let open = tokens.get(at + 1).is_some_and(|t| t.text == "(");
        if token.is_word("CAST") && open {
            let end = closing(tokens, at + 1);
            let target = tokens[at..end].iter().rposition(|t| t.is_word("AS"));
            if fits(target.and_then(|as_at| tokens.get(at + as_at + 1))) {
                let end = tokens.get(end).or(tokens.last()).map_or(token.end(), Token::end);
                found.push(Conversion { place: token.start..end, help: TRY_CAST.to_owned() });
            }
        } else if token.text == "::" && fits(tokens.get(at + 1)) {
            let end = tokens.get(at + 1).map_or(token.end(), Token::end);
            found.push(Conversion { place: token.start..end, help: TRY_CAST.to_owned() });
        }
    }
    found
}

/// The position of the bracket that closes the one at a position.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" => depth += 1,
            ")" if depth <= 1 => return at,
            ")" => depth -= 1,
            _ => {}
        }
    }
    tokens.len().saturating_sub(1)
}

/// The name of an integer or floating point type as messages have it; `None` for other words.
fn canonical(name: &str) -> Option<&'static str> {
    Some(match name.to_uppercase().as_str() {
        "TINYINT" => "TINYINT",
        "SMALLINT" | "INT2" => "SMALLINT",
        "INT" | "INTEGER" | "INT4" => "INTEGER",
        "BIGINT" | "INT8" => "BIGINT",
        "FLOAT" | "REAL" | "FLOAT4" => "REAL",
        "DOUBLE" | "FLOAT8" => "DOUBLE",
        "BOOLEAN" | "BOOL" => "BOOLEAN",
        "VARCHAR" | "TEXT" | "STRING" => "VARCHAR",
        _ => return None,
    })
}

/// The comparisons in a statement between a column with texts and a number, or a column with
/// numbers.
fn comparisons(failed: &Failed) -> Vec<Conversion> {
    let tokens = &failed.tokens;
    let mut found = Vec::new();
    for at in 1..tokens.len().saturating_sub(1) {
        if !matches!(tokens[at].text, "=" | "==" | "<>" | "!=" | "<" | ">" | "<=" | ">=") {
            continue;
        }
        let (left, right) = (&tokens[at - 1], &tokens[at + 1]);
        // The right side may be qualified: a.x = b.y.
        let right_column = match tokens.get(at + 2) {
            Some(dot) if dot.text == "." => tokens.get(at + 3).unwrap_or(right),
            _ => right,
        };
        let (left_kind, right_kind) = (kind(failed, left), kind(failed, right_column));
        let help = match (left_kind, right_kind) {
            (Some(Side::Text), Some(Side::Number)) if right.kind == Kind::Number => {
                format!("{0} is text: write {0} {1} '{2}'", left.text, tokens[at].text, right.text)
            }
            (Some(Side::Text), Some(Side::Number)) => {
                format!("{} is text, {} is a number", left.text, right_column.text)
            }
            (Some(Side::Number), Some(Side::Text)) => {
                format!("{} is text, {} is a number", right_column.text, left.text)
            }
            _ => continue,
        };
        found.push(Conversion { place: left.start..right_column.end(), help });
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Text,
    Number,
}

/// Whether a token is a number or a column whose type is the same in all relations of the
/// statement that have it.
fn kind(failed: &Failed, token: &Token) -> Option<Side> {
    if token.kind == Kind::Number {
        return Some(Side::Number);
    }
    let name = token.name()?;
    let named =
        |relation: &str| failed.tokens.iter().any(|t| t.name().is_some_and(|n| n == relation));
    let relations = failed.catalog.relations.iter().filter(|r| named(&r.name));
    let mut kinds = relations
        .flat_map(|r| &r.columns)
        .filter(|c| c.name == name)
        .map(|c| if c.data_type == "VARCHAR" { Side::Text } else { Side::Number });
    let first = kinds.next()?;
    kinds.all(|kind| kind == first).then_some(first)
}

/// Whether the error is of the statement and cannot be of a view that the user made.
fn is_of_statement(failed: &Failed) -> bool {
    let named = |name: &str| failed.tokens.iter().any(|t| t.name().is_some_and(|n| n == name));
    !failed.catalog.relations.iter().any(|r| !r.is_built_in && named(&r.name))
}

/// A value in a message, cut if it is long.
fn shown(value: &str) -> String {
    const MAX: usize = 60;
    match value.char_indices().nth(MAX) {
        Some((at, _)) => format!("{}…", &value[..at]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_have_a_function() {
        assert_eq!(unit_function("5ms"), Some("ns"));
        assert_eq!(unit_function("1.5 µs"), Some("ns"));
        assert_eq!(unit_function("1.5 GiB"), Some("bytes"));
        assert_eq!(unit_function("20mb"), Some("bytes"));
        for text in ["5", "ms", "5 steps", "", "1.2.3 ms"] {
            assert_eq!(unit_function(text), None, "{text}");
        }
    }
}
