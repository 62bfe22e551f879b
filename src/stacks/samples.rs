//! Collects the samples of a store with SQL queries.

use datafusion::arrow::array::RecordBatch;
use futures::{StreamExt, TryStreamExt};
use tracesql_formats::frames::Kernel;
use tracesql_formats::pprof::{Builder, Collector, Header};

use super::header::{header, source};
use super::inclusive;
use super::notes::anomalies;
use super::request::{Request, Rule};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::output::units::plural;

/// Samples with a header and notes.
pub struct Samples {
    /// The stacks, labels and values.
    pub profile: Builder,
    /// The header of the profile. Its comments have all details.
    pub header: Header,
    /// The name of the base of a comparison.
    pub base_source: Option<String>,
    /// Warnings about anything that changes the result and that a user may not expect. There is at
    /// most one about the traces, and one about rows without a stack.
    pub notes: Vec<String>,
}

/// Collects the samples of a store. Samples of `base` count as negative.
pub async fn collect(engine: &Engine, base: Option<&Engine>, request: &Request) -> Result<Samples> {
    let is_inclusive = request.rule == Rule::Inclusive && request.sql.is_none();
    let profile = async {
        if is_inclusive {
            inclusive_samples(engine, base, request).await
        } else {
            query_samples(engine, base, request).await
        }
    };
    let (profile, anomalies) = futures::join!(profile, anomalies(engine, request));
    let ((mut profile, without_stack), anomalies) = (profile?, anomalies?);
    let mut kernels = kernels(engine, request).await?;
    if let Some(base) = base {
        kernels.extend(self::kernels(base, request).await?);
    }
    profile.name_frames(kernels, request.frame_options());
    let mut header = header(engine, request, &profile).await?;
    let mut notes: Vec<String> = anomalies.warning().into_iter().collect();
    header.comments = vec![
        concat!("tracesql ", env!("CARGO_PKG_VERSION")).to_owned(),
        request.rule_comment().to_owned(),
    ];
    header.comments.extend(request.sql.as_ref().map(|sql| format!("SQL: {sql}")));
    header.comments.extend(request.conditions().map(|c| format!("only rows with {c}")));
    header.comments.extend(anomalies.details());
    if without_stack > 0 {
        let verb = if without_stack == 1 { "is" } else { "are" };
        let rows = plural(without_stack, "row");
        let note = format!("{without_stack} {rows} without a stack {verb} left out");
        header.comments.push(note.clone());
        notes.push(note);
    }
    let base_source = match base {
        Some(base) => Some(source(base, None).await?),
        None => None,
    };
    Ok(Samples { profile, header, base_source, notes })
}

/// The samples of the rule of torch2pprof. No row lacks a stack.
async fn inclusive_samples(
    engine: &Engine,
    base: Option<&Engine>,
    request: &Request,
) -> Result<(Builder, u64)> {
    let sql = request.inclusive_sql();
    let mut profile = inclusive::profile(request.merges_steps())?;
    inclusive::add(&mut profile, engine, &sql, 1).await?;
    if let Some(base) = base {
        inclusive::add(&mut profile, base, &sql, -1).await?;
    }
    Ok((profile, 0))
}

/// The samples of a query, and the number of its rows that have no stack.
async fn query_samples(
    engine: &Engine,
    base: Option<&Engine>,
    request: &Request,
) -> Result<(Builder, u64)> {
    let mut collector = None;
    add(engine, request, false, &mut collector).await?;
    if let Some(base) = base {
        add(base, request, true, &mut collector).await?;
    }
    let Some(collector) = collector else {
        return Err(Error::Usage("the query gives no result".into()));
    };
    let without_stack = collector.without_stack;
    Ok((collector.finish(), without_stack))
}

async fn add(
    engine: &Engine,
    request: &Request,
    base: bool,
    collector: &mut Option<Collector>,
) -> Result<()> {
    let mut statements = engine.parse(&request.sql())?;
    if statements.len() != 1 {
        return Err(Error::Usage(format!(
            "give one query for the samples, not {}",
            statements.len()
        )));
    }
    let mut result = engine.run(statements.remove(0), &[]).await?;
    let collector = match collector {
        Some(collector) => collector,
        None => {
            let mut new = Collector::new(&result.schema())?;
            if request.merges_steps() {
                new.merge_steps();
            }
            collector.insert(new)
        }
    };
    while let Some(batch) = result.next().await {
        collector.add(&batch?, base)?;
    }
    Ok(())
}

/// The names of all device work of a store, with classes if a flame graph asks for them.
async fn kernels(engine: &Engine, request: &Request) -> Result<Vec<Kernel>> {
    let sql = match (request.classes, request.frame_options().full_names) {
        (true, _) => "SELECT DISTINCT name, class FROM kernel_classes WHERE name IS NOT NULL",
        // Only short names and colours depend on the kernels.
        (false, true) => return Ok(Vec::new()),
        (false, false) => {
            "SELECT DISTINCT name, CAST(NULL AS VARCHAR) AS class FROM kernels WHERE name IS NOT \
             NULL"
        }
    };
    let mut found = Vec::new();
    for batch in rows(engine, sql).await? {
        let (names, classes) = (texts(&batch, 0)?, texts(&batch, 1)?);
        let kernel =
            |(name, class): (Option<String>, Option<String>)| Some(Kernel { name: name?, class });
        found.extend(names.into_iter().zip(classes).filter_map(kernel));
    }
    Ok(found)
}

/// The rows of a small query, which may name views.
pub(super) async fn rows(engine: &Engine, sql: &str) -> Result<Vec<RecordBatch>> {
    let mut batches = Vec::new();
    for statement in engine.parse(sql)? {
        batches.extend(engine.run(statement, &[]).await?.try_collect::<Vec<_>>().await?);
    }
    Ok(batches)
}

/// A column as texts.
pub(super) fn texts(batch: &RecordBatch, at: usize) -> Result<Vec<Option<String>>> {
    use datafusion::arrow::array::AsArray;
    use datafusion::arrow::compute::cast;
    use datafusion::arrow::datatypes::DataType;
    let column = cast(batch.column(at), &DataType::Utf8)
        .map_err(datafusion::error::DataFusionError::from)?;
    Ok(column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect())
}

/// The whole numbers in the first row. Other values are `None`.
pub(super) async fn first_ints(engine: &Engine, sql: &str) -> Result<Vec<Option<i64>>> {
    use datafusion::arrow::array::{Array, AsArray};
    use datafusion::arrow::datatypes::Int64Type;
    let batches = rows(engine, sql).await?;
    let Some(batch) = batches.iter().find(|b| b.num_rows() > 0) else { return Ok(Vec::new()) };
    Ok(batch
        .columns()
        .iter()
        .map(|c| c.as_primitive_opt::<Int64Type>().filter(|c| c.is_valid(0)).map(|c| c.value(0)))
        .collect())
}
