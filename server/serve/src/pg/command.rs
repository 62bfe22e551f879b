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
    /// A query of traces, for the engine.
    Query,
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
        _ => Command::Query,
    }
}

fn refused(what: &str, hint: &str) -> Command {
    let message = format!("{what} is not supported by this server");
    Command::Refused(Failure::new(code::FEATURE_NOT_SUPPORTED, message).with_hint(hint))
}

/// Whether a statement names relations, types or functions that only the catalogue has. Names in
/// quotes count too, except as names of functions.
fn asks_catalogue(tokens: &[Token<'_>]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
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
            let relation = before.is_some_and(|word| {
                ["from", "join", ","].iter().any(|w| word.eq_ignore_ascii_case(w))
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
        "TRANSACTION" | "CHARACTERISTICS" | "CONSTRAINTS" | "AUTHORIZATION" => {
            let writes = tokens.windows(2).any(|w| w[0].is_word("READ") && w[1].is_word("WRITE"));
            if writes {
                // Clients say so before statements that only read; those that write are refused.
                return Command::Nothing("SET");
            }
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
            text => value.push_str(&match token.kind {
                TokenKind::Text => unquoted(text),
                TokenKind::QuotedName => text.to_owned(),
                _ => text.to_owned(),
            }),
        }
    }
    let is_default = values.len() == 1 && value.eq_ignore_ascii_case("default");
    Command::Set { name, value: (!is_default).then_some(value), local }
}

/// The text in quotes.
pub(super) fn unquoted(text: &str) -> String {
    match text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        Some(inner) => inner.replace("''", "'"),
        None => text.to_owned(),
    }
}

fn show(tokens: &[Token<'_>]) -> Command {
    let word = |at: usize| tokens.get(at).map(|t| t.text.to_uppercase()).unwrap_or_default();
    match word(1).as_str() {
        "TABLES" | "COLUMNS" | "VIEWS" | "FUNCTIONS" | "CREATE" | "FULL" | "EXTENDED" => {
            Command::Query
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
        ] {
            assert_eq!(of(sql), Command::Query, "{sql}");
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
    fn texts_are_split_into_statements() {
        let all = statements("SELECT ';'; -- x\n SELECT 2;;");
        assert_eq!(all, [(0, "SELECT ';'"), (18, "SELECT 2")]);
    }
}
