//! `COPY … TO STDOUT`: rows as a stream of text, CSV or binary values. A COPY that reads or writes
//! files is refused.

use bytes::{BufMut, BytesMut};
use tracesql::sql_text::lex::Token;

use super::command::{Command, unquoted};
use super::cursor::Within;
use super::encode::Rows;
use super::types::Column;
use super::wire::{Wire, message};
use crate::failure::{Failure, code};

/// The first bytes of the binary format: its name, flags, and the length of an extension.
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// The form of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Csv,
    Binary,
}

/// The format of a COPY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    shape: Shape,
    delimiter: u8,
    null: String,
    header: bool,
    quote: u8,
    escape: u8,
}

/// A COPY of the rows of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// The query.
    pub query: Within,
    /// The format.
    pub format: Format,
}

/// The command of a statement that begins with COPY.
pub fn command(text: &str, tokens: &[Token<'_>]) -> Command {
    match parse(text, tokens) {
        Ok(copy) => Command::Copy(copy),
        Err(failure) => Command::Refused(failure),
    }
}

fn parse(text: &str, tokens: &[Token<'_>]) -> Result<Copy, Failure> {
    let wrong = || {
        let message = "COPY is written as COPY (SELECT …) TO STDOUT";
        Failure::new(code::SYNTAX_ERROR, message)
    };
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|t| t.is_word(word));
    let is_open = |at: usize| tokens.get(at).is_some_and(|t| t.text == "(");
    let (query, at) = if is_open(1) {
        let close = closing(tokens, 1).ok_or_else(wrong)?;
        (Within::new(text, tokens[1].end(), tokens[close].start), close + 1)
    } else {
        let first = tokens.get(1).filter(|t| t.name().is_some()).ok_or_else(wrong)?;
        let mut at = 2;
        while tokens.get(at).is_some_and(|t| t.text == ".") {
            at += 2;
        }
        let last = tokens.get(at - 1).ok_or_else(wrong)?;
        let table = text.get(first.start..last.end()).ok_or_else(wrong)?;
        let mut columns = "*";
        if is_open(at) {
            let close = closing(tokens, at).ok_or_else(wrong)?;
            columns = text.get(tokens[at].end()..tokens[close].start).ok_or_else(wrong)?;
            at = close + 1;
        }
        (Within::made(format!("SELECT {columns} FROM {table}")), at)
    };
    if is(at, "FROM") {
        let message = "cannot execute COPY FROM in a read-only transaction";
        return Err(Failure::new(code::READ_ONLY, message).with_hint("the server only reads"));
    }
    if !is(at, "TO") {
        return Err(wrong());
    }
    if !is(at + 1, "STDOUT") {
        let message = "COPY to a file of the server is not allowed";
        return Err(Failure::new(code::INSUFFICIENT_PRIVILEGE, message).with_hint(
            "COPY (SELECT …) TO STDOUT sends the rows to the client; \\copy of psql writes them to \
             a file of the client",
        ));
    }
    Ok(Copy { query, format: options(text, &tokens[at + 2..])? })
}

/// The bracket that closes the one at `open`.
fn closing(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Reads options, in brackets or without. `text` is the whole statement, for places of errors.
fn options(text: &str, tokens: &[Token<'_>]) -> Result<Format, Failure> {
    let is_filler = |token: &&Token<'_>| {
        matches!(token.text, "(" | ")" | "," | "=") || token.is_word("WITH") || token.is_word("AS")
    };
    let mut words = tokens.iter().filter(|token| !is_filler(token)).peekable();
    let mut shape = Shape::Text;
    let (mut delimiter, mut null, mut quote, mut escape) = (None, None, None, None);
    let mut header = false;
    while let Some(word) = words.next() {
        let name = word.text.to_uppercase();
        let given = *words.peek().copied().unwrap_or(word);
        let at = |failure: Failure| placed(text, &given, failure);
        let mut value = || words.next().map(|t| unquoted(t.text)).unwrap_or_default();
        match name.as_str() {
            "FORMAT" => shape = shape_of(&value()).map_err(at)?,
            "TEXT" | "CSV" | "BINARY" => shape = shape_of(&name)?,
            "DELIMITER" => delimiter = Some(one_byte(&name, &value()).map_err(at)?),
            "QUOTE" => quote = Some(one_byte(&name, &value()).map_err(at)?),
            "ESCAPE" => escape = Some(one_byte(&name, &value()).map_err(at)?),
            "NULL" => null = Some(value()),
            "ENCODING" => match value().to_lowercase().replace('-', "").as_str() {
                "utf8" => {}
                _ => return Err(at(unsupported("an ENCODING other than UTF8"))),
            },
            "HEADER" => {
                let given = words.peek().and_then(|t| truth(&unquoted(t.text)));
                if given.is_some() {
                    words.next();
                }
                header = given.unwrap_or(true);
            }
            _ => {
                let failure = unsupported(&format!("the option {:?}", word.text));
                return Err(placed(text, word, failure));
            }
        }
    }
    let is_csv = shape == Shape::Csv;
    let quote = quote.unwrap_or(b'"');
    Ok(Format {
        shape,
        delimiter: delimiter.unwrap_or(if is_csv { b',' } else { b'\t' }),
        null: null.unwrap_or_else(|| if is_csv { String::new() } else { "\\N".to_owned() }),
        header: header && shape != Shape::Binary,
        quote,
        escape: escape.unwrap_or(quote),
    })
}

/// A failure with the place of a token.
fn placed(text: &str, token: &Token<'_>, mut failure: Failure) -> Failure {
    failure.position = text.get(..token.start).map(|before| before.chars().count() + 1);
    failure
}

fn shape_of(name: &str) -> Result<Shape, Failure> {
    match name.to_lowercase().as_str() {
        "text" => Ok(Shape::Text),
        "csv" => Ok(Shape::Csv),
        "binary" => Ok(Shape::Binary),
        _ => Err(unsupported(&format!("the format {name:?}"))),
    }
}

fn truth(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "true" | "on" | "1" => Some(true),
        "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn one_byte(name: &str, text: &str) -> Result<u8, Failure> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | b'\\') => Ok(*byte),
        _ => {
            let message = format!("COPY: {name} must be one character");
            Err(Failure::new(code::INVALID_PARAMETER_VALUE, message)
                .with_hint("write for example DELIMITER ';', or DELIMITER E'\\t' for a tab"))
        }
    }
}

fn unsupported(what: &str) -> Failure {
    let message = format!("COPY with {what} is not supported by this server");
    Failure::new(code::FEATURE_NOT_SUPPORTED, message)
        .with_hint("options are FORMAT text, csv or binary, HEADER, DELIMITER, NULL, QUOTE, ESCAPE")
}

/// A COPY whose rows are sent.
#[derive(Debug)]
pub struct Copying {
    format: Format,
    has_begun: bool,
    /// The signature of the binary format is yet to be sent. It shares a message with the first row,
    /// as clients expect.
    lacks_signature: bool,
}

impl Copying {
    /// A COPY that nothing of was sent yet.
    pub fn new(format: Format) -> Self {
        let lacks_signature = format.shape == Shape::Binary;
        Self { format, has_begun: false, lacks_signature }
    }

    /// Writes what comes before the rows, unless that was done.
    pub fn begin(&mut self, wire: &mut Wire, columns: &[Column]) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let binary = i16::from(self.format.shape == Shape::Binary);
        wire.put(b'H', |out| {
            out.put_i8(binary as i8);
            out.put_i16(columns.len() as i16);
            columns.iter().for_each(|_| out.put_i16(binary));
        });
        if self.format.header {
            wire.put(b'd', |out| {
                let names = columns.iter().map(|column| Some(column.name.as_bytes()));
                self.format.line(names, out);
            });
        }
    }

    /// Writes a row.
    pub fn row(&mut self, rows: &Rows, row: usize, out: &mut BytesMut) {
        message(out, b'd', |out| {
            self.sign(out);
            match self.format.shape {
                Shape::Binary => rows.put_fields(row, out),
                _ => self.format.row(rows, row, out),
            }
        });
    }

    /// Writes what comes after the rows.
    pub fn end(&mut self, wire: &mut Wire) {
        if self.format.shape == Shape::Binary {
            wire.put(b'd', |out| {
                self.sign(out);
                out.put_i16(-1);
            });
        }
        wire.put(b'c', |_| {});
    }

    fn sign(&mut self, out: &mut BytesMut) {
        if std::mem::take(&mut self.lacks_signature) {
            out.put_slice(SIGNATURE);
        }
    }
}

impl Format {
    /// The formats of columns, as a client would ask for them.
    pub fn columns(&self) -> &'static [i16] {
        if self.shape == Shape::Binary { &[1] } else { &[] }
    }

    fn row(&self, rows: &Rows, row: usize, out: &mut BytesMut) {
        let mut value = BytesMut::new();
        for column in 0..rows.width() {
            if column > 0 {
                out.put_u8(self.delimiter);
            }
            value.clear();
            let known = rows.put_text(row, column, &mut value);
            self.value(known.then_some(&value[..]), out);
        }
        out.put_u8(b'\n');
    }

    fn line<'a>(&self, values: impl Iterator<Item = Option<&'a [u8]>>, out: &mut BytesMut) {
        for (at, value) in values.enumerate() {
            if at > 0 {
                out.put_u8(self.delimiter);
            }
            self.value(value, out);
        }
        out.put_u8(b'\n');
    }

    fn value(&self, value: Option<&[u8]>, out: &mut BytesMut) {
        match value {
            None => out.put_slice(self.null.as_bytes()),
            Some(value) if self.shape == Shape::Csv => self.csv(value, out),
            Some(value) => self.escaped(value, out),
        }
    }

    fn escaped(&self, value: &[u8], out: &mut BytesMut) {
        for byte in value {
            let letter = match byte {
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                8 => b'b',
                11 => b'v',
                12 => b'f',
                b'\\' => b'\\',
                byte if *byte == self.delimiter => *byte,
                byte => {
                    out.put_u8(*byte);
                    continue;
                }
            };
            out.put_slice(&[b'\\', letter]);
        }
    }

    fn csv(&self, value: &[u8], out: &mut BytesMut) {
        let special =
            |b: &u8| matches!(b, b'\n' | b'\r') || [self.delimiter, self.quote].contains(b);
        if value != self.null.as_bytes() && value != b"\\." && !value.iter().any(special) {
            return out.put_slice(value);
        }
        out.put_u8(self.quote);
        for byte in value {
            if *byte == self.quote || *byte == self.escape {
                out.put_u8(self.escape);
            }
            out.put_u8(*byte);
        }
        out.put_u8(self.quote);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pg::command::of;

    fn copied(sql: &str) -> Copy {
        match of(sql) {
            Command::Copy(copy) => copy,
            other => panic!("{sql}: {other:?}"),
        }
    }

    fn line(sql: &str, values: &[Option<&str>]) -> String {
        let mut out = BytesMut::new();
        copied(sql).format.line(values.iter().map(|v| v.map(str::as_bytes)), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn queries_and_tables_are_copied_to_the_client() {
        let query = |sql| copied(sql).query.sql;
        assert_eq!(query("COPY (SELECT f(1) FROM t) TO STDOUT"), "SELECT f(1) FROM t");
        assert_eq!(query("copy events to stdout"), "SELECT * FROM events");
        assert_eq!(
            query("COPY public.events (id, \"name\") TO STDOUT WITH (FORMAT binary)"),
            "SELECT id, \"name\" FROM public.events"
        );
        let shape = |sql| copied(sql).format.shape;
        assert_eq!(shape("COPY t TO STDOUT"), Shape::Text);
        assert_eq!(shape("COPY t TO STDOUT (FORMAT binary)"), Shape::Binary);
        assert_eq!(shape("COPY t TO STDOUT WITH BINARY"), Shape::Binary);
        assert_eq!(shape("COPY t TO STDOUT WITH (FORMAT 'csv', HEADER false)"), Shape::Csv);
        assert!(copied("COPY t TO STDOUT WITH CSV HEADER").format.header);
        assert!(!copied("COPY t TO STDOUT (HEADER off)").format.header);
    }

    #[test]
    fn files_programs_and_input_are_refused() {
        for (sql, expected) in [
            ("COPY (SELECT 1) TO '/tmp/x'", code::INSUFFICIENT_PRIVILEGE),
            ("COPY t TO PROGRAM 'cat'", code::INSUFFICIENT_PRIVILEGE),
            ("COPY t FROM STDIN", code::READ_ONLY),
            ("COPY t FROM '/etc/passwd'", code::READ_ONLY),
            ("COPY (SELECT 1 TO STDOUT", code::SYNTAX_ERROR),
            ("COPY", code::SYNTAX_ERROR),
            ("COPY t.", code::SYNTAX_ERROR),
            ("COPY t TO STDOUT (FORMAT xml)", code::FEATURE_NOT_SUPPORTED),
            ("COPY t TO STDOUT (DELIMITER 'ab')", code::INVALID_PARAMETER_VALUE),
        ] {
            let Command::Refused(failure) = of(sql) else { panic!("{sql}") };
            assert_eq!(failure.code, expected, "{sql}");
        }
        let Command::Refused(failure) = of("COPY é TO STDOUT (DELIMITER 'ab')") else { panic!() };
        assert_eq!(failure.position, Some(29));
        assert!(failure.hint.is_some_and(|hint| hint.contains("DELIMITER E'\\t'")));
    }

    #[test]
    fn values_are_escaped() {
        assert_eq!(
            line("COPY t TO STDOUT", &[Some("a\tb\\"), None, Some("")]),
            "a\\tb\\\\\t\\N\t\n"
        );
        assert_eq!(
            line("COPY t TO STDOUT CSV", &[Some("a,\"b\""), None, Some(""), Some("c")]),
            "\"a,\"\"b\"\"\",,\"\",c\n"
        );
        assert_eq!(line("COPY t TO STDOUT (DELIMITER E'\\t')", &[Some("a"), Some("b")]), "a\tb\n");
        assert_eq!(
            line("COPY t TO STDOUT (FORMAT csv, DELIMITER ';', NULL '-')", &[None, Some("-,")]),
            "-;-,\n"
        );
    }
}
