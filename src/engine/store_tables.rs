//! The tables of a store as DataFusion tables. A table is opened when it is first used, so that
//! opening a store costs nothing.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Weak};

use arrow::datatypes::{DataType, Fields, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::config::{ParquetOptions, TableParquetOptions};
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableScan, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{case, col, lit};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::scalar::ScalarValue;
use parking_lot::Mutex;
use tracesql_ingest::Manifest;
use tracesql_ingest::schema::{self, Kind, Layout};
use url::Url;

use super::kept_columns::KeptColumns;
use super::kept_scan::KeptScanExec;
use super::store_scan::{StoreScan, planning};
use crate::store::TraceFiles;

/// The table with a row for each trace.
pub const TRACES: &str = "traces";
/// Its column of the names of inputs.
const PATH: &str = "path";
/// The column of the trace in every table.
const TRACE_ID: &str = "trace_id";
/// Scans share what they read from this number of traces on. Each has one file for each table.
pub const MANY_TRACES: usize = 16;
/// If the files of a table are larger than this on average, each scan reads them itself.
const SMALL_FILE_BYTES: u64 = 1 << 20;

/// The tables of some traces of a store.
#[derive(Debug)]
pub struct StoreTables {
    traces: Vec<(TraceFiles, Manifest)>,
    /// Whether scans of the same statement may keep columns in memory for each other.
    may_keep: bool,
}

impl StoreTables {
    /// Creates the tables from the files of traces and their manifests. With `may_keep`, scans of
    /// the same statement keep columns of many small files in memory for each other.
    pub fn new(traces: Vec<(TraceFiles, Manifest)>, may_keep: bool) -> Self {
        Self { traces, may_keep }
    }

    /// Whether there is exactly one trace.
    pub fn are_of_one_trace(&self) -> bool {
        self.traces.len() == 1
    }

    /// The columns of a table within queries.
    pub fn schema(table: &schema::Table) -> SchemaRef {
        with_text_views(&table.schema())
    }

    /// Opens a table over the files of all traces. Fails if a file is missing, or if its length
    /// differs from the length in the manifest.
    pub fn open(&self, table: &'static schema::Table) -> Result<Arc<dyn TableProvider>> {
        let rows = Self::schema(table);
        if self.traces.is_empty() {
            return Ok(Arc::new(MemTable::try_new(rows, vec![vec![]])?));
        }
        let (mut files, mut is_empty) = (Vec::with_capacity(self.traces.len()), true);
        let mut bytes = 0;
        for (place, manifest) in &self.traces {
            let (url, is_as_written) = match place {
                TraceFiles::Folder(folder) => file_url(folder, manifest, table)?,
                TraceFiles::Url(folder) => {
                    let url = folder
                        .join(&format!("{}.parquet", table.name))
                        .map_err(|e| DataFusionError::External(Box::new(e)))?;
                    (url, true)
                }
            };
            is_empty &=
                is_as_written && manifest.tables.get(table.name).is_some_and(|t| t.rows == 0);
            bytes += manifest.tables.get(table.name).map_or(0, |t| t.bytes);
            files.push(ListingTableUrl::try_new(url, None)?);
        }
        let are_many =
            files.len() >= MANY_TRACES && bytes / (files.len() as u64) < SMALL_FILE_BYTES;
        let over = |filters_while_reading| {
            let parquet = TableParquetOptions {
                global: ParquetOptions {
                    pushdown_filters: filters_while_reading,
                    // The files have none, and finding that out takes time for each file.
                    bloom_filter_on_read: false,
                    ..ParquetOptions::default()
                },
                ..TableParquetOptions::default()
            };
            let options =
                ListingOptions::new(Arc::new(ParquetFormat::default().with_options(parquet)))
                    .with_file_extension(".parquet");
            let config = ListingTableConfig::new_with_multi_paths(files.clone())
                .with_listing_options(options)
                .with_schema(rows.clone());
            ListingTable::try_new(config)
        };
        let long_texts = table
            .columns
            .iter()
            .map(|c| c.kind == Kind::Text && c.layout == Layout::Plain)
            .collect();
        let unfiltered = StoreScan::new(over(false)?);
        let renamed = self.traces.iter().filter(|_| table.name == TRACES);
        let renamed = renamed.filter(|(_, manifest)| manifest.is_renamed);
        Ok(Arc::new(StoreTable {
            name: table.name,
            paths: renamed.map(|(_, m)| (m.trace_id.clone(), m.path.clone())).collect(),
            filtering: unfiltered.in_other_way(over(true)?),
            unfiltered,
            long_texts,
            is_empty,
            kept: (self.may_keep && are_many).then(Mutex::default),
        }))
    }
}

/// A table over files of the store.
///
/// A scan can apply filters while it reads, so that only rows that pass are decoded. That pays off
/// only for long texts, because for other columns decoding all rows is faster than selecting some.
#[derive(Debug)]
pub struct StoreTable {
    name: &'static str,
    /// Of the table of traces, the paths of inputs that the user names otherwise than when they
    /// were read, with the names of the traces.
    paths: Vec<(String, String)>,
    /// Decodes all rows.
    unfiltered: StoreScan,
    /// Decodes the rows that pass the filters.
    filtering: StoreScan,
    /// For each column, whether it holds long texts.
    long_texts: Vec<bool>,
    is_empty: bool,
    /// The columns that the scans of the last planning keep for each other, if the table has many
    /// small files.
    kept: Option<Mutex<LastKept>>,
}

/// The columns of a planning.
#[derive(Debug, Default)]
struct LastKept {
    planning: Option<i64>,
    /// How many scans read each column.
    readers: HashMap<usize, usize>,
    kept: Weak<KeptColumns>,
}

impl LastKept {
    /// Forgets an earlier planning.
    fn begin(&mut self, planning: i64) {
        if self.planning != Some(planning) {
            *self = Self { planning: Some(planning), ..Self::default() };
        }
    }

    fn of(&self, planning: i64) -> Option<Arc<KeptColumns>> {
        self.kept.upgrade().filter(|_| self.planning == Some(planning))
    }
}

impl StoreTable {
    /// The name of the table.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Announces a scan of a planning, so that its columns are read together with those of others.
    pub fn announce(&self, planning: i64, scan: &TableScan) {
        let wanted = self.wanted(scan.projection.as_ref());
        let Some(last) = &self.kept else { return };
        if self.may_keep(&wanted, &scan.filters, scan.fetch) {
            let mut last = last.lock();
            last.begin(planning);
            for column in wanted {
                *last.readers.entry(column).or_default() += 1;
            }
        }
    }

    fn wanted(&self, projection: Option<&Vec<usize>>) -> Vec<usize> {
        projection.cloned().unwrap_or_else(|| (0..self.schema().fields().len()).collect())
    }

    /// Whether a scan reads columns that other scans of its planning keep for it.
    fn may_keep(&self, wanted: &[usize], filters: &[Expr], limit: Option<usize>) -> bool {
        // The statistics of a file state its trace, so that a scan of few traces opens few files.
        let picks_traces =
            filters.iter().any(|filter| filter.column_refs().iter().any(|c| c.name == TRACE_ID));
        let reads_long_texts = self.name != TRACES && self.reads_long_texts(wanted);
        let is_special = reads_long_texts || picks_traces || limit.is_some();
        self.kept.is_some() && self.paths.is_empty() && !is_special && !wanted.is_empty()
    }

    fn reads_long_texts(&self, columns: &[usize]) -> bool {
        columns.iter().any(|&at| self.long_texts[at])
    }

    /// Whether the manifests state that no file has rows.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }
}

#[async_trait]
impl TableProvider for StoreTable {
    fn schema(&self) -> SchemaRef {
        self.unfiltered.table().schema()
    }

    fn table_type(&self) -> TableType {
        self.unfiltered.table().table_type()
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let mut supported = self.unfiltered.table().supports_filters_pushdown(filters)?;
        for (filter, supported) in filters.iter().zip(&mut supported) {
            if !self.paths.is_empty() && filter.column_refs().iter().any(|c| c.name == PATH) {
                *supported = TableProviderFilterPushDown::Unsupported;
            }
        }
        Ok(supported)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let wanted = self.wanted(projection);
        let scan = match self.reads_long_texts(&wanted) {
            true => &self.filtering,
            false => &self.unfiltered,
        };
        let schema = self.schema();
        let path = schema.index_of(PATH).ok().filter(|_| !self.paths.is_empty());
        if self.may_keep(&wanted, filters, limit)
            && let Some(planning) = planning(state)
        {
            let kept = self.kept_columns(state, planning).await?;
            let alone = scan.plan(state, projection, filters, limit).await?;
            return Ok(match kept {
                Some(kept) => Arc::new(KeptScanExec::new(self.name, alone, wanted, kept)?),
                None => alone,
            });
        }
        match path.filter(|path| wanted.contains(path)) {
            None => scan.plan(state, projection, filters, limit).await,
            Some(path) => {
                let id = schema.index_of(TRACE_ID)?;
                let mut read = wanted.clone();
                read.extend((!wanted.contains(&id)).then_some(id));
                let rows = scan.plan(state, Some(&read), filters, limit).await?;
                self.with_paths(rows, &wanted, path)
            }
        }
    }
}

impl StoreTable {
    /// The columns that the scans of a planning keep for each other. `None` if there is nothing to
    /// read.
    async fn kept_columns(
        &self,
        state: &dyn Session,
        planning: i64,
    ) -> Result<Option<Arc<KeptColumns>>> {
        let Some(last) = &self.kept else { return Ok(None) };
        if let Some(kept) = last.lock().of(planning) {
            return Ok(Some(kept));
        }
        let all = self.unfiltered.plan(state, None, &[], None).await?;
        let all = all
            .downcast_ref::<DataSourceExec>()
            .and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>().cloned());
        let Some(all) = all else { return Ok(None) };
        let mut last = last.lock();
        // Another thread may have been faster.
        Ok(Some(last.of(planning).unwrap_or_else(|| {
            last.begin(planning);
            let kept = Arc::new(KeptColumns::new(all, &last.readers));
            last.kept = Arc::downgrade(&kept);
            kept
        })))
    }

    /// Replaces the paths of some rows. The columns of the result are the wanted ones.
    fn with_paths(
        &self,
        rows: Arc<dyn ExecutionPlan>,
        wanted: &[usize],
        path: usize,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (schema, read) = (self.schema(), rows.schema());
        let text = |value: &str, like: &str| -> Result<Arc<dyn PhysicalExpr>> {
            let data_type = read.field_with_name(like)?.data_type();
            Ok(lit(ScalarValue::from(value).cast_to(data_type)?))
        };
        let mut named = Vec::with_capacity(self.paths.len());
        for (trace, path) in &self.paths {
            named.push((text(trace, TRACE_ID)?, text(path, PATH)?));
        }
        let column = |at: usize| -> Result<ProjectionExpr> {
            let name = schema.field(at).name();
            let mut value = col(name, &read)?;
            if at == path {
                value = case(Some(col(TRACE_ID, &read)?), named.clone(), Some(value))?;
            }
            Ok(ProjectionExpr::new(value, name))
        };
        let columns = wanted.iter().map(|at| column(*at)).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(ProjectionExec::try_new(columns, rows)?))
    }
}

/// The schema with `Utf8View` in place of `Utf8`, so that sorting, joining and gathering rows does
/// not copy their texts.
fn with_text_views(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        _ => field.clone(),
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone()))
}

/// The URL of a table's file in a folder, and whether the file is the one of the manifest.
fn file_url(folder: &Path, manifest: &Manifest, table: &schema::Table) -> Result<(Url, bool)> {
    let path = folder.join(format!("{}.parquet", table.name));
    let path = path
        .canonicalize()
        .map_err(|e| DataFusionError::External(format!("{}: {e}", path.display()).into()))?;
    let is_as_written = check_size(&path, folder, manifest, table)?;
    // A URL is needed, because DataFusion would treat a path as a glob pattern.
    let url = Url::from_file_path(&path)
        .map_err(|()| DataFusionError::Plan(format!("{}: not an absolute path", path.display())))?;
    Ok((url, is_as_written))
}

/// Returns whether a file has the length that the manifest states, and not that of a manifest
/// written later. Fails if it has neither, so that a truncated file is reported before its content
/// is used.
fn check_size(
    path: &Path,
    folder: &Path,
    manifest: &Manifest,
    table: &schema::Table,
) -> Result<bool> {
    let bytes = std::fs::metadata(path)
        .map_err(|e| DataFusionError::External(format!("{}: {e}", path.display()).into()))?
        .len();
    let written = |manifest: &Manifest| manifest.tables.get(table.name).map(|t| t.bytes);
    // The trace may have been replaced after its manifest was read.
    if written(manifest) == Some(bytes) {
        return Ok(true);
    }
    if Manifest::read(folder).is_ok_and(|now| written(&now) == Some(bytes)) {
        return Ok(false);
    }
    let were = written(manifest).map_or("none".to_owned(), |n| n.to_string());
    let what = format!(
        "{}: it has {bytes} bytes, {were} were written; `tracesql doctor` looks at the whole store",
        path.display()
    );
    Err(DataFusionError::External(what.into()))
}
