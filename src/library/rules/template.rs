//! Converts texts of a rule's header to SQL, such as `Copies take {value} % of {denominator:ns}.`
//!
//! | placeholder | in a text | in `@evidence` |
//! | --- | --- | --- |
//! | `{value}` | rounded to one decimal | – |
//! | `{threshold}` | without `.0` | – |
//! | `{device}` | `without number` for NULL | as a literal of SQL |
//! | `{COLUMN}` | as it is; nothing for NULL | as a literal of SQL |
//! | `{COLUMN:2}` | rounded to so many decimals | – |
//! | `{COLUMN:ns}`, `{COLUMN:bytes}` | with `format_ns`, `format_bytes` | – |
//! | `{COLUMN:copy\|copies}` | `1 copy`, `2 copies` | – |
//! | `{COLUMN:raw}` | – | as it is: a piece of SQL, nothing for NULL |
//! | `[, {COLUMN} more]` | nothing where a column in it is NULL | – |
//! | `{{`, `}}`, `[[`, `]]` | braces and brackets | braces |

use super::NUMBERS;

/// The SQL expressions that placeholders are replaced by.
#[derive(Debug)]
pub struct Names<'a> {
    /// Columns of the SELECT.
    pub columns: Vec<&'a str>,
    /// The value of the rule.
    pub value: &'a str,
    /// The limit that the value is compared with; `None` if there is none.
    pub threshold: Option<&'a str>,
}

/// A problem in a text, and the byte where it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// The position of the problem in bytes.
    pub at: usize,
    /// A description of the problem.
    pub message: String,
}

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(String),
    Placeholder {
        at: usize,
        name: &'a str,
        format: Option<&'a str>,
    },
    /// A part that is left out if one of its columns is NULL.
    Optional(Vec<Piece<'a>>),
}

/// The kind of text that a template becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text for people, which may have optional parts.
    Text,
    /// A query, in which brackets have no special meaning and placeholders become literals.
    Query,
}

/// The names in the placeholders of a template.
pub fn names(template: &str, kind: Kind) -> Result<Vec<&str>, Fault> {
    let mut names = Vec::new();
    placeholders(&pieces(template, kind)?, &mut |name, _| names.push(name));
    Ok(names)
}

/// An SQL expression that makes the text of a template.
pub fn expression(template: &str, kind: Kind, names: &Names<'_>) -> Result<String, Fault> {
    let pieces = pieces(template, kind)?;
    match pieces.as_slice() {
        // A text that consists only of a column is NULL if the column is NULL.
        [Piece::Placeholder { at, name, format: None }] if kind == Kind::Text => {
            names.shown(name, None, *at).map(|sql| format!("CAST({sql} AS VARCHAR)"))
        }
        [Piece::Text(text)] => Ok(literal(text)),
        pieces => concat(pieces, kind, names),
    }
}

fn concat(pieces: &[Piece<'_>], kind: Kind, names: &Names<'_>) -> Result<String, Fault> {
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        parts.push(match piece {
            Piece::Text(text) => literal(text),
            Piece::Placeholder { at, name, format } if kind == Kind::Query => {
                names.literal(name, *format, *at)?
            }
            Piece::Placeholder { at, name, format } => names.shown(name, *format, *at)?,
            Piece::Optional(inner) => {
                let mut columns = Vec::new();
                placeholders(inner, &mut |name, at| columns.push(names.column(name, at)));
                let known: Result<Vec<String>, Fault> = columns.into_iter().collect();
                let known: Vec<String> =
                    known?.iter().map(|column| format!("{column} IS NOT NULL")).collect();
                format!(
                    "CASE WHEN {} THEN {} END",
                    known.join(" AND "),
                    concat(inner, kind, names)?
                )
            }
        });
    }
    Ok(format!("concat({})", parts.join(", ")))
}

fn placeholders<'a>(pieces: &[Piece<'a>], found: &mut impl FnMut(&'a str, usize)) {
    for piece in pieces {
        match piece {
            Piece::Text(_) => {}
            Piece::Placeholder { at, name, .. } => found(name, *at),
            Piece::Optional(inner) => placeholders(inner, found),
        }
    }
}

/// The pieces of a template.
fn pieces(template: &str, kind: Kind) -> Result<Vec<Piece<'_>>, Fault> {
    let fault = |at: usize, message: &str| Fault { at, message: message.to_owned() };
    let has_options = kind == Kind::Text;
    let mut pieces = Vec::new();
    // The pieces before an optional part that is still open, and the start of that part.
    let mut outer: Option<(usize, Vec<Piece<'_>>)> = None;
    let mut text = String::new();
    let mut at = 0;
    while let Some(c) = template[at..].chars().next() {
        let rest = &template[at..];
        let is_bracket = has_options && (c == '[' || c == ']');
        let is_special = c == '{' || c == '}' || is_bracket;
        if is_special && rest[1..].starts_with(c) {
            text.push(c);
            at += 2;
            continue;
        }
        if is_special && !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        match c {
            '}' => return Err(fault(at, "a } without {; write }} for a brace")),
            '{' => {
                let end = rest
                    .find('}')
                    .ok_or_else(|| fault(at, "a { without }; write {{ for a brace"))?;
                let inside = &rest[1..end];
                let (name, format) = match inside.split_once(':') {
                    Some((name, format)) => (name, Some(format)),
                    None => (inside, None),
                };
                pieces.push(Piece::Placeholder { at, name, format });
                at += end;
            }
            '[' if is_bracket => {
                if outer.is_some() {
                    return Err(fault(at, "an optional part inside another; write [[ for a ["));
                }
                outer = Some((at, std::mem::take(&mut pieces)));
            }
            ']' if is_bracket => {
                let Some((_, before)) = outer.take() else {
                    return Err(fault(at, "a ] without [; write ]] for a bracket"));
                };
                let inner = std::mem::replace(&mut pieces, before);
                if !inner.iter().any(|p| matches!(p, Piece::Placeholder { .. })) {
                    let message = "an optional part needs a placeholder; write [[ for a bracket";
                    return Err(fault(at, message));
                }
                pieces.push(Piece::Optional(inner));
            }
            _ => text.push(c),
        }
        at += c.len_utf8();
    }
    if let Some((at, _)) = outer {
        return Err(fault(at, "a [ without ]; write [[ for a bracket"));
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

impl Names<'_> {
    /// The SQL expression for a placeholder in a text.
    fn shown(&self, name: &str, format: Option<&str>, at: usize) -> Result<String, Fault> {
        let column = self.column(name, at)?;
        Ok(match format {
            None => match name {
                "value" => format!("round({column}, 1)"),
                "threshold" => {
                    format!("regexp_replace(CAST({column} AS VARCHAR), '[.]0$', '')")
                }
                "device" => format!("coalesce(CAST({column} AS VARCHAR), 'without number')"),
                _ => column,
            },
            Some("ns") => format!("format_ns(CAST({column} AS BIGINT))"),
            Some("bytes") => format!("format_bytes(CAST({column} AS BIGINT))"),
            Some(digits) if digits.len() == 1 && digits.as_bytes()[0].is_ascii_digit() => {
                format!("round({column}, {digits})")
            }
            Some(nouns) => match nouns.split_once('|') {
                Some((one, many)) => format!(
                    "{column}, CASE {column} WHEN 1 THEN {} ELSE {} END",
                    literal(&format!(" {one}")),
                    literal(&format!(" {many}"))
                ),
                None => {
                    return Err(Fault {
                        at,
                        message: format!(
                            "{{{name}:{nouns}}}: a format is ns, bytes, a digit or one|many"
                        ),
                    });
                }
            },
        })
    }

    /// The SQL expression for a literal in a query.
    fn literal(&self, name: &str, format: Option<&str>, at: usize) -> Result<String, Fault> {
        if format.is_some_and(|f| f != "raw") || name == "value" || name == "threshold" {
            let message = format!(
                "{{{name}}}: a query names columns of the SELECT, as {{COLUMN}} or {{COLUMN:raw}}"
            );
            return Err(Fault { at, message });
        }
        let column = self.column(name, at)?;
        if format.is_some() {
            return Ok(column);
        }
        let quoted = format!("'''', replace(CAST({column} AS VARCHAR), '''', ''''''), ''''");
        Ok(if name == "trace_id" {
            quoted
        } else if NUMBERS.contains(&name) {
            format!("coalesce(CAST({column} AS VARCHAR), 'NULL')")
        } else {
            format!("CASE WHEN {column} IS NULL THEN 'NULL' ELSE concat({quoted}) END")
        })
    }

    fn column(&self, name: &str, at: usize) -> Result<String, Fault> {
        match (name, self.threshold) {
            ("value", _) => Ok(self.value.to_owned()),
            ("threshold", Some(threshold)) => Ok(threshold.to_owned()),
            _ if self.columns.contains(&name) => Ok(format!("\"{name}\"")),
            _ => Err(Fault {
                at,
                message: format!(
                    "{{{name}}}: there is no such column; there are value, threshold, {}",
                    self.columns.join(", ")
                ),
            }),
        }
    }
}

/// A text as an SQL literal.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
