//! Finds a store with a similar name, for errors about a misspelled one.

use std::time::Duration;

use object_store::path::Path;
use tracesql::suggest;

use crate::layout;
use crate::place::Place;

/// How long to look.
const PATIENCE: Duration = Duration::from_secs(3);

/// The URL of a store next to a missing one, with a similar name.
pub async fn similar(place: &Place) -> Option<String> {
    tokio::time::timeout(PATIENCE, nearest(place)).await.ok()?
}

async fn nearest(place: &Place) -> Option<String> {
    let wanted = place.key.filename()?;
    let parts: Vec<_> = place.key.parts().collect();
    let parent = Path::from_iter(parts[..parts.len().checked_sub(1)?].iter().cloned());
    let above = (!parent.as_ref().is_empty()).then_some(&parent);
    let listed = place.objects.list_with_delimiter(above).await.ok()?;
    let names = listed.common_prefixes.iter().filter_map(|prefix| prefix.filename());
    let nearest = *suggest::nearest(wanted, names).first()?;
    let key = layout::below(&parent, [nearest, layout::MARKER]);
    object_store::ObjectStoreExt::head(&place.objects, &key).await.ok()?;
    Some(format!("{}{nearest}", place.name.strip_suffix(wanted)?))
}
