//! Other tools read the store's files: DuckDB, pandas and pyarrow return the same results as our
//! SQL.

use std::process::Command;

use serde_json::{Map, Value};
use tracesql_ingest::schema::{Kind, SCHEMA_VERSION, TABLES};

use crate::support::{TestStore, fixture, needs, root};

/// Figures of every column of every table, computed by our SQL: the number of values, and the
/// minimum and maximum. For texts also the number of distinct values; for durations and bytes also
/// the sum.
fn figures(store: &TestStore) -> Map<String, Value> {
    let mut all = Map::new();
    for table in TABLES {
        let mut figures = Map::new();
        figures.insert(
            "rows".into(),
            store.ints(&format!("SELECT count(*) FROM {}", table.name))[0].into(),
        );
        for column in table.columns {
            let (table, name) = (table.name, column.name);
            let mut parts = vec![format!("count({name})")];
            match column.kind {
                Kind::Int => parts.extend([format!("min({name})"), format!("max({name})")]),
                Kind::Text => parts.extend([
                    format!("min({name})"),
                    format!("max({name})"),
                    format!("count(DISTINCT {name})"),
                ]),
                Kind::Float => parts.extend([format!("min({name})"), format!("max({name})")]),
                Kind::Bool => parts.push(format!("count(*) FILTER (WHERE {name})")),
            }
            if summed(name) {
                parts.push(format!("sum({name})"));
            }
            let row = store.rows(&format!("SELECT {} FROM {table}", parts.join(", "))).remove(0);
            // The statistics of Parquet files store a minimum of zero as negative zero.
            let row = row.into_iter().map(|v| if v == "-0.0" { "0.0".to_owned() } else { v });
            figures.insert(name.to_owned(), row.map(Value::from).collect());
        }
        all.insert(table.name.to_owned(), Value::Object(figures));
    }
    all
}

fn summed(column: &str) -> bool {
    matches!(column, "dur_ns" | "self_ns" | "bytes")
}

#[test]
fn other_tools_read_the_same_figures() {
    let Some(python) = needs::python() else { return };
    let (store, outcome) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let ours = figures(&store);
    let folder = store.store.root().join(&outcome.manifest.trace_id);
    for tool in ["duckdb", "pandas", "pyarrow"] {
        let output = Command::new(&python)
            .arg(root().join("tests/oracle/read_store.py"))
            .arg(tool)
            .arg(&folder)
            .output()
            .expect("python runs");
        assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
        let theirs: Map<String, Value> = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(theirs.len(), TABLES.len(), "{tool}");
        for (table, columns) in &ours {
            for (column, figures) in columns.as_object().expect("columns") {
                assert_eq!(&theirs[table][column], figures, "{tool}: {table}.{column}");
            }
        }
    }
}

#[test]
fn other_tools_find_what_wrote_the_files() {
    let Some(python) = needs::python() else { return };
    let (store, outcome) = TestStore::with(&fixture("chrome_mixed.json"));
    let file = store.store.root().join(&outcome.manifest.trace_id).join("events.parquet");
    let code = "import sys, pyarrow.parquet as q; m = q.ParquetFile(sys.argv[1]).metadata\n\
                print({k: v for k, v in m.metadata.items() if k.startswith(b'tracesql')})\n\
                print([(c.column_index, c.descending) for c in m.row_group(0).sorting_columns])";
    let output = Command::new(&python).args(["-c", code]).arg(&file).output().expect("python runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = format!("b'tracesql.schema_version': b'{SCHEMA_VERSION}'");
    assert!(text.contains(&version) && text.contains("b'tracesql.table': b'events'"), "{text}");
    assert!(text.contains("b'tracesql.version'"), "{text}");
    assert!(text.contains("[(2, False), (8, False)]"), "sorted by track and start: {text}");
}
