//! Finds the traces of a session that the user names.

use tracesql::Result;
use tracesql::engine::Engine;
use tracesql::open::named_traces;

/// The ids of the traces with these names, in the order of the names.
pub fn named(engine: &Engine, names: &[String]) -> Result<Vec<String>> {
    named_traces(names, engine.traces())
}

/// The ids of all traces but those with these names. There are none if no name is given.
pub fn others(engine: &Engine, names: &[String]) -> Result<Vec<String>> {
    let chosen = named(engine, names)?;
    let ids = engine.traces().iter().map(|t| t.trace_id.clone());
    Ok(ids.filter(|id| !chosen.is_empty() && !chosen.contains(id)).collect())
}
