//! Rows that describe the relations of a session: catalogs, schemas, tables and their columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch, StringArray};
use arrow::compute::kernels::comparison::like;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow_flight::sql::metadata::{GetCatalogsBuilder, GetDbSchemasBuilder, GetTablesBuilder};
use arrow_flight::sql::{CommandGetDbSchemas, CommandGetTableTypes, CommandGetTables};
use datafusion::logical_expr::TableType;
use tonic::Status;
use tracesql::engine::{Engine, documented};

use super::status;
use crate::Session;

/// The only catalog.
pub const CATALOG: &str = "tracesql";
/// The only schema.
pub const SCHEMA: &str = "main";
/// The types of relations.
const TYPES: [&str; 2] = ["TABLE", "VIEW"];
/// The key under which clients look for the description of a column.
const REMARKS: &str = "ARROW:FLIGHT:SQL:REMARKS";

/// The list of catalogs.
pub fn catalogs() -> Result<RecordBatch, Status> {
    let mut rows = GetCatalogsBuilder::new();
    rows.append(CATALOG);
    rows.build().map_err(status::of_flight)
}

/// The list of schemas that a request selects.
pub fn schemas(request: CommandGetDbSchemas) -> Result<RecordBatch, Status> {
    let mut rows: GetDbSchemasBuilder = request.into();
    rows.append(CATALOG, SCHEMA);
    rows.build().map_err(status::of_flight)
}

/// The list of table types.
pub fn table_types() -> Result<RecordBatch, Status> {
    let mut rows = CommandGetTableTypes {}.into_builder();
    TYPES.iter().for_each(|name| rows.append(name));
    rows.build().map_err(status::of_flight)
}

/// The list of tables and views of a session, within the limits of a statement: views are planned
/// for their columns, which takes a while. The engine keeps their plans for the next list.
pub async fn tables_of(
    session: &Session,
    request: CommandGetTables,
) -> Result<RecordBatch, Status> {
    // A refusal of the request is an answer too, so it is not a failure of the work.
    let listing = session.planned(None, |engine| async move { Ok(tables(&engine, request).await) });
    listing.await.map_err(|failure| status::of(&failure))?
}

/// The list of tables and views that a request selects, with their columns if it asks for them.
///
/// The columns of a view follow from its plan. So only views that the request selects are planned.
async fn tables(engine: &Engine, request: CommandGetTables) -> Result<RecordBatch, Status> {
    let with_columns = request.include_schema;
    let wanted_types = request.table_types.clone();
    let pattern = request.table_name_filter_pattern.clone();
    let mut rows: GetTablesBuilder = request.into();
    let Some(schema) = engine.context().catalog(CATALOG).and_then(|c| c.schema(SCHEMA)) else {
        return rows.build().map_err(status::of_flight);
    };
    let remarks = if with_columns { remarks(engine) } else { HashMap::new() };
    for name in selected(schema.table_names(), pattern)? {
        // Planning does not wait for anything, so this is where a list can be stopped.
        tokio::task::yield_now().await;
        let kind = match schema.table_type(&name).await.map_err(status::of_engine)? {
            Some(TableType::View) => "VIEW",
            _ => "TABLE",
        };
        if !wanted_types.is_empty() && !wanted_types.iter().any(|wanted| wanted == kind) {
            continue;
        }
        let columns = match with_columns {
            false => Arc::new(Schema::empty()),
            true => match schema.table(&name).await.map_err(status::of_engine)? {
                Some(table) => described(&table.schema(), remarks.get(&name)),
                None => continue,
            },
        };
        rows.append(CATALOG, SCHEMA, &name, kind, &columns).map_err(status::of_flight)?;
    }
    rows.build().map_err(status::of_flight)
}

/// The names that match a pattern of `LIKE`.
fn selected(names: Vec<String>, pattern: Option<String>) -> Result<Vec<String>, Status> {
    let Some(pattern) = pattern else { return Ok(names) };
    let all = StringArray::from_iter_values(&names);
    let matches: BooleanArray = like(&all, &StringArray::new_scalar(pattern))
        .map_err(|e| Status::invalid_argument(format!("the pattern of table names: {e}")))?;
    Ok(names
        .into_iter()
        .zip(matches.iter())
        .filter(|(_, m)| *m == Some(true))
        .map(|p| p.0)
        .collect())
}

/// The descriptions of columns, by relation and column.
fn remarks(engine: &Engine) -> HashMap<String, HashMap<String, String>> {
    documented(engine.library())
        .into_iter()
        .map(|(_, view)| {
            let columns = view.columns.into_iter().map(|c| (c.name, c.description)).collect();
            (view.name, columns)
        })
        .collect()
}

/// The columns of a relation as results show them, with their descriptions.
fn described(schema: &Schema, remarks: Option<&HashMap<String, String>>) -> SchemaRef {
    let fields: Fields = schema
        .fields()
        .iter()
        .map(|field| {
            let field = as_result(field);
            match remarks.and_then(|remarks| remarks.get(field.name())) {
                Some(remark) => {
                    let mut metadata = field.metadata().clone();
                    metadata.insert(REMARKS.to_owned(), remark.clone());
                    Arc::new(field.as_ref().clone().with_metadata(metadata))
                }
                None => field,
            }
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// A column with the type that results have: plain texts, and no dictionaries.
pub fn as_result(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::Dictionary(_, value) => {
            let value = Arc::new(Field::new("", value.as_ref().clone(), true));
            as_result(&value).data_type().clone()
        }
        DataType::List(item) => DataType::List(as_result(item)),
        DataType::LargeList(item) => DataType::LargeList(as_result(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(as_result(item), *length),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(as_result).collect()),
        _ => return field.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

/// The columns of the answers about keys: of one table, or of a relation between two tables.
pub fn keys(of_two_tables: bool) -> SchemaRef {
    let text = |name: &str, is_nullable| Field::new(name, DataType::Utf8, is_nullable);
    let sequence = Field::new("key_sequence", DataType::Int32, false);
    if !of_two_tables {
        return Arc::new(Schema::new(vec![
            text("catalog_name", true),
            text("db_schema_name", true),
            text("table_name", false),
            text("column_name", false),
            text("key_name", true),
            sequence,
        ]));
    }
    Arc::new(Schema::new(vec![
        text("pk_catalog_name", true),
        text("pk_db_schema_name", true),
        text("pk_table_name", false),
        text("pk_column_name", false),
        text("fk_catalog_name", true),
        text("fk_db_schema_name", true),
        text("fk_table_name", false),
        text("fk_column_name", false),
        sequence,
        text("fk_key_name", true),
        text("pk_key_name", true),
        Field::new("update_rule", DataType::UInt8, false),
        Field::new("delete_rule", DataType::UInt8, false),
    ]))
}

#[cfg(test)]
mod tests {
    use super::selected;

    #[test]
    fn patterns_of_names_are_those_of_like() {
        let names = || ["kernels", "kernels_by_name", "events"].map(str::to_owned).to_vec();
        assert_eq!(selected(names(), None).expect("names").len(), 3);
        assert_eq!(selected(names(), Some("kernels%".into())).expect("names").len(), 2);
        assert_eq!(selected(names(), Some("event_".into())).expect("names"), ["events"]);
    }
}
