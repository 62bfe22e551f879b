//! `tracesql INPUT…`: traces or a store, and SQL over them at once.

use std::path::Path;

use tracesql_ingest::Store;

use super::args::{Global, OpenArgs};
use super::cache::Cache;
use super::ingest;
use super::query::run_sql;
use crate::engine::Engine;
use crate::error::{Error, Result};

pub fn run(args: &OpenArgs, global: &Global) -> Result<()> {
    let stores = args.inputs.iter().filter(|i| Store::is_store(Path::new(i))).count();
    if stores > 0 && args.inputs.len() > 1 {
        return Err(Error::Usage("open either one store, or traces".into()));
    }
    if stores == 1 && args.strict {
        return Err(Error::Usage("--strict is for traces; a store was read already".into()));
    }
    let engine = if stores == 1 {
        Engine::open(&Store::open(Path::new(&args.inputs[0]))?, None, &global.engine_options())?
    } else {
        let cache = Cache::open()?;
        let traces = ingest::all(ingest::inputs(&args.inputs), &args.inputs, |input| cache.trace(input, args.strict, global))?;
        Engine::open(cache.store(), Some(&traces), &global.engine_options())?
    };
    run_sql(engine, &args.sql, global)
}
