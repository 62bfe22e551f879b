//! SQL as users write it: forms of other engines that work here, the names of result columns, and
//! the errors for common mistakes.

mod column_names;
mod forms;
mod mistakes;

use futures::TryStreamExt;
use tracesql::engine::Engine;
use tracesql::explain::{Audience, explained};

use crate::support::{TestStore, fixture};

/// A store with a trace that has kernels and steps.
fn store() -> TestStore {
    TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0
}

/// The error of the last statement of a text, as the shell shows it.
fn error(engine: &Engine, sql: &str) -> String {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let done = runtime.block_on(async {
        for statement in engine.parse(sql)? {
            let _: Vec<_> = engine.run(statement, &[]).await?.try_collect().await?;
        }
        Ok::<_, tracesql::Error>(())
    });
    match done {
        Ok(()) => panic!("{sql}: this runs"),
        Err(e) => explained(e, sql, engine, Audience::Shell).to_string(),
    }
}

/// The names of the columns of a query.
fn columns(engine: &Engine, sql: &str) -> Vec<String> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let schema = runtime.block_on(async {
        let statement = engine.parse(sql)?.remove(0);
        Ok::<_, tracesql::Error>(engine.run(statement, &[]).await?.schema())
    });
    let schema = schema.unwrap_or_else(|e| panic!("{sql}: {e}"));
    schema.fields().iter().map(|f| f.name().clone()).collect()
}
