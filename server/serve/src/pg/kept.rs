//! What a connection keeps between its statements, and how much of it: prepared statements, portals
//! and views. Settings have a limit of their own.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{ObjectName, Statement as Sql};

use super::catalogue::Catalogue;
use super::client::{Client, Stop};
use super::portal::{Portal, Prepared};
use crate::failure::{Failure, code};
use crate::query;

/// The maximum number of prepared statements, and of portals.
const MAX_KEPT: usize = 1_000;
/// The maximum size of the prepared statements and portals, in bytes.
const MAX_KEPT_BYTES: usize = 64 << 20;
/// What an entry takes in addition to its contents, as an estimate.
const ENTRY_BYTES: usize = 1_024;
/// The maximum size of the texts of views, in bytes. The plan of a view is much larger than its
/// text.
const MAX_VIEW_BYTES: usize = 1 << 20;

/// The views that a connection made.
#[derive(Default)]
pub struct Views {
    /// The sizes of their texts by name.
    texts: HashMap<String, usize>,
    /// Whether the connection made or removed views.
    pub changed: bool,
    /// The catalogue with these views.
    pub catalogue: Option<Arc<Catalogue>>,
}

impl Views {
    /// The views differ from those that a catalogue was made of.
    pub fn change(&mut self) {
        (self.changed, self.catalogue) = (true, None);
    }

    /// Counts the text of a new view. Fails if the views become too large.
    fn add(&mut self, name: String, bytes: usize) -> Result<(), Failure> {
        let others = self.texts.iter().filter(|(other, _)| **other != name);
        let total = others.map(|(_, bytes)| bytes).sum::<usize>() + bytes;
        if total > MAX_VIEW_BYTES || self.texts.len() >= MAX_KEPT {
            let text = format!(
                "the views of this connection have {total} bytes; {MAX_KEPT} views of \
                 {MAX_VIEW_BYTES} bytes together are allowed"
            );
            return Err(Failure::new(code::PROGRAM_LIMIT_EXCEEDED, text)
                .with_hint("remove some by DROP VIEW"));
        }
        self.texts.insert(name, bytes);
        Ok(())
    }
}

impl Client {
    /// Fails if a prepared statement takes too much memory together with what is kept already.
    pub(super) fn check_statements(&self, name: &str, new: &Prepared) -> Result<(), Failure> {
        if self.statements.len() >= MAX_KEPT && !self.statements.contains_key(name) {
            let text = format!("{MAX_KEPT} prepared statements are open; close some");
            return Err(Failure::new(code::PROGRAM_LIMIT_EXCEEDED, text));
        }
        let statements = self.statements.iter().filter(|(other, _)| *other != name);
        let statements = statements.map(|(_, prepared)| prepared).chain([new]);
        self.check_bytes(statements, self.portals.values())
    }

    /// Fails if a portal takes too much memory together with what is kept already.
    pub(super) fn check_portals(&self, name: &str, new: &Portal) -> Result<(), Failure> {
        if self.portals.len() >= MAX_KEPT && !self.portals.contains_key(name) {
            let text = format!("{MAX_KEPT} portals are open; close some");
            return Err(Failure::new(code::PROGRAM_LIMIT_EXCEEDED, text));
        }
        let portals = self.portals.iter().filter(|(other, _)| *other != name);
        let portals = portals.map(|(_, portal)| portal).chain([new]);
        self.check_bytes(self.statements.values(), portals)
    }

    fn check_bytes<'a>(
        &self,
        statements: impl Iterator<Item = &'a Prepared>,
        portals: impl Iterator<Item = &'a Portal>,
    ) -> Result<(), Failure> {
        let entries = statements
            .map(|prepared| (&prepared.sql, prepared.bytes()))
            .chain(portals.map(|portal| (&portal.sql, portal.bytes())));
        // Portals share the text of their statement. A command such as COPY keeps it twice.
        let mut texts = HashSet::new();
        let total: usize = entries
            .map(|(sql, bytes)| {
                let is_new = texts.insert(sql.as_ptr());
                ENTRY_BYTES + bytes + if is_new { 2 * sql.len() } else { 0 }
            })
            .sum();
        if total <= MAX_KEPT_BYTES {
            return Ok(());
        }
        let text = format!(
            "the prepared statements and portals of this connection would take {total} bytes; \
             {MAX_KEPT_BYTES} are allowed"
        );
        Err(Failure::new(code::PROGRAM_LIMIT_EXCEEDED, text).with_hint("close some"))
    }

    /// Counts the views that a statement makes or removes, before it runs. A statement with an
    /// error passes, and fails when it runs.
    pub(super) async fn count_views(&mut self, sql: &str) -> Result<(), Stop> {
        self.session.check_length(sql)?;
        let session = self.session.clone();
        let engine = self.wire.unless_lost(session.engine()).await??;
        let Ok(Statement::Statement(statement)) = query::one_statement(&engine, sql) else {
            return Ok(());
        };
        match *statement {
            Sql::CreateView(create) => self.views.add(last_name(&create.name), sql.len())?,
            Sql::Drop { names, .. } => {
                for name in &names {
                    self.views.texts.remove(&last_name(name));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The name of a view without its schema, as the engine compares it.
fn last_name(name: &ObjectName) -> String {
    match name.0.last().and_then(|part| part.as_ident()) {
        Some(ident) if ident.quote_style.is_some() => ident.value.clone(),
        Some(ident) => ident.value.to_lowercase(),
        None => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_have_a_size_and_a_number() {
        let mut views = Views::default();
        for _ in 0..3 {
            assert_eq!(views.add("a".into(), MAX_VIEW_BYTES), Ok(()), "the same view again");
        }
        assert!(views.add("b".into(), 1).is_err());
        let mut views = Views::default();
        for number in 0..MAX_KEPT {
            assert_eq!(views.add(number.to_string(), 1), Ok(()));
        }
        assert!(views.add("one more".into(), 1).is_err());
    }
}
