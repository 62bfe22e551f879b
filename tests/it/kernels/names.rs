//! Labelled names of real kernels, scored by the oracle's measures. One list is in the project, and
//! one is next to the corpus.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{needs, root};

/// Minimum and maximum values of figures.
struct Limits {
    at_least: &'static [(&'static str, f64)],
    at_most: &'static [(&'static str, f64)],
}

fn check(list: &Path, limits: &Limits) {
    let output = Command::new("python3")
        .arg(root().join("tests/oracle/score_kernel_names.py"))
        .arg(env!("CARGO_BIN_EXE_tracesql"))
        .arg(list)
        .output()
        .expect("python3 runs the score");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let end = text.find("\n}").expect("an object") + 2;
    let score: Value = serde_json::from_str(&text[..end]).expect("JSON");
    let figure = |name: &str| score[name].as_f64().unwrap_or_else(|| panic!("no figure {name}"));
    assert!(figure("names") > 700.0);
    let low = limits.at_least.iter().filter(|(name, least)| figure(name) < *least);
    let high = limits.at_most.iter().filter(|(name, most)| figure(name) > *most);
    let failed: Vec<&str> = low.chain(high).map(|(name, _)| *name).collect();
    assert!(failed.is_empty(), "{failed:?}\n{text}");
}

/// Slightly below the current scores of the rules, so that the test detects a change that loses
/// names.
#[test]
fn names_of_our_own_list_are_classified() {
    let limits = Limits {
        at_least: &[
            ("communication_precision_pct", 95.0),
            ("communication_recall_pct", 96.0),
            ("collective_pct", 90.0),
            ("matrix_unit_right_pct", 98.5),
            ("matrix_unit_yes_found_pct", 87.0),
            ("gemm_recognised_pct", 93.0),
            ("conv_recognised_pct", 95.0),
            ("attention_recognised_pct", 90.0),
            ("class_pct", 88.0),
        ],
        at_most: &[("matrix_unit_wrongly_yes_pct", 0.8), ("collective_wrong", 2.0)],
    };
    check(&root().join("tests/data/kernel_names.tsv"), &limits);
}

#[test]
fn names_of_83_libraries_are_classified() {
    let Some(list) = needs::in_corpus("../kernels/shared.tsv") else { return };
    let limits = Limits {
        at_least: &[
            ("communication_precision_pct", 99.0),
            ("communication_recall_pct", 99.0),
            ("collective_pct", 97.0),
            ("communication_library_pct", 97.0),
            ("matrix_unit_right_pct", 99.0),
            ("matrix_unit_yes_found_pct", 90.0),
            ("gemm_recognised_pct", 95.0),
            ("conv_recognised_pct", 95.0),
            ("attention_recognised_pct", 95.0),
            ("class_pct", 92.0),
        ],
        at_most: &[("matrix_unit_wrongly_yes_pct", 0.5), ("collective_wrong", 0.0)],
    };
    check(&list, &limits);
}
