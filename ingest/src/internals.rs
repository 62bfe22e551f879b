//! The stages of reading, one at a time, for benchmarks, fuzzers and tests. This is not a stable
//! interface.

use std::path::Path;

use crate::arrange::{FlowPoint, Nester, Runs, Sorter, SpillVec, order_tracks, pair};
use crate::error::{IngestError, Result};
pub use crate::json::{Copied, Oddities, compact_value, time_ns};
use crate::json::{Copier, Cursor};
use crate::rows::{ArgValues, OwnArgs, args_copier};
use crate::source::Content;
use crate::sqlite::{Database, Value};
use crate::store::Store;
use crate::trace::{ElementShapes, EventFields, EventRecord, Local, Texts, Tracks, read_chunk};

/// Steps over the elements of an event list's text, without its brackets. Returns their number.
pub fn frame(text: &[u8]) -> usize {
    let mut c = Cursor::new(text, 0);
    let mut elements = 0;
    while let Ok(token) = c.next_token() {
        if token == b',' {
            c.pos += 1;
        } else if c.value().is_ok_and(|value| !value.is_empty()) {
            elements += 1;
        } else {
            break;
        }
    }
    elements
}

/// Appends the members of an object as compact JSON, and passes them to a callback.
pub fn copy_members<'a>(
    raw: &'a [u8],
    out: &mut Vec<u8>,
    odd: &mut Oddities,
    mut each: impl FnMut(&'a [u8], Copied<'a, '_>, usize),
) {
    Copier::new(|_| 0).members(raw, out, odd, |_, key, value, at| each(key, value, at));
}

/// Whether each element of an event list's text is read alike with and without the help of earlier
/// elements.
pub fn fields_are_alike(text: &[u8]) -> bool {
    let (mut c, mut shapes) = (Cursor::new(text, 0), ElementShapes::default());
    while let Ok(token) = c.next_token() {
        if token == b'{' {
            let mut plain = c.clone();
            let want = EventFields::read(&mut plain);
            let mut found = EventFields::read_like(&mut c, &mut shapes);
            if let Ok(fields) = &mut found {
                (fields.correlation, fields.external_id) = (None, None);
            }
            if found != want || (want.is_ok() && c.pos != plain.pos) {
                return false;
            }
            if want.is_err() {
                return true;
            }
        } else if token == b',' {
            c.pos += 1;
        } else if !c.value().is_ok_and(|value| !value.is_empty()) {
            return true;
        }
    }
    true
}

/// Returns the args of all elements of an event list's text, in the form in which they are stored.
/// Reads them with the help of earlier ones if `remembers` is set.
pub fn args_json(text: &[u8], remembers: bool) -> Vec<Vec<u8>> {
    let (mut c, mut found, mut copier) = (Cursor::new(text, 0), Vec::new(), args_copier());
    while let Ok(token) = c.next_token() {
        if token == b',' {
            c.pos += 1;
            continue;
        }
        let Ok(raw) = c.value() else { break };
        if raw.is_empty() {
            break;
        }
        let mut json = Vec::new();
        if !remembers {
            copier = args_copier();
        }
        ArgValues::default().read(
            &mut copier,
            raw,
            &mut json,
            &mut Oddities::default(),
            &mut OwnArgs::default(),
        );
        if !json.is_empty() {
            found.push(json);
        }
    }
    found
}

/// Elements decoded into records.
pub struct Decoded {
    records: Vec<EventRecord>,
    pairs: Vec<EventRecord>,
    texts: Texts,
    tracks: Tracks,
    /// Number of elements.
    pub elements: usize,
}

/// Decodes an event list's text into records.
pub fn decode(text: &[u8]) -> Decoded {
    let (texts, tracks) = (Texts::default(), Tracks::default());
    let chunk = read_chunk(text, 0, &mut Local::new(&texts, &tracks), false, Vec::new());
    Decoded {
        records: chunk.records,
        pairs: chunk.pairs,
        elements: chunk.elements as usize,
        texts,
        tracks,
    }
}

/// Sorts, pairs and nests decoded records; returns the number of rows. Fails if temporary files are
/// needed and `folder` cannot be written.
pub fn nest(decoded: &Decoded, folder: &Path) -> Result<usize> {
    let mut records = Sorter::new(EventRecord::row_order, folder, usize::MAX, 1);
    let mut pairs = Sorter::new(EventRecord::pairing_order, folder, usize::MAX, 1);
    records.push(&decoded.records)?;
    pairs.push(&decoded.pairs)?;
    let tracks = decoded.tracks.snapshot();
    let order = order_tracks(&tracks, &vec![true; tracks.len()], &decoded.texts.snapshot());
    pair(pairs, &order, usize::MAX, false, &mut records)?;
    let sorted = records.sorted(&order, usize::MAX)?;
    let mut nester = Nester::new(
        SpillVec::new(folder, usize::MAX),
        Runs::new(FlowPoint::order, folder, usize::MAX),
        0,
    );
    sorted.for_each(|record| nester.row(record))?;
    nester.finish()?;
    Ok(sorted.len())
}

/// Reads all values of all plain tables of an SQLite database; returns the numbers of rows and
/// values. Fails if the file cannot be read or is damaged.
pub fn database_values(path: &Path) -> Result<(u64, u64)> {
    let file = std::fs::File::open(path).map_err(|e| IngestError::io(path, e))?;
    let content = Content::of_file(file, path)?;
    let name = path.display().to_string();
    let database = Database::open(&name, &content)?;
    let (mut rows, mut values) = (0, 0);
    for table in database.tables() {
        database.scan(table, |row| {
            rows += 1;
            for (_, column) in &table.columns {
                values += u64::from(std::hint::black_box(row.value(*column)) != Value::Null);
            }
            Ok(())
        })?;
    }
    Ok((rows, values))
}

/// Creates a hidden folder in a store, like the folder of a running ingest. It is removed when the
/// returned value is dropped. Fails if the store cannot be written.
pub fn scratch(store: &Store) -> Result<impl Sized + use<>> {
    store.scratch()
}
