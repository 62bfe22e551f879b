//! The tool `query`.

use serde_json::Value;

use super::Context;
use crate::error::{Error, Result};
use crate::mcp::MAX_ANSWER_BYTES;
use crate::mcp::arguments::Arguments;
use crate::requests::{Query, Shape};

const MAX_ROWS: usize = 1_000;
const ROWS: usize = 100;
const BYTES: usize = 20_000;

pub async fn query(arguments: &Arguments, context: &Context<'_>) -> Result<Value> {
    let (columns_only, summary) = (arguments.flag("columns_only")?, arguments.flag("summary")?);
    if columns_only && summary {
        return Err(Error::Usage("give columns_only or summary, not both".to_owned()));
    }
    let sql = arguments.needed("sql")?;
    let query = Query {
        sql: match summary {
            true => format!("SUMMARIZE {}", sql.trim().trim_end_matches(';')),
            false => sql.to_owned(),
        },
        parameters: arguments.values("parameters")?,
        shape: Shape {
            max_rows: arguments.up_to("max_rows", ROWS, MAX_ROWS)?,
            max_bytes: arguments.up_to("max_bytes", BYTES, MAX_ANSWER_BYTES)?,
            ..Shape::default()
        },
        columns_only,
    };
    let open = context.open().await?;
    let answer = context.server.requests.query(&open.engine, query, context.call).await?;
    Ok(answer.into_json())
}
