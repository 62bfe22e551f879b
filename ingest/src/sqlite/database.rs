//! The tables of a database and their rows.

use std::collections::BTreeMap;
use std::path::PathBuf;

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
        let mut database = Self { name, content, layout, tables: BTreeMap::new() };
        // `CREATE TABLE sqlite_schema (type, name, tbl_name, rootpage, sql)`
        let schema = Table::parse("sqlite_schema", 1, "CREATE TABLE s (kind, name, of, root, sql)");
        let Some(schema) = schema else { return Ok(database) };
        let [kind, table, root, sql] =
            ["kind", "name", "root", "sql"].map(|column| schema.column(column));
        let (mut found, mut entries) = (BTreeMap::new(), 0);
        database.scan(&schema, |row| {
            entries += 1;
            if entries > MAX_ENTRIES {
                let reason = format!(
                    "this SQLite database has more than {}, no profiler's file",
                    counted(MAX_ENTRIES as u64, "table")
                );
                return Err(IngestError::input_at(name, reason, HEADER as u64));
            }
            let is_table = row.text(kind).is_some_and(|kind| kind == "table");
            let root = row.int(root, &mut false).and_then(|root| u32::try_from(root).ok());
            if let (true, Some(name), Some(root), Some(sql)) =
                (is_table, row.text(table), root.filter(|root| *root > 1), row.text(sql))
                && !name.starts_with("sqlite_")
                && let Some(table) = Table::parse(&name, root, &sql)
            {
                found.insert(name.to_lowercase(), table);
            }
            Ok(())
        })?;
        database.tables = found;
        Ok(database)
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

    /// Prepares to find rows of a table by `key`, if this is another name of the rowid.
    pub fn lookup(&self, table: &str, key: &str) -> Result<Option<Lookup<'_>>> {
        let Some(table) = self.table(table) else { return Ok(None) };
        if !table.column(key).is_rowid() {
            return Ok(None);
        }
        Ok(Some(Lookup {
            pages: Pages::new(self.name, self.content, self.layout)?,
            table,
            payload: Vec::new(),
            fields: Fields::default(),
            database: self.name,
        }))
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

fn unfinished(name: &str, log: &PathBuf) -> IngestError {
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

/// Finds rows of a table by their rowid.
pub struct Lookup<'a> {
    pages: Pages<'a>,
    table: &'a Table,
    payload: Vec<u8>,
    fields: Fields,
    database: &'a str,
}

impl Lookup<'_> {
    /// Returns a column of the table.
    pub fn column(&self, name: &str) -> Column {
        self.table.column(name)
    }

    /// Returns the row with this rowid.
    pub fn find(&mut self, rowid: i64) -> Result<Option<Row<'_>>> {
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
