//! Checks of the text of an event list: the boundaries of its elements, and the rows made from
//! them.

use std::path::Path;

use tracesql_ingest::internals;

/// Reading always ends and stays within the text. Valid JSON is divided into the same elements as
/// by another parser.
pub fn framing(text: &[u8]) {
    assert!(internals::frame(text) <= text.len());
    assert!(internals::decode(text).elements <= text.len());
    if let Some(elements) = list(text) {
        // The bracket ends a number at the end of the list.
        let closed = [text, b"]"].concat();
        let (framed, decoded) = (internals::frame(&closed), internals::decode(&closed));
        assert_eq!(framed, elements, "elements stepped over");
        assert_eq!(decoded.elements, elements, "elements decoded");
    }
}

/// Events in any bytes are decoded, paired, sorted and nested, and no row is invented.
pub fn decode(text: &[u8]) {
    assert!(internals::fields_are_alike(text), "earlier elements change later ones");
    let decoded = internals::decode(text);
    // Nothing is spilled to disk, so the folder is not used.
    let rows = internals::nest(&decoded, Path::new("/nonexistent")).expect("nesting needs no disk");
    assert!(rows <= decoded.elements);
}

/// Returns the number of elements if another parser accepts the text as the content of a JSON list.
fn list(text: &[u8]) -> Option<usize> {
    let list = [b"[", text, b"]"].concat();
    Some(serde_json::from_slice::<Vec<serde::de::IgnoredAny>>(&list).ok()?.len())
}
