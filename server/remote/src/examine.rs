//! Reads a whole store and reports what is damaged. Each trace is copied to a folder on this
//! machine and examined there, so that the same checks apply to all stores.

use std::path::Path as FilePath;
use std::sync::Arc;

use tracesql::{Error, Result};
use tracesql_ingest::{Examined, Gravity, Problem, Store};

use crate::fetch;
use crate::gc;
use crate::listing::Found;
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
            Found::Sound(entry) => trace(store, entry, &mut all).await?,
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
                files(leftover.keys.len()),
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

async fn trace(store: &ObjectTraces, entry: &Arc<Entry>, all: &mut Examined) -> Result<()> {
    let scratch = tempfile::Builder::new()
        .prefix("tracesql-doctor-")
        .tempdir()
        .map_err(|source| Error::Start { what: "a folder for copies of traces", source })?;
    let root = scratch.path().join("store");
    Store::open_or_create(&root)?;
    let manifest = &entry.record.manifest;
    let folder = root.join(&manifest.trace_id);
    std::fs::create_dir_all(&folder).map_err(|e| tracesql_ingest::IngestError::io(&folder, e))?;
    for table in manifest.tables.keys() {
        // What cannot be read is then missing in the folder, and reported.
        if let Err(e) = fetch::copy_table(store, entry, table, &folder).await {
            let file = entry.file(&store.place.key, table);
            all.problems.push(Problem::new(
                file.map_or(table.clone(), |file| file.key.to_string()),
                Gravity::Damage,
                "missing",
                e.to_string(),
                "ingest the trace again with --replace",
            ));
        }
    }
    manifest.write(&folder)?;
    let examined = {
        let root = root.clone();
        tokio::task::spawn_blocking(move || tracesql_ingest::examine(&root)).await
    };
    let examined = examined.map_err(|e| store.place.lasting(e.to_string()))??;
    all.traces += examined.traces;
    all.files += examined.files;
    all.bytes += examined.bytes;
    all.rows += examined.rows;
    let known = all.problems.len();
    for problem in examined.problems {
        let place = place_of(store, entry, &problem.place);
        let is_known =
            all.problems[..known].iter().any(|p| p.place == place && p.code == problem.code);
        if !is_known {
            let advice = with_url(&problem.advice, &root, store);
            all.problems
                .push(Problem::new(place, problem.gravity, problem.code, problem.what, advice));
        }
    }
    Ok(())
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
