//! Numbers of relations, types and schemas by their names: `to_regclass` and its like, and
//! `'name'::regclass`.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{AsArray, Int32Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int32Type};
use datafusion::common::DataFusionError;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF};
use datafusion::prelude::SessionContext;
use tracesql::sql_text::lex;

use super::functions::{function, texts};
use crate::failure::{Failure, code};

/// The function that stands for a cast to `regclass`.
pub const REGCLASS: &str = "tracesql_regclass";
/// The schemas of names without one, in order.
const PATH: [&str; 2] = ["pg_catalog", "public"];
/// Names of types in SQL, and their names in `pg_type`.
const SQL_NAMES: &[(&str, &str)] = &[
    ("bigint", "int8"),
    ("bit varying", "varbit"),
    ("boolean", "bool"),
    ("char", "bpchar"),
    ("character", "bpchar"),
    ("character varying", "varchar"),
    ("decimal", "numeric"),
    ("double precision", "float8"),
    ("float", "float8"),
    ("int", "int4"),
    ("integer", "int4"),
    ("real", "float4"),
    ("smallint", "int2"),
    ("time with time zone", "timetz"),
    ("time without time zone", "time"),
    ("timestamp with time zone", "timestamptz"),
    ("timestamp without time zone", "timestamp"),
];

/// The numbers of what has a name in the catalogue.
#[derive(Debug, Default)]
pub struct Names {
    relations: HashMap<(String, String), i32>,
    types: HashMap<String, i32>,
    schemas: HashMap<String, i32>,
}

impl Names {
    /// The names of a catalogue.
    pub async fn of(context: &SessionContext) -> Result<Self> {
        let mut names = Self::default();
        let relations = "SELECT c.oid, c.relname, n.nspname FROM pg_catalog.pg_class c \
                         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace";
        rows(context, relations, |oid, [name, schema]| {
            names.relations.insert((schema.to_owned(), name.to_owned()), oid);
        })
        .await?;
        // A relation may have a type of the same name, with a larger number.
        let types = "SELECT oid, typname, '' AS none FROM pg_catalog.pg_type ORDER BY oid DESC";
        rows(context, types, |oid, [name, _]| {
            names.types.insert(name.to_owned(), oid);
        })
        .await?;
        let schemas = "SELECT oid, nspname, '' AS none FROM pg_catalog.pg_namespace";
        rows(context, schemas, |oid, [name, _]| {
            names.schemas.insert(name.to_owned(), oid);
        })
        .await?;
        Ok(names)
    }

    /// The number of a public relation.
    pub fn public(&self, name: &str) -> Option<i32> {
        self.relations.get(&("public".to_owned(), name.to_owned())).copied()
    }

    /// The number of a relation whose name is written as in SQL.
    fn relation(&self, text: &str) -> Option<i32> {
        let find = |schema: &str, name: &str| {
            self.relations.get(&(schema.to_owned(), name.to_owned())).copied()
        };
        match &parts(text)?[..] {
            [name] => PATH.iter().find_map(|schema| find(schema, name)),
            [schema, name] => find(schema, name),
            _ => None,
        }
    }

    /// The number of a type whose name is written as in SQL.
    fn type_named(&self, text: &str) -> Option<i32> {
        let text = text.trim();
        if let Some(item) = text.strip_suffix("[]") {
            return self.types.get(&format!("_{}", short_name(item)?)).copied();
        }
        self.types.get(&short_name(text)?).copied()
    }
}

/// The name in `pg_type` of a type, without its length or precision.
fn short_name(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let (before, after) = match lower.split_once('(') {
        Some((before, rest)) => (before, rest.split_once(')')?.1),
        None => (lower.as_str(), ""),
    };
    let plain = format!("{before} {after}").split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((_, short)) = SQL_NAMES.iter().find(|(name, _)| *name == plain) {
        return Some((*short).to_owned());
    }
    match &parts(if lower.contains('(') { &plain } else { text })?[..] {
        [name] => Some(name.clone()),
        [schema, name] if schema == "pg_catalog" => Some(name.clone()),
        _ => None,
    }
}

/// The parts of a name with dots; `None` if the text is something else.
fn parts(text: &str) -> Option<Vec<String>> {
    let tokens = lex::words(&lex::tokens(text));
    let mut parts = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match at % 2 {
            0 => parts.push(token.name()?),
            _ if token.text == "." => {}
            _ => return None,
        }
    }
    (tokens.len() % 2 == 1).then_some(parts)
}

async fn rows(
    context: &SessionContext,
    sql: &str,
    mut each: impl FnMut(i32, [&str; 2]),
) -> Result<()> {
    for batch in context.sql(sql).await?.collect().await? {
        let oids = cast(batch.column(0), &DataType::Int32)?;
        let (one, two) =
            (cast(batch.column(1), &DataType::Utf8)?, cast(batch.column(2), &DataType::Utf8)?);
        let texts = one.as_string::<i32>().iter().zip(two.as_string::<i32>());
        for (oid, (one, two)) in oids.as_primitive::<Int32Type>().iter().zip(texts) {
            if let (Some(oid), Some(one), Some(two)) = (oid, one, two) {
                each(oid, [one, two]);
            }
        }
    }
    Ok(())
}

/// The functions that look names up.
pub fn functions(names: &Arc<Names>) -> Vec<ScalarUDF> {
    let look_up = |name: &'static str, find: fn(&Names, &str) -> Result<Option<i32>>| {
        let names = names.clone();
        function(name, DataType::Int32, move |args, rows| {
            let given = texts(args.first(), rows)?;
            let found: Int32Array = given
                .as_string::<i32>()
                .iter()
                .map(|text| text.map_or(Ok(None), |text| find(&names, text)))
                .collect::<Result<_>>()?;
            Ok(ColumnarValue::Array(Arc::new(found)))
        })
    };
    vec![
        look_up("to_regclass", |names, text| Ok(names.relation(text))),
        look_up("to_regtype", |names, text| Ok(names.type_named(text))),
        look_up("to_regnamespace", |names, text| {
            Ok(parts(text).and_then(|parts| names.schemas.get(parts.first()?).copied()))
        }),
        look_up(REGCLASS, |names, text| match text.parse() {
            Ok(oid) => Ok(Some(oid)),
            Err(_) => names.relation(text).map(Some).ok_or_else(|| missing(text)),
        }),
    ]
}

fn missing(text: &str) -> DataFusionError {
    let name = parts(text).map_or_else(|| text.to_owned(), |parts| parts.join("."));
    let message = format!("relation \"{name}\" does not exist");
    DataFusionError::External(Box::new(Failure::new(code::UNDEFINED_TABLE, message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_names_of_sql() {
        for (text, expected) in [
            ("integer", Some("int4")),
            ("Double  Precision", Some("float8")),
            ("timestamp(3) with time zone", Some("timestamptz")),
            ("numeric(10, 2)", Some("numeric")),
            ("pg_catalog.int8", Some("int8")),
            ("\"char\"", Some("char")),
            ("public.int8", None),
            ("no type", None),
            ("", None),
        ] {
            assert_eq!(short_name(text).as_deref(), expected, "{text}");
        }
    }
}
