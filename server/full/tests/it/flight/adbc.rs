//! ADBC, as Python programs use it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tracesql_serve::Tls;

use super::{Served, two_users};
use crate::support::{Finished, Program, child, free_port, root, tools};

/// Runs a part of `adbc.py` against a server.
fn python(served: &Served, part: &str, arguments: &[&str]) -> Option<String> {
    run_python(part, served.port, arguments)
}

fn run_python(part: &str, port: u16, arguments: &[&str]) -> Option<String> {
    let python = tools::server_python()?;
    let mut command = Command::new(python);
    command
        .arg(root().join("server/full/tests/it/flight/adbc.py"))
        .arg(part)
        .arg(format!("grpc://127.0.0.1:{port}"))
        .args(arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = crate::support::Child::start(&mut command);
    Some(Finished::of(&mut child, Duration::from_secs(300)).success())
}

/// Writes a Parquet file of each relation, by the program itself.
fn write_parquet(served: &Served, relations: &[String]) {
    let folder = served.folder.path();
    let script: String = relations
        .iter()
        .map(|name| {
            let file = folder.join(format!("{name}.parquet"));
            format!("\\once {}\nSELECT * FROM {name};\n", file.display())
        })
        .collect();
    let path = folder.join("script.sql");
    std::fs::write(&path, script).expect("a script");
    Program::new(folder)
        .args([Path::new("query"), &folder.join("store"), Path::new("-f"), &path])
        .run_within(Duration::from_secs(300))
        .success();
}

/// Relations that together have all types of columns: numbers, texts, booleans, lists, dictionaries,
/// and columns with and without NULLs.
const SAMPLE: [&str; 12] = [
    "alloc_stacks",
    "allocations",
    "call_graph",
    "category_totals",
    "collectives",
    "device_syncs",
    "devices",
    "events",
    "kernels",
    "kernels_by_name",
    "steps",
    "traces",
];

#[test]
fn relations_with_all_types_have_the_rows_that_the_program_writes() {
    compare(|name| SAMPLE.contains(&name), SAMPLE.len());
}

/// Takes about four minutes in a debug build:
/// `cargo nextest run --run-ignored only -E 'test(every_relation_has_the_rows)'`.
#[test]
#[ignore = "takes minutes"]
fn every_relation_has_the_rows_that_the_program_writes() {
    compare(|_| true, 125);
}

fn compare(is_wanted: impl Fn(&str) -> bool, least: usize) {
    let served = Served::fixtures(
        &["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"],
        |config| config.limits.timeout = Duration::from_secs(300),
    );
    let Some(names) = python(&served, "names", &[]) else { return };
    let names: Vec<String> =
        names.lines().filter(|name| is_wanted(name)).map(str::to_owned).collect();
    assert!(names.len() >= least, "{names:?}");
    write_parquet(&served, &names);
    let folder = served.folder.path().display().to_string();
    let compared = python(&served, "compare", &[&folder]).expect("Python");
    assert_eq!(compared.trim(), format!("{} relations are equal", names.len()));
}

/// A statement with a column of each kind of type, with and without NULLs.
const TYPES: &str = "\
SELECT n, 1.5 * n AS a_double, CAST(n AS DECIMAL(12, 3)) / 4 AS a_decimal, n > 1 AS a_bool, \
  CASE WHEN n <> 2 THEN n END AS with_nulls, NULL AS nothing, \
  CASE WHEN n <> 3 THEN concat('text ', n) END AS a_text, \
  arrow_cast(concat('symbol ', n % 2), 'Dictionary(Int32, Utf8)') AS a_dictionary, \
  arrow_cast(concat('binary ', n), 'Binary') AS a_binary, \
  DATE '2024-02-29' + CAST(n AS INT) AS a_date, \
  to_timestamp_nanos(n * 1000000007) AS a_timestamp, \
  CASE WHEN n <> 1 THEN make_array(n, NULL, n + 1) END AS a_list, \
  make_array(arrow_cast('a', 'Dictionary(Int32, Utf8)'), NULL) AS a_list_of_symbols, \
  named_struct('x', n, 'y', concat('y', n)) AS a_struct, \
  make_array(named_struct('k', n)) AS a_list_of_structs \
FROM (VALUES (1), (2), (3)) AS t(n) ORDER BY n";

#[test]
fn each_type_of_column_arrives_as_the_program_writes_it() {
    let served = Served::small(|_| {});
    let folder = served.folder.path();
    let (sql, file) = (folder.join("types.sql"), folder.join("types.parquet"));
    std::fs::write(&sql, TYPES).expect("a statement");
    let script = folder.join("script.sql");
    std::fs::write(&script, format!("\\once {}\n{TYPES};\n", file.display())).expect("a script");
    Program::new(folder)
        .args([Path::new("query"), &folder.join("store"), Path::new("-f"), &script])
        .run()
        .success();
    let Some(text) = python(&served, "types", &[&folder.display().to_string()]) else { return };
    assert_eq!(text.trim(), "15 columns are equal");
}

#[test]
fn programs_list_all_columns() {
    let served = Served::small(|_| {});
    python(&served, "objects", &[]);
}

#[test]
fn parameters_and_errors_reach_programs() {
    let served = Served::small(|config| config.limits.timeout = Duration::from_secs(2));
    python(&served, "parameters", &[]);
    python(&served, "errors", &[]);
}

#[test]
fn a_program_can_cancel() {
    let served = Served::small(|_| {});
    python(&served, "cancel", &[]);
}

#[test]
fn a_program_logs_in_with_a_password() {
    let served = Served::small(|config| config.users = Some(two_users()));
    python(&served, "passwords", &[]);
}

#[test]
fn tls_protects_connections_and_plain_ones_are_refused() {
    let keys = tempfile::tempdir().expect("a folder");
    let folder = keys.path().display().to_string();
    if run_python("certificate", 0, &[&folder]).is_none() {
        return;
    }
    let tls = Tls::load(&keys.path().join("server.crt"), &keys.path().join("server.key"));
    let served = Served::small(|config| {
        config.users = Some(two_users());
        config.tls = Some(tls.expect("a certificate"));
    });
    python(&served, "encrypted", &[&folder]);
}

#[test]
fn the_program_serves_clients_and_stops_on_sigterm() {
    let served = Served::small(|_| {});
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let folder = served.folder.path();
    let mut program = Program::new(folder)
        .args(["serve"])
        .args([folder.join("store")])
        .args(["--flight", &address, "--timeout", "2s"])
        .start();
    child::wait_for_port(port, Duration::from_secs(30));
    run_python("parameters", port, &[]);
    let kill = Command::new("kill").arg(program.id().to_string()).status().expect("kill runs");
    assert!(kill.success());
    let finished = Finished::of(&mut program, Duration::from_secs(15));
    assert!(finished.stderr.contains("stopping: SIGTERM"), "{}", finished.stderr);
    finished.success();
}
