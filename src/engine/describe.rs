//! The rows of `DESCRIBE`, with the names of types that the documentation uses.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::error::Result;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};

use crate::library::sql_type;

/// Replaces the plan of `DESCRIBE` by one whose types have the names of SQL, such as BIGINT. Other
/// plans stay as they are.
pub fn with_sql_types(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::DescribeTable(described) = plan else { return Ok(plan) };
    let fields = described.schema.fields();
    let names: StringArray = fields.iter().map(|f| Some(f.name().as_str())).collect();
    let types: StringArray = fields.iter().map(|f| Some(sql_type(f.data_type()))).collect();
    let nullable: StringArray =
        fields.iter().map(|f| Some(if f.is_nullable() { "YES" } else { "NO" })).collect();
    let columns: [(&str, ArrayRef); 3] = [
        ("column_name", Arc::new(names)),
        ("data_type", Arc::new(types)),
        ("is_nullable", Arc::new(nullable)),
    ];
    let rows = RecordBatch::try_from_iter(columns)?;
    let table = MemTable::try_new(rows.schema(), vec![vec![rows]])?;
    LogicalPlanBuilder::scan("describe", provider_as_source(Arc::new(table)), None)?.build()
}
