//! The files of `tests/slt`: SQL and its answers over a store of all fixtures; those of
//! `tests/slt/rules` also have the traces that each show a bottleneck, which other answers need not
//! know.
//!
//! `TRACESQL_BLESS=1` writes the answers of today into the files; read the difference before you keep it.

use std::path::{Path, PathBuf};

use arrow::util::display::{ArrayFormatter, FormatOptions};
use async_trait::async_trait;
use futures::TryStreamExt;
use sqllogictest::{AsyncDB, ColumnType, DBOutput, Runner};
use tracesql::engine::{Engine, EngineOptions};
use tracesql_ingest::Store;

use crate::support::{TestStore, bottlenecks, fixtures, root};

/// A session as the runner wants it.
struct Session(Engine);

#[async_trait]
impl AsyncDB for Session {
    type Error = tracesql::Error;
    type ColumnType = Letter;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<Letter>, tracesql::Error> {
        // A setting for the rest of the file, written as in the shell.
        if let Some((name, value)) =
            sql.strip_prefix("\\set ").and_then(|rest| rest.split_once(' '))
        {
            let done = self.0.settings().set(name, value.trim());
            return if done {
                Ok(DBOutput::StatementComplete(0))
            } else {
                Err(tracesql::Error::Usage(format!("{name} is no setting")))
            };
        }
        let mut output = DBOutput::StatementComplete(0);
        for statement in self.0.parse(sql)? {
            let stream = self.0.run(statement, &[]).await?;
            let schema = stream.schema();
            let batches: Vec<_> = stream.try_collect().await?;
            if schema.fields().is_empty() {
                continue;
            }
            let options = FormatOptions::new().with_null("NULL");
            let mut rows = Vec::new();
            for batch in &batches {
                let columns: Result<Vec<_>, _> = batch
                    .columns()
                    .iter()
                    .map(|c| ArrayFormatter::try_new(c.as_ref(), &options))
                    .collect();
                let columns = columns.map_err(|e| tracesql::Error::Query(e.to_string()))?;
                rows.extend(
                    (0..batch.num_rows())
                        .map(|i| columns.iter().map(|c| cell(c.value(i).to_string())).collect()),
                );
            }
            let types = schema.fields().iter().map(|f| kind(f.data_type())).collect();
            output = DBOutput::Rows { types, rows };
        }
        Ok(output)
    }

    async fn shutdown(&mut self) {}
}

fn cell(value: String) -> String {
    if value.is_empty() { "(empty)".to_owned() } else { value.replace(['\n', '\t'], " ") }
}

/// Types as the files write them: I integer, R number, B boolean, T anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Letter(char);

impl ColumnType for Letter {
    fn from_char(value: char) -> Option<Self> {
        Some(Self(value))
    }

    fn to_char(&self) -> char {
        self.0
    }
}

fn kind(data_type: &arrow::datatypes::DataType) -> Letter {
    use arrow::datatypes::DataType;
    Letter(match data_type {
        t if t.is_integer() => 'I',
        t if t.is_floating() => 'R',
        DataType::Boolean => 'B',
        _ => 'T',
    })
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|e| e.expect("an entry").path())
        .collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            files(&entry, into);
        } else if entry.extension().is_some_and(|e| e == "slt") {
            into.push(entry);
        }
    }
}

fn runner(store: &Store) -> Runner<Session, impl sqllogictest::MakeConnection<Conn = Session>> {
    let store = store.clone();
    Runner::new(move || {
        let engine = Engine::open(&store, None, &EngineOptions::default());
        async move { engine.map(Session) }
    })
}

fn check(all: &[PathBuf], store: &TestStore) {
    assert!(!all.is_empty(), "there are no .slt files");
    let bless = std::env::var_os("TRACESQL_BLESS").is_some();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut failures = Vec::new();
    for file in all {
        let result = runtime.block_on(async {
            let mut runner = runner(&store.store);
            runner.with_column_validator(sqllogictest::strict_column_validator);
            if bless {
                let validator = sqllogictest::default_validator;
                let normalizer = sqllogictest::default_normalizer;
                let columns = sqllogictest::strict_column_validator;
                return runner
                    .update_test_file(file, " ", validator, normalizer, columns)
                    .await
                    .map_err(|e| e.to_string());
            }
            runner.run_file_async(file).await.map_err(|e| e.to_string())
        });
        failures.extend(result.err().map(|e| format!("{}\n{e}", file.display())));
    }
    assert!(
        failures.is_empty(),
        "{} of {} files failed\n\n{}",
        failures.len(),
        all.len(),
        failures.join("\n\n")
    );
}

/// The files of `tests/slt`: those about rules, and the others.
fn parts() -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut all = Vec::new();
    files(&root().join("tests/slt"), &mut all);
    all.into_iter().partition(|f| f.starts_with(root().join("tests/slt/rules")))
}

#[test]
fn answers_are_those_of_the_files() {
    check(&parts().1, &fixtures());
}

#[test]
fn answers_of_rules_are_those_of_the_files() {
    check(&parts().0, &bottlenecks());
}

/// Each view and function is at least named in a file; what it gives there is up to the reader to
/// judge.
#[test]
fn every_view_and_function_is_in_a_file() {
    let mut all = Vec::new();
    files(&root().join("tests/slt"), &mut all);
    let text: String =
        all.iter().map(|f| std::fs::read_to_string(f).expect("the file is read")).collect();
    let words: std::collections::HashSet<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let library = tracesql::library::Library::load(&[]).expect("the library loads");
    let mut missing: Vec<String> = library
        .public_views()
        .map(|v| v.name.clone())
        .filter(|n| !words.contains(n.as_str()))
        .collect();
    let functions = tracesql::engine::functions();
    missing.extend(
        functions.iter().map(|f| f.doc.name.to_owned()).filter(|n| !text.contains(n.as_str())),
    );
    assert!(missing.is_empty(), "in no .slt file: {}", missing.join(", "));
}
