//! The tool `compare`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Context, LIST_BYTES, fitting};
use crate::compare::{self, By};
use crate::environment;
use crate::error::{Error, Result};
use crate::mcp::arguments::Arguments;
use crate::mcp::state::over;
use crate::open::named_traces;
use crate::requests::text_of;

const MAX_ROWS: usize = 200;
const ROWS: usize = 20;
/// Characters of a text of a row.
const MAX_TEXT: usize = 500;
/// The columns of a row, in this order.
const COLUMNS: [&str; 15] = [
    "dimension", "key", "measure", "verdict", "reason", "base_ns", "cand_ns", "delta_ns",
    "delta_pct", "base_mad_ns", "cand_mad_ns", "noise_ns", "p_value", "base_calls", "cand_calls",
];

pub async fn compare(arguments: &Arguments, context: &Context<'_>) -> Result<Value> {
    let open = context.open().await?;
    let max_rows = arguments.up_to("max_rows", ROWS, MAX_ROWS)?;
    let by = by(arguments.text("by")?.unwrap_or("step"))?;
    let side = |name: &str| -> Result<Vec<String>> {
        let names = arguments.texts(name)?;
        if names.is_empty() {
            return Err(Error::Usage(format!("the argument {name:?} is missing")));
        }
        named_traces(&names, open.engine.traces())
    };
    let (base, candidate) = (side("base")?, side("candidate")?);
    let mut options = context.server.options.clone();
    options.settings.push(("compare_base".to_owned(), base.join(";")));
    options.settings.push(("compare_candidate".to_owned(), candidate.join(";")));
    let (locations, mut both) = (open.locations(), base.clone());
    both.extend(candidate.iter().cloned());
    let work = async move {
        let engine = over(&locations, |id| both.contains(id), &options)?;
        let rows = compare::rows(&engine, &[by]).await?;
        if let Some(why) = compare::apart(&engine, &rows).await? {
            return Err(Error::Query(format!("nothing compares: {why}")));
        }
        let steps = compare::steps(&engine).await?;
        let (differences, warnings) = compare::environments(&engine).await?;
        Ok((rows, steps, environment::json(&differences), warnings))
    };
    let (rows, steps, differences, warnings) =
        context.server.requests.run(context.call, work).await?;
    let mut verdicts = BTreeMap::<&str, usize>::new();
    for row in &rows {
        *verdicts.entry(&row.verdict).or_default() += 1;
    }
    let objects = rows.iter().take(max_rows).map(object).collect();
    let (listed, is_cut) = fitting(objects, LIST_BYTES);
    let (differences, others_are_cut) =
        fitting(differences.as_array().cloned().unwrap_or_default(), LIST_BYTES / 4);
    let side = |traces: &[String], steps: i64| {
        let ids = traces.iter().map(|id| json!(id)).collect();
        json!({"traces": fitting(ids, LIST_BYTES / 8).0, "steps": steps})
    };
    Ok(json!({
        "base": side(&base, steps.0),
        "candidate": side(&candidate, steps.1),
        "rows": listed,
        "verdicts": verdicts,
        "differences": differences,
        "warnings": warnings,
        "truncated": is_cut || others_are_cut || rows.len() > max_rows,
    }))
}

fn by(name: &str) -> Result<By> {
    By::ALL.into_iter().find(|by| by.name() == name).ok_or_else(|| {
        let known = By::ALL.map(By::name).join(", ");
        Error::Usage(format!("there is no comparison by {name:?}; there are {known}"))
    })
}

fn object(row: &compare::Row) -> Value {
    let of = |name: &&str| {
        let value = match row.columns.get(*name)?.clone() {
            Value::String(text) => text_of(text, MAX_TEXT).into(),
            other => other,
        };
        Some(((*name).to_owned(), value))
    };
    Value::Object(COLUMNS.iter().filter_map(of).collect())
}
