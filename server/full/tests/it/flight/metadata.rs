//! What clients ask about the store and the server.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow_flight::sql::{
    CommandGetDbSchemas, CommandGetPrimaryKeys, CommandGetTables, CommandGetXdbcTypeInfo, SqlInfo,
};

use super::{Served, read};

fn texts(rows: &[RecordBatch], column: &str) -> Vec<String> {
    rows.iter()
        .flat_map(|batch| {
            let texts = batch.column_by_name(column).expect("a column").as_string::<i32>().clone();
            (0..texts.len()).map(move |at| texts.value(at).to_owned()).collect::<Vec<_>>()
        })
        .collect()
}

fn tables(pattern: Option<&str>, types: &[&str], include_schema: bool) -> CommandGetTables {
    CommandGetTables {
        catalog: None,
        db_schema_filter_pattern: None,
        table_name_filter_pattern: pattern.map(str::to_owned),
        table_types: types.iter().map(|&name| name.to_owned()).collect(),
        include_schema,
    }
}

#[tokio::test]
async fn tables_and_views_are_listed_with_their_columns() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let info = client.get_catalogs().await.expect("catalogs");
    let rows = read(&mut client, &info).await.expect("rows");
    assert_eq!(texts(&rows, "catalog_name"), ["tracesql"]);
    let all = CommandGetDbSchemas { catalog: None, db_schema_filter_pattern: None };
    let info = client.get_db_schemas(all).await.expect("schemas");
    let rows = read(&mut client, &info).await.expect("rows");
    assert_eq!(texts(&rows, "db_schema_name"), ["main"]);
    let info = client.get_table_types().await.expect("types");
    let rows = read(&mut client, &info).await.expect("rows");
    assert_eq!(texts(&rows, "table_type"), ["TABLE", "VIEW"]);

    let info = client.get_tables(tables(None, &[], false)).await.expect("tables");
    let names = texts(&read(&mut client, &info).await.expect("rows"), "table_name");
    assert!(names.len() > 100, "all tables and views: {names:?}");
    assert!(names.iter().all(|name| !name.starts_with('_')), "{names:?}");
    let info = client.get_tables(tables(Some("kernels%"), &["VIEW"], true)).await.expect("tables");
    let rows = read(&mut client, &info).await.expect("rows");
    let names = texts(&rows, "table_name");
    assert!(names.iter().all(|name| name.starts_with("kernels")), "{names:?}");
    assert!(names.contains(&"kernels_by_name".to_owned()), "{names:?}");
    assert!(!names.contains(&"kernels".to_owned()), "kernels is a table");
    let at = names.iter().position(|name| name == "kernels_by_name").expect("the view");
    let schemas = rows[0].column_by_name("table_schema").expect("columns").as_binary::<i32>();
    let message = arrow_flight::IpcMessage(schemas.value(at).to_vec().into());
    let schema = arrow::datatypes::Schema::try_from(message).expect("columns");
    let name = schema.field_with_name("name").expect("a column");
    assert!(name.metadata().contains_key("ARROW:FLIGHT:SQL:REMARKS"), "{name:?}");
}

#[tokio::test]
async fn the_columns_that_are_listed_are_those_of_the_rows() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    for name in ["events", "traces", "kernels_by_name", "alloc_stacks", "tracesql_settings"] {
        let info = client.get_tables(tables(Some(name), &[], true)).await.expect("tables");
        let rows = read(&mut client, &info).await.expect("rows");
        let schemas = rows[0].column_by_name("table_schema").expect("columns").as_binary::<i32>();
        let message = arrow_flight::IpcMessage(schemas.value(0).to_vec().into());
        let listed = arrow::datatypes::Schema::try_from(message).expect("columns");
        let info = client.execute(format!("SELECT * FROM {name}"), None).await.expect(name);
        let promised = info.try_decode_schema().expect("columns");
        let names = |schema: &arrow::datatypes::Schema| -> Vec<_> {
            let field = |f: &arrow::datatypes::FieldRef| (f.name().clone(), f.data_type().clone());
            schema.fields().iter().map(field).collect()
        };
        assert_eq!(names(&listed), names(&promised), "{name}");
    }
}

#[tokio::test]
async fn keys_are_empty_and_types_and_abilities_are_described() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let keys = CommandGetPrimaryKeys { catalog: None, db_schema: None, table: "events".into() };
    let info = client.get_primary_keys(keys).await.expect("keys");
    assert!(read(&mut client, &info).await.expect("rows").iter().all(|b| b.num_rows() == 0));
    let info = client.get_xdbc_type_info(CommandGetXdbcTypeInfo { data_type: None }).await;
    let rows = read(&mut client, &info.expect("types")).await.expect("rows");
    assert!(texts(&rows, "type_name").contains(&"BIGINT".to_owned()));
    let wanted = vec![SqlInfo::FlightSqlServerName, SqlInfo::FlightSqlServerReadOnly];
    let info = client.get_sql_info(wanted).await.expect("info");
    let rows = read(&mut client, &info).await.expect("rows");
    assert_eq!(rows[0].num_rows(), 2);
}
