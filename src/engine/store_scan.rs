//! Scans of the files of a table. A statement scans some tables a hundred times, and a table of a
//! thousand traces has a thousand files, so the files are listed once per planning.

use std::sync::Arc;

use datafusion::catalog::{Session, TableProvider};
use datafusion::common::exec_err;
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::table_schema::TableSchemaBuilder;
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::{ExecutionPlan, Statistics};
use tokio::sync::Mutex;

/// The files of a table, read in one way.
#[derive(Debug)]
pub struct StoreScan {
    table: ListingTable,
    /// The files as the last planning found them. Later plannings list them again, because a trace
    /// may have been replaced.
    last: Arc<Mutex<LastFiles>>,
}

/// The files that a planning found, with the number of the planning.
type LastFiles = Option<(i64, Arc<Files>)>;

#[derive(Debug)]
struct Files {
    groups: Vec<FileGroup>,
    statistics: Statistics,
}

impl StoreScan {
    /// Scans of a table, which has no partition columns.
    pub fn new(table: ListingTable) -> Self {
        Self { table, last: Arc::default() }
    }

    /// Scans of the same files in another way.
    pub fn in_other_way(&self, table: ListingTable) -> Self {
        Self { table, last: self.last.clone() }
    }

    /// The table.
    pub fn table(&self) -> &ListingTable {
        &self.table
    }

    /// Plans a scan, like [`ListingTable`] does.
    pub async fn plan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // With a limit fewer files may suffice. Filters without columns decide about all files.
        let is_special = (limit.is_some() && filters.is_empty())
            || filters.iter().any(|filter| filter.column_refs().is_empty());
        let Some(planning) = planning(state) else {
            return self.table.scan(state, projection, filters, limit).await;
        };
        let files = self.files(state, planning).await?;
        if is_special {
            return self.table.scan(state, projection, filters, limit).await;
        }
        let Some(path) = self.table.table_paths().first().filter(|_| !files.groups.is_empty())
        else {
            return self.table.scan(state, projection, filters, limit).await;
        };
        let format = &self.table.options().format;
        let schema = TableSchemaBuilder::from(&self.table.schema()).build();
        let ordering =
            self.table.try_create_output_ordering(state.execution_props(), &files.groups)?;
        let config = FileScanConfigBuilder::new(path.object_store(), format.file_source(schema))
            .with_file_groups(files.groups.clone())
            .with_statistics(files.statistics.clone())
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .with_output_ordering(ordering)
            .build();
        format.create_physical_plan(state, config).await
    }

    /// The files, listed once for a planning. Fails if one is gone: its rows would be missing.
    async fn files(&self, state: &dyn Session, planning: i64) -> Result<Arc<Files>> {
        let mut last = self.last.lock().await;
        if let Some((of, files)) = &*last
            && *of == planning
        {
            return Ok(files.clone());
        }
        let listed = self.table.list_files_for_scan(state, &[], None).await?;
        let found: usize = listed.file_groups.iter().map(FileGroup::len).sum();
        let paths = self.table.table_paths();
        if found < paths.len() {
            let first = paths.first().map(ToString::to_string).unwrap_or_default();
            return exec_err!(
                "{} of {} files of a table are gone (the first file was {first}); traces were \
                 removed while the store was open",
                paths.len() - found,
                paths.len()
            );
        }
        let files = Arc::new(Files { groups: listed.file_groups, statistics: listed.statistics });
        *last = Some((planning, files.clone()));
        Ok(files)
    }
}

/// The start of a planning in nanoseconds, which identifies it.
pub fn planning(state: &dyn Session) -> Option<i64> {
    state.execution_props().query_execution_start_time?.timestamp_nanos_opt()
}
