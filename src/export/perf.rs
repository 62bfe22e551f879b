//! Writes MLLM's `perf.json` from the args of its blobs and its other top-level keys. Reading the
//! file gives the same rows.

use futures::StreamExt;
use serde_json::json;
use tracesql_formats::chrome::members;

use super::chrome::{OWN_KEY, Written};
use super::gzip::Gzip;
use super::select::{Selection, TraceFacts, without_end};
use super::{literal, rows};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::output::{Document, Target};

/// The name of the list for each category of blobs.
const LISTS: [(&str, &str); 2] = [("memory_blob", "memory_blobs"), ("op_blob", "op_blobs")];

/// The contents of a perf.json.
pub struct PerfRequest {
    /// The trace.
    pub trace: TraceFacts,
    /// The selected blobs.
    pub selection: Selection,
    /// Whether the file is compressed with gzip.
    pub gzip: bool,
}

/// Writes a perf.json.
pub async fn perf(engine: &Engine, request: &PerfRequest, target: &Target) -> Result<Written> {
    let PerfRequest { trace, selection, .. } = request;
    if trace.format != "mllm_perf" {
        return Err(Error::Usage(format!(
            "{} is no perf.json but of format {}: its blobs are not there to be written",
            trace.trace_id, trace.format
        )));
    }
    let mut document = Document::begin(target)?;
    if request.gzip {
        document = document.map(|out| Box::new(Gzip::new(out)));
    }
    document.put(b"{\n")?;
    for (key, value) in members(&trace.metadata).filter(|(key, _)| *key != OWN_KEY) {
        document.put(format!("\"{key}\":{value},\n").as_bytes())?;
    }
    if !selection.is_all() || trace.skipped > 0 {
        let mut own =
            json!({"version": env!("CARGO_PKG_VERSION"), "skipped_elements": trace.skipped});
        if !selection.is_all() {
            own["selection"] = selection.text().into();
        }
        document.put(format!("\"{OWN_KEY}\":{own},\n").as_bytes())?;
    }
    let elements = blobs(engine, request, &mut document).await?;
    document.put(b"}\n")?;
    document.complete()?;
    Ok(Written { elements, added: 0, skipped: trace.skipped, notes: Vec::new() })
}

/// Writes the blobs in the order of the input. Each run of blobs of one kind becomes a list, so
/// that positions stay the same. A kind without blobs gets an empty list.
async fn blobs(engine: &Engine, request: &PerfRequest, document: &mut Document<'_>) -> Result<u64> {
    let (mut count, mut open, mut written) = (0, None, Vec::new());
    let mut stream = engine
        .context()
        .sql(&sql(&request.trace, &request.selection))
        .await?
        .execute_stream()
        .await?;
    while let Some(batch) = stream.next().await {
        for row in rows::Rows::of(vec![batch?])?.iter() {
            let cat = row.text("cat").unwrap_or_default();
            let Some((_, list)) = LISTS.into_iter().find(|(c, _)| *c == cat) else { continue };
            if open == Some(list) {
                document.put(b",\n")?;
            } else {
                let end = if open.is_some() { "\n],\n" } else { "" };
                document.put(format!("{end}\"{list}\":[\n").as_bytes())?;
                open = Some(list);
                written.push(list);
            }
            document.put(row.text("args").unwrap_or("{}").as_bytes())?;
            count += 1;
        }
    }
    let empty: Vec<String> = LISTS
        .iter()
        .filter(|(_, list)| !written.contains(list))
        .map(|(_, list)| format!("\"{list}\":[]"))
        .collect();
    let end = if open.is_none() {
        ""
    } else if empty.is_empty() {
        "\n]\n"
    } else {
        "\n],\n"
    };
    document.put(format!("{end}{}\n", empty.join(",\n")).as_bytes())?;
    Ok(count)
}

fn sql(trace: &TraceFacts, selection: &Selection) -> String {
    let id = literal(&trace.trace_id);
    let conditions = selection.conditions().map(|c| format!(" AND {c}")).unwrap_or_default();
    let picked = match &selection.query {
        Some(query) => format!(
            " AND event_id IN (SELECT picked.event_id FROM (\n{}\n) AS picked WHERE \
             picked.trace_id = {id})",
            without_end(query)
        ),
        None => String::new(),
    };
    format!(
        "SELECT cat, args FROM events WHERE trace_id = {id}{conditions}{picked} ORDER BY event_id"
    )
}
