//! The tables of a store as DataFusion sees them: opened at first use, so that opening a store costs nothing.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::{DataFusionError, Result};
use tracesql_ingest::schema::{self, TABLES};
use url::Url;

/// The tables of some traces of a store, and what the session adds to them.
#[derive(Debug)]
pub struct StoreTables {
    folders: Vec<PathBuf>,
    open: Mutex<Vec<(String, Arc<dyn TableProvider>)>>,
}

impl StoreTables {
    /// Tables over the folders of traces.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, open: Mutex::new(Vec::new()) }
    }

    fn opened(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        let open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        open.iter().find(|(n, _)| n == name).map(|(_, t)| t.clone())
    }

    fn keep(&self, name: String, table: Arc<dyn TableProvider>) -> Option<Arc<dyn TableProvider>> {
        let mut open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        let at = open.iter().position(|(n, _)| *n == name);
        let old = at.map(|i| open.swap_remove(i).1);
        open.push((name, table));
        old
    }

    fn make(&self, table: &'static schema::Table) -> Result<Arc<dyn TableProvider>> {
        if self.folders.is_empty() {
            return Ok(Arc::new(MemTable::try_new(table.schema(), vec![vec![]])?));
        }
        let mut files = Vec::with_capacity(self.folders.len());
        for folder in &self.folders {
            let path = folder.join(format!("{}.parquet", table.name));
            let path = path.canonicalize().map_err(|e| DataFusionError::External(format!("{}: {e}", path.display()).into()))?;
            // By URL, because a path as text would be taken for a glob pattern.
            let url = Url::from_file_path(&path).map_err(|()| DataFusionError::Plan(format!("{}: not an absolute path", path.display())))?;
            files.push(ListingTableUrl::try_new(url, None)?);
        }
        let format = ParquetFormat::default();
        let options = ListingOptions::new(Arc::new(format)).with_file_extension(".parquet");
        let config = ListingTableConfig::new_with_multi_paths(files).with_listing_options(options).with_schema(table.schema());
        Ok(Arc::new(ListingTable::try_new(config)?))
    }
}

#[async_trait]
impl SchemaProvider for StoreTables {
    fn table_names(&self) -> Vec<String> {
        let mut names: Vec<String> = TABLES.iter().map(|t| t.name.to_owned()).collect();
        let open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        names.extend(open.iter().map(|(n, _)| n.clone()).filter(|n| schema::table(n).is_none()));
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(table) = self.opened(name) {
            return Ok(Some(table));
        }
        let Some(table) = schema::table(name) else { return Ok(None) };
        let provider = self.make(table)?;
        self.keep(name.to_owned(), provider.clone());
        Ok(Some(provider))
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        if schema::table(&name).is_some() {
            return Err(DataFusionError::Plan(format!("{name} is a table of the store; choose another name")));
        }
        Ok(self.keep(name, table))
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if schema::table(name).is_some() {
            return Err(DataFusionError::Plan(format!("{name} is a table of the store; remove traces with `tracesql remove`")));
        }
        let mut open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        let at = open.iter().position(|(n, _)| n == name);
        Ok(at.map(|i| open.swap_remove(i).1))
    }

    fn table_exist(&self, name: &str) -> bool {
        schema::table(name).is_some() || self.opened(name).is_some()
    }
}
