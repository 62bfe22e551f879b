//! The SQL names of Arrow types.

use arrow::datatypes::DataType;

/// The SQL name of a type. All layouts of the same values have the same name.
pub fn sql_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Int64 => "BIGINT".to_owned(),
        DataType::Int32 => "INTEGER".to_owned(),
        DataType::Int16 => "SMALLINT".to_owned(),
        DataType::Int8 => "TINYINT".to_owned(),
        DataType::UInt64 => "UBIGINT".to_owned(),
        DataType::UInt32 => "UINTEGER".to_owned(),
        DataType::Float64 => "DOUBLE".to_owned(),
        DataType::Float32 => "REAL".to_owned(),
        DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => "VARCHAR".to_owned(),
        DataType::Binary | DataType::BinaryView | DataType::LargeBinary => "VARBINARY".to_owned(),
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Null => "NULL".to_owned(),
        DataType::Dictionary(_, values) => sql_type(values),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            format!("{}[]", sql_type(item.data_type()))
        }
        DataType::Struct(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|f| format!("{} {}", f.name(), sql_type(f.data_type())))
                .collect();
            format!("STRUCT({})", fields.join(", "))
        }
        other => other.to_string(),
    }
}

/// The Arrow type with a SQL name. `None` for all but the types of data tables: BIGINT, DOUBLE,
/// VARCHAR and BOOLEAN.
pub fn arrow_type(declared: &str) -> Option<DataType> {
    match declared {
        "BIGINT" => Some(DataType::Int64),
        "DOUBLE" => Some(DataType::Float64),
        "VARCHAR" => Some(DataType::Utf8),
        "BOOLEAN" => Some(DataType::Boolean),
        _ => None,
    }
}

/// Whether a column has the type that its comment declares. Structs are declared as `STRUCT`,
/// because the type in a comment is a single word.
pub fn matches(declared: &str, data_type: &DataType) -> bool {
    let actual = sql_type(data_type);
    let lists = declared.strip_prefix("STRUCT");
    declared == actual
        || lists
            .is_some_and(|l| actual.starts_with("STRUCT(") && actual.ends_with(&format!("){l}")))
}
