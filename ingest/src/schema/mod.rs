//! The tables of a store: names, columns, types, units and meanings, one file per table.
//!
//! The Arrow schemas, the Parquet encodings and the user reference are generated from these
//! definitions. The compiler checks the structs through which rows are written against them.

mod counters;
mod devices;
mod et_nodes;
mod events;
mod flight_groups;
mod flight_records;
mod flows;
mod ingest_issues;
mod kernels;
mod memory;
mod memory_blocks;
mod memory_segments;
mod memory_stacks;
mod modules;
mod steps;
mod traces;
mod tracks;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

/// Version of the tables. It increases with every change that readers could notice.
pub const SCHEMA_VERSION: u32 = 8;

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 64-bit integer.
    Int,
    /// Double.
    Float,
    /// UTF-8 text.
    Text,
    /// Boolean.
    Bool,
}

/// How a column is laid out in Parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// For few distinct values: dictionary encoding.
    Repeats,
    /// For values close to their neighbours: delta encoding.
    Near,
    /// For all other values: plain encoding.
    Plain,
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Name, with the unit as a suffix if there is one.
    pub name: &'static str,
    /// The type of the values.
    pub kind: Kind,
    /// The unit: `ns`, `bytes`, `id`, `count`, `pct`, `text`, `json`, `flag`, `GB/s` or `-`.
    pub unit: &'static str,
    /// The meaning of a value, and when it is NULL.
    pub about: &'static str,
    /// The layout in Parquet.
    pub layout: Layout,
    /// Whether the column is never NULL.
    pub required: bool,
    /// Whether the pages have bounds, which readers use to skip pages; for integers only.
    pub has_page_bounds: bool,
}

/// A table of a store.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// The name of the table. Its file is `<name>.parquet`.
    pub name: &'static str,
    /// The meaning of a row, and the order of rows.
    pub about: &'static str,
    /// Columns in order.
    pub columns: &'static [Column],
}

/// All tables, in the order in which the reference lists them.
pub const TABLES: &[&Table] = &[
    &traces::TABLE,
    &devices::TABLE,
    &tracks::TABLE,
    &events::TABLE,
    &kernels::TABLE,
    &memory::TABLE,
    &memory_segments::TABLE,
    &memory_blocks::TABLE,
    &memory_stacks::TABLE,
    &flight_records::TABLE,
    &flight_groups::TABLE,
    &et_nodes::TABLE,
    &modules::TABLE,
    &flows::TABLE,
    &counters::TABLE,
    &steps::TABLE,
    &ingest_issues::TABLE,
];

pub use counters::TABLE as COUNTERS;
pub use devices::TABLE as DEVICES;
pub use et_nodes::TABLE as ET_NODES;
pub use events::TABLE as EVENTS;
pub use flight_groups::TABLE as FLIGHT_GROUPS;
pub use flight_records::TABLE as FLIGHT_RECORDS;
pub use flows::TABLE as FLOWS;
pub use ingest_issues::TABLE as INGEST_ISSUES;
pub use kernels::TABLE as KERNELS;
pub use memory::TABLE as MEMORY;
pub use memory_blocks::TABLE as MEMORY_BLOCKS;
pub use memory_segments::TABLE as MEMORY_SEGMENTS;
pub use memory_stacks::TABLE as MEMORY_STACKS;
pub use modules::TABLE as MODULES;
pub use steps::TABLE as STEPS;
pub use traces::TABLE as TRACES;
pub use tracks::TABLE as TRACKS;

/// Finds a table by its name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().copied().find(|t| t.name == name)
}

impl Table {
    /// Returns the Arrow schema.
    pub fn schema(&self) -> SchemaRef {
        static SCHEMAS: LazyLock<HashMap<&'static str, SchemaRef>> =
            LazyLock::new(|| TABLES.iter().map(|t| (t.name, Arc::new(t.make_schema()))).collect());
        SCHEMAS.get(self.name).cloned().unwrap_or_else(|| Arc::new(self.make_schema()))
    }

    /// Returns the position of a column, for use in constants. A name that the table lacks fails
    /// the build.
    pub(crate) const fn position(&self, name: &str) -> usize {
        let mut at = 0;
        while at < self.columns.len() {
            if is_same(self.columns[at].name.as_bytes(), name.as_bytes()) {
                return at;
            }
            at += 1;
        }
        assert!(at < self.columns.len(), "the table has no column of this name");
        at
    }

    fn make_schema(&self) -> Schema {
        let fields = self.columns.iter().map(|c| {
            let data_type = match c.kind {
                Kind::Int => DataType::Int64,
                Kind::Float => DataType::Float64,
                Kind::Text => DataType::Utf8,
                Kind::Bool => DataType::Boolean,
            };
            Field::new(c.name, data_type, !c.required)
        });
        Schema::new(fields.collect::<Vec<_>>())
    }
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

const fn column(
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    layout: Layout,
    about: &'static str,
) -> Column {
    Column { name, kind, unit, about, layout, required: false, has_page_bounds: false }
}

/// Declares a column that is never NULL.
const fn required(column: Column) -> Column {
    Column { required: true, ..column }
}

/// Declares a column whose pages have bounds.
const fn page_bounds(column: Column) -> Column {
    Column { has_page_bounds: true, ..column }
}

/// Declares an integer column with few distinct values.
const fn code(name: &'static str, unit: &'static str, about: &'static str) -> Column {
    column(name, Kind::Int, unit, Layout::Repeats, about)
}

/// Declares an integer column whose values are close to that of the previous row.
const fn near(name: &'static str, unit: &'static str, about: &'static str) -> Column {
    column(name, Kind::Int, unit, Layout::Near, about)
}

/// Declares a text column with few distinct values.
const fn label(name: &'static str, about: &'static str) -> Column {
    column(name, Kind::Text, "text", Layout::Repeats, about)
}

/// Declares a column of JSON texts.
const fn json(name: &'static str, layout: Layout, about: &'static str) -> Column {
    column(name, Kind::Text, "json", layout, about)
}

/// Declares a column of doubles.
const fn float(name: &'static str, unit: &'static str, about: &'static str) -> Column {
    column(name, Kind::Float, unit, Layout::Repeats, about)
}

const TRACE_ID: Column = required(label(
    "trace_id",
    "The trace the row belongs to: a readable name and a hash of the input's bytes.",
));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_units_hold_together() {
        for table in TABLES {
            let mut seen = std::collections::HashSet::new();
            for c in table.columns {
                assert!(seen.insert(c.name), "{}.{} twice", table.name, c.name);
                assert!(
                    c.about.ends_with('.') && c.about.len() >= 5,
                    "{}.{} needs a sentence",
                    table.name,
                    c.name
                );
                for unit in ["ns", "bytes", "pct"] {
                    assert_eq!(
                        c.name == unit || c.name.ends_with(&format!("_{unit}")),
                        c.unit == unit,
                        "{}.{}",
                        table.name,
                        c.name
                    );
                }
            }
        }
    }
}
