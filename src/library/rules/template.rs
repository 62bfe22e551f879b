//! Texts of a rule's header as SQL: `Copies take {value} % of {denominator:ns}.`
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
//! | `{{`, `}}` | braces | braces |

use super::NUMBERS;

/// The expressions that placeholders stand for.
#[derive(Debug)]
pub struct Names<'a> {
    /// Columns of the SELECT.
    pub columns: Vec<&'a str>,
    /// The value of the rule.
    pub value: &'a str,
    /// The limit that is compared with it; `None` if there is none.
    pub threshold: Option<&'a str>,
}

/// What is wrong with a text, and at which of its bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// The byte.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(String),
    Placeholder { at: usize, name: &'a str, format: Option<&'a str> },
}

/// The names in the placeholders of a text.
pub fn names(text: &str) -> Result<Vec<&str>, Fault> {
    let name = |piece| match piece {
        Piece::Text(_) => None,
        Piece::Placeholder { name, .. } => Some(name),
    };
    Ok(pieces(text)?.into_iter().filter_map(name).collect())
}

/// An expression that makes the text.
pub fn text(template: &str, names: &Names<'_>) -> Result<String, Fault> {
    let pieces = pieces(template)?;
    if let [Piece::Placeholder { at, name, format: None }] = pieces.as_slice() {
        // A text that is nothing but a column is NULL where the column is.
        return names.shown(name, None, *at).map(|sql| format!("CAST({sql} AS VARCHAR)"));
    }
    concat(pieces, |name, format, at| names.shown(name, format, at))
}

/// An expression that makes a query, in which placeholders are literals.
pub fn query(template: &str, names: &Names<'_>) -> Result<String, Fault> {
    concat(pieces(template)?, |name, format, at| names.literal(name, format, at))
}

fn concat(
    pieces: Vec<Piece<'_>>,
    expression: impl Fn(&str, Option<&str>, usize) -> Result<String, Fault>,
) -> Result<String, Fault> {
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        parts.push(match piece {
            Piece::Text(text) => literal(&text),
            Piece::Placeholder { at, name, format } => expression(name, format, at)?,
        });
    }
    Ok(match parts.as_slice() {
        [] => literal(""),
        [one] if one.starts_with('\'') => one.clone(),
        _ => format!("concat({})", parts.join(", ")),
    })
}

fn pieces(template: &str) -> Result<Vec<Piece<'_>>, Fault> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    while let Some(c) = template[at..].chars().next() {
        let rest = &template[at..];
        let fault = |message: &str| Fault { at, message: message.to_owned() };
        if rest.starts_with("{{") || rest.starts_with("}}") {
            text.push(c);
            at += 2;
        } else if c == '}' {
            return Err(fault("a } without {; write }} for a brace"));
        } else if c == '{' {
            let end = rest.find('}').ok_or_else(|| fault("a { without }; write {{ for a brace"))?;
            let inside = &rest[1..end];
            let (name, format) = match inside.split_once(':') {
                Some((name, format)) => (name, Some(format)),
                None => (inside, None),
            };
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(Piece::Placeholder { at, name, format });
            at += end + 1;
        } else {
            text.push(c);
            at += c.len_utf8();
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

impl Names<'_> {
    /// The expression for a placeholder in a text.
    fn shown(&self, name: &str, format: Option<&str>, at: usize) -> Result<String, Fault> {
        let column = self.expression(name, at)?;
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

    /// The expression for a literal of SQL in a query.
    fn literal(&self, name: &str, format: Option<&str>, at: usize) -> Result<String, Fault> {
        if format.is_some_and(|f| f != "raw") || name == "value" || name == "threshold" {
            let message = format!(
                "{{{name}}}: a query names columns of the SELECT, as {{COLUMN}} or {{COLUMN:raw}}"
            );
            return Err(Fault { at, message });
        }
        let column = self.expression(name, at)?;
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

    fn expression(&self, name: &str, at: usize) -> Result<String, Fault> {
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

/// A text as a literal of SQL.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
