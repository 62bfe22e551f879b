//! Data frames of Python as tables: those that the user registers, and those that a query names.
//!
//! Rows are taken over through Arrow's C stream, which hands over buffers and copies nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::ffi_stream::ArrowArrayStreamReader;
use arrow_pyarrow::FromPyArrow;
use datafusion::catalog::MemTable;
use datafusion::common::TableReference;
use datafusion::sql::parser::Statement;
use parking_lot::Mutex;
use pyo3::prelude::*;
use tracesql::Error;
use tracesql::engine::Engine;

use crate::errors::{QueryError, UsageError, exception};
use crate::statements::{rename_tables, table_names};

/// The names of the tables that the user registered.
#[derive(Default)]
pub struct Registered(Mutex<BTreeSet<String>>);

impl Registered {
    /// Makes a frame a table, in place of an earlier frame of that name.
    pub fn add(&self, engine: &Engine, name: &str, frame: &Bound<'_, PyAny>) -> PyResult<()> {
        let table = table(frame)?;
        let mut names = self.0.lock();
        let kind = if engine.library().view(name).is_some() {
            Some("a view of tracesql")
        } else if !names.contains(name) && exists(engine, name)? {
            Some("a table or view of this session")
        } else {
            None
        };
        if let Some(kind) = kind {
            return Err(UsageError::new_err(format!("{name} is {kind}; choose another name")));
        }
        register(engine, name, table)?;
        names.insert(name.to_owned());
        Ok(())
    }

    /// Removes a table that the user registered.
    pub fn remove(&self, engine: &Engine, name: &str) -> PyResult<()> {
        let mut names = self.0.lock();
        if !names.remove(name) {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            let known = if known.is_empty() {
                "no frame is registered".to_owned()
            } else {
                format!("registered frames: {}", known.join(", "))
            };
            return Err(UsageError::new_err(format!("{name} is not a registered frame; {known}")));
        }
        deregister(engine, name)
    }
}

/// Tables that exist while a query starts.
pub struct Scanned<'a> {
    engine: &'a Engine,
    tables: Vec<String>,
}

impl<'a> Scanned<'a> {
    /// Lets the unknown tables of queries stand for frames that `find` returns. Different queries
    /// may use the same name for different frames, so each gets a table of its own.
    pub fn new(
        engine: &'a Engine,
        statements: &mut [Statement],
        find: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut scanned = Self { engine, tables: Vec::new() };
        let Some(find) = find else { return Ok(scanned) };
        let mut replaced = HashMap::new();
        for name in statements.iter().flat_map(table_names) {
            if replaced.contains_key(&name.normal) || exists(engine, &name.normal)? {
                continue;
            }
            let frame = find.call1((&name.written,))?;
            if frame.is_none() {
                continue;
            }
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let table_name = format!("_frame_{number}_{}", name.normal);
            register(engine, &table_name, table(&frame)?)?;
            scanned.tables.push(table_name.clone());
            replaced.insert(name.normal, table_name);
        }
        statements.iter_mut().for_each(|s| rename_tables(s, &replaced));
        Ok(scanned)
    }
}

impl Drop for Scanned<'_> {
    fn drop(&mut self) {
        for table in &self.tables {
            // A table that cannot be removed has a name that no query uses.
            let _ = self.engine.context().deregister_table(TableReference::bare(table.as_str()));
        }
    }
}

/// The rows of a frame as a table.
fn table(frame: &Bound<'_, PyAny>) -> PyResult<Arc<MemTable>> {
    let reader = ArrowArrayStreamReader::from_pyarrow_bound(frame)?;
    let schema = reader.schema();
    let batches = reader
        .collect::<Result<Vec<RecordBatch>, _>>()
        .map_err(|e| QueryError::new_err(format!("the frame cannot be read: {e}")))?;
    let table = MemTable::try_new(schema, vec![batches]).map_err(|e| exception(e.into()))?;
    Ok(Arc::new(table))
}

fn exists(engine: &Engine, name: &str) -> PyResult<bool> {
    let exists = engine.context().table_exist(TableReference::bare(name));
    exists.map_err(|e| exception(Error::from(e)))
}

fn register(engine: &Engine, name: &str, table: Arc<MemTable>) -> PyResult<()> {
    let done = engine.context().register_table(TableReference::bare(name), table);
    done.map(drop).map_err(|e| exception(e.into()))
}

fn deregister(engine: &Engine, name: &str) -> PyResult<()> {
    let done = engine.context().deregister_table(TableReference::bare(name));
    done.map(drop).map_err(|e| exception(e.into()))
}
