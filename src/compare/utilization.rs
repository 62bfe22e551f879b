//! How much of the peak of the devices the products of both sides reach.

use crate::engine::{Engine, Object, number, text};
use crate::error::Result;

/// The views divide by the time of each step, so steps and devices count by their time.
const SQL: &str = "SELECT
        s.side,
        sum(m.hfu_pct * m.step_ns) / sum(CASE WHEN m.hfu_pct IS NOT NULL THEN m.step_ns END)
            AS hfu_pct,
        sum(m.mfu_pct * m.step_ns) / sum(CASE WHEN m.mfu_pct IS NOT NULL THEN m.step_ns END)
            AS mfu_pct
    FROM step_mfu m
    JOIN compare_sides s ON s.trace_id = m.trace_id
    WHERE m.matrix_flop > 0
    GROUP BY s.side";

/// Sentences with the utilization of the peak on both sides, as mean over steps and devices. There
/// are none if a side has no products whose operations are known, or devices without peaks.
///
/// # Errors
/// If the query fails.
pub async fn utilization(engine: &Engine) -> Result<Vec<String>> {
    let rows = engine.objects(SQL).await?;
    let of = |side: &str| rows.iter().find(|row| text(row, "side").as_deref() == Some(side));
    let (Some(base), Some(cand)) = (of("base"), of("candidate")) else { return Ok(Vec::new()) };
    let sentences = [
        ("hfu_pct", "hardware FLOPs utilization (HFU)"),
        ("mfu_pct", "model FLOPs utilization (MFU)"),
    ];
    Ok(sentences.iter().filter_map(|(column, name)| sentence(base, cand, column, name)).collect())
}

fn sentence(base: &Object, cand: &Object, column: &str, name: &str) -> Option<String> {
    let (base, cand) = (number(base, column)?, number(cand, column)?);
    Some(format!(
        "{name}: {base:.1} % in the base, {cand:.1} % in the candidate, {:+.1} points",
        cand - base
    ))
}
