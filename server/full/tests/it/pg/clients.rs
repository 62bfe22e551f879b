//! Drivers of Python, and programs that use them.

use super::{Served, store};
use crate::support::Program;

/// Relations that together have all types of columns.
const SAMPLE: [&str; 7] =
    ["alloc_stacks", "category_totals", "events", "kernels", "kernels_by_name", "steps", "traces"];

fn check(part: &str) {
    Served::start(&[]).python("clients.py", part);
}

#[test]
fn rows_are_those_of_parquet_in_all_drivers_and_formats() {
    let folder = store(&["synthetic_gpu_rank0.json.gz"]);
    let script: String = SAMPLE
        .iter()
        .map(|name| {
            let file = folder.path().join(format!("{name}.parquet"));
            format!("\\once {}\nSELECT * FROM {name};\n", file.display())
        })
        .collect();
    let path = folder.path().join("script.sql");
    std::fs::write(&path, script).expect("a script");
    Program::new(folder.path())
        .args(["query".as_ref(), folder.path().join("store").as_os_str(), "-f".as_ref()])
        .args([&path])
        .run()
        .success();
    Served::over(folder, &[]).python("clients.py", "parquet");
}

#[test]
fn psycopg_3_has_parameters_cursors_copy_and_pipelines() {
    check("psycopg");
}

#[test]
fn psycopg_2_has_cursors_and_copy() {
    check("psycopg2");
}

#[test]
fn sqlalchemy_and_pandas_read_and_reflect() {
    check("sqlalchemy");
}

#[test]
fn asyncpg_has_prepared_statements_cursors_and_pools() {
    check("asyncpg");
}

#[test]
fn adbc_for_postgresql_reads_by_copy() {
    check("adbc");
}

#[test]
fn pgcli_completes_names_from_the_catalogue() {
    check("pgcli");
}

#[test]
fn settings_of_clients_apply_and_are_reported() {
    check("settings");
}

#[test]
fn settings_and_views_belong_to_one_connection() {
    check("sessions");
}

#[test]
fn the_dashboard_of_grafana_has_rows_for_each_query() {
    Served::start(&[]).python("grafana.py", "dashboard");
}
