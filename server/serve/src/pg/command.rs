//! Finds out what a statement asks for: a query of traces, a query of the catalogue, or one of the
//! commands about the connection that clients of PostgreSQL send.

use tracesql::sql_text::lex::{self, Kind as TokenKind, Token};
use tracesql::sql_text::{Piece, split};

use super::copy::{self, Copy};
use super::cursor::{self, Declare, Fetch};
use crate::failure::{Failure, code};

/// A statement by what answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A statement for the engine.
    Query(Verb),
    /// A query of the catalogue.
    Catalogue,
    /// COPY to the client.
    Copy(Copy),
    /// DECLARE.
    Declare(Declare),
    /// FETCH.
    Fetch(Fetch),
    /// CLOSE; `None` for all.
    Close(Option<String>),
    /// BEGIN.
    Begin,
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// ROLLBACK TO a savepoint.
    RollbackTo,
    /// SET; the value is `None` for DEFAULT.
    Set { name: String, value: Option<String>, local: bool },
    /// RESET; `None` for all.
    Reset(Option<String>),
    /// SHOW; `None` for all.
    Show(Option<String>),
    /// DISCARD ALL.
    DiscardAll,
    /// DEALLOCATE; `None` for all.
    Deallocate(Option<String>),
    /// A command that has nothing to do here, with its tag.
    Nothing(&'static str),
    /// A command that the server refuses.
    Refused(Failure),
}

/// What a statement for the engine does, by its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Select,
    Explain,
    Show,
    Create,
    Drop,
}

impl Verb {
    fn of(word: &str) -> Self {
        match word {
            "EXPLAIN" => Self::Explain,
            "SHOW" => Self::Show,
            "CREATE" => Self::Create,
            "DROP" => Self::Drop,
            _ => Self::Select,
        }
    }

    /// The tag of its end. Only the engine's statements about views get that far.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::Explain => "EXPLAIN",
            Self::Show => "SHOW",
            Self::Create => "CREATE VIEW",
            Self::Drop => "DROP VIEW",
        }
    }
}

/// The statements of a text, and the byte where each begins.
pub fn statements(text: &str) -> Vec<(usize, &str)> {
    let parts = split(text).into_iter().filter(|part| part.piece != Piece::Gap);
    parts.map(|part| (part.start, part.text.trim_end_matches(';'))).collect()
}

/// Functions that only the catalogue has, apart from those whose names begin with `pg_`.
const FUNCTIONS: &[&str] = &[
    "array_lower",
    "array_upper",
    "col_description",
    "current_catalog",
    "current_database",
    "current_role",
    "current_schema",
    "current_schemas",
    "current_setting",
    "current_user",
    "format_type",
    "has_any_column_privilege",
    "has_column_privilege",
    "has_database_privilege",
    "has_function_privilege",
    "has_schema_privilege",
    "has_table_privilege",
    "inet_client_addr",
    "inet_server_addr",
    "inet_server_port",
    "obj_description",
    "parse_ident",
    "quote_ident",
    "session_user",
    "set_config",
    "shobj_description",
    "to_regclass",
    "to_regnamespace",
    "to_regproc",
    "to_regtype",
    "txid_current",
    "user",
    "version",
];
/// Functions that are written without brackets.
const WITHOUT_BRACKETS: &[&str] =
    &["current_catalog", "current_role", "current_schema", "current_user", "session_user", "user"];

/// What a statement asks for.
pub fn of(text: &str) -> Command {
    let tokens = lex::words(&lex::tokens(text));
    let word = |at: usize| tokens.get(at).map(|t| t.text.to_uppercase()).unwrap_or_default();
    let name = |at: usize| tokens.get(at).and_then(Token::name);
    match word(0).as_str() {
        "BEGIN" => Command::Begin,
        "START" if word(1) == "TRANSACTION" => Command::Begin,
        "COMMIT" | "END" => Command::Commit,
        "ABORT" => Command::Rollback,
        "ROLLBACK" if tokens.iter().any(|t| t.is_word("TO")) => Command::RollbackTo,
        "ROLLBACK" => Command::Rollback,
        "SAVEPOINT" => Command::Nothing("SAVEPOINT"),
        "RELEASE" => Command::Nothing("RELEASE"),
        "LISTEN" => Command::Nothing("LISTEN"),
        "UNLISTEN" => Command::Nothing("UNLISTEN"),
        "COPY" => copy::command(text, &tokens),
        "DECLARE" => cursor::declare(text, &tokens),
        "FETCH" => cursor::fetch(&tokens),
        "CLOSE" => Command::Close(name(1).filter(|name| !name.eq_ignore_ascii_case("all"))),
        "SET" => set(&tokens),
        "RESET" => match word(1).as_str() {
            "ALL" => Command::Reset(None),
            "SESSION" => Command::Nothing("RESET"),
            _ => Command::Reset(Some(dotted(&tokens[1..]).0)),
        },
        "SHOW" => show(&tokens),
        "DISCARD" if word(1) == "ALL" => Command::DiscardAll,
        "DISCARD" => Command::Nothing("DISCARD"),
        "DEALLOCATE" => {
            let at = if word(1) == "PREPARE" { 2 } else { 1 };
            Command::Deallocate(name(at).filter(|name| !name.eq_ignore_ascii_case("all")))
        }
        "MOVE" => refused(&word(0), "FETCH reads rows of a cursor, one after the other"),
        "PREPARE" | "EXECUTE" => refused(&word(0), "use the prepared statements of your driver"),
        "NOTIFY" | "LOCK" | "VACUUM" | "GRANT" | "REVOKE" | "REINDEX" | "CLUSTER" | "DO"
        | "CALL" | "IMPORT" | "SECURITY" | "COMMENT" | "REASSIGN" | "CHECKPOINT" | "LOAD" => {
            refused(&word(0), "the server runs queries, EXPLAIN, SHOW and CREATE VIEW")
        }
        _ if asks_catalogue(&tokens) => Command::Catalogue,
        first => Command::Query(Verb::of(first)),
    }
}

fn refused(what: &str, hint: &str) -> Command {
    let message = format!("{what} is not supported by this server");
    Command::Refused(Failure::new(code::FEATURE_NOT_SUPPORTED, message).with_hint(hint))
}

/// Whether a statement names relations, types or functions that only the catalogue has. Names in
/// quotes count too, except as names of functions.
fn asks_catalogue(tokens: &[Token<'_>]) -> bool {
    let mut lists = Lists::default();
    tokens.iter().enumerate().any(|(at, token)| {
        lists.pass(token);
        let Some(name) = token.name().map(|name| name.to_lowercase()) else { return false };
        let next = tokens.get(at + 1).map(|t| t.text);
        let before = at.checked_sub(1).and_then(|at| tokens.get(at)).map(|t| t.text);
        if matches!(name.as_str(), "pg_catalog" | "information_schema") {
            return true;
        }
        let is_column = before == Some(".") && next != Some("(");
        if is_column || before.is_some_and(|before| before.eq_ignore_ascii_case("as")) {
            return false;
        }
        let is_call = next == Some("(") && token.kind == TokenKind::Word;
        if name.starts_with("pg_") {
            let relation = before.is_some_and(|word| match word {
                "," => lists.is_of_relations(),
                word => ["from", "join"].iter().any(|w| word.eq_ignore_ascii_case(w)),
            });
            return is_call || relation;
        }
        if before == Some("::") && name.starts_with("reg") {
            return true;
        }
        let known = FUNCTIONS.contains(&name.as_str()) && token.kind == TokenKind::Word;
        let bare = WITHOUT_BRACKETS.contains(&name.as_str())
            && before.is_some_and(|word| {
                ["select", ",", "=", "("].iter().any(|w| word.eq_ignore_ascii_case(w))
            });
        known && (is_call || bare)
    })
}

/// The lists that a place in a statement is in: one for the statement, and one for each bracket
/// that is open.
#[derive(Default)]
struct Lists {
    /// Whether each outer list is one of relations.
    outer: Vec<bool>,
    is_of_relations: bool,
}

impl Lists {
    /// Goes past a token.
    fn pass(&mut self, token: &Token<'_>) {
        match token.text {
            "(" => self.outer.push(std::mem::take(&mut self.is_of_relations)),
            ")" => self.is_of_relations = self.outer.pop().unwrap_or_default(),
            _ if token.is_word("FROM") => self.is_of_relations = true,
            _ => {
                let others = ["SELECT", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT"];
                if others.iter().any(|word| token.is_word(word)) {
                    self.is_of_relations = false;
                }
            }
        }
    }

    /// Whether the names between commas are those of relations.
    fn is_of_relations(&self) -> bool {
        self.is_of_relations
    }
}

/// A name with dots, and the number of its tokens.
fn dotted(tokens: &[Token<'_>]) -> (String, usize) {
    let mut count = 0;
    let mut name = String::new();
    while let Some(part) = tokens.get(count).and_then(Token::name) {
        name.push_str(&part);
        count += 1;
        if tokens.get(count).map(|t| t.text) != Some(".") {
            break;
        }
        name.push('.');
        count += 1;
    }
    (name, count)
}

fn set(tokens: &[Token<'_>]) -> Command {
    let word = |at: usize| tokens.get(at).map(|t| t.text.to_uppercase()).unwrap_or_default();
    let mut at = 1;
    let local = word(at) == "LOCAL";
    if local || word(at) == "SESSION" {
        at += 1;
    }
    match word(at).as_str() {
        // Clients ask for READ WRITE before statements that only read. Those that write are refused
        // later.
        "TRANSACTION" | "CHARACTERISTICS" | "CONSTRAINTS" | "AUTHORIZATION" => {
            return Command::Nothing("SET");
        }
        "TIME" if word(at + 1) == "ZONE" => {
            return assignment("TimeZone".into(), &tokens[at + 2..], local);
        }
        "NAMES" => return assignment("client_encoding".into(), &tokens[at + 1..], local),
        "ROLE" => return Command::Nothing("SET"),
        _ => {}
    }
    let (name, count) = dotted(&tokens[at.min(tokens.len())..]);
    at += count;
    if name.is_empty() || !matches!(word(at).as_str(), "=" | "TO") {
        let message = "SET is written as SET name = value";
        return Command::Refused(Failure::new(code::SYNTAX_ERROR, message));
    }
    assignment(name, &tokens[at + 1..], local)
}

fn assignment(name: String, values: &[Token<'_>], local: bool) -> Command {
    let mut value = String::new();
    for token in values {
        match token.text {
            "," => value.push_str(", "),
            text if token.kind == TokenKind::Text => value.push_str(&unquoted(text)),
            text => value.push_str(text),
        }
    }
    let is_default = values.len() == 1 && value.eq_ignore_ascii_case("default");
    Command::Set { name, value: (!is_default).then_some(value), local }
}

/// The text in quotes, also in the form `E'…'` with escapes.
pub(super) fn unquoted(text: &str) -> String {
    let inner = |text: &str| {
        let inner = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
        inner.map(|inner| inner.replace("''", "'"))
    };
    match text.strip_prefix(['e', 'E']).and_then(inner) {
        Some(escaped) => unescaped(&escaped),
        None => inner(text).unwrap_or_else(|| text.to_owned()),
    }
}

/// A text with its escapes replaced: letters such as `\t`, and the numbers of characters.
fn unescaped(text: &str) -> String {
    let mut all = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            all.push(c);
            continue;
        }
        let Some(letter) = rest.next() else { break };
        let (base, most) = match letter {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 3),
            _ => (0, 0),
        };
        let mut digits = String::new();
        if base == 8 {
            digits.push(letter);
        }
        while digits.len() < most
            && let Some(digit) = rest.next_if(|c| c.is_digit(base))
        {
            digits.push(digit);
        }
        let number = u32::from_str_radix(&digits, base.max(2)).ok();
        all.push(match (letter, number.and_then(char::from_u32)) {
            (_, Some(c)) => c,
            ('b', _) => '\u{8}',
            ('f', _) => '\u{c}',
            ('n', _) => '\n',
            ('r', _) => '\r',
            ('t', _) => '\t',
            (c, None) => c,
        });
    }
    all
}

fn show(tokens: &[Token<'_>]) -> Command {
    let word = |at: usize| tokens.get(at).map(|t| t.text.to_uppercase()).unwrap_or_default();
    match word(1).as_str() {
        "TABLES" | "COLUMNS" | "VIEWS" | "FUNCTIONS" | "CREATE" | "FULL" | "EXTENDED" => {
            Command::Query(Verb::Show)
        }
        "ALL" => Command::Show(None),
        "TRANSACTION" => Command::Show(Some("transaction_isolation".into())),
        "TIME" => Command::Show(Some("TimeZone".into())),
        "SESSION" => Command::Show(Some("session_authorization".into())),
        _ => Command::Show(Some(dotted(&tokens[1..]).0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_go_where_they_are_answered() {
        for sql in [
            "SELECT count(*) FROM events",
            "SELECT name AS version FROM kernels",
            "SELECT user_annotation FROM t",
            "SELECT k.\"user\" FROM k",
            "SELECT 'pg_catalog'",
            "SHOW TABLES",
            "EXPLAIN SELECT 1",
            "SELECT pg_step FROM t",
            "SELECT plain_name(name), pg_rank FROM (SELECT name, 1 AS pg_rank FROM kernels)",
            "SELECT a FROM (SELECT 1 AS a, 2 AS pg_rank) AS t ORDER BY a, pg_rank",
        ] {
            assert!(matches!(of(sql), Command::Query(_)), "{sql}");
        }
        for sql in [
            "SELECT * FROM pg_class",
            "select oid from pg_catalog.pg_class",
            "SELECT 1 FROM \"information_schema\".\"tables\"",
            "SELECT 'events'::regclass",
            "SELECT version()",
            "select pg_catalog.version()",
            "SELECT current_schema()",
            "SELECT current_user",
            "SELECT 1, session_user",
            "SELECT pg_is_in_recovery()",
            "SELECT 1 FROM (SELECT 1) AS t, pg_class c",
            "SELECT (SELECT 1 FROM t), x FROM events e, pg_type",
            "SELECT t.oid FROM pg_type t JOIN pg_namespace n ON true",
        ] {
            assert_eq!(of(sql), Command::Catalogue, "{sql}");
        }
    }

    #[test]
    fn commands_about_the_connection_are_recognised() {
        let set = |name: &str, value: Option<&str>, local| Command::Set {
            name: name.into(),
            value: value.map(str::to_owned),
            local,
        };
        for (sql, expected) in [
            ("BEGIN", Command::Begin),
            ("start transaction isolation level serializable", Command::Begin),
            ("COMMIT", Command::Commit),
            ("ROLLBACK", Command::Rollback),
            ("ROLLBACK TO SAVEPOINT a", Command::RollbackTo),
            ("SET extra_float_digits = 3", set("extra_float_digits", Some("3"), false)),
            ("SET application_name TO 'it''s'", set("application_name", Some("it's"), false)),
            ("set session datestyle to iso, mdy", set("datestyle", Some("iso, mdy"), false)),
            ("SET LOCAL statement_timeout = '1s'", set("statement_timeout", Some("1s"), true)),
            ("SET TIME ZONE 'UTC'", set("TimeZone", Some("UTC"), false)),
            ("SET tracesql.x = DEFAULT", set("tracesql.x", None, false)),
            (
                "SET datafusion.runtime.memory_limit = '1G'",
                set("datafusion.runtime.memory_limit", Some("1G"), false),
            ),
            ("RESET ALL", Command::Reset(None)),
            (
                "SHOW transaction isolation level",
                Command::Show(Some("transaction_isolation".into())),
            ),
            ("SHOW server_version_num", Command::Show(Some("server_version_num".into()))),
            ("DISCARD ALL", Command::DiscardAll),
            ("DEALLOCATE ALL", Command::Deallocate(None)),
            ("DEALLOCATE \"_pg3_0\"", Command::Deallocate(Some("_pg3_0".into()))),
            ("UNLISTEN *", Command::Nothing("UNLISTEN")),
        ] {
            assert_eq!(of(sql), expected, "{sql}");
        }
    }

    #[test]
    fn comments_do_not_hide_what_a_statement_does() {
        for (sql, verb) in [
            ("-- app=x\nCREATE VIEW v AS SELECT 1", Verb::Create),
            ("/* a /* b */ */ drop view v", Verb::Drop),
            (" -- x\n EXPLAIN SELECT 1", Verb::Explain),
            ("SHOW TABLES", Verb::Show),
            ("(SELECT 1)", Verb::Select),
        ] {
            assert_eq!(of(sql), Command::Query(verb), "{sql}");
        }
    }

    #[test]
    fn escapes_are_read() {
        for (text, expected) in [
            ("'a''b'", "a'b"),
            (r"'a\tb'", r"a\tb"),
            (r"E'a\tb'", "a\tb"),
            (r"e'\x41\101\u00e9\\\''", r"AAé\'"),
            ("E", "E"),
            ("csv", "csv"),
        ] {
            assert_eq!(unquoted(text), expected, "{text}");
        }
    }

    #[test]
    fn texts_are_split_into_statements() {
        let all = statements("SELECT ';'; -- x\n SELECT 2;;");
        assert_eq!(all, [(0, "SELECT ';'"), (18, "SELECT 2")]);
    }
}
