//! What the editor of statements asks for while the user types. Positions are in UTF-16 units.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use serde::Deserialize;
use serde_json::{Value, json};
use tracesql::catalog::Catalog;
use tracesql::complete::{Completion, Values, WantedValues, in_statement, signature};
use tracesql::engine::Engine;
use tracesql::requests::{Call, Query};
use tracesql::runtime;
use tracesql::sql_text::lex::{self, Kind, Token};
use tracesql::sql_text::{Piece, is_keyword, split};

use super::query::utf16;
use super::{list, parsed};
use crate::failure::{Answer, Failure};
use crate::open::State;

/// The most suggestions.
const MAX_ITEMS: usize = 200;
/// The most values of a column among them.
const MAX_VALUES: usize = 50;

#[derive(Debug, Deserialize)]
struct Typed {
    text: String,
    #[serde(default)]
    at: usize,
}

/// POST `/api/spans`.
pub async fn spans(body: Bytes) -> Answer {
    let typed: Typed = parsed(&body)?;
    let text = typed.text.as_str();
    let mut places = Places::new(text);
    let tokens = lex::tokens(text);
    let mut spans = Vec::with_capacity(tokens.len());
    let mut parameters: Vec<&str> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens[at + 1..].iter().find(|t| t.kind != Kind::Space);
        if let Some(kind) = kind(token, next) {
            spans.push(json!([places.at(token.start), places.at(token.end()), kind]));
        }
        if token.kind == Kind::Parameter && !parameters.contains(&&token.text[1..]) {
            parameters.push(&token.text[1..]);
        }
    }
    let mut places = Places::new(text);
    let statements = split(text)
        .into_iter()
        .filter(|part| part.piece != Piece::Gap)
        .map(|part| json!([places.at(part.start), places.at(part.start + part.text.len())]));
    let statements: Vec<Value> = statements.collect();
    Ok(Json(json!({"spans": spans, "statements": statements, "parameters": parameters})))
}

fn kind(token: &Token, next: Option<&Token>) -> Option<&'static str> {
    Some(match token.kind {
        Kind::Space => return None,
        Kind::Word if is_keyword(token.text) => "keyword",
        Kind::Word if next.is_some_and(|t| t.text == "(") => "function",
        Kind::Word | Kind::QuotedName => "name",
        Kind::Text => "text",
        Kind::Open if token.text.starts_with("/*") => "comment",
        Kind::Open => "text",
        Kind::Number => "number",
        Kind::Comment => "comment",
        Kind::Parameter => "parameter",
        Kind::Semicolon | Kind::Other => "other",
    })
}

/// Turns positions in bytes into positions in UTF-16 units. They must not decrease.
struct Places<'t> {
    text: &'t str,
    bytes: usize,
    units: usize,
}

impl<'t> Places<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, bytes: 0, units: 0 }
    }

    fn at(&mut self, byte: usize) -> usize {
        self.units += utf16(self.text.get(self.bytes..byte).unwrap_or_default());
        self.bytes = byte;
        self.units
    }
}

/// The byte at a position in UTF-16 units.
fn byte_at(text: &str, units: usize) -> usize {
    let mut passed = 0;
    for (byte, c) in text.char_indices() {
        if passed >= units {
            return byte;
        }
        passed += c.len_utf16();
    }
    text.len()
}

/// POST `/api/complete`.
pub async fn complete(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let typed: Typed = parsed(&body)?;
    let engine = state.engine().await?;
    let at = byte_at(&typed.text, typed.at);
    let (looked, text) = (engine.clone(), typed.text.clone());
    // It waits for names, so it needs a thread that may wait.
    let found = state.requests.threads().spawn_blocking(move || {
        let runtime = runtime::with_threads(1)?;
        let catalog = Catalog::of(&looked, &runtime);
        let values = Values {
            parameters: Vec::new(),
            settings: looked.settings().all().into_keys().collect(),
        };
        let part = split(&text)
            .into_iter()
            .find(|p| p.start <= at && at <= p.start + p.text.len() && !p.text.trim().is_empty());
        let (statement, start) = part.map_or(("", at), |part| (part.text, part.start));
        let found = in_statement(statement, at - start, &catalog, &values);
        let hint = text.get(..at).and_then(|before| signature(before, &catalog)).map(str::to_owned);
        Ok::<_, tracesql::Error>((found, start, hint))
    });
    let (found, start, hint) =
        found.await.map_err(|_| Failure::bad("the names could not be looked up"))??;
    let (from, items) = match found {
        Completion::Words(from, words) => (from, words),
        Completion::Values(from, wanted) => (from, values(&state, &engine, &wanted).await),
    };
    let items: Vec<String> = items.into_iter().take(MAX_ITEMS).collect();
    let start = utf16(typed.text.get(..start + from).unwrap_or_default());
    Ok(Json(json!({"start": start, "items": items, "signature": hint})))
}

/// The most frequent values of a column, as strings of SQL; none if that takes too long.
async fn values(state: &State, engine: &Arc<Engine>, wanted: &WantedValues) -> Vec<String> {
    let name = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let (column, relation) = (name(&wanted.column), name(&wanted.relation));
    let sql = format!(
        "SELECT {column} FROM {relation} WHERE {column} IS NOT NULL \
         AND starts_with({column}, {prefix}) GROUP BY {column} \
         ORDER BY count(*) DESC, {column} LIMIT {MAX_VALUES}",
        prefix = quoted(&wanted.prefix)
    );
    let (query, call) = (Query::new(sql).within(list(MAX_VALUES)), Call::default());
    let asking = state.quick.query(engine, query, &call);
    let limit = std::time::Duration::from_millis(500);
    let Ok(Ok(answer)) = tokio::time::timeout(limit, asking).await else { return Vec::new() };
    let first = answer.rows.iter().filter_map(|row| row.get(0)?.as_str());
    first.map(quoted).collect()
}
