//! Cursors: `DECLARE`, `FETCH` and `CLOSE`. A cursor is a portal that has the name of the cursor.

use std::collections::HashMap;

use datafusion::common::ScalarValue;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::Statement as Sql;
use tracesql::sql_text::lex::Token;

use super::client::{Answer, Client, Stop};
use super::command::{self, Command};
use super::portal::{Portal, Running, Sent};
use super::reply::{self, Transaction};
use crate::failure::{Failure, code};
use crate::query;

/// A statement within another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Within {
    /// Its text.
    pub sql: String,
    /// The number of characters before it; `None` if the text is not the client's.
    before: Option<usize>,
}

impl Within {
    /// The part of a text from one byte to another.
    pub fn new(text: &str, from: usize, to: usize) -> Self {
        let sql = text.get(from..to).unwrap_or_default().to_owned();
        Self { sql, before: text.get(..from).map(|before| before.chars().count()) }
    }

    /// A statement that was made for the client.
    pub fn made(sql: String) -> Self {
        Self { sql, before: None }
    }

    /// An error of the statement with its place in the whole text.
    pub fn placed(&self, mut failure: Failure) -> Failure {
        failure.position = failure.position.and_then(|position| Some(position + self.before?));
        failure
    }
}

/// A cursor that is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declare {
    name: String,
    /// The query.
    pub query: Within,
    is_binary: bool,
    /// Whether it lives longer than its transaction.
    holds: bool,
}

/// Rows that are taken from a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// The cursor.
    pub name: String,
    /// The number of rows; `None` for all.
    pub most: Option<usize>,
}

/// The command of a statement that begins with DECLARE.
pub fn declare(text: &str, tokens: &[Token<'_>]) -> Command {
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|t| t.is_word(word));
    let wrong = || {
        let message = "DECLARE is written as DECLARE name CURSOR FOR SELECT …";
        Command::Refused(Failure::new(code::SYNTAX_ERROR, message))
    };
    let Some(name) = tokens.get(1).and_then(Token::name) else { return wrong() };
    let Some(cursor) = (2..tokens.len().min(8)).find(|at| is(*at, "CURSOR")) else {
        return wrong();
    };
    let before = 2..cursor;
    let scrolls = before.clone().any(|at| is(at, "SCROLL") && !is(at - 1, "NO"));
    if scrolls {
        let message = "SCROLL cursors are not supported by this server";
        return Command::Refused(
            Failure::new(code::FEATURE_NOT_SUPPORTED, message)
                .with_hint("cursors go forward only: leave SCROLL out"),
        );
    }
    let is_binary = before.into_iter().any(|at| is(at, "BINARY"));
    let has_hold = is(cursor + 2, "HOLD");
    let at = if has_hold { cursor + 3 } else { cursor + 1 };
    if !is(at, "FOR") {
        return wrong();
    }
    let query = Within::new(text, tokens[at].end(), text.len());
    Command::Declare(Declare { name, query, is_binary, holds: has_hold && is(cursor + 1, "WITH") })
}

/// The command of a statement that begins with FETCH.
pub fn fetch(tokens: &[Token<'_>]) -> Command {
    let word = |at: usize| tokens.get(at).map(|t| t.text.to_uppercase()).unwrap_or_default();
    let mut at = 1;
    if word(at) == "FORWARD" {
        at += 1;
    }
    let mut most = Some(1);
    match word(at).as_str() {
        "BACKWARD" | "PRIOR" | "FIRST" | "LAST" | "ABSOLUTE" | "RELATIVE" | "-" => {
            let message = "cursor can only scan forward";
            return Command::Refused(Failure::new("55000", message));
        }
        "ALL" => (most, at) = (None, at + 1),
        "NEXT" => at += 1,
        count => {
            if let Ok(count) = count.parse() {
                (most, at) = (Some(count), at + 1);
            }
        }
    }
    if matches!(word(at).as_str(), "FROM" | "IN") {
        at += 1;
    }
    match tokens.get(at).and_then(Token::name) {
        Some(name) => Command::Fetch(Fetch { name, most }),
        None => {
            let message = "FETCH is written as FETCH 100 FROM name";
            Command::Refused(Failure::new(code::SYNTAX_ERROR, message))
        }
    }
}

/// The rows of a cursor, in these formats.
pub fn rows<'a>(
    portals: &'a mut HashMap<String, Portal>,
    name: &str,
    formats: &[i16],
) -> Result<&'a mut Running, Failure> {
    let portal = portals.get_mut(name).filter(|portal| portal.is_cursor);
    let missing = || Failure::new("34000", format!("cursor \"{name}\" does not exist"));
    let portal = portal.ok_or_else(missing)?;
    let of_cursor = portal.formats.clone();
    let running = portal.running.as_mut().ok_or_else(missing)?;
    running.set_formats(if of_cursor.is_empty() { formats } else { &of_cursor });
    Ok(running)
}

impl Client {
    /// Runs a query within another statement.
    pub(super) async fn query_within(
        &mut self,
        query: &Within,
        parameters: Vec<(String, ScalarValue)>,
        formats: &[i16],
    ) -> Result<Running, Stop> {
        let command = command::of(&query.sql);
        let answer = match command {
            Command::Query(_) => {
                self.check_query(&query.sql).await?;
                self.query(&query.sql, &command, parameters, formats).await
            }
            Command::Catalogue => self.query(&query.sql, &command, parameters, formats).await,
            _ => Err(not_a_query().into()),
        };
        match answer {
            Ok(Answer::Rows(running)) => Ok(running),
            Ok(_) => Err(not_a_query().into()),
            Err(stop) => Err(stop.map(|failure| query.placed(failure))),
        }
    }

    /// Fails if a statement is not a query. One with an error passes, and fails when it runs.
    async fn check_query(&mut self, sql: &str) -> Result<(), Stop> {
        self.session.check_length(sql)?;
        let session = self.session.clone();
        let engine = self.wire.unless_lost(session.engine()).await??;
        let Ok(statement) = query::one_statement(&engine, sql) else { return Ok(()) };
        crate::allowed::check(&statement)?;
        match &statement {
            Statement::Statement(sql) if matches!(sql.as_ref(), Sql::Query(_)) => Ok(()),
            _ => Err(not_a_query().into()),
        }
    }

    /// Opens a cursor. Its query starts now.
    pub(super) async fn declare(
        &mut self,
        declare: &Declare,
        parameters: Vec<(String, ScalarValue)>,
    ) -> Result<Answer, Stop> {
        if self.transaction == Transaction::Idle && !declare.holds {
            let message = "DECLARE CURSOR can only be used in transaction blocks";
            return Err(Failure::new("25P01", message)
                .with_hint("start with BEGIN, or write CURSOR WITH HOLD")
                .into());
        }
        if self.portals.contains_key(&declare.name) {
            let message = format!("cursor \"{}\" already exists", declare.name);
            return Err(Failure::new("42P03", message).into());
        }
        let formats: &[i16] = if declare.is_binary { &[1] } else { &[] };
        let running = self.query_within(&declare.query, parameters, formats).await?;
        let portal = Portal::cursor(running, formats, declare.holds);
        self.check_portals(&declare.name, &portal)?;
        self.portals.insert(declare.name.clone(), portal);
        Ok(Answer::Tag("DECLARE CURSOR".to_owned()))
    }

    /// Sends rows of a cursor, after their columns if the client does not know them.
    pub(super) async fn fetch(
        &mut self,
        fetch: &Fetch,
        formats: &[i16],
        with_columns: bool,
    ) -> Result<(), Stop> {
        let running = rows(&mut self.portals, &fetch.name, formats)?;
        if with_columns {
            reply::columns(&mut self.wire, &running.columns);
        }
        match running.send(&mut self.wire, fetch.most).await? {
            Sent::All(rows) | Sent::Part(rows) => {
                reply::complete(&mut self.wire, &format!("FETCH {rows}"));
                Ok(())
            }
            Sent::Failed(failure) => {
                self.portals.remove(&fetch.name);
                Err(Stop::Logged(failure))
            }
        }
    }

    /// Closes a cursor; `None` for all.
    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> Result<(), Failure> {
        match name {
            None => self.portals.retain(|_, portal| !portal.is_cursor),
            Some(name) if self.portals.contains_key(name) => drop(self.portals.remove(name)),
            Some(name) => {
                let message = format!("cursor \"{name}\" does not exist");
                return Err(Failure::new("34000", message));
            }
        }
        Ok(())
    }

    /// Closes the portals of a transaction at its end.
    pub(super) fn end_portals(&mut self) {
        self.portals.retain(|_, portal| portal.holds);
    }
}

fn not_a_query() -> Failure {
    Failure::new(code::SYNTAX_ERROR, "the rows of a query were expected: SELECT, WITH or VALUES")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pg::command::of;

    #[test]
    fn cursors_are_declared() {
        for (sql, name, holds, is_binary) in [
            ("DECLARE c CURSOR FOR SELECT 1", "c", false, false),
            ("declare \"A b\" no scroll cursor without hold for SELECT 1", "A b", false, false),
            ("DECLARE c BINARY CURSOR WITH HOLD FOR SELECT 1", "c", true, true),
        ] {
            let Command::Declare(declare) = of(sql) else { panic!("{sql}") };
            assert_eq!(
                (&*declare.name, declare.holds, declare.is_binary),
                (name, holds, is_binary)
            );
            assert_eq!(declare.query.sql.trim(), "SELECT 1");
        }
        for sql in ["DECLARE", "DECLARE c", "DECLARE c CURSOR SELECT 1", "DECLARE c SCROLL CURSOR"]
        {
            assert!(matches!(of(sql), Command::Refused(_)), "{sql}");
        }
    }

    #[test]
    fn rows_are_fetched_forwards() {
        for (sql, most) in [
            ("FETCH c", Some(1)),
            ("FETCH NEXT FROM c", Some(1)),
            ("FETCH FORWARD 100 FROM c", Some(100)),
            ("FETCH 5 IN c", Some(5)),
            ("FETCH ALL c", None),
            ("FETCH FORWARD ALL FROM \"c\"", None),
        ] {
            let fetch = Fetch { name: "c".to_owned(), most };
            assert_eq!(of(sql), Command::Fetch(fetch), "{sql}");
        }
        for sql in ["FETCH BACKWARD 1 FROM c", "FETCH -1 FROM c", "FETCH LAST c", "FETCH 5 FROM"] {
            assert!(matches!(of(sql), Command::Refused(_)), "{sql}");
        }
    }

    #[test]
    fn an_error_has_its_place_in_the_whole_text() {
        let within = Within::new("COPY (é) TO", 6, 8);
        assert_eq!(within.sql, "é");
        let failure = Failure { position: Some(1), ..Failure::new("42000", "x") };
        assert_eq!(within.placed(failure.clone()).position, Some(7));
        assert_eq!(Within::made("x".into()).placed(failure).position, None);
    }
}
