//! The text of an event list: where elements begin and end, and what becomes of them.

use std::path::Path;

use tracesql_ingest::internals;

/// Reading ends, never beyond the text; what is JSON is divided as any parser divides it.
pub fn framing(text: &[u8]) {
    assert!(internals::frame(text) <= text.len());
    assert!(internals::decode(text).elements <= text.len());
    if let Some(elements) = list(text) {
        // A number ends where the bracket stands.
        let closed = [text, b"]"].concat();
        let (framed, decoded) = (internals::frame(&closed), internals::decode(&closed));
        assert_eq!(framed, elements, "elements stepped over");
        assert_eq!(decoded.elements, elements, "elements decoded");
    }
}

/// Events in any bytes are decoded, paired, sorted and nested; none comes from nowhere.
pub fn decode(text: &[u8]) {
    let decoded = internals::decode(text);
    // Nothing is spilled, so the folder is not used.
    let rows = internals::nest(&decoded, Path::new("/nonexistent")).expect("nesting needs no disk");
    assert!(rows <= decoded.elements);
}

/// The number of elements, if the text is the inside of a JSON list as another parser sees it.
fn list(text: &[u8]) -> Option<usize> {
    let list = [b"[", text, b"]"].concat();
    Some(serde_json::from_slice::<Vec<serde::de::IgnoredAny>>(&list).ok()?.len())
}
