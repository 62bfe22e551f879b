//! Functions of PostgreSQL that clients call about the server.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::variables::{SERVER_VERSION, Variables};

/// The number of UTF-8 among PostgreSQL's encodings.
const UTF8: i32 = 6;

/// Comments by object and number of the column; 0 stands for the relation itself.
pub type Comments = Arc<HashMap<(i64, i64), String>>;
type Body = dyn Fn(&[ColumnarValue], usize) -> Result<ColumnarValue> + Send + Sync;

/// A function of any arguments.
struct Function {
    name: &'static str,
    returns: DataType,
    signature: Signature,
    body: Box<Body>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.returns.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        (self.body)(&args.args, args.number_rows)
    }
}

fn function(
    name: &'static str,
    returns: DataType,
    body: impl Fn(&[ColumnarValue], usize) -> Result<ColumnarValue> + Send + Sync + 'static,
) -> ScalarUDF {
    let any = datafusion::logical_expr::TypeSignature::OneOf(vec![
        datafusion::logical_expr::TypeSignature::Nullary,
        datafusion::logical_expr::TypeSignature::VariadicAny,
    ]);
    let signature = Signature::new(any, Volatility::Stable);
    Function { name, returns, signature, body: Box::new(body) }.into()
}

/// A function whose value does not depend on its arguments.
fn constant(name: &'static str, value: ScalarValue) -> ScalarUDF {
    function(name, value.data_type(), move |_, _| Ok(ColumnarValue::Scalar(value.clone())))
}

fn text(value: &str) -> ScalarValue {
    ScalarValue::Utf8(Some(value.to_owned()))
}

/// Functions that are the same for all connections.
pub fn of_server(comments: &Comments, definitions: Arc<HashMap<i64, String>>) -> Vec<ScalarUDF> {
    let version = format!(
        "PostgreSQL {SERVER_VERSION} (tracesql {}) on {}-{}, compiled by rustc, 64-bit",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS
    );
    let (of_relation, of_column) = (comments.clone(), comments.clone());
    let mut all = vec![
        constant("version", text(&version)),
        constant("pg_get_userbyid", text("tracesql")),
        constant("pg_tablespace_location", text("")),
        constant("pg_size_pretty", text("0 bytes")),
        constant("getdatabaseencoding", text("UTF8")),
        constant("pg_char_to_encoding", ScalarValue::Int32(Some(UTF8))),
        function("obj_description", DataType::Utf8, move |args, rows| {
            looked_up(args.first(), rows, |oid| of_relation.get(&(oid, 0)).cloned())
        }),
        function("col_description", DataType::Utf8, move |args, rows| {
            let columns = numbers(args.get(1), rows)?;
            let columns = columns.as_primitive::<Int64Type>();
            let oids = numbers(args.first(), rows)?;
            let oids = oids.as_primitive::<Int64Type>();
            let found: StringArray = (0..rows)
                .map(|row| {
                    let key = (oids.is_valid(row) && columns.is_valid(row))
                        .then(|| (oids.value(row), columns.value(row)))?;
                    of_column.get(&key).cloned()
                })
                .collect();
            Ok(ColumnarValue::Array(Arc::new(found)))
        }),
        function("pg_get_viewdef", DataType::Utf8, move |args, rows| {
            looked_up(args.first(), rows, |oid| definitions.get(&oid).cloned())
        }),
    ];
    for name in [
        "shobj_description",
        "pg_get_indexdef",
        "pg_get_triggerdef",
        "pg_get_ruledef",
        "pg_get_functiondef",
        "pg_get_function_result",
        "pg_get_function_arguments",
        "pg_get_function_identity_arguments",
        "pg_get_serial_sequence",
        "inet_client_addr",
        "inet_server_addr",
        "to_regproc",
        "pg_get_statisticsobjdef",
        "json_build_object",
        "row_to_json",
    ] {
        all.push(constant(name, ScalarValue::Utf8(None)));
    }
    for (name, value) in [
        ("pg_is_in_recovery", false),
        ("pg_is_wal_replay_paused", false),
        ("pg_type_is_visible", true),
        ("pg_function_is_visible", true),
        ("pg_collation_is_visible", true),
        ("pg_conversion_is_visible", true),
        ("pg_opclass_is_visible", true),
        ("pg_operator_is_visible", true),
        ("pg_opfamily_is_visible", true),
        ("pg_statistics_obj_is_visible", true),
        ("pg_ts_config_is_visible", true),
        ("pg_ts_dict_is_visible", true),
        ("pg_ts_parser_is_visible", true),
        ("pg_ts_template_is_visible", true),
        ("pg_has_role", true),
        ("has_column_privilege", true),
        ("has_function_privilege", true),
        ("has_sequence_privilege", false),
        ("has_tablespace_privilege", false),
        ("has_type_privilege", true),
        ("pg_try_advisory_lock", true),
        ("pg_advisory_unlock_all", true),
        ("pg_advisory_unlock", true),
        ("pg_is_other_temp_schema", false),
    ] {
        all.push(constant(name, ScalarValue::Boolean(Some(value))));
    }
    for name in [
        "pg_database_size",
        "pg_table_size",
        "pg_indexes_size",
        "txid_current",
        "pg_tablespace_size",
        "pg_my_temp_schema",
        "inet_server_port",
    ] {
        all.push(constant(name, ScalarValue::Int64(Some(0))));
    }
    // There are no types but those of PostgreSQL, so that a search for an extension's finds none.
    for name in ["to_regtype", "to_regclass", "to_regnamespace", "to_regrole"] {
        all.push(constant(name, ScalarValue::Int32(None)));
    }
    all
}

/// Functions about the connection.
pub fn of_connection(user: &str, pid: i32, variables: &Variables) -> Vec<ScalarUDF> {
    let variables = variables.clone();
    vec![
        constant("session_user", text(user)),
        constant("current_user", text(user)),
        constant("pg_backend_pid", ScalarValue::Int32(Some(pid))),
        function("current_setting", DataType::Utf8, move |args, rows| {
            let names = texts(args.first(), rows)?;
            let names = names.as_string::<i32>();
            let may_miss = matches!(
                args.get(1),
                Some(ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))))
            );
            let value = |name: Option<&str>| match name.map(|name| (name, variables.get(name))) {
                None => Ok(None),
                Some((_, Some((_, value)))) => Ok(Some(value.to_owned())),
                Some((_, None)) if may_miss => Ok(None),
                Some((name, None)) => Err(DataFusionError::Execution(format!(
                    "unrecognized configuration parameter \"{name}\""
                ))),
            };
            let values: StringArray = names.iter().map(value).collect::<Result<_>>()?;
            Ok(ColumnarValue::Array(Arc::new(values)))
        }),
        function("set_config", DataType::Utf8, |args, _| match args.get(1) {
            Some(value) => Ok(value.clone()),
            None => Ok(ColumnarValue::Scalar(ScalarValue::Utf8(None))),
        }),
    ]
}

fn looked_up(
    argument: Option<&ColumnarValue>,
    rows: usize,
    find: impl Fn(i64) -> Option<String>,
) -> Result<ColumnarValue> {
    let oids = numbers(argument, rows)?;
    let found: StringArray =
        oids.as_primitive::<Int64Type>().iter().map(|oid| find(oid?)).collect();
    Ok(ColumnarValue::Array(Arc::new(found)))
}

fn numbers(argument: Option<&ColumnarValue>, rows: usize) -> Result<ArrayRef> {
    values(argument, rows, &DataType::Int64)
}

fn texts(argument: Option<&ColumnarValue>, rows: usize) -> Result<ArrayRef> {
    values(argument, rows, &DataType::Utf8)
}

fn values(argument: Option<&ColumnarValue>, rows: usize, to: &DataType) -> Result<ArrayRef> {
    let missing = || DataFusionError::Plan("an argument is missing".to_owned());
    let array = argument.ok_or_else(missing)?.to_array(rows)?;
    Ok(cast(&array, to)?)
}
