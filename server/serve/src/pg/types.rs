//! The types of PostgreSQL that columns and parameters have.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, TimeUnit};

/// The key of a field's metadata that names a type of object identifiers, such as `oid` or
/// `regclass`. Tables of the catalogue have it.
const OID_KEY: &str = "pg.oid_alias";
/// The key of a field's metadata that marks the type `"char"`.
const CHAR_KEY: &str = "pg.char";

/// Days from 1970-01-01 to 2000-01-01, from which PostgreSQL counts.
pub const DAYS_TO_2000: i32 = 10_957;
/// Microseconds in a day.
pub const MICROS_OF_DAY: i64 = 86_400_000_000;

/// A type of PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Bytea,
    Char,
    Name,
    Int8,
    Int2,
    Int4,
    Text,
    Oid,
    /// Another type of object identifiers, by its number.
    Reg(u32),
    Float4,
    Float8,
    Unknown,
    Date,
    Timestamp,
    TimestampTz,
    Numeric,
    /// A list; its items have no lists.
    List(Item),
}

/// The type of a list's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    Bool,
    Bytea,
    Int2,
    Int4,
    Int8,
    Text,
    Float4,
    Float8,
    Oid,
}

impl Item {
    /// The type of an item.
    pub fn kind(self) -> Kind {
        match self {
            Self::Bool => Kind::Bool,
            Self::Bytea => Kind::Bytea,
            Self::Int2 => Kind::Int2,
            Self::Int4 => Kind::Int4,
            Self::Int8 => Kind::Int8,
            Self::Text => Kind::Text,
            Self::Float4 => Kind::Float4,
            Self::Float8 => Kind::Float8,
            Self::Oid => Kind::Oid,
        }
    }

    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Self::Bool,
            Kind::Bytea => Self::Bytea,
            Kind::Int2 => Self::Int2,
            Kind::Int4 => Self::Int4,
            Kind::Int8 => Self::Int8,
            Kind::Float4 => Self::Float4,
            Kind::Float8 => Self::Float8,
            _ => Self::Text,
        }
    }
}

impl Kind {
    /// The type of a column. Structs and other types without a counterpart are text.
    pub fn of_field(field: &Field) -> Self {
        if field.metadata().contains_key(CHAR_KEY) {
            return Self::Char;
        }
        match field.metadata().get(OID_KEY).map(String::as_str) {
            Some("oid") if field.data_type().is_list() => Self::List(Item::Oid),
            Some("oid") => Self::Oid,
            Some("regproc") => Self::Reg(24),
            Some("regprocedure") => Self::Reg(2202),
            Some("regclass") => Self::Reg(2205),
            Some("regtype") => Self::Reg(2206),
            Some("regrole") => Self::Reg(4096),
            Some("regnamespace") => Self::Reg(4089),
            _ => Self::of(field.data_type()),
        }
    }

    /// The type of values.
    pub fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Bool,
            DataType::Int8 | DataType::Int16 | DataType::UInt8 => Self::Int2,
            DataType::Int32 | DataType::UInt16 => Self::Int4,
            DataType::Int64 | DataType::UInt32 | DataType::UInt64 => Self::Int8,
            DataType::Float16 | DataType::Float32 => Self::Float4,
            DataType::Float64 => Self::Float8,
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Self::Bytea,
            DataType::Date32 | DataType::Date64 => Self::Date,
            DataType::Timestamp(_, None) => Self::Timestamp,
            DataType::Timestamp(_, Some(_)) => Self::TimestampTz,
            DataType::Decimal128(..) | DataType::Decimal256(..) => Self::Numeric,
            DataType::Dictionary(_, value) => Self::of(value),
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                Self::List(Item::of(Self::of(item.data_type())))
            }
            _ => Self::Text,
        }
    }

    /// The type with a number; `None` if the server has no such type.
    pub fn of_oid(oid: u32) -> Option<Self> {
        Some(match oid {
            16 => Self::Bool,
            17 => Self::Bytea,
            18 => Self::Char,
            19 => Self::Name,
            20 => Self::Int8,
            21 => Self::Int2,
            23 => Self::Int4,
            // Also json, jsonb's text, xml, uuid, bpchar, varchar.
            25 | 114 | 142 | 1042 | 1043 | 2950 => Self::Text,
            26 => Self::Oid,
            24 | 2202..=2206 | 4089 | 4096 => Self::Reg(oid),
            700 => Self::Float4,
            701 => Self::Float8,
            705 => Self::Unknown,
            1082 => Self::Date,
            1114 => Self::Timestamp,
            1184 => Self::TimestampTz,
            1700 => Self::Numeric,
            1000 => Self::List(Item::Bool),
            1001 => Self::List(Item::Bytea),
            1005 => Self::List(Item::Int2),
            1007 => Self::List(Item::Int4),
            1016 => Self::List(Item::Int8),
            1009 | 1014 | 1015 | 1003 => Self::List(Item::Text),
            1021 => Self::List(Item::Float4),
            1022 => Self::List(Item::Float8),
            1028 => Self::List(Item::Oid),
            _ => return None,
        })
    }

    /// The number of the type.
    pub fn oid(self) -> u32 {
        match self {
            Self::Bool => 16,
            Self::Bytea => 17,
            Self::Char => 18,
            Self::Name => 19,
            Self::Int8 => 20,
            Self::Int2 => 21,
            Self::Int4 => 23,
            Self::Text => 25,
            Self::Oid => 26,
            Self::Reg(oid) => oid,
            Self::Float4 => 700,
            Self::Float8 => 701,
            Self::Unknown => 705,
            Self::Date => 1082,
            Self::Timestamp => 1114,
            Self::TimestampTz => 1184,
            Self::Numeric => 1700,
            Self::List(item) => match item {
                Item::Bool => 1000,
                Item::Bytea => 1001,
                Item::Int2 => 1005,
                Item::Int4 => 1007,
                Item::Int8 => 1016,
                Item::Text => 1009,
                Item::Float4 => 1021,
                Item::Float8 => 1022,
                Item::Oid => 1028,
            },
        }
    }

    /// The names of the type: the one of SQL, and the one in `pg_type`.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Bool => ("boolean", "bool"),
            Self::Bytea => ("bytea", "bytea"),
            Self::Char => ("\"char\"", "char"),
            Self::Name => ("name", "name"),
            Self::Int8 => ("bigint", "int8"),
            Self::Int2 => ("smallint", "int2"),
            Self::Int4 => ("integer", "int4"),
            Self::Text => ("text", "text"),
            Self::Oid => ("oid", "oid"),
            Self::Reg(24) => ("regproc", "regproc"),
            Self::Reg(2202) => ("regprocedure", "regprocedure"),
            Self::Reg(2203) => ("regoper", "regoper"),
            Self::Reg(2204) => ("regoperator", "regoperator"),
            Self::Reg(2206) => ("regtype", "regtype"),
            Self::Reg(4089) => ("regnamespace", "regnamespace"),
            Self::Reg(4096) => ("regrole", "regrole"),
            Self::Reg(_) => ("regclass", "regclass"),
            Self::Float4 => ("real", "float4"),
            Self::Float8 => ("double precision", "float8"),
            Self::Unknown => ("unknown", "unknown"),
            Self::Date => ("date", "date"),
            Self::Timestamp => ("timestamp without time zone", "timestamp"),
            Self::TimestampTz => ("timestamp with time zone", "timestamptz"),
            Self::Numeric => ("numeric", "numeric"),
            Self::List(item) => {
                let short = match item {
                    Item::Bool => "_bool",
                    Item::Bytea => "_bytea",
                    Item::Int2 => "_int2",
                    Item::Int4 => "_int4",
                    Item::Int8 => "_int8",
                    Item::Text => "_text",
                    Item::Float4 => "_float4",
                    Item::Float8 => "_float8",
                    Item::Oid => "_oid",
                };
                ("ARRAY", short)
            }
        }
    }

    /// The length of a value in bytes; -1 if values have several lengths.
    pub fn bytes(self) -> i16 {
        match self {
            Self::Bool | Self::Char => 1,
            Self::Int2 => 2,
            Self::Int4 | Self::Oid | Self::Reg(_) | Self::Float4 | Self::Date => 4,
            Self::Int8 | Self::Float8 | Self::Timestamp | Self::TimestampTz => 8,
            Self::Name => 64,
            Self::Unknown => -2,
            Self::Bytea | Self::Text | Self::Numeric | Self::List(_) => -1,
        }
    }

    /// The type of values in the engine.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Bytea => DataType::Binary,
            Self::Int2 => DataType::Int16,
            Self::Int4 | Self::Oid | Self::Reg(_) => DataType::Int32,
            Self::Int8 => DataType::Int64,
            Self::Float4 => DataType::Float32,
            Self::Float8 => DataType::Float64,
            // Values have their own digits; this is for statements that are planned without values.
            Self::Numeric => DataType::Decimal128(38, 10),
            Self::Date => DataType::Date32,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::TimestampTz => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
            Self::Char | Self::Name | Self::Text | Self::Unknown => DataType::Utf8,
            Self::List(item) => {
                DataType::List(Arc::new(Field::new_list_field(item.kind().data_type(), true)))
            }
        }
    }
}

/// A schema of the catalogue with its lists of 32-bit numbers as lists of object identifiers, which
/// clients know without asking.
pub fn with_oids(schema: &Schema) -> Arc<Schema> {
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::List(item) if *item.data_type() == DataType::Int32 => {
            let metadata = HashMap::from([(OID_KEY.to_owned(), "oid".to_owned())]);
            Arc::new(field.as_ref().clone().with_metadata(metadata))
        }
        _ => field.clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: Kind,
    /// Whether values are sent in the binary format.
    pub binary: bool,
}

/// Whether formats ask for binary values at a place: none for texts, one for all places, or one for
/// each.
pub fn is_binary(formats: &[i16], at: usize) -> bool {
    match formats {
        [] => false,
        [all] => *all == 1,
        each => each.get(at) == Some(&1),
    }
}

/// The columns of a result, in the formats that the client asked for: none for texts, one for all
/// columns, or one for each.
pub fn columns(schema: &Schema, formats: &[i16]) -> Vec<Column> {
    let column = |(at, field): (usize, &Arc<Field>)| Column {
        name: field.name().clone(),
        kind: Kind::of_field(field),
        binary: is_binary(formats, at),
    };
    schema.fields().iter().enumerate().map(column).collect()
}
