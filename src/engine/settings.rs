//! Settings: named values that views read with `setting(…)`. The library provides defaults, and the
//! user can change them.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use tracesql_udfs::{Call, Function, FunctionDoc};

use crate::library::{self, Library};
use crate::suggest;

/// The name of the data table with all settings and their defaults.
const TABLE: &str = "settings";

/// A setting and its current value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its value as text; `None` for NULL.
    pub value: Option<String>,
    /// The default value.
    pub default: Option<String>,
    /// Unit of the value.
    pub unit: String,
    /// What it controls.
    pub description: String,
}

/// All settings of a session.
#[derive(Debug, Default)]
pub struct Settings {
    values: RwLock<BTreeMap<String, Setting>>,
}

impl Settings {
    /// The settings of a library, at their defaults. Fails if the library's table of settings
    /// cannot be read.
    pub fn of(library: &Library) -> Result<Self> {
        let mut values = BTreeMap::new();
        if let Some(view) = library.view(TABLE) {
            let (_, batches) =
                library::rows(view).map_err(|p| DataFusionError::Plan(p.to_string()))?;
            for batch in batches {
                let text = |column: usize, row: usize| {
                    let column = batch.column(column).as_string_opt::<i32>()?;
                    column.is_valid(row).then(|| column.value(row).to_owned())
                };
                for row in 0..batch.num_rows() {
                    let default = text(1, row);
                    let value = default.clone();
                    let setting = Setting {
                        value,
                        default,
                        unit: text(2, row).unwrap_or_default(),
                        description: text(3, row).unwrap_or_default(),
                    };
                    values.insert(text(0, row).unwrap_or_default(), setting);
                }
            }
        }
        Ok(Self { values: RwLock::new(values) })
    }

    /// The reason why a value has the wrong type for a setting; `None` if it fits. If the default
    /// is a number, the value must be a finite number, because NaN or infinity would let every
    /// check pass.
    pub fn type_error(&self, name: &str, value: &str) -> Option<String> {
        let values = self.values.read().unwrap_or_else(|e| e.into_inner());
        let default = values.get(name)?.default.as_deref().and_then(number)?;
        number(value)
            .is_none()
            .then(|| format!("setting {name} must be a number, like {default}; {value:?} is none"))
    }

    /// The settings that are not at their defaults, by name.
    pub fn changed(&self) -> Vec<(String, Setting)> {
        self.all().into_iter().filter(|(_, s)| s.value != s.default).collect()
    }

    /// Changes a setting; `false` if the name is unknown.
    pub fn set(&self, name: &str, value: &str) -> bool {
        let mut values = self.values.write().unwrap_or_else(|e| e.into_inner());
        let Some(setting) = values.get_mut(name) else { return false };
        setting.value = Some(value.to_owned());
        true
    }

    /// The error about an unknown name, with the names that it may stand for.
    pub fn unknown(&self, name: &str) -> String {
        let values = self.values.read().unwrap_or_else(|e| e.into_inner());
        let near = suggest::nearest(name, values.keys().map(String::as_str));
        let hint = suggest::hint((!near.is_empty()).then(|| near.join(" or ")).as_deref());
        format!("unknown setting {name}{hint}; `SELECT * FROM tracesql_settings` lists all")
    }

    /// Resets a setting to its default; `false` if the name is unknown.
    pub fn reset(&self, name: &str) -> bool {
        let mut values = self.values.write().unwrap_or_else(|e| e.into_inner());
        let Some(setting) = values.get_mut(name) else { return false };
        setting.value = setting.default.clone();
        true
    }

    /// All settings by name.
    pub fn all(&self) -> BTreeMap<String, Setting> {
        self.values.read().unwrap_or_else(|e| e.into_inner()).clone()
    }

    fn value(&self, name: &str) -> Result<Option<String>> {
        let values = self.values.read().unwrap_or_else(|e| e.into_inner());
        match values.get(name) {
            Some(setting) => Ok(setting.value.clone()),
            None => {
                let near = suggest::closest(name, values.keys().map(String::as_str));
                let hint = suggest::hint(near.map(|(_, name)| name));
                Err(DataFusionError::Plan(format!(
                    "setting({name:?}): there is no such setting{hint}; tracesql_settings lists all"
                )))
            }
        }
    }
}

/// Parses a finite number.
fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|v: &f64| v.is_finite())
}

/// The SQL functions `setting`, `setting_int` and `setting_text`, which read the settings of a
/// session.
pub fn functions(settings: &Arc<Settings>) -> Vec<Function> {
    let of = |doc: FunctionDoc, data_type: DataType| Function {
        call: Call::Scalar(Arc::new(ScalarUDF::from(SettingFunction {
            name: doc.name,
            data_type,
            signature: Signature::one_of(
                vec![TypeSignature::Exact(vec![DataType::Utf8])],
                Volatility::Stable,
            ),
            settings: SameSettings(settings.clone()),
        }))),
        doc,
    };
    vec![of(NUMBER, DataType::Float64), of(INT, DataType::Int64), of(TEXT, DataType::Utf8)]
}

const NUMBER: FunctionDoc = FunctionDoc {
    name: "setting",
    area: "settings",
    signature: "setting(name VARCHAR) → DOUBLE",
    summary: "The value of a setting as a number.",
    detail: "Settings are the rows of tracesql_settings; --set name=value changes them. \
             The name is a literal.",
    nulls: "NULL for a setting without a value.",
    errors: "A name that is no setting; a value that is no number.",
    examples: &[],
};

const INT: FunctionDoc = FunctionDoc {
    name: "setting_int",
    signature: "setting_int(name VARCHAR) → BIGINT",
    summary: "The value of a setting as an integer.",
    errors: "A name that is no setting; a value that is no integer.",
    ..NUMBER
};

const TEXT: FunctionDoc = FunctionDoc {
    name: "setting_text",
    signature: "setting_text(name VARCHAR) → VARCHAR",
    summary: "The value of a setting as text.",
    errors: "A name that is no setting.",
    ..NUMBER
};

/// A reference to the settings that is compared by identity. DataFusion compares functions, but the
/// values of settings change.
#[derive(Debug, Clone)]
struct SameSettings(Arc<Settings>);

impl PartialEq for SameSettings {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SameSettings {}

impl std::hash::Hash for SameSettings {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct SettingFunction {
    name: &'static str,
    data_type: DataType,
    signature: Signature,
    settings: SameSettings,
}

impl ScalarUDFImpl for SettingFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.data_type.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let name = match args.args.first() {
            Some(ColumnarValue::Scalar(ScalarValue::Utf8(Some(name)))) => name,
            _ => {
                return Err(DataFusionError::Plan(format!(
                    "{}: the name of the setting must be a text literal",
                    self.name
                )));
            }
        };
        let value = self.settings.0.value(name)?;
        let wrong = |kind: &str, value: &str| {
            DataFusionError::Plan(format!("setting {name} is {value:?}, which is no {kind}"))
        };
        let scalar = match self.data_type {
            DataType::Float64 => ScalarValue::Float64(
                value.map(|v| number(&v).ok_or_else(|| wrong("number", &v))).transpose()?,
            ),
            DataType::Int64 => ScalarValue::Int64(
                value.map(|v| v.trim().parse().map_err(|_| wrong("integer", &v))).transpose()?,
            ),
            _ => ScalarValue::Utf8(value),
        };
        Ok(ColumnarValue::Scalar(scalar))
    }
}
