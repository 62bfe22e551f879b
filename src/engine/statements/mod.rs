//! Statements before they are planned: how a text becomes statements, the names of their result
//! columns, and the statements that a session refuses.

mod column_names;
mod duckdb_forms;
mod refused;

pub use column_names::name_columns;
pub use duckdb_forms::parse;
pub use refused::refuse;
