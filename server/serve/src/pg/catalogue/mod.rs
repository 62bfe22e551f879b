//! The catalogue: what clients of PostgreSQL ask about tables, columns and types.
//!
//! It is a session of its own, whose relations have the columns and comments of the documentation
//! and no rows. Most of `pg_catalog` comes from the crate datafusion-pg-catalog.

mod functions;
mod relations;
mod rewrite;
mod tables;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, RecordBatch, new_null_array};
use datafusion::arrow::datatypes::{DataType, Field, Int16Type, Int32Type, Schema};
use datafusion::catalog::{CatalogProvider, MemoryCatalogProvider, MemorySchemaProvider};
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{ParamValues, ScalarValue};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement;
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::setup_pg_catalog;
use datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use tracesql::engine::Engine;

use super::client::{Client, Stop};
use super::types::{self, Kind};
use super::variables::Variables;
use crate::failure::{Failure, code};
use crate::query::{self, Described};
use relations::{Relation, WithoutRows};

const CATALOG: &str = "tracesql";
/// The number of `pg_class` in PostgreSQL.
const PG_CLASS: i32 = 1_259;

/// A session that answers queries of the catalogue.
pub struct Catalogue {
    state: SessionState,
    /// The names of relations whose rows the engine has.
    relations: HashSet<String>,
    parser: PostgresCompatibilityParser,
}

/// A planned query of the catalogue.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is moved once")]
pub enum Plan {
    /// It reads the catalogue only.
    Catalogue(SessionState, LogicalPlan),
    /// It reads rows of traces, which the engine has.
    Engine,
}

impl Catalogue {
    /// The catalogue of the relations that a connection sees.
    pub async fn new(engine: &Engine) -> Result<Self, Failure> {
        let relations = Relation::all(engine).await;
        let config = SessionConfig::new()
            .with_default_catalog_and_schema(CATALOG, "public")
            .with_create_default_catalog_and_schema(false)
            .with_target_partitions(1);
        // The memory of its queries counts as that of the engine's.
        let context = SessionContext::new_with_config_rt(config, engine.context().runtime_env());
        let catalog = Arc::new(MemoryCatalogProvider::new());
        let public = MemorySchemaProvider::new();
        for relation in &relations {
            public.register_table(relation.name.clone(), Arc::new(WithoutRows::new(relation)))?;
        }
        catalog.register_schema("public", Arc::new(public))?;
        catalog.register_schema("information_schema", tables::information_schema(&relations)?)?;
        context.register_catalog(CATALOG, catalog.clone());
        setup_pg_catalog(&context, CATALOG, EmptyContextProvider).map_err(|e| Failure::from(*e))?;
        let classes = rows(&context, "SELECT * FROM pg_catalog.pg_class").await?;
        let attributes = rows(&context, "SELECT * FROM pg_catalog.pg_attribute").await?;
        let attributes =
            attributes.into_iter().map(|b| with_types(b, &classes, &relations)).collect();
        let classes = classes.into_iter().map(with_options).collect::<Result<Vec<_>>>()?;
        let oids = oids(&context).await?;
        let oid = |name: &str| oids.get(name).copied();
        let mut ours: HashMap<&'static str, Arc<dyn TableProvider>> = HashMap::from([
            ("pg_description", tables::descriptions(&relations, class_of_classes(&classes), oid)?),
            ("pg_views", tables::views(&relations)?),
            ("pg_tables", tables::tables(&relations)?),
        ]);
        for (name, batches) in [("pg_class", classes), ("pg_attribute", attributes)] {
            if let Some(schema) = batches.first().map(RecordBatch::schema) {
                ours.insert(name, Arc::new(MemTable::try_new(schema, vec![batches])?));
            }
        }
        let theirs = catalog.schema("pg_catalog");
        catalog.register_schema("pg_catalog", Arc::new(PgCatalog { theirs, ours }))?;
        let mut comments = HashMap::new();
        let mut definitions = HashMap::new();
        for relation in &relations {
            let Some(oid) = oid(&relation.name).map(i64::from) else { continue };
            comments.insert((oid, 0), relation.comment.clone());
            for (at, (_, _, comment)) in relation.columns.iter().enumerate() {
                comments.insert((oid, at as i64 + 1), comment.clone());
            }
            if let Some(definition) = &relation.definition {
                definitions.insert(oid, definition.clone());
            }
        }
        for function in functions::of_server(&Arc::new(comments), Arc::new(definitions)) {
            context.register_udf(function);
        }
        Ok(Self {
            state: context.state(),
            relations: relations.into_iter().map(|relation| relation.name).collect(),
            parser: PostgresCompatibilityParser::new(),
        })
    }

    /// Plans a query for a connection.
    async fn plan(
        &self,
        sql: &str,
        user: &str,
        pid: i32,
        variables: &Variables,
    ) -> Result<Plan, Failure> {
        let syntax = |e: datafusion::sql::sqlparser::parser::ParserError| {
            Failure::new(code::SYNTAX_ERROR, e.to_string())
        };
        let mut statements = self.parser.parse(sql).map_err(syntax)?;
        let statement = match statements.len() {
            1 => {
                let mut statement = statements.remove(0);
                rewrite::rewrite(&mut statement);
                Statement::Statement(Box::new(statement))
            }
            _ => return Err(Failure::new(code::SYNTAX_ERROR, "one statement was expected")),
        };
        crate::allowed::check(&statement)?;
        if query::changes_views(&statement) {
            let text = "a view cannot be made from the catalogue";
            return Err(Failure::new(code::FEATURE_NOT_SUPPORTED, text));
        }
        let context = SessionContext::new_with_state(self.state.clone());
        for function in functions::of_connection(user, pid, variables) {
            context.register_udf(function);
        }
        let state = context.state();
        let plan = state.statement_to_plan(statement).await?;
        match self.reads_traces(&plan)? {
            true => Ok(Plan::Engine),
            false => Ok(Plan::Catalogue(state, plan)),
        }
    }

    /// Whether a plan scans a relation whose rows the engine has.
    fn reads_traces(&self, plan: &LogicalPlan) -> Result<bool> {
        let mut found = false;
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                // A name without a schema may also be that of a recursive query, or of a function.
                found |= scan.table_name.schema().is_none_or(|schema| schema == "public")
                    && scan.table_name.catalog().is_none_or(|catalog| catalog == CATALOG)
                    && self.relations.contains(scan.table_name.table());
            }
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        Ok(found)
    }
}

async fn rows(context: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>> {
    context.sql(sql).await?.collect().await
}

/// The numbers of public relations.
async fn oids(context: &SessionContext) -> Result<HashMap<String, i32>> {
    let sql = "SELECT c.oid, c.relname FROM pg_catalog.pg_class c \
               JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = 'public'";
    let mut found = HashMap::new();
    for batch in rows(context, sql).await? {
        let numbers = batch.column(0).as_primitive::<Int32Type>();
        let names = datafusion::arrow::compute::cast(batch.column(1), &DataType::Utf8)?;
        for (oid, name) in numbers.iter().zip(names.as_string::<i32>()) {
            if let (Some(oid), Some(name)) = (oid, name) {
                found.insert(name.to_owned(), oid);
            }
        }
    }
    Ok(found)
}

/// The number of `pg_class` in itself, as `'pg_class'::regclass` finds it.
fn class_of_classes(classes: &[RecordBatch]) -> i32 {
    let find = |batch: &RecordBatch| {
        let oids = batch.column_by_name("oid")?.as_primitive_opt::<Int32Type>()?.clone();
        let names = batch.column_by_name("relname")?.as_string_opt::<i32>()?.clone();
        let at = names.iter().position(|name| name == Some("pg_class"))?;
        Some(oids.value(at))
    };
    classes.iter().find_map(find).unwrap_or(PG_CLASS)
}

/// The columns of relations with the types that their values are sent in.
fn with_types(batch: RecordBatch, classes: &[RecordBatch], relations: &[Relation]) -> RecordBatch {
    let mut names: HashMap<i32, String> = HashMap::new();
    for class in classes {
        let (Some(oids), Some(texts)) =
            (class.column_by_name("oid"), class.column_by_name("relname"))
        else {
            continue;
        };
        let (Some(oids), Some(texts)) =
            (oids.as_primitive_opt::<Int32Type>(), texts.as_string_opt::<i32>())
        else {
            continue;
        };
        names.extend(oids.iter().zip(texts).filter_map(|(o, n)| Some((o?, n?.to_owned()))));
    }
    let by_name: HashMap<&str, &Relation> =
        relations.iter().map(|r| (r.name.as_str(), r)).collect();
    let Ok(at) = batch.schema().index_of("atttypid") else { return batch };
    let column = |name: &str| batch.column_by_name(name).cloned();
    let (Some(owners), Some(numbers)) = (column("attrelid"), column("attnum")) else {
        return batch;
    };
    let (Some(owners), Some(numbers), Some(types)) = (
        owners.as_primitive_opt::<Int32Type>(),
        numbers.as_primitive_opt::<Int16Type>(),
        batch.column(at).as_primitive_opt::<Int32Type>(),
    ) else {
        return batch;
    };
    let types: Int32Array = (0..batch.num_rows())
        .map(|row| {
            let relation = names.get(&owners.value(row)).and_then(|n| by_name.get(n.as_str()));
            let number = usize::try_from(numbers.value(row)).unwrap_or(0);
            let column = relation.and_then(|r| r.columns.get(number.checked_sub(1)?));
            match column {
                Some((_, data_type, _)) => Some(Kind::of(data_type).oid() as i32),
                None => types.is_valid(row).then(|| types.value(row)),
            }
        })
        .collect();
    let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
    columns[at] = Arc::new(types);
    RecordBatch::try_new(batch.schema(), columns).unwrap_or(batch)
}

/// `pg_class` with the columns that the crate leaves out. They are NULL.
fn with_options(batch: RecordBatch) -> Result<RecordBatch> {
    let texts = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
    let mut fields: Vec<Field> =
        batch.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    let mut columns = batch.columns().to_vec();
    for name in ["relacl", "reloptions"] {
        let values = new_null_array(&texts, batch.num_rows());
        match fields.iter().position(|field| field.name() == name) {
            // As text it could not be joined with other options.
            Some(at) => {
                fields[at] = Field::new(name, texts.clone(), true);
                columns[at] = values;
            }
            None => {
                fields.push(Field::new(name, texts.clone(), true));
                columns.push(values);
            }
        }
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// `pg_catalog`, with some tables of our own.
#[derive(Debug)]
struct PgCatalog {
    theirs: Option<Arc<dyn SchemaProvider>>,
    ours: HashMap<&'static str, Arc<dyn TableProvider>>,
}

#[async_trait]
impl SchemaProvider for PgCatalog {
    fn table_names(&self) -> Vec<String> {
        self.theirs.as_ref().map(|theirs| theirs.table_names()).unwrap_or_default()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        match (self.ours.get(name), &self.theirs) {
            (Some(table), _) => Ok(Some(table.clone())),
            (None, Some(theirs)) => theirs.table(name).await,
            (None, None) => Ok(None),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        self.ours.contains_key(name)
            || self.theirs.as_ref().is_some_and(|theirs| theirs.table_exist(name))
    }
}

impl Client {
    /// The catalogue of this connection: that of the server, unless the connection has views of its
    /// own.
    async fn catalogue(&mut self) -> Result<Arc<Catalogue>, Stop> {
        let session = self.session.clone();
        let limit = self.variables.statement_timeout();
        let make = async move {
            let made =
                session.planned(limit, |engine| async move { Catalogue::new(&engine).await });
            made.await.map(Arc::new)
        };
        if self.has_views {
            if self.own_catalogue.is_none() {
                self.own_catalogue = Some(self.wire.unless_lost(make).await??);
            }
            return Ok(self.own_catalogue.clone().ok_or_else(Failure::crashed)?);
        }
        let pg = self.pg.clone();
        // Another connection may be making it. Waiting for that has a limit too.
        let bounds = self.session.bounds(limit);
        let shared = async {
            tokio::select! {
                made = pg.catalogue.get_or_try_init(|| make) => made.cloned(),
                failure = bounds.end() => Err(failure),
            }
        };
        Ok(self.wire.unless_lost(shared).await??)
    }

    /// Plans a query of the catalogue, on the threads of queries.
    async fn plan_catalogue(&mut self, sql: &str) -> Result<Plan, Stop> {
        let catalogue = self.catalogue().await?;
        let variables = self.variables.clone();
        let user = variables.get("session_authorization").map_or("", |(_, user)| user).to_owned();
        let (sql, pid) = (sql.to_owned(), self.pid());
        let (session, limit) = (self.session.clone(), self.variables.statement_timeout());
        let planned = session
            .planned(limit, |_| async move { catalogue.plan(&sql, &user, pid, &variables).await });
        Ok(self.wire.unless_lost(planned).await??)
    }

    /// The rows of a query of the catalogue; `None` if the engine has to answer it.
    pub(super) async fn catalogue_rows(
        &mut self,
        sql: &str,
        parameters: &[(String, ScalarValue)],
    ) -> Result<
        Option<impl Future<Output = Result<SendableRecordBatchStream, Failure>> + Send + 'static>,
        Stop,
    > {
        let (state, plan) = match self.plan_catalogue(sql).await {
            Ok(Plan::Catalogue(state, plan)) => (state, plan),
            Ok(Plan::Engine) => return Ok(None),
            Err(Stop::Failed(failure)) => {
                self.session.logged(sql).write(0, failure.code);
                return Err(Stop::Failed(failure));
            }
            Err(closed) => return Err(closed),
        };
        let values: HashMap<_, _> =
            parameters.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        Ok(Some(async move {
            let plan = match values.is_empty() {
                true => plan,
                false => plan.with_param_values(ParamValues::Map(values))?,
            };
            Ok(DataFrame::new(state, plan).execute_stream().await?)
        }))
    }

    /// The columns and parameters of a query of the catalogue.
    pub(super) async fn describe_catalogue(
        &mut self,
        sql: &str,
        given: Vec<(String, DataType)>,
    ) -> Result<Described, Stop> {
        match self.plan_catalogue(sql).await? {
            Plan::Catalogue(_, plan) => {
                let mut described = query::described(plan, &given).map_err(Failure::from)?;
                described.schema = types::with_oids(&described.schema);
                Ok(described)
            }
            Plan::Engine => {
                let session = self.session.clone();
                let describing = session.describe(sql, given);
                Ok(self.wire.unless_lost(describing).await??)
            }
        }
    }
}
