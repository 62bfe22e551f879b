//! SQL as text: tokens, statements and keywords. The SQL may be unfinished or wrong.

mod keywords;
pub mod lex;
mod split;

pub use keywords::{KEYWORDS, is_keyword};
pub use split::{Part, Piece, is_complete, split};
