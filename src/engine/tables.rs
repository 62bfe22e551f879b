//! The tables of a store as DataFusion sees them: opened at first use, so that opening a store costs nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::{DataFusionError, Result};
use tracesql_ingest::{Manifest, schema};
use url::Url;

/// The tables of some traces of a store.
#[derive(Debug)]
pub struct StoreTables {
    folders: Vec<(PathBuf, Manifest)>,
}

impl StoreTables {
    /// Tables over the folders of traces, with what their manifests say.
    pub fn new(folders: Vec<(PathBuf, Manifest)>) -> Self {
        Self { folders }
    }

    /// A table over the files of all traces.
    pub fn open(&self, table: &'static schema::Table) -> Result<Arc<dyn TableProvider>> {
        if self.folders.is_empty() {
            return Ok(Arc::new(MemTable::try_new(table.schema(), vec![vec![]])?));
        }
        let mut files = Vec::with_capacity(self.folders.len());
        for (folder, manifest) in &self.folders {
            let path = folder.join(format!("{}.parquet", table.name));
            let path = path.canonicalize().map_err(|e| DataFusionError::External(format!("{}: {e}", path.display()).into()))?;
            check_size(&path, folder, manifest, table)?;
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

/// Refuses a file that is not as long as it was written: cut or torn files are told before anything of them is believed.
fn check_size(path: &Path, folder: &Path, manifest: &Manifest, table: &schema::Table) -> Result<()> {
    let bytes = std::fs::metadata(path).map_err(|e| DataFusionError::External(format!("{}: {e}", path.display()).into()))?.len();
    let written = |manifest: &Manifest| manifest.tables.get(table.name).map(|t| t.bytes);
    // The trace may have been replaced since its manifest was read.
    if written(manifest) == Some(bytes) || Manifest::read(folder).is_ok_and(|now| written(&now) == Some(bytes)) {
        return Ok(());
    }
    let were = written(manifest).map_or("none".to_owned(), |n| n.to_string());
    let what = format!("{}: it has {bytes} bytes, {were} were written; `tracesql doctor` looks at the whole store", path.display());
    Err(DataFusionError::External(what.into()))
}
