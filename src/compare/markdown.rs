//! Writes a comparison as Markdown for a comment on a change.

use std::fmt::Write;

use super::{Comparison, is_per_step, many, percent, tables};
use crate::environment;
use crate::output::escape::{code, plain};
use crate::output::figure;

/// The maximum length of a name and of a sentence in characters. Longer texts are cut.
const MAX_NAME: usize = 120;
const MAX_SENTENCE: usize = 1000;

/// The report shows the table of steps. All other tables are folded.
pub fn report(comparison: &Comparison, limit: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "### Comparison of {} with {}\n",
        code(&comparison.cand.name, MAX_NAME),
        code(&comparison.base.name, MAX_NAME)
    );
    for warning in &comparison.warnings {
        let _ = writeln!(out, "- **warning**: {}", plain(warning, MAX_SENTENCE));
    }
    for failure in &comparison.failures {
        let _ = writeln!(
            out,
            "- **fails** {}: {}",
            code(&failure.condition, MAX_NAME),
            plain(&failure.message, MAX_SENTENCE)
        );
    }
    for note in &comparison.notes {
        let _ = writeln!(out, "- {}", plain(note, MAX_SENTENCE));
    }
    let sides = [("Base", &comparison.base), ("candidate", &comparison.cand)];
    let sides: Vec<String> = sides
        .iter()
        .map(|(word, s)| {
            format!("{word}: {}, {}", many(s.traces.len() as i64, "trace"), many(s.steps, "step"))
        })
        .collect();
    let per = if is_per_step(comparison) {
        "mean per step over ranks"
    } else {
        "per trace, because a side has no steps"
    };
    let _ = writeln!(out, "- {}. Times are {per}.", sides.join("; "));
    out.push_str(&environment::markdown_table(&comparison.differences));
    for (i, table) in tables(comparison).iter().enumerate() {
        let shown = if limit == 0 { table.rows.len() } else { limit.min(table.rows.len()) };
        let heading = format!("{}: {}", table.title, table.counts);
        if i == 0 {
            let _ = writeln!(out, "\n**{}**\n", plain(&heading, MAX_SENTENCE));
        } else {
            let _ =
                writeln!(out, "\n<details><summary>{}</summary>\n", plain(&heading, MAX_SENTENCE));
        }
        if let Some(reason) = table.reason {
            let _ = writeln!(out, "Not judged: {}\n", plain(reason, MAX_SENTENCE));
        }
        out.push_str(
            "| name | base | candidate | change | | verdict | calls | ranks | p |\n\
             | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |\n",
        );
        for row in &table.rows[..shown] {
            let both =
                |(a, b): (i64, i64)| if a == b { a.to_string() } else { format!("{a} → {b}") };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                code(row.title(), MAX_NAME),
                figure(row.base_ns, "ns"),
                figure(row.cand_ns, "ns"),
                figure(row.delta_ns(), "ns"),
                percent(row),
                mark(&row.verdict),
                both(row.calls),
                both(row.traces),
                row.p_value.map_or(String::new(), |p| format!("{p:.3}")),
            );
        }
        if shown < table.rows.len() {
            let more = table.rows.len() - shown;
            let _ = writeln!(
                out,
                "\n{} {} not shown.",
                many(more as i64, "more row"),
                if more == 1 { "is" } else { "are" }
            );
        }
        if i > 0 {
            out.push_str("\n</details>\n");
        }
    }
    out
}

fn mark(verdict: &str) -> String {
    if matches!(verdict, "slower" | "faster" | "mixed") {
        format!("**{verdict}**")
    } else {
        verdict.to_owned()
    }
}
