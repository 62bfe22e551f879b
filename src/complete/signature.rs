//! Finds the signature of the function whose arguments the user is typing.

use crate::catalog::Catalog;
use crate::sql_text::lex::{self, Kind};
use crate::sql_text::{Piece, split};

/// The signature of the function in whose brackets the text ends.
pub fn signature<'a>(text: &str, catalog: &'a Catalog) -> Option<&'a str> {
    let parts = split(text);
    let last = parts.last().filter(|p| p.piece == Piece::Unfinished)?;
    let tokens = lex::words(&lex::tokens(last.text));
    if tokens.last().is_some_and(|t| t.kind == Kind::Open) {
        return None;
    }
    let mut closed = 0;
    for i in (1..tokens.len()).rev() {
        match tokens[i].text {
            ")" => closed += 1,
            "(" if closed > 0 => closed -= 1,
            "(" if tokens[i - 1].kind == Kind::Word => {
                return catalog.function(tokens[i - 1].text).map(|f| f.signature.as_str());
            }
            _ => {}
        }
    }
    None
}
