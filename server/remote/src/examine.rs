//! Reads a whole store and reports what is damaged. Each trace is copied to a folder on this
//! machine and examined there, so that the same checks apply to all stores.

use std::path::Path as FilePath;
use std::sync::Arc;

use tracesql::{Error, Result};
use tracesql_ingest::{Examined, Gravity, Problem, Store};

use crate::cache::Cache;
use crate::fetch::{self, Copied};
use crate::gc;
use crate::listing::{self, Found};
use crate::record::Entry;
use crate::store::ObjectTraces;

/// The number of foreign objects that are named one by one.
const MAX_FOREIGN: usize = 20;

/// Examines a store.
pub async fn examine(store: &ObjectTraces) -> Result<Examined> {
    let found = gc::look(store).await?;
    let mut all = Examined::default();
    for found in &found.manifests {
        match found {
            Found::Sound(entry) => {
                let examined = trace(store, entry).await?;
                // A trace that was removed or replaced meanwhile is not damaged.
                if examined.problems.is_empty() || is_same(store, entry).await? {
                    add(&mut all, examined);
                }
            }
            Found::Damaged { key, reason } => all.problems.push(Problem::new(
                key.as_ref(),
                Gravity::Damage,
                "manifest",
                format!("cannot be used: {reason}"),
                "ingest the trace again with --replace, or delete this object",
            )),
        }
    }
    for leftover in &found.leftovers {
        all.problems.push(Problem::new(
            &leftover.name,
            Gravity::Note,
            "leftover",
            format!(
                "{} of {} bytes that no trace uses: a trace was replaced, or a writer died or is \
                 at work",
                files(leftover.files()),
                leftover.bytes
            ),
            format!("remove old ones with `tracesql-full gc {}`", store.place.name),
        ));
    }
    for (key, bytes) in found.foreign.iter().take(MAX_FOREIGN) {
        all.problems.push(Problem::new(
            key.as_ref(),
            Gravity::Note,
            "unknown",
            format!("no object of a store ({bytes} bytes); readers do not look at it"),
            "delete it if it is not needed",
        ));
    }
    if let Some(more) = found.foreign.len().checked_sub(MAX_FOREIGN).filter(|&more| more > 0) {
        all.problems.push(Problem::new(
            &store.place.name,
            Gravity::Note,
            "unknown",
            format!("{more} more objects that are no objects of a store"),
            "delete them if they are not needed",
        ));
    }
    Ok(all)
}

fn files(count: usize) -> String {
    if count == 1 { "one file".to_owned() } else { format!("{count} files") }
}

/// Whether a manifest is still the one that was read.
async fn is_same(store: &ObjectTraces, entry: &Entry) -> Result<bool> {
    let now = listing::fetch(store.place.clone(), entry.key.clone(), Cache::none()).await?;
    Ok(match now {
        Some(Found::Sound(now)) => now.record.generation == entry.record.generation,
        // Damaged in the meantime.
        Some(Found::Damaged { .. }) => true,
        None => false,
    })
}

fn add(all: &mut Examined, one: Examined) {
    all.traces += one.traces;
    all.files += one.files;
    all.bytes += one.bytes;
    all.rows += one.rows;
    all.problems.extend(one.problems);
}

async fn trace(store: &ObjectTraces, entry: &Arc<Entry>) -> Result<Examined> {
    let scratch = tempfile::Builder::new()
        .prefix("tracesql-doctor-")
        .tempdir()
        .map_err(|source| Error::Start { what: "a folder for copies of traces", source })?;
    let root = scratch.path().join("store");
    Store::open_or_create(&root)?;
    let manifest = &entry.record.manifest;
    let folder = root.join(&manifest.trace_id);
    std::fs::create_dir_all(&folder).map_err(|e| tracesql_ingest::IngestError::io(&folder, e))?;
    let mut missing = Vec::new();
    for table in manifest.tables.keys() {
        if let Copied::Gone(reason) = fetch::copy_table(store, entry, table, &folder).await? {
            let place = place_of(store, entry, &format!("{table}.parquet"));
            missing.push(Problem::new(
                place,
                Gravity::Damage,
                "missing",
                format!("the object {reason}"),
                "ingest the trace again with --replace",
            ));
        }
    }
    manifest.write(&folder)?;
    let examined = {
        let root = root.clone();
        tokio::task::spawn_blocking(move || tracesql_ingest::examine(&root)).await
    };
    let mut examined = examined.map_err(|e| store.place.lasting(e.to_string()))??;
    let problems = std::mem::replace(&mut examined.problems, missing);
    let known = examined.problems.len();
    for problem in problems {
        let place = place_of(store, entry, &problem.place);
        let is_known =
            examined.problems[..known].iter().any(|p| p.place == place && p.code == problem.code);
        if !is_known {
            let advice = with_url(&problem.advice, &root, store);
            examined
                .problems
                .push(Problem::new(place, problem.gravity, problem.code, problem.what, advice));
        }
    }
    Ok(examined)
}

/// The object for a file in the folder of a trace.
fn place_of(store: &ObjectTraces, entry: &Entry, place: &str) -> String {
    let file = place.rsplit('/').next().unwrap_or(place);
    let table = file.strip_suffix(".parquet");
    match table.and_then(|table| entry.file(&store.place.key, table)) {
        Some(at) if at.key == entry.key => format!("{} ({file})", at.key),
        Some(at) => at.key.to_string(),
        None => entry.key.to_string(),
    }
}

fn with_url(advice: &str, root: &FilePath, store: &ObjectTraces) -> String {
    advice.replace(&root.display().to_string(), &store.place.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Fault, Trial};

    #[tokio::test]
    async fn trouble_of_the_network_is_no_damage() {
        let trial = Trial::new(|request| match request.key.ends_with("events.parquet") {
            true if request.op == "get" => Fault::Refuse("503 Service Unavailable", "SlowDown"),
            _ => Fault::None,
        });
        let store = trial.store().separate();
        trial.publish(&store, 1, false).await.expect("published");
        let error = examine(&store).await.expect_err("overloaded").to_string();
        assert!(error.contains("overloaded"), "{error}");
    }

    #[tokio::test]
    async fn a_trace_that_is_removed_meanwhile_is_not_damaged() {
        let trial = Trial::new(|_| Fault::None);
        let store = trial.store().separate();
        trial.publish(&store, 1, false).await.expect("published");
        let entry = match &gc::look(&store).await.expect("a list").manifests[..] {
            [Found::Sound(entry)] => entry.clone(),
            other => panic!("{other:?}"),
        };
        assert!(is_same(&store, &entry).await.expect("readable"));
        trial.publish(&store, 1, true).await.expect("replaced");
        assert!(!is_same(&store, &entry).await.expect("readable"), "it was replaced");
        crate::remove::remove(&store, &entry).await.expect("removed");
        assert!(!is_same(&store, &entry).await.expect("readable"), "it was removed");
        let missing = trace(&store, &entry).await.expect("examined").problems;
        assert!(missing.iter().any(|problem| problem.code == "missing"), "{missing:?}");
        let all = examine(&store).await.expect("examined");
        assert!(all.problems.iter().all(|p| p.gravity != Gravity::Damage), "{:?}", all.problems);
    }
}
