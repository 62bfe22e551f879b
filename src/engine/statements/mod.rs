//! Statements before they are planned: how a text becomes statements, the names of their result
//! columns, and the statements that a session refuses. Only `queries_only` looks at plans.

mod column_names;
mod duckdb_forms;
mod queries_only;
mod refused;

pub use column_names::name_columns;
pub use duckdb_forms::parse;
pub use queries_only::refuse_all_but_queries;
pub use refused::refuse;
