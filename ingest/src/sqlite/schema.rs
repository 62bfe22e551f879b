//! The columns of a table, from the statement that created it.
//!
//! The statement is split into words, but never executed. Words that do not name a column are
//! stepped over.

/// A column of a table, as the place of its value in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    place: u16,
    is_rowid: bool,
    /// The value in rows that are older than the column, if it is a whole number.
    default: Option<i64>,
}

impl Column {
    /// A column that the table does not have. Its values are NULL.
    pub const NONE: Self = Self { place: u16::MAX, is_rowid: false, default: None };

    /// Whether the table has the column.
    pub fn exists(self) -> bool {
        self.place != u16::MAX
    }

    #[inline]
    pub(super) fn place(self) -> Option<usize> {
        self.exists().then_some(usize::from(self.place))
    }

    /// Whether the column is another name of the rowid, which its row does not store.
    #[inline]
    pub fn is_rowid(self) -> bool {
        self.is_rowid
    }

    /// The value in rows that do not store the column, because it was added to the table later.
    /// Other defaults than whole numbers are not read.
    #[inline]
    pub(super) fn default(self) -> Option<i64> {
        self.default
    }
}

/// A plain table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Name.
    pub name: String,
    /// The first page of its tree.
    pub root: u32,
    /// The names of the stored columns with their places.
    pub columns: Vec<(String, Column)>,
}

impl Table {
    /// Reads the statement that created a table. Returns `None` if the table is not a plain one.
    pub fn parse(name: &str, root: u32, sql: &str) -> Option<Self> {
        let mut words = Words { rest: sql };
        for expected in ["create", "table"] {
            if !words.next()?.is(expected) {
                return None;
            }
        }
        // The name, and perhaps that of a schema.
        loop {
            match words.next()? {
                Word::Sign('(') => break,
                word if word.is("as") => return None,
                _ => {}
            }
        }
        let mut definitions = vec![Vec::new()];
        let mut depth = 1;
        loop {
            let word = words.next()?;
            match word {
                Word::Sign('(') => depth += 1,
                Word::Sign(')') => depth -= 1,
                Word::Sign(',') if depth == 1 => {
                    definitions.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            // Words inside of brackets only matter as brackets.
            if (depth == 1 || word == Word::Sign('('))
                && let Some(definition) = definitions.last_mut()
            {
                definition.push(word);
            }
        }
        while let Some(word) = words.next() {
            if word.is("without") {
                return None;
            }
        }
        let mut table = Self { name: name.to_owned(), root, columns: Vec::new() };
        let mut place = 0;
        for definition in definitions {
            let Some((first, rest)) = definition.split_first() else { continue };
            let is_constraint =
                ["constraint", "primary", "unique", "check", "foreign"].iter().any(|w| first.is(w));
            let Some(column) = first.name().filter(|_| !is_constraint) else { continue };
            let has = |word: &str| rest.iter().any(|w| w.is(word));
            // Values of generated columns are computed by SQLite; virtual ones are not stored.
            let is_generated = rest.windows(2).any(|w| w[0].is("as") && w[1] == Word::Sign('('));
            if is_generated && !has("stored") {
                continue;
            }
            let is_rowid = rest.first().is_some_and(|w| w.is("integer"))
                && rest.windows(2).any(|w| w[0].is("primary") && w[1].is("key"))
                && !rest.get(1).is_some_and(|w| matches!(w, Word::Sign('(')))
                && !has("desc");
            let column = (column.to_owned(), Column { place, is_rowid, default: default_of(rest) });
            table.columns.push(column);
            place = place.checked_add(1).filter(|place| *place < 32_767)?;
        }
        Some(table)
    }

    /// Returns a column by its name; SQLite does not distinguish the cases of ASCII letters.
    pub fn column(&self, name: &str) -> Column {
        let found = self.columns.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or(Column::NONE, |(_, column)| *column)
    }
}

/// The whole number after `DEFAULT` in the definition of a column.
fn default_of(definition: &[Word<'_>]) -> Option<i64> {
    let at = definition.iter().position(|word| word.is("default"))?;
    let (sign, number) = match definition.get(at + 1..)? {
        [Word::Sign('-'), number @ ..] => ("-", number),
        [Word::Sign('+'), number @ ..] => ("", number),
        number => ("", number),
    };
    match number {
        [Word::Bare(_), Word::Sign('.'), ..] => None,
        [Word::Bare(digits), ..] => format!("{sign}{digits}").parse().ok(),
        _ => None,
    }
}

/// A word of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word<'a> {
    /// A bare word or number.
    Bare(&'a str),
    /// A name or text in quotes.
    Quoted(&'a str),
    /// A single character.
    Sign(char),
}

impl<'a> Word<'a> {
    fn is(&self, keyword: &str) -> bool {
        matches!(self, Word::Bare(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn name(&self) -> Option<&'a str> {
        match self {
            Word::Bare(name) | Word::Quoted(name) => Some(name),
            Word::Sign(_) => None,
        }
    }
}

struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            self.rest = self.rest.trim_start();
            if let Some(comment) = self.rest.strip_prefix("--") {
                self.rest = comment.find('\n').map_or("", |at| &comment[at..]);
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                self.rest = comment.find("*/").map_or("", |at| &comment[at + 2..]);
            } else {
                break;
            }
        }
        let first = self.rest.chars().next()?;
        let after = &self.rest[first.len_utf8()..];
        let close = match first {
            '"' | '\'' | '`' => first,
            '[' => ']',
            c if c.is_alphanumeric() || c == '_' || c == '$' => {
                let end = self
                    .rest
                    .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
                    .unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                return Some(Word::Bare(word));
            }
            c => {
                self.rest = after;
                return Some(Word::Sign(c));
            }
        };
        // A quote that is doubled belongs to the text. Such names are not names of known columns.
        let mut end = 0;
        loop {
            let at = end + after[end..].find(close)?;
            let doubled = close != ']' && after[at + close.len_utf8()..].starts_with(close);
            if !doubled {
                self.rest = &after[at + close.len_utf8()..];
                return Some(Word::Quoted(&after[..at]));
            }
            end = at + 2 * close.len_utf8();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(sql: &str) -> Option<Vec<(String, bool)>> {
        let table = Table::parse("t", 2, sql)?;
        Some(table.columns.into_iter().map(|(name, c)| (name, c.is_rowid())).collect())
    }

    fn names(sql: &str) -> Vec<String> {
        columns(sql).expect("a plain table").into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn columns_are_found_in_all_spellings() {
        assert_eq!(
            names(
                "CREATE TABLE t (\n -- text, with (brackets\n a INTEGER NOT NULL, -- x, y\n \
                 \"b c\" REAL DEFAULT (1, 2), [d] varchar(18) /* e, */, `f` CHECK (f IN ('(', \
                 ')')), end, PRIMARY KEY (a), FOREIGN KEY (b) REFERENCES t(a))"
            ),
            ["a", "b c", "d", "f", "end"]
        );
        assert_eq!(names("create table 'main'.\"t\"(name,seq)"), ["name", "seq"]);
        assert_eq!(names("CREATE TABLE IF NOT EXISTS t (a DEFAULT 'it''s, )', b)"), ["a", "b"]);
    }

    #[test]
    fn generated_columns_take_a_place_only_if_they_are_stored() {
        let table = Table::parse(
            "t",
            2,
            "CREATE TABLE t (a, b AS (hex(a)), c GENERATED ALWAYS AS (a) STORED, d)",
        )
        .expect("a table");
        assert_eq!(table.column("a").place(), Some(0));
        assert_eq!(table.column("b"), Column::NONE);
        assert_eq!(table.column("C").place(), Some(1));
        assert_eq!(table.column("d").place(), Some(2));
    }

    #[test]
    fn whole_numbers_are_defaults() {
        let table = Table::parse(
            "t",
            2,
            "CREATE TABLE t (a, b INT DEFAULT 32, c DEFAULT -7 NOT NULL, d DEFAULT 1.5, e DEFAULT (1))",
        )
        .expect("a table");
        let defaults = ["a", "b", "c", "d", "e"].map(|name| table.column(name).default());
        assert_eq!(defaults, [None, Some(32), Some(-7), None, None]);
    }

    #[test]
    fn a_rowid_has_another_name_only_if_it_is_an_integer_key() {
        for (sql, is_rowid) in [
            ("CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, v)", true),
            ("CREATE TABLE t (id integer PRIMARY KEY AUTOINCREMENT, v)", true),
            ("CREATE TABLE t (id INT PRIMARY KEY, v)", false),
            ("CREATE TABLE t (id BIGINT PRIMARY KEY, v)", false),
            ("CREATE TABLE t (id INTEGER PRIMARY KEY DESC, v)", false),
            ("CREATE TABLE t (id INTEGER, v)", false),
        ] {
            assert_eq!(columns(sql).expect("a table")[0].1, is_rowid, "{sql}");
        }
    }

    #[test]
    fn other_things_than_plain_tables_are_no_tables() {
        for sql in [
            "CREATE VIEW t AS SELECT 1",
            "CREATE VIRTUAL TABLE t USING fts5(a)",
            "CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID",
            "CREATE TABLE t AS SELECT 1",
            "CREATE TRIGGER t AFTER INSERT ON u BEGIN SELECT 1; END",
            "CREATE TABLE t (a",
            "CREATE TABLE t (a 'open)",
            "",
        ] {
            assert_eq!(columns(sql), None, "{sql}");
        }
    }
}
