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
use parking_lot::Mutex;
use tracesql::engine::Settings;

use crate::failure::{Failure, code};
use crate::pg::connection::{LIBRARY, OF_ENGINE, engine_setting};
use crate::pg::variables::{SERVER_VERSION, Variables};

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

pub fn function(
    name: &'static str,
    returns: DataType,
    body: impl Fn(&[ColumnarValue], usize) -> Result<ColumnarValue> + Send + Sync + 'static,
) -> ScalarUDF {
    with_volatility(name, returns, Volatility::Stable, body)
}

fn with_volatility(
    name: &'static str,
    returns: DataType,
    volatility: Volatility,
    body: impl Fn(&[ColumnarValue], usize) -> Result<ColumnarValue> + Send + Sync + 'static,
) -> ScalarUDF {
    let any = datafusion::logical_expr::TypeSignature::OneOf(vec![
        datafusion::logical_expr::TypeSignature::Nullary,
        datafusion::logical_expr::TypeSignature::VariadicAny,
    ]);
    let signature = Signature::new(any, volatility);
    Function { name, returns, signature, body: Box::new(body) }.into()
}

/// A function whose value does not depend on its arguments.
fn constant(name: &'static str, value: ScalarValue) -> ScalarUDF {
    function(name, value.data_type(), move |_, _| Ok(ColumnarValue::Scalar(value.clone())))
}

fn text(value: &str) -> ScalarValue {
    ScalarValue::Utf8(Some(value.to_owned()))
}

/// The function about the version of the server.
pub fn version() -> ScalarUDF {
    let version = format!(
        "PostgreSQL {SERVER_VERSION} (tracesql {}) on {}-{}, compiled by rustc, 64-bit",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS
    );
    constant("version", text(&version))
}

/// Functions that are the same for all connections.
pub fn of_server(comments: &Comments, definitions: Arc<HashMap<i64, String>>) -> Vec<ScalarUDF> {
    let (of_relation, of_column) = (comments.clone(), comments.clone());
    let mut all = vec![
        version(),
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
    // There are no roles.
    all.push(constant("to_regrole", ScalarValue::Int32(None)));
    all
}

/// What functions about the connection read and change.
pub struct Connection {
    pub variables: Arc<Mutex<Variables>>,
    /// The settings of views.
    pub of_views: Arc<Settings>,
    pub pid: i32,
    pub in_transaction: bool,
}

impl Connection {
    fn setting(&self, name: &str) -> Option<String> {
        match name.to_lowercase().strip_prefix(LIBRARY) {
            Some(name) => self.of_views.all().remove(name).map(|s| s.value.unwrap_or_default()),
            None => self.variables.lock().get(name).map(|(_, value)| value.to_owned()),
        }
    }

    /// Changes a setting, and returns its value.
    fn set(&self, name: &str, value: Option<&str>, local: bool) -> Result<String, Failure> {
        let lower = name.to_lowercase();
        if lower.starts_with(OF_ENGINE) {
            return Err(engine_setting(name));
        }
        if lower.starts_with(LIBRARY) {
            let text = format!("set_config does not change \"{name}\"");
            return Err(Failure::new(code::FEATURE_NOT_SUPPORTED, text)
                .with_hint("write SET tracesql.NAME = VALUE"));
        }
        let mut variables = self.variables.lock();
        match value {
            Some(value) if local && self.in_transaction => variables.set_local(name, value)?,
            // It would end with this statement.
            Some(value) if local => return Ok(value.to_owned()),
            Some(value) => variables.set(name, value)?,
            None => variables.reset(name)?,
        }
        Ok(variables.get(name).map(|(_, value)| value.to_owned()).unwrap_or_default())
    }
}

/// Functions about the connection.
pub fn of_connection(connection: &Arc<Connection>) -> Vec<ScalarUDF> {
    let user = connection.setting("session_authorization").unwrap_or_default();
    let (reading, writing) = (connection.clone(), connection.clone());
    vec![
        constant("session_user", text(&user)),
        constant("current_user", text(&user)),
        constant("pg_backend_pid", ScalarValue::Int32(Some(connection.pid))),
        function("current_setting", DataType::Utf8, move |args, rows| {
            let names = texts(args.first(), rows)?;
            let may_miss = matches!(
                args.get(1),
                Some(ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))))
            );
            let value = |name: Option<&str>| match name.map(|name| (name, reading.setting(name))) {
                None => Ok(None),
                Some((_, Some(value))) => Ok(Some(value)),
                Some((_, None)) if may_miss => Ok(None),
                Some((name, None)) => {
                    let text = format!("unrecognized configuration parameter \"{name}\"");
                    Err(failed(Failure::new(code::UNDEFINED_OBJECT, text)))
                }
            };
            let values: StringArray =
                names.as_string::<i32>().iter().map(value).collect::<Result<_>>()?;
            Ok(ColumnarValue::Array(Arc::new(values)))
        }),
        // It is called once per row, and never by the planner.
        with_volatility("set_config", DataType::Utf8, Volatility::Volatile, move |args, rows| {
            let (names, given) = (texts(args.first(), rows)?, texts(args.get(1), rows)?);
            let local = values(args.get(2), rows, &DataType::Boolean)?;
            let local = local.as_boolean();
            let each = names.as_string::<i32>().iter().zip(given.as_string::<i32>()).zip(local);
            let values: StringArray = each
                .map(|((name, value), local)| {
                    let Some(name) = name else { return Ok(None) };
                    let set = writing.set(name, value, local.unwrap_or_default());
                    set.map(Some).map_err(failed)
                })
                .collect::<Result<_>>()?;
            Ok(ColumnarValue::Array(Arc::new(values)))
        }),
    ]
}

fn failed(failure: Failure) -> DataFusionError {
    DataFusionError::External(Box::new(failure))
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

pub fn texts(argument: Option<&ColumnarValue>, rows: usize) -> Result<ArrayRef> {
    values(argument, rows, &DataType::Utf8)
}

fn values(argument: Option<&ColumnarValue>, rows: usize, to: &DataType) -> Result<ArrayRef> {
    let missing = || DataFusionError::Plan("an argument is missing".to_owned());
    let array = argument.ok_or_else(missing)?.to_array(rows)?;
    Ok(cast(&array, to)?)
}
