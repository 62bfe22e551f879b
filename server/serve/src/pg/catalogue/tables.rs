//! Tables of the catalogue that are made here: comments, definitions of views, and
//! `information_schema`.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int32Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::Result;

use super::relations::Relation;
use crate::pg::types::Kind;

const DATABASE: &str = "tracesql";
const SCHEMA: &str = "public";
const OWNER: &str = "tracesql";

/// A table with these columns.
pub fn table(columns: Vec<(&str, ArrayRef)>) -> Result<Arc<dyn TableProvider>> {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, values)| (name, values, true)),
    )?;
    Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
}

fn texts<S: Into<String>>(values: impl IntoIterator<Item = Option<S>>) -> ArrayRef {
    Arc::new(values.into_iter().map(|v| v.map(Into::into)).collect::<StringArray>())
}

fn same(value: &str, rows: usize) -> ArrayRef {
    texts(vec![Some(value.to_owned()); rows])
}

fn numbers(values: impl IntoIterator<Item = Option<i32>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<Int32Array>())
}

fn flags(value: bool, rows: usize) -> ArrayRef {
    Arc::new(BooleanArray::from(vec![value; rows]))
}

/// `pg_description`: the comments of relations and their columns. `oid` gives the number of a
/// relation, and `of_classes` is the number of `pg_class`.
pub fn descriptions(
    relations: &[Relation],
    of_classes: i32,
    oid: impl Fn(&str) -> Option<i32>,
) -> Result<Arc<dyn TableProvider>> {
    let mut rows: Vec<(i32, i32, &str)> = Vec::new();
    for relation in relations {
        let Some(oid) = oid(&relation.name) else { continue };
        rows.push((oid, 0, &relation.comment));
        for (at, (_, _, comment)) in relation.columns.iter().enumerate() {
            rows.push((oid, at as i32 + 1, comment));
        }
    }
    rows.retain(|(_, _, comment)| !comment.is_empty());
    table(vec![
        ("objoid", numbers(rows.iter().map(|r| Some(r.0)))),
        ("classoid", numbers(rows.iter().map(|_| Some(of_classes)))),
        ("objsubid", numbers(rows.iter().map(|r| Some(r.1)))),
        ("description", texts(rows.iter().map(|r| Some(r.2)))),
    ])
}

/// `pg_views`.
pub fn views(relations: &[Relation]) -> Result<Arc<dyn TableProvider>> {
    let views: Vec<&Relation> = relations.iter().filter(|r| r.definition.is_some()).collect();
    table(vec![
        ("schemaname", same(SCHEMA, views.len())),
        ("viewname", texts(views.iter().map(|r| Some(r.name.as_str())))),
        ("viewowner", same(OWNER, views.len())),
        ("definition", texts(views.iter().map(|r| r.definition.clone()))),
    ])
}

/// `pg_tables`.
pub fn tables(relations: &[Relation]) -> Result<Arc<dyn TableProvider>> {
    let tables: Vec<&Relation> = relations.iter().filter(|r| r.definition.is_none()).collect();
    let rows = tables.len();
    table(vec![
        ("schemaname", same(SCHEMA, rows)),
        ("tablename", texts(tables.iter().map(|r| Some(r.name.as_str())))),
        ("tableowner", same(OWNER, rows)),
        ("tablespace", texts(vec![None::<String>; rows])),
        ("hasindexes", flags(false, rows)),
        ("hasrules", flags(false, rows)),
        ("hastriggers", flags(false, rows)),
        ("rowsecurity", flags(false, rows)),
    ])
}

/// Tables of `information_schema` that have no rows, with their columns.
const EMPTY: &[(&str, &[&str])] = &[
    (
        "table_constraints",
        &[
            "constraint_catalog",
            "constraint_schema",
            "constraint_name",
            "table_catalog",
            "table_schema",
            "table_name",
            "constraint_type",
            "is_deferrable",
            "initially_deferred",
        ],
    ),
    (
        "key_column_usage",
        &[
            "constraint_catalog",
            "constraint_schema",
            "constraint_name",
            "table_catalog",
            "table_schema",
            "table_name",
            "column_name",
            "ordinal_position",
            "position_in_unique_constraint",
        ],
    ),
    (
        "constraint_column_usage",
        &[
            "table_catalog",
            "table_schema",
            "table_name",
            "column_name",
            "constraint_catalog",
            "constraint_schema",
            "constraint_name",
        ],
    ),
    (
        "referential_constraints",
        &[
            "constraint_catalog",
            "constraint_schema",
            "constraint_name",
            "unique_constraint_catalog",
            "unique_constraint_schema",
            "unique_constraint_name",
            "match_option",
            "update_rule",
            "delete_rule",
        ],
    ),
    (
        "routines",
        &[
            "specific_catalog",
            "specific_schema",
            "specific_name",
            "routine_catalog",
            "routine_schema",
            "routine_name",
            "routine_type",
            "data_type",
            "routine_definition",
        ],
    ),
    ("triggers", &["trigger_catalog", "trigger_schema", "trigger_name", "event_object_table"]),
    ("sequences", &["sequence_catalog", "sequence_schema", "sequence_name", "data_type"]),
    ("element_types", &["object_catalog", "object_schema", "object_name", "object_type"]),
    ("domains", &["domain_catalog", "domain_schema", "domain_name", "data_type"]),
];

/// `information_schema`.
pub fn information_schema(relations: &[Relation]) -> Result<Arc<dyn SchemaProvider>> {
    let schema = MemorySchemaProvider::new();
    let add = |name: &str, table: Arc<dyn TableProvider>| {
        schema.register_table(name.to_owned(), table).map(drop)
    };
    let schemas = ["public", "pg_catalog", "information_schema"];
    add(
        "schemata",
        table(vec![
            ("catalog_name", same(DATABASE, 3)),
            ("schema_name", texts(schemas.map(Some))),
            ("schema_owner", same(OWNER, 3)),
            ("default_character_set_name", texts([None::<String>, None, None])),
        ])?,
    )?;
    let rows = relations.len();
    let kind = |r: &Relation| if r.definition.is_some() { "VIEW" } else { "BASE TABLE" };
    add(
        "tables",
        table(vec![
            ("table_catalog", same(DATABASE, rows)),
            ("table_schema", same(SCHEMA, rows)),
            ("table_name", texts(relations.iter().map(|r| Some(r.name.as_str())))),
            ("table_type", texts(relations.iter().map(|r| Some(kind(r))))),
            ("self_referencing_column_name", texts(vec![None::<String>; rows])),
            ("is_insertable_into", same("NO", rows)),
            ("is_typed", same("NO", rows)),
        ])?,
    )?;
    let views: Vec<&Relation> = relations.iter().filter(|r| r.definition.is_some()).collect();
    add(
        "views",
        table(vec![
            ("table_catalog", same(DATABASE, views.len())),
            ("table_schema", same(SCHEMA, views.len())),
            ("table_name", texts(views.iter().map(|r| Some(r.name.as_str())))),
            ("view_definition", texts(views.iter().map(|r| r.definition.clone()))),
            ("check_option", same("NONE", views.len())),
            ("is_updatable", same("NO", views.len())),
            ("is_insertable_into", same("NO", views.len())),
        ])?,
    )?;
    add("columns", columns(relations)?)?;
    for (name, names) in [
        ("table_privileges", vec![]),
        ("role_table_grants", vec![]),
        ("column_privileges", vec!["column_name"]),
    ] {
        add(name, privileges(relations, names.is_empty())?)?;
    }
    for (name, columns) in EMPTY {
        let none = || texts(Vec::<Option<String>>::new());
        add(name, table(columns.iter().map(|column| (*column, none())).collect())?)?;
    }
    Ok(Arc::new(schema))
}

/// All users may read everything.
fn privileges(relations: &[Relation], of_tables: bool) -> Result<Arc<dyn TableProvider>> {
    let all: Vec<(&str, Option<&str>)> = relations
        .iter()
        .flat_map(|relation| {
            let columns: Vec<Option<&str>> = match of_tables {
                true => vec![None],
                false => relation.columns.iter().map(|c| Some(c.0.as_str())).collect(),
            };
            columns.into_iter().map(|column| (relation.name.as_str(), column))
        })
        .collect();
    let rows = all.len();
    let mut columns = vec![
        ("grantor", same(OWNER, rows)),
        ("grantee", same("PUBLIC", rows)),
        ("table_catalog", same(DATABASE, rows)),
        ("table_schema", same(SCHEMA, rows)),
        ("table_name", texts(all.iter().map(|(table, _)| Some(*table)))),
    ];
    if !of_tables {
        columns.push(("column_name", texts(all.iter().map(|(_, column)| *column))));
    }
    columns.push(("privilege_type", same("SELECT", rows)));
    columns.push(("is_grantable", same("NO", rows)));
    table(columns)
}

fn columns(relations: &[Relation]) -> Result<Arc<dyn TableProvider>> {
    let all: Vec<(&str, i32, &str, &DataType)> = relations
        .iter()
        .flat_map(|relation| {
            relation.columns.iter().enumerate().map(|(at, (name, data_type, _))| {
                (relation.name.as_str(), at as i32 + 1, name.as_str(), data_type)
            })
        })
        .collect();
    let rows = all.len();
    let none = || texts(vec![None::<String>; rows]);
    let digits: Vec<Digits> = all.iter().map(|c| Digits::of(c.3)).collect();
    table(vec![
        ("table_catalog", same(DATABASE, rows)),
        ("table_schema", same(SCHEMA, rows)),
        ("table_name", texts(all.iter().map(|c| Some(c.0)))),
        ("column_name", texts(all.iter().map(|c| Some(c.2)))),
        ("ordinal_position", numbers(all.iter().map(|c| Some(c.1)))),
        ("column_default", none()),
        ("is_nullable", same("YES", rows)),
        ("data_type", texts(all.iter().map(|c| Some(Kind::of(c.3).names().0)))),
        ("character_maximum_length", numbers(vec![None; rows])),
        ("character_octet_length", numbers(vec![None; rows])),
        ("numeric_precision", numbers(digits.iter().map(|d| d.precision))),
        ("numeric_precision_radix", numbers(digits.iter().map(|d| d.radix))),
        ("numeric_scale", numbers(digits.iter().map(|d| d.scale))),
        ("datetime_precision", numbers(digits.iter().map(|d| d.of_time))),
        ("character_set_name", none()),
        ("collation_name", none()),
        ("domain_name", none()),
        ("udt_catalog", same(DATABASE, rows)),
        ("udt_schema", same("pg_catalog", rows)),
        ("udt_name", texts(all.iter().map(|c| Some(Kind::of(c.3).names().1)))),
        ("is_identity", same("NO", rows)),
        ("identity_generation", none()),
        ("is_generated", same("NEVER", rows)),
        ("generation_expression", none()),
        ("is_updatable", same("NO", rows)),
    ])
}

/// What `information_schema.columns` shows of the digits of a type.
#[derive(Default)]
struct Digits {
    precision: Option<i32>,
    radix: Option<i32>,
    scale: Option<i32>,
    of_time: Option<i32>,
}

impl Digits {
    fn of(data_type: &DataType) -> Self {
        let binary = |precision, scale| Self {
            precision: Some(precision),
            radix: Some(2),
            scale,
            of_time: None,
        };
        match (Kind::of(data_type), data_type) {
            (Kind::Int2, _) => binary(16, Some(0)),
            (Kind::Int4, _) => binary(32, Some(0)),
            (Kind::Int8, _) => binary(64, Some(0)),
            (Kind::Float4, _) => binary(24, None),
            (Kind::Float8, _) => binary(53, None),
            (
                _,
                DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale),
            ) => Self {
                precision: Some(i32::from(*precision)),
                radix: Some(10),
                scale: Some(i32::from(*scale)),
                of_time: None,
            },
            (Kind::Date, _) => Self { of_time: Some(0), ..Self::default() },
            (Kind::Timestamp | Kind::TimestampTz, _) => {
                Self { of_time: Some(6), ..Self::default() }
            }
            _ => Self::default(),
        }
    }
}
