//! The tables of a database and their rows.

use std::collections::BTreeMap;
use std::path::Path;

use super::pages::{Encoding, HEADER, Layout, MAGIC, Pages};
use super::record::{Fields, Row};
use super::schema::{Column, Table};
use super::tree;
use crate::counted::counted;
use crate::error::{IngestError, Result};
use crate::source::Content;

/// Maximum number of entries of the schema that are read.
const MAX_ENTRIES: usize = 100_000;

/// A database that was opened.
pub struct Database<'a> {
    name: &'a str,
    content: &'a Content,
    layout: Layout,
    /// All plain tables, by name in lower case.
    tables: BTreeMap<String, Table>,
    /// Names of the other tables.
    others: Vec<String>,
}

/// Whether a content is an SQLite database.
pub fn is_sqlite(content: &Content) -> Result<bool> {
    let want = MAGIC.len() as u64;
    let (len, _) = content.wait(want)?;
    Ok(content.map(0, len.min(want))?[..] == MAGIC[..])
}

impl<'a> Database<'a> {
    /// Reads the header and the schema. `name` is the name of the input in messages.
    ///
    /// Fails if the file is cut or damaged, or if a log next to it has changes that it lacks.
    pub fn open(name: &'a str, content: &'a Content) -> Result<Self> {
        let layout = Layout::read(name, content)?;
        if let Some(log) = content.neighbour("-wal")?.or(content.neighbour("-journal")?) {
            return Err(unfinished(name, &log));
        }
        let mut database =
            Self { name, content, layout, tables: BTreeMap::new(), others: Vec::new() };
        // `CREATE TABLE sqlite_schema (type, name, tbl_name, rootpage, sql)`
        let schema = Table::parse("sqlite_schema", 1, "CREATE TABLE s (kind, name, of, root, sql)");
        let Some(schema) = schema else { return Ok(database) };
        let [kind, table, root, sql] =
            ["kind", "name", "root", "sql"].map(|column| schema.column(column));
        let (mut found, mut others, mut entries) = (BTreeMap::new(), Vec::new(), 0);
        database.scan(&schema, |row| {
            entries += 1;
            if entries > MAX_ENTRIES {
                let reason = format!(
                    "this SQLite database has more than {}, no profiler's file",
                    counted(MAX_ENTRIES as u64, "table")
                );
                return Err(IngestError::input_at(name, reason, HEADER as u64));
            }
            let kind = row.text(kind).unwrap_or_default();
            if !matches!(&*kind, "table" | "index" | "view" | "trigger") {
                let reason = format!(
                    "damaged SQLite database: entry {} of the schema is of no known type",
                    row.rowid
                );
                return Err(IngestError::input_at(name, reason, HEADER as u64));
            }
            let is_table = kind == "table";
            let Some(name) = row.text(table).filter(|name| !name.starts_with("sqlite_")) else {
                return Ok(());
            };
            let root = row.int(root, &mut false).and_then(|root| u32::try_from(root).ok());
            let root = root.filter(|root| *root > 1);
            let plain = root.zip(row.text(sql)).and_then(|(at, sql)| Table::parse(&name, at, &sql));
            match plain {
                Some(table) if is_table => {
                    found.insert(name.to_lowercase(), table);
                }
                None if is_table => others.push(name.into_owned()),
                _ => {}
            }
            Ok(())
        })?;
        (database.tables, database.others) = (found, others);
        Ok(database)
    }

    /// Names of the tables that are not plain: virtual ones and those without a rowid.
    pub fn other_tables(&self) -> &[String] {
        &self.others
    }

    /// Returns a table by its name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(&name.to_lowercase())
    }

    /// All plain tables in the order of their names.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.values()
    }

    /// Length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.layout.bytes
    }

    /// How texts are stored.
    pub fn encoding(&self) -> Encoding {
        self.layout.encoding
    }

    /// Passes each row of a table to `each`, in the order of rowid. Fails if a page is damaged.
    pub fn scan(&self, table: &Table, mut each: impl FnMut(Row<'_>) -> Result<()>) -> Result<()> {
        let mut pages = Pages::new(self.name, self.content, self.layout)?;
        let (mut fields, encoding) = (Fields::default(), self.layout.encoding);
        tree::scan(&mut pages, table.root, |rowid, payload| {
            if !fields.read(payload) {
                return Err(self.bad_row(table, rowid));
            }
            each(Row { rowid, payload, fields: &fields, encoding })
        })
    }

    /// Returns the number of rows of a table.
    pub fn count(&self, table: &Table) -> Result<u64> {
        let mut rows = 0;
        let mut pages = Pages::new(self.name, self.content, self.layout)?;
        tree::scan(&mut pages, table.root, |_, _| {
            rows += 1;
            Ok(())
        })?;
        Ok(rows)
    }

    /// Prepares to find rows of a table by `key`. If this is not another name of the rowid, as in a
    /// copy without its primary keys, the table is read for an index of 16 bytes per row. `None` if
    /// there is no such table or column.
    pub fn lookup(&self, table: &str, key: &str) -> Result<Option<Lookup<'_>>> {
        let Some(table) = self.table(table) else { return Ok(None) };
        let key = table.column(key);
        if !key.exists() {
            return Ok(None);
        }
        let index = if key.is_rowid() { None } else { Some(self.index(table, key)?) };
        Ok(Some(Lookup {
            pages: Pages::new(self.name, self.content, self.layout)?,
            table,
            index,
            payload: Vec::new(),
            fields: Fields::default(),
            database: self.name,
        }))
    }

    /// Returns the keys of all rows with their rowids, sorted.
    fn index(&self, table: &Table, key: Column) -> Result<Vec<(i64, i64)>> {
        let mut index = Vec::new();
        self.scan(table, |row| {
            index.extend(row.int(key, &mut false).map(|key| (key, row.rowid)));
            Ok(())
        })?;
        index.sort_unstable();
        Ok(index)
    }

    fn bad_row(&self, table: &Table, rowid: i64) -> IngestError {
        bad_row(self.name, table, rowid)
    }
}

fn bad_row(name: &str, table: &Table, rowid: i64) -> IngestError {
    let reason =
        format!("damaged SQLite database: row {rowid} of {} cannot be decoded", table.name);
    IngestError::input(name, reason)
}

fn unfinished(name: &str, log: &Path) -> IngestError {
    let log = log.file_name().unwrap_or(log.as_os_str()).to_string_lossy().into_owned();
    IngestError::input(
        name,
        format!(
            "{log} next to it holds changes that are not in this SQLite database yet; wait until \
             the program that writes it ends, or open it once with `sqlite3` and run \
             `VACUUM INTO 'copy.db'`"
        ),
    )
}

/// Finds rows of a table by a key.
pub struct Lookup<'a> {
    pages: Pages<'a>,
    table: &'a Table,
    /// Keys with rowids, unless the key is the rowid.
    index: Option<Vec<(i64, i64)>>,
    payload: Vec<u8>,
    fields: Fields,
    database: &'a str,
}

impl Lookup<'_> {
    /// Returns a column of the table.
    pub fn column(&self, name: &str) -> Column {
        self.table.column(name)
    }

    /// Returns the row with this key; the first one if there are several.
    pub fn find(&mut self, key: i64) -> Result<Option<Row<'_>>> {
        let rowid = match &self.index {
            None => key,
            Some(index) => {
                let at = index.partition_point(|(known, _)| *known < key);
                match index.get(at) {
                    Some(&(known, rowid)) if known == key => rowid,
                    _ => return Ok(None),
                }
            }
        };
        self.payload.clear();
        if !tree::find(&mut self.pages, self.table.root, rowid, &mut self.payload)? {
            return Ok(None);
        }
        if !self.fields.read(&self.payload) {
            return Err(bad_row(self.database, self.table, rowid));
        }
        let encoding = self.pages.layout().encoding;
        Ok(Some(Row { rowid, payload: &self.payload, fields: &self.fields, encoding }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use super::super::record::{Value, decode};
    use super::*;

    fn fixture(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/databases").join(name)
    }

    fn open(path: &Path) -> Content {
        Content::of_file(File::open(path).expect("a file"), path).expect("a content")
    }

    /// Writes a value as `fixtures/make/databases.py` does; texts are compared after decoding.
    fn cell(row: &Row<'_>, column: Column, encoding: Encoding) -> String {
        match row.value(column) {
            Value::Null => String::new(),
            Value::Int(value) => format!("i{value}"),
            Value::Real(value) => format!("r{value:?}"),
            Value::Text(raw) => format!("t{}", decode(raw, encoding)),
            Value::Blob(raw) => {
                let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("x{hex}")
            }
        }
    }

    /// Reads a cell of the truth in the same form.
    fn wanted(cell: &str) -> String {
        if let Some(text) = cell.strip_prefix('t') {
            return format!("t{}", serde_json::from_str::<String>(text).expect("a text"));
        }
        match cell.strip_prefix('r') {
            Some(number) => format!("r{:?}", number.parse::<f64>().expect("a number")),
            None => cell.to_owned(),
        }
    }

    fn rows_of(content: &Content) -> Result<Vec<Vec<String>>> {
        let db = Database::open("values", content)?;
        let Some(table) = db.table("VALUES") else { return Ok(Vec::new()) };
        let columns = ["a", "b", "d e", "f", "h"].map(|name| table.column(name));
        let mut rows = Vec::new();
        db.scan(table, |row| {
            rows.push(columns.map(|column| cell(&row, column, db.encoding())).to_vec());
            Ok(())
        })?;
        Ok(rows)
    }

    #[test]
    fn values_equal_those_that_sqlite_reads() {
        let rows = rows_of(&open(&fixture("values.sqlite"))).expect("rows");
        let text = std::fs::read_to_string(fixture("values.tsv")).expect("the truth");
        let want: Vec<Vec<String>> =
            text.lines().skip(1).map(|line| line.split('\t').map(wanted).collect()).collect();
        assert!(want.len() > 100);
        // A column of type REAL holds whole numbers as integers.
        let whole = |rows: Vec<Vec<String>>| -> Vec<Vec<String>> {
            let mut rows = rows;
            for row in &mut rows {
                if let Some(n) = row[2].strip_prefix('i') {
                    row[2] = format!("r{:?}", n.parse::<f64>().expect("a number"));
                }
            }
            rows
        };
        assert_eq!(whole(rows), whole(want));
    }

    #[test]
    fn rows_are_found_by_their_number() {
        let content = open(&fixture("values.sqlite"));
        let db = Database::open("values", &content).expect("a database");
        let table = db.table("values").expect("the table");
        let b = table.column("b");
        let mut all = Vec::new();
        db.scan(table, |row| {
            all.push((row.rowid, row.text(b).map(|text| text.into_owned())));
            Ok(())
        })
        .expect("rows");
        let mut lookup = db.lookup("values", "a").expect("a lookup").expect("a key");
        for (rowid, text) in &all {
            let row = lookup.find(*rowid).expect("read").expect("a row");
            assert_eq!(row.text(b).map(|text| text.into_owned()), *text, "{rowid}");
        }
        for missing in [i64::MIN, -1_001, 0, i64::MAX] {
            assert_eq!(
                lookup.find(missing).expect("read").is_some(),
                all.iter().any(|(id, _)| *id == missing)
            );
        }
        assert!(db.lookup("values", "none").expect("read").is_none(), "no such column");
    }

    #[test]
    fn cut_and_damaged_files_are_errors_with_a_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let bytes = std::fs::read(fixture("values.sqlite")).expect("bytes");
        let path = folder.path().join("cut.sqlite");
        let try_bytes = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("written");
            rows_of(&open(&path))
        };
        for len in [16, 99, 100, 511, 512, 5_000, bytes.len() - 1] {
            let error = try_bytes(&bytes[..len]).expect_err("cut").to_string();
            assert!(error.contains("is cut") && error.contains("(at byte "), "{len}: {error}");
        }
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |n: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % n
        };
        let (mut read, mut refused) = (0, 0);
        for _ in 0..600 {
            let mut damaged = bytes.clone();
            for _ in 0..=below(4) {
                // Half of the damage hits the headers of pages.
                let page = below(damaged.len() / 512) * 512;
                let at = page + if below(2) == 0 { below(40) } else { below(512) };
                damaged[at] = below(256) as u8;
            }
            match try_bytes(&damaged) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(read > 50 && refused > 50, "{read} read, {refused} refused");
    }

    #[test]
    fn a_page_that_is_used_twice_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bytes = std::fs::read(fixture("values.sqlite")).expect("bytes");
        // Inner pages whose children are all the same would have any number of rows.
        let mut changed = 0;
        for page in bytes.chunks_exact_mut(512).skip(1).filter(|page| page[0] == 5) {
            let child = page[8..12].to_vec();
            let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
            for i in 0..cells {
                let at = usize::from(u16::from_be_bytes([page[12 + 2 * i], page[13 + 2 * i]]));
                page[at..at + 4].copy_from_slice(&child);
                changed += 1;
            }
        }
        assert!(changed > 2);
        let path = folder.path().join("twice.sqlite");
        std::fs::write(&path, bytes).expect("written");
        let error = rows_of(&open(&path)).expect_err("refused").to_string();
        assert!(error.contains("used in two places"), "{error}");
    }

    #[test]
    fn a_log_next_to_the_file_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sqlite");
        std::fs::copy(fixture("values.sqlite"), &path).expect("copied");
        std::fs::write(folder.path().join("a.sqlite-wal"), b"").expect("written");
        assert!(Database::open("a", &open(&path)).is_ok(), "an empty log has no changes");
        std::fs::write(folder.path().join("a.sqlite-wal"), b"changes").expect("written");
        let error = Database::open("a", &open(&path)).err().expect("refused").to_string();
        assert!(error.contains("a.sqlite-wal") && error.contains("VACUUM INTO"), "{error}");
    }
}
