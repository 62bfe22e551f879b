//! The functions in a plain DataFusion session:
//! `cargo run --release -p tracesql-udfs --example in_datafusion`

use datafusion::error::Result;
use datafusion::prelude::SessionContext;

#[tokio::main]
async fn main() -> Result<()> {
    let mut context = SessionContext::new();
    tracesql_udfs::register(&mut context)?;
    for planner in tracesql_udfs::relation_planners() {
        context.register_relation_planner(planner)?;
    }

    // Calls of one thread: name, start and end in nanoseconds.
    context
        .sql(
            "CREATE TABLE calls AS SELECT * FROM (VALUES
               ('train', 0, 1000), ('forward', 100, 500), ('mm', 150, 400), ('backward', 500, 900)
             ) AS t(name, s, e)",
        )
        .await?
        .collect()
        .await?;

    for sql in [
        // Time without children, and the stack of each call.
        "SELECT fold_stack(stack(name, s, e) OVER calls_by_time) AS stack,
                format_ns(nest_self(s, e) OVER calls_by_time) AS self_time
         FROM calls WINDOW calls_by_time AS (ORDER BY s, e DESC)",
        // The time in which any of them ran.
        "SELECT interval_union_len(s, e) AS busy_ns FROM calls WHERE name <> 'train'",
        "SELECT short_name('void at::native::reduce_kernel<512, 1>(float*)') AS kernel",
    ] {
        context.sql(sql).await?.show().await?;
    }
    Ok(())
}
