//! Evidence: the query of a finding returns rows. Its numerator and denominator are in columns with
//! these names, with the same values in each row.

use std::collections::BTreeSet;

use tracesql::engine::Engine;

use super::{all_fixtures, all_traces};
use crate::support::rows_of;

/// The number of queries that run at once, so that their shared views are computed once.
const AT_ONCE: usize = 40;

struct Finding {
    name: String,
    numbers: [String; 2],
    evidence: String,
}

/// The findings with a numerator that a condition selects, and those without one. Those of a trace
/// come together, because they read the same rows of the same views.
fn findings(engine: &Engine, condition: &str) -> (Vec<Finding>, Vec<Finding>) {
    let sql = format!(
        "SELECT rule, trace_id, device, subject, numerator, denominator, evidence FROM ( \
             SELECT *, row_number() OVER (PARTITION BY rule, trace_id \
             ORDER BY numerator DESC, subject) AS place FROM findings \
             WHERE status <> 'not_measurable' \
         ) WHERE {condition} ORDER BY trace_id, rule, device, subject"
    );
    let rows = rows_of(engine, &sql).unwrap_or_else(|e| panic!("{e}"));
    let finding = |r: Vec<String>| Finding {
        name: r[..4].join(" "),
        numbers: [r[4].clone(), r[5].clone()],
        evidence: r[6].clone(),
    };
    rows.into_iter().map(finding).partition(|f| f.numbers[0] != "NULL")
}

/// The problems in the evidence of findings. If `are_measured`, the evidence has its numbers in
/// columns.
fn wrong(engine: &Engine, findings: &[Finding], are_measured: bool) -> Vec<String> {
    let numbers = if are_measured {
        "CAST(min(numerator) AS VARCHAR) AS n, CAST(max(numerator) AS VARCHAR) AS n2, \
            CAST(min(denominator) AS VARCHAR) AS d, CAST(max(denominator) AS VARCHAR) AS d2"
    } else {
        "NULL AS n, NULL AS n2, NULL AS d, NULL AS d2"
    };
    let mut wrong = Vec::new();
    for some in findings.chunks(AT_ONCE) {
        let of = |(i, f): (usize, &Finding)| {
            format!("SELECT {i} AS place, count(*) AS shown, {numbers} FROM ({})", f.evidence)
        };
        let sql: Vec<String> = some.iter().enumerate().map(of).collect();
        let rows = match rows_of(engine, &sql.join(" UNION ALL ")) {
            Ok(rows) => rows,
            Err(e) => {
                let e: String = e.to_string().chars().take(300).collect();
                wrong.push(format!(
                    "{} to {}: {e}\n{}",
                    some[0].name,
                    some[some.len() - 1].name,
                    some[0].evidence
                ));
                continue;
            }
        };
        for row in rows {
            let finding = &some[row[0].parse::<usize>().expect("a place")];
            let [numerator, denominator] = &finding.numbers;
            let is_right = !are_measured
                || [&row[2], &row[3], &row[4], &row[5]]
                    == [numerator, numerator, denominator, denominator];
            if row[1] == "0" || !is_right {
                wrong.push(format!(
                    "{}: {numerator} of {denominator}, but the evidence has {} rows with {} of {}: \
                        {}",
                    finding.name, row[1], row[2], row[4], finding.evidence
                ));
            }
        }
    }
    wrong
}

fn check(engine: &Engine, condition: &str) -> BTreeSet<String> {
    let (measured, others) = findings(engine, condition);
    let mut all = wrong(engine, &measured, true);
    all.extend(wrong(engine, &others, false));
    assert!(all.is_empty(), "{} are wrong:\n{}", all.len(), all.join("\n"));
    measured.iter().filter_map(|f| f.name.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn evidence_gives_the_numbers_of_all_rules_in_fixtures() {
    let store = all_fixtures();
    let engine = store.engine();
    let rules = check(&engine, "numerator IS NOT NULL OR status = 'finding'");
    assert!(rules.len() >= 18, "only rules with numbers: {rules:?}");
}

#[test]
fn evidence_with_other_numbers_is_found() {
    let store = all_fixtures();
    let engine = store.engine();
    let (mut measured, _) = findings(&engine, "rule = 'gpu_idle' AND status = 'finding'");
    measured.truncate(1);
    assert!(wrong(&engine, &measured, true).is_empty());
    measured[0].numbers[0].push('0');
    assert_eq!(wrong(&engine, &measured, true).len(), 1);
    measured[0].evidence = "SELECT 1 AS numerator, 1 AS denominator WHERE false".to_owned();
    assert_eq!(wrong(&engine, &measured, false).len(), 1);
}

mod corpus {
    use super::*;

    /// One finding of each rule in each trace. Hot operations and unusual files have many, whose
    /// evidence differs only in a name.
    #[test]
    fn evidence_gives_the_numbers_of_findings_in_every_trace() {
        let Some(store) = all_traces() else { return };
        let rules = check(&store.engine(), "status = 'finding' AND place = 1");
        assert!(rules.len() >= 10, "only rules with numbers: {rules:?}");
    }
}
