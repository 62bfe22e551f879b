//! Reads encoded tables with the `parquet` crate's reader and compares them with the original
//! values.

use std::fs::File;

use arrow::array::{Array, AsArray};
use arrow::compute::concat_batches;
use arrow::datatypes::{Float64Type, Int64Type};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::PageIndexPolicy;
use proptest::prelude::*;

use super::{AnyColumns, Effort, GROUP_ROWS, RowGroups};
use crate::schema::{self, Kind, Table};
use crate::store::TableFile;

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Int(i64),
    /// A double as its bits.
    Float(u64),
    Text(String),
    Bool(bool),
}

/// A generator of pseudo-random numbers with a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 7
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
}

/// The distribution of a column: how often it is NULL, for how many rows a value repeats, and how
/// many distinct values it has.
struct Habit {
    nulls: u64,
    lasts: u64,
    distinct: u64,
    wild: bool,
    long: bool,
}

fn values(table: &Table, rows: usize, seed: u64) -> Vec<Vec<Value>> {
    let mut r = Random(seed);
    let columns = table.columns.iter().map(|column| {
        let habit = Habit {
            nulls: if column.required { 0 } else { [0, 1, 10, 50, 99, 100][r.below(6) as usize] },
            lasts: [1, 1, 3, 40, 5000, 1_000_000][r.below(6) as usize],
            distinct: [1, 2, 9, 300, 20_000, u64::MAX][r.below(6) as usize],
            wild: r.below(4) == 0,
            long: r.below(6) == 0,
        };
        let mut value = Value::Null;
        let mut left = 0;
        let column = (0..rows).map(|_| {
            if left == 0 {
                left = 1 + r.below(habit.lasts);
                let n = r.below(habit.distinct);
                value = match column.kind {
                    _ if r.below(100) < habit.nulls => Value::Null,
                    Kind::Int if habit.wild => {
                        Value::Int((n as i64).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64))
                    }
                    Kind::Int => Value::Int(n as i64 - 5),
                    Kind::Float => Value::Float((n as f64 / 4.0 - 1.0).to_bits()),
                    Kind::Text if habit.long => {
                        Value::Text(format!("{n}{}", "é".repeat(r.below(900) as usize)))
                    }
                    Kind::Text => Value::Text(n.to_string()),
                    Kind::Bool => Value::Bool(n % 2 == 1),
                };
            }
            left -= 1;
            value.clone()
        });
        column.collect()
    });
    columns.collect()
}

fn write(
    table: &'static Table,
    columns: &[Vec<Value>],
    rows: usize,
    effort: Effort,
) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temp folder");
    let mut out = RowGroups::new(AnyColumns::new(table, effort), effort);
    for row in 0..rows {
        out.push(|encoders, at, codec| {
            let mut out = encoders.row(at, codec);
            columns.iter().try_for_each(|values| match &values[row] {
                Value::Null => {
                    out.skip();
                    Ok(())
                }
                Value::Int(n) => out.put(n),
                Value::Float(bits) => out.put(&f64::from_bits(*bits)),
                Value::Text(text) => out.put(&text.as_str()),
                Value::Bool(flag) => out.put(flag),
            })
        })
        .expect("encoded");
    }
    let mut file = TableFile::create(folder.path(), table).expect("file");
    for group in out.finish().expect("encoded") {
        file.write(group).expect("written");
    }
    assert_eq!(file.finish().expect("complete"), rows as u64);
    folder
}

fn check(table: &'static Table, rows: usize, seed: u64, effort: Effort) {
    let columns = values(table, rows, seed);
    let folder = write(table, &columns, rows, effort);
    let file = File::open(folder.path().join(format!("{}.parquet", table.name))).expect("file");
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let reader =
        ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).expect("readable");
    assert_eq!(reader.schema().fields(), table.schema().fields());
    let metadata = reader.metadata().clone();
    for (g, group) in metadata.row_groups().iter().enumerate() {
        let range = g * GROUP_ROWS..g * GROUP_ROWS + group.num_rows() as usize;
        for (c, values) in columns.iter().enumerate() {
            bounds_hold(group.column(c), &values[range.clone()]);
        }
    }
    let batches: Vec<_> = reader.build().expect("reader").map(|b| b.expect("batch")).collect();
    let all = concat_batches(&table.schema(), &batches).expect("one batch");
    assert_eq!(all.num_rows(), rows);
    for ((column, array), values) in table.columns.iter().zip(all.columns()).zip(&columns) {
        for (row, value) in values.iter().enumerate() {
            let found = match column.kind {
                _ if array.is_null(row) => Value::Null,
                Kind::Int => Value::Int(array.as_primitive::<Int64Type>().value(row)),
                Kind::Float => {
                    Value::Float(array.as_primitive::<Float64Type>().value(row).to_bits())
                }
                Kind::Text => Value::Text(array.as_string::<i32>().value(row).to_owned()),
                Kind::Bool => Value::Bool(array.as_boolean().value(row)),
            };
            assert_eq!(&found, value, "{}.{} row {row}", table.name, column.name);
        }
    }
}

/// The statistics in the footer are valid for the values of a column.
fn bounds_hold(chunk: &parquet::file::metadata::ColumnChunkMetaData, values: &[Value]) {
    use parquet::file::statistics::Statistics;
    let Some(statistics) = chunk.statistics() else { return };
    let nulls = values.iter().filter(|v| **v == Value::Null).count() as u64;
    assert_eq!(statistics.null_count_opt(), Some(nulls), "{}", chunk.column_path());
    match statistics {
        Statistics::Int64(s) => {
            let ints = || {
                values.iter().filter_map(|v| if let Value::Int(n) = v { Some(*n) } else { None })
            };
            assert_eq!((s.min_opt().copied(), s.max_opt().copied()), (ints().min(), ints().max()));
        }
        Statistics::ByteArray(s) => {
            for text in values
                .iter()
                .filter_map(|v| if let Value::Text(t) = v { Some(t.as_bytes()) } else { None })
            {
                assert!(
                    s.min_opt().is_none_or(|m| m.data() <= text)
                        && s.max_opt().is_none_or(|m| m.data() >= text)
                );
            }
        }
        _ => {}
    }
}

#[test]
fn several_groups_and_pages_come_back() {
    check(&schema::KERNELS, GROUP_ROWS + 40_000, 1, Effort::Fast);
    check(&schema::EVENTS, GROUP_ROWS + 1, 2, Effort::Fast);
}

#[test]
fn a_table_without_rows_can_be_read() {
    check(&schema::EVENTS, 0, 1, Effort::Small);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn values_of_any_columns_come_back(
        rows in 1..20_000_usize,
        few in any::<bool>(),
        seed in any::<u64>(),
        small in any::<bool>(),
    ) {
        let rows = if few { rows % 40 + 1 } else { rows };
        let effort = if small { Effort::Small } else { Effort::Fast };
        check(&schema::EVENTS, rows, seed, effort);
        check(&schema::KERNELS, rows, seed, effort);
        check(&schema::FLOWS, rows, seed, effort);
    }
}
