//! Runs the files of `tests/slt`: SQL with expected results over a store of all fixtures. For the
//! files in `tests/slt/rules`, the store also contains the traces that each show one bottleneck. For
//! those in `tests/slt/jobs`, it has the ranks of the job with a pipeline; for those in
//! `tests/slt/snapshots`, the memory snapshots; for those in `tests/slt/protobufs`, the XPlane files
//! and Perfetto traces; for those in `tests/slt/beside`, files beside a trace.
//! Other results do not depend on those.
//!
//! Each file is a separate test with the file's name: `-E 'test(slt::core::totals)'`. The test
//! `slt::every_file_has_a_test` maintains their list, `slt/files.rs`.
//!
//! `TRACESQL_BLESS=1` writes the current results and the list into the files. Read the difference
//! before you keep it.

mod coverage;
mod session;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use session::Session;
use sqllogictest::{
    Record, Runner, default_normalizer, default_validator, strict_column_validator,
};
use tracesql::engine::{Engine, EngineOptions};

use crate::support::{
    kept_beside, kept_bottlenecks, kept_fixtures, kept_kernels, kept_pipeline, kept_protobufs,
    kept_snapshots, root,
};

include!("slt/files.rs");

fn folder() -> PathBuf {
    root().join("tests/slt")
}

fn blessing() -> bool {
    std::env::var_os("TRACESQL_BLESS").is_some()
}

/// Compares all results in a file, or writes them again.
fn check(file: &str) {
    let path = folder().join(file);
    let store = match file.split('/').next() {
        Some("rules") => kept_bottlenecks(),
        Some("jobs") => kept_pipeline(),
        Some("protobufs") => kept_protobufs(),
        Some("snapshots") => kept_snapshots(),
        Some("beside") => kept_beside(),
        Some("roofline") => kept_kernels(),
        _ => kept_fixtures(),
    };
    let store = store.0;
    let mut runner = Runner::new(|| {
        let engine = Engine::open(&store, None, &EngineOptions::default());
        async move { engine.map(Session) }
    });
    runner.with_column_validator(strict_column_validator);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    if blessing() {
        let (valid, normal) = (default_validator, default_normalizer);
        let update = runner.update_test_file(&path, " ", valid, normal, strict_column_validator);
        runtime.block_on(update).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return;
    }
    let records = sqllogictest::parse_file(&path).unwrap_or_else(|e| panic!("{e}"));
    let mut wrong = Vec::new();
    let mut compared = 0;
    // All wrong results are reported, not only the first one.
    for record in records {
        if matches!(record, Record::Halt { .. }) {
            break;
        }
        compared += usize::from(matches!(record, Record::Statement { .. } | Record::Query { .. }));
        let outcome = runtime.block_on(runner.run_async(record));
        wrong.extend(outcome.err().map(|e| e.display(false).to_string()));
    }
    assert!(compared > 0, "{} asks nothing", path.display());
    assert!(
        wrong.is_empty(),
        "{} of {compared} answers are wrong\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

/// All `.slt` files below a folder, by their paths in the folder.
fn files() -> Vec<String> {
    fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, into);
            } else if path.extension().is_some_and(|e| e == "slt") {
                into.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    collect(&folder(), &mut paths);
    let name = |path: &PathBuf| {
        let path = path.strip_prefix(folder()).expect("a path below the folder");
        path.to_str().expect("a name in UTF-8").to_owned()
    };
    let mut names: Vec<String> = paths.iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn every_file_has_a_test() {
    let mut modules: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files() {
        let (folder, _) = file.rsplit_once('/').expect("each file lies in a folder");
        modules.entry(folder.replace('/', "_")).or_default().push(file);
    }
    let mut list = String::from(
        "// Written by the test slt::every_file_has_a_test with TRACESQL_BLESS=1; one test for \
            each file\n\
         // of tests/slt.\n",
    );
    for (module, files) in modules {
        let _ = write!(list, "\nmod {module} {{");
        for (i, file) in files.iter().enumerate() {
            let name = Path::new(file).file_stem().expect("a name").to_string_lossy();
            let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(name.chars().all(is_word), "{file}: a name of a-z, 0-9 and _ becomes a test's");
            let space = if i == 0 { "" } else { "\n" };
            let _ = write!(
                list,
                "{space}\n    #[test]\n    fn {name}() {{\n        super::check(\"{file}\");\n    \
                    }}\n"
            );
        }
        list.push_str("}\n");
    }
    let path = root().join("tests/it/slt/files.rs");
    if blessing() {
        std::fs::write(&path, list).expect("write the list");
        return;
    }
    let kept = std::fs::read_to_string(&path).expect("the list");
    assert!(
        kept == list,
        "{} is not the list of tests/slt; TRACESQL_BLESS=1 writes it anew:\n{list}",
        path.display()
    );
}
