//! The only schema of a session: tables of the store, views of the library, data tables, system
//! tables, and relations that the user creates. Each of them is opened or planned when it is first
//! used, so that opening a store costs nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use arrow::datatypes::FieldRef;
use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::TableType;
use parking_lot::RwLock;
use tracesql_ingest::schema;

use super::cluster::Relations;
use super::settings::Settings;
use super::store_tables::{StoreTables, TRACES};
use super::{system_tables, views};
use crate::error::Error;
use crate::library::{self, Body, Library, Scope};

type Provider = Arc<dyn TableProvider>;

/// All relations of a session.
#[derive(Debug)]
pub struct Catalog {
    tables: StoreTables,
    library: Arc<Library>,
    settings: Arc<Settings>,
    state: OnceLock<Weak<RwLock<SessionState>>>,
    /// What computes relations of single traces, if not this session.
    elsewhere: OnceLock<Arc<dyn Relations>>,
    open: Mutex<HashMap<String, Provider>>,
    /// Held while a table of the store is opened, so that views which are planned in parallel read
    /// the same one.
    opening: Mutex<()>,
}

impl Catalog {
    /// Creates a catalogue. It can plan views after [`Catalog::attach`] was called.
    pub fn new(tables: StoreTables, library: Arc<Library>, settings: Arc<Settings>) -> Self {
        Self {
            tables,
            library,
            settings,
            state: OnceLock::new(),
            elsewhere: OnceLock::new(),
            open: Mutex::new(HashMap::new()),
            opening: Mutex::new(()),
        }
    }

    /// Sets what computes relations of single traces.
    pub fn compute_elsewhere(&self, relations: Arc<dyn Relations>) {
        let _ = self.elsewhere.set(relations);
    }

    /// What computes relations of single traces, if not this session.
    pub fn elsewhere(&self) -> Option<&Arc<dyn Relations>> {
        self.elsewhere.get()
    }

    /// Sets the session in which views are planned.
    pub fn attach(&self, state: Weak<RwLock<SessionState>>) {
        let _ = self.state.set(state);
    }

    fn opened(&self, name: &str) -> Option<Provider> {
        self.open.lock().unwrap_or_else(|e| e.into_inner()).get(name).cloned()
    }

    fn keep(&self, name: &str, provider: Provider) -> Option<Provider> {
        self.open.lock().unwrap_or_else(|e| e.into_inner()).insert(name.to_owned(), provider)
    }

    /// Makes all queries and views read the given rows where they name a table of the store or a
    /// view of the library. Fails if there is no such table or view, or if it has other columns.
    pub fn replace(&self, name: &str, rows: Provider) -> crate::Result<()> {
        let documented = match self.library.view(name) {
            Some(view) => view.columns.clone(),
            None => match Library::tables().find(|table| table.name == name) {
                Some(table) => table.columns,
                None => {
                    let message = format!("relation {name}: no table or view has this name");
                    return Err(Error::Usage(message));
                }
            },
        };
        let schema = rows.schema();
        let is_column = |(column, field): (&library::Column, &FieldRef)| {
            column.name == *field.name() && library::matches(&column.data_type, field.data_type())
        };
        // Most private views do not document their columns.
        let is_same = documented.is_empty()
            || documented.len() == schema.fields().len()
                && documented.iter().zip(schema.fields()).all(is_column);
        if !is_same {
            let names: Vec<&str> = documented.iter().map(|c| c.name.as_str()).collect();
            return Err(Error::Usage(format!(
                "relation {name}: its columns must be those of the reference, in order: {}",
                names.join(", ")
            )));
        }
        self.keep(name, rows);
        Ok(())
    }

    /// Whether a name is reserved by tracesql, so that users can neither replace nor drop it.
    fn is_fixed(&self, name: &str) -> bool {
        schema::table(name).is_some() || system_tables::NAMES.contains(&name)
    }

    /// What a name stands for, such as "a table of the trace"; `None` if users may use the name.
    pub fn owner(&self, name: &str) -> Option<&'static str> {
        if schema::table(name).is_some() {
            Some("a table of the trace")
        } else if system_tables::NAMES.contains(&name) {
            Some("a table of tracesql")
        } else {
            self.library.view(name).map(|_| "a view of the library")
        }
    }

    /// Plans views and the views that they build on, unless they are already planned. Views that do
    /// not build on each other are planned in parallel.
    pub fn plan(&self, names: &[&str]) -> Result<()> {
        let Some(state) = self.state.get().and_then(Weak::upgrade) else { return Ok(()) };
        let state = state.read().clone();
        let is_of_one = self.tables.are_of_one_trace();
        let is_planned = |name: &str| self.opened(name).is_some();
        views::plan_all(names, &self.library, &state, is_of_one, is_planned, |view, provider| {
            let (scope, is_narrow) = (view.scope(), view.scope() <= Scope::Job);
            let computed = self
                .elsewhere()
                .filter(|_| is_narrow)
                .and_then(|relations| relations.table(&view.name, scope, provider.schema()));
            self.keep(&view.name, computed.unwrap_or(provider));
        })
    }
}

#[async_trait]
impl SchemaProvider for Catalog {
    fn table_names(&self) -> Vec<String> {
        let mut names: Vec<String> = schema::TABLES.iter().map(|t| t.name.to_owned()).collect();
        names.extend(self.library.public_views().map(|v| v.name.clone()));
        names.extend(system_tables::NAMES.iter().map(|&n| n.to_owned()));
        names.extend(self.open.lock().unwrap_or_else(|e| e.into_inner()).keys().cloned());
        names.retain(|n| !n.starts_with('_'));
        names.sort_unstable();
        names.dedup();
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Provider>> {
        // Settings can change during a session, so their table is never kept.
        if name == system_tables::SETTINGS {
            return system_tables::settings(&self.settings).map(Some);
        }
        if let Some(provider) = self.opened(name) {
            return Ok(Some(provider));
        }
        let provider = match schema::table(name) {
            Some(table) => {
                // The table of traces is small, and says which traces there are.
                let elsewhere = self.elsewhere().filter(|_| name != TRACES).and_then(|relations| {
                    relations.table(name, Scope::Trace, StoreTables::schema(table))
                });
                if let Some(provider) = elsewhere {
                    self.keep(name, provider.clone());
                    return Ok(Some(provider));
                }
                let _opening = self.opening.lock().unwrap_or_else(|e| e.into_inner());
                if let Some(provider) = self.opened(name) {
                    return Ok(Some(provider));
                }
                let provider = self.tables.open(table)?;
                self.keep(name, provider.clone());
                provider
            }
            None if system_tables::NAMES.contains(&name) => {
                system_tables::table(name, &self.library)?
            }
            None if self.library.view(name).is_some() => {
                self.plan(&[name])?;
                return Ok(self.opened(name));
            }
            None => return Ok(None),
        };
        self.keep(name, provider.clone());
        Ok(Some(provider))
    }

    /// The type of a relation. Views are not planned for it, so that listing all tables is fast.
    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        Ok(match self.opened(name) {
            Some(provider) => Some(provider.table_type()),
            None if self.is_fixed(name) => Some(TableType::Base),
            None => self.library.view(name).map(|view| match view.body {
                Body::Query(_) => TableType::View,
                Body::Data(_) => TableType::Base,
            }),
        })
    }

    fn register_table(&self, name: String, table: Provider) -> Result<Option<Provider>> {
        if self.is_fixed(&name) {
            return Err(DataFusionError::Plan(format!(
                "{name} is a table of tracesql; choose another name"
            )));
        }
        Ok(self.keep(&name, table))
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Provider>> {
        if self.is_fixed(name) {
            return Err(DataFusionError::Plan(format!(
                "{name} is a table of tracesql; remove traces with `tracesql remove`"
            )));
        }
        Ok(self.open.lock().unwrap_or_else(|e| e.into_inner()).remove(name))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.is_fixed(name) || self.opened(name).is_some() || self.library.view(name).is_some()
    }
}
