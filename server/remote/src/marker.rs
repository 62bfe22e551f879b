//! The marker of a store: its existence makes a prefix a store, and it names the version of the
//! tables and of the layout.

use std::path::PathBuf;
use std::time::Instant;

use futures::TryStreamExt;
use object_store::{ObjectStoreExt, PutMode, PutPayload};
use serde::{Deserialize, Serialize};
use tracesql::Result;
use tracesql_ingest::schema::SCHEMA_VERSION;
use tracesql_ingest::{IngestError, VERSION};

use crate::layout;
use crate::near;
use crate::place::Place;

/// The version of the layout of objects.
const LAYOUT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    schema_version: u64,
    #[serde(default)]
    layout: u32,
    created_by: String,
}

/// Whether a store is at a place. Fails if it cannot be read, or if this version cannot use it.
pub async fn is_there(place: &Place) -> Result<bool> {
    let key = layout::marker(&place.key);
    let got = match place.objects.get(&key).await {
        Err(object_store::Error::NotFound { path, source }) => {
            let failure = place.failure(&object_store::Error::NotFound { path, source });
            // The answer for a missing bucket has the same status.
            return if failure.is_missing_object() { Ok(false) } else { Err(failure.into()) };
        }
        other => other.map_err(|e| place.failure(&e))?,
    };
    let bytes = got.bytes().await.map_err(|e| place.failure(&e))?;
    check(place, &bytes)?;
    Ok(true)
}

fn check(place: &Place, bytes: &[u8]) -> Result<()> {
    let marker: Marker = serde_json::from_slice(bytes).map_err(|e| {
        place.lasting(format!(
            "{} is damaged ({e}); use another prefix and ingest the traces again",
            layout::MARKER
        ))
    })?;
    if marker.schema_version != u64::from(SCHEMA_VERSION) {
        return Err(IngestError::StoreVersion {
            path: PathBuf::from(&place.name),
            found: marker.schema_version,
            expected: SCHEMA_VERSION,
        }
        .into());
    }
    if marker.layout != LAYOUT {
        let reason = if marker.layout == 0 {
            "this is a copy of the folder of a store, which is not how a store on object storage \
             is laid out; publish the folder with `tracesql-full copy FOLDER URL`"
                .to_owned()
        } else {
            format!("its layout is {}, and this program reads {LAYOUT}; update it", marker.layout)
        };
        return Err(place.lasting(reason).into());
    }
    Ok(())
}

/// Makes an empty store. Fails if there are other objects at this place.
pub async fn create(place: &Place) -> Result<()> {
    let prefix = (!place.key.as_ref().is_empty()).then_some(&place.key);
    let first = place.objects.list(prefix).try_next().await.map_err(|e| place.failure(&e))?;
    // Another process may have made the store in the meantime.
    if let Some(other) = first
        && !is_there(place).await?
    {
        return Err(place
            .lasting(format!(
                "not a store, and not empty: there is {}; name a new prefix",
                other.location
            ))
            .into());
    }
    let marker = Marker {
        schema_version: u64::from(SCHEMA_VERSION),
        layout: LAYOUT,
        created_by: format!("tracesql {VERSION}"),
    };
    let mut text = serde_json::to_vec(&marker).map_err(|e| place.lasting(e.to_string()))?;
    text.push(b'\n');
    let (key, payload) = (layout::marker(&place.key), PutPayload::from(text));
    use object_store::Error::{AlreadyExists, NotImplemented, Precondition};
    let began = Instant::now();
    loop {
        match place.objects.put_opts(&key, payload.clone(), PutMode::Create.into()).await {
            Ok(_) => return Ok(()),
            Err(NotImplemented { .. }) => {
                place.objects.put(&key, payload).await.map_err(|e| place.failure(&e))?;
                return Ok(());
            }
            // By another process, or by an earlier request of this one.
            Err(AlreadyExists { .. } | Precondition { .. }) => {
                is_there(place).await?;
                return Ok(());
            }
            Err(e) => {
                let failure = place.failure(&e);
                if !failure.is_without_answer() || began.elapsed() >= place.retry_time {
                    return Err(failure.into());
                }
            }
        }
    }
}

/// The error about a place without a store.
pub async fn absent(place: &Place) -> tracesql::Error {
    let like = near::similar(place).await;
    let hint = like.map(|like| format!("; did you mean {like}?")).unwrap_or_default();
    let make = format!("; make one with `tracesql-full ingest TRACE -o {}`", place.name);
    place.lasting(format!("no such store{}", if hint.is_empty() { make } else { hint })).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Fault, Trial};

    #[tokio::test]
    async fn a_marker_is_written_again_if_no_answer_comes() {
        for fault in [Fault::LoseRequest, Fault::LoseAnswer] {
            let trial = Trial::new(move |request| match (request.op, request.number) {
                ("put", 1) => fault,
                _ => Fault::None,
            });
            let place = trial.patient_store().place;
            create(&place).await.expect("created");
            assert!(is_there(&place).await.expect("readable"));
        }
    }
}
