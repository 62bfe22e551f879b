//! Finds the traces of a session that the user names.

use tracesql::engine::Engine;
use tracesql::{Error, Result};
use tracesql_ingest::Manifest;

/// The ids of the traces with these names. A name is an id, with or without its hash, or its
/// beginning, or the end of a path in whole parts. The first of these that fits any trace decides.
pub fn named(engine: &Engine, names: &[String]) -> Result<Vec<String>> {
    names.iter().map(|name| one(name, engine.traces()).map(|t| t.trace_id.clone())).collect()
}

/// The ids of all traces but those with these names. There are none if no name is given.
pub fn others(engine: &Engine, names: &[String]) -> Result<Vec<String>> {
    let chosen = named(engine, names)?;
    let ids = engine.traces().iter().map(|t| t.trace_id.clone());
    Ok(ids.filter(|id| !chosen.is_empty() && !chosen.contains(id)).collect())
}

fn one<'t>(name: &str, all: &'t [Manifest]) -> Result<&'t Manifest> {
    let kinds: [fn(&str, &Manifest) -> bool; 3] = [
        |name, trace| trace.trace_id == name || trace.path == name,
        |name, trace| {
            let end = trace.path.strip_suffix(name.strip_prefix("./").unwrap_or(name));
            let stem = trace.trace_id.rsplit_once('-').map(|(stem, _)| stem);
            end.is_some_and(|rest| rest.ends_with(['/', '!'])) || stem == Some(name)
        },
        |name, trace| trace.trace_id.starts_with(name),
    ];
    for fits in kinds {
        let found: Vec<&Manifest> =
            all.iter().filter(|t| !name.is_empty() && fits(name, t)).collect();
        match found[..] {
            [] => {}
            [trace] => return Ok(trace),
            _ => {
                let ids: Vec<&str> = found.iter().take(9).map(|t| t.trace_id.as_str()).collect();
                return Err(Error::Usage(format!(
                    "trace {name:?} is ambiguous: {} traces match, for example {}",
                    found.len(),
                    ids.join(", ")
                )));
            }
        }
    }
    Err(Error::Usage(format!(
        "there is no trace {name:?}; session.traces() lists their ids and paths"
    )))
}
