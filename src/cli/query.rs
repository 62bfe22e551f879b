//! `tracesql query`: SQL over a store.

use std::io::{IsTerminal, Read};

use datafusion::common::ScalarValue;
use tracesql_ingest::Store;

use super::args::{Global, QueryArgs, SqlArgs};
use super::{block_on, repl, warn_of_problems};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::output::{self, Format, Target};

pub fn run(args: &QueryArgs, global: &Global) -> Result<()> {
    let store = Store::open(&args.store)?;
    let engine = Engine::open(&store, None, &global.engine_options())?;
    run_sql(engine, &args.sql, global)
}

/// Runs the SQL that was given; without any, a shell on a terminal, else what standard input holds.
pub fn run_sql(engine: Engine, args: &SqlArgs, global: &Global) -> Result<()> {
    warn_of_problems(&engine);
    let sql = match (&args.command, &args.file) {
        (Some(sql), _) => sql.clone(),
        (None, Some(path)) if path.as_os_str() == "-" => from_stdin()?,
        (None, Some(path)) => std::fs::read_to_string(path).map_err(|e| Error::Usage(format!("{}: {e}", path.display())))?,
        (None, None) if std::io::stdin().is_terminal() => return repl::run(engine, global),
        (None, None) => from_stdin()?,
    };
    let parameters: Vec<(String, ScalarValue)> = args.parameters.iter().map(|(name, value)| (name.clone(), scalar(value))).collect();
    block_on(global, async {
        let statements = engine.parse(&sql)?;
        if statements.is_empty() {
            return Err(Error::Usage("there is no SQL to run".into()));
        }
        let last = statements.len() - 1;
        if args.output.is_some() && last > 0 {
            return Err(Error::Usage("-o takes the result of one statement; give one".into()));
        }
        for statement in statements {
            let target = args.output.clone().map_or(Target::Stdout, Target::File);
            let format = args.format.or_else(|| args.output.as_deref().and_then(Format::of_file)).unwrap_or(Format::Table);
            let result = engine.run(statement, &parameters).await?;
            output::write(result, format, &target).await?;
        }
        Ok(())
    })
}

fn from_stdin() -> Result<String> {
    let mut sql = String::new();
    std::io::stdin().read_to_string(&mut sql).map_err(|e| Error::Usage(format!("standard input: {e}")))?;
    Ok(sql)
}

/// A parameter's value: a number, true, false, null, or text.
fn scalar(text: &str) -> ScalarValue {
    if let Ok(n) = text.parse::<i64>() {
        return ScalarValue::Int64(Some(n));
    }
    match text {
        "true" => ScalarValue::Boolean(Some(true)),
        "false" => ScalarValue::Boolean(Some(false)),
        "null" => ScalarValue::Null,
        _ => match text.parse::<f64>() {
            Ok(f) if f.is_finite() => ScalarValue::Float64(Some(f)),
            _ => ScalarValue::Utf8(Some(text.to_owned())),
        },
    }
}
