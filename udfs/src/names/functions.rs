//! The functions on names as DataFusion calls them.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, StringViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::datatypes::{Field, FieldRef};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

use super::rules::{Rules, Ruleset};
use super::{demangle, dtype, short, text};

/// `classify(ruleset, text)`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Classify {
    rules: Rules,
    signature: Signature,
}

impl Classify {
    pub fn new(rules: Rules) -> Self {
        Self { rules, signature: Signature::user_defined(Volatility::Immutable) }
    }

    fn classes(&self, ruleset: &str, texts: &ArrayRef) -> Result<ArrayRef> {
        let set = self.rules.ruleset(ruleset)?;
        text::map(texts, &DataType::Utf8View, &|texts| classes(set, texts, None))
    }
}

impl ScalarUDFImpl for Classify {
    fn name(&self) -> &str {
        "classify"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [ruleset, text] => Ok(vec![text::text_type("classify", ruleset).map(|_| DataType::Utf8)?, text::text_type("classify", text)?]),
            _ => plan_err!("classify takes a ruleset and a text, got {} arguments", given.len()),
        }
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    /// Refuses an unknown ruleset before the first row.
    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        if let Some(Some(Some(Some(ruleset)))) = args.scalar_arguments.first().map(|value| value.map(ScalarValue::try_as_str)) {
            self.rules.ruleset(ruleset)?;
        }
        Ok(Arc::new(Field::new(self.name(), DataType::Utf8View, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [ruleset, texts] = <[ColumnarValue; 2]>::try_from(args.args).or_else(|args| plan_err!("classify got {} arguments", args.len()))?;
        match (ruleset, texts) {
            (ColumnarValue::Scalar(ruleset), ColumnarValue::Scalar(text)) => {
                let classes = match ruleset.try_as_str().flatten() {
                    Some(ruleset) => self.classes(ruleset, &text.to_array()?)?,
                    None => return Ok(ColumnarValue::Scalar(ScalarValue::Utf8View(None))),
                };
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&classes, 0)?))
            }
            (ColumnarValue::Scalar(ruleset), ColumnarValue::Array(texts)) => match ruleset.try_as_str().flatten() {
                Some(ruleset) => Ok(ColumnarValue::Array(self.classes(ruleset, &texts)?)),
                None => Ok(ColumnarValue::Scalar(ScalarValue::Utf8View(None))),
            },
            (ColumnarValue::Array(rulesets), texts) => {
                let texts = cast(&texts.into_array(rulesets.len())?, &DataType::Utf8View)?;
                let rulesets = cast(&rulesets, &DataType::Utf8View)?;
                let pairs = rulesets.as_string_view().iter().zip(texts.as_string_view());
                let class = |(ruleset, text): (Option<&str>, Option<&str>)| match ruleset.zip(text) {
                    Some((ruleset, text)) => Ok(self.rules.ruleset(ruleset)?.value(text)?.map(str::to_owned)),
                    None => Ok(None),
                };
                Ok(ColumnarValue::Array(Arc::new(pairs.map(class).collect::<Result<StringViewArray>>()?)))
            }
        }
    }
}

/// The value of each text, or else the default.
fn classes(set: &Ruleset, texts: &[&str], default: Option<&str>) -> Result<ArrayRef> {
    let values = texts.iter().map(|text| Ok(set.value(text)?.or(default)));
    Ok(Arc::new(values.collect::<Result<StringViewArray>>()?))
}

/// A function of one text.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct OfText {
    what: What,
    signature: Signature,
}

/// Which function of one text.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum What {
    KernelType(Rules),
    ShortName,
    Demangle,
    DtypeBytes,
}

/// What a kernel is whose name says nothing.
const DEFAULT_KERNEL_TYPE: &str = "computation";

impl OfText {
    pub fn new(what: What) -> Self {
        Self { what, signature: Signature::user_defined(Volatility::Immutable) }
    }

    fn result(&self) -> DataType {
        if self.what == What::DtypeBytes { DataType::Int64 } else { DataType::Utf8View }
    }

    fn results(&self, texts: &[&str]) -> Result<ArrayRef> {
        Ok(match &self.what {
            What::KernelType(rules) => classes(rules.ruleset("kernel_type")?, texts, Some(DEFAULT_KERNEL_TYPE))?,
            What::ShortName => Arc::new(StringViewArray::from_iter_values(texts.iter().map(|text| short::short_name(text)))),
            What::Demangle => {
                let demangled = texts.iter().map(|text| demangle::demangle(text).unwrap_or_else(|| (*text).to_owned()));
                Arc::new(StringViewArray::from_iter_values(demangled))
            }
            What::DtypeBytes => Arc::new(texts.iter().map(|text| dtype::bytes(text)).collect::<Int64Array>()),
        })
    }
}

impl ScalarUDFImpl for OfText {
    fn name(&self) -> &str {
        match self.what {
            What::KernelType(_) => "kernel_type",
            What::ShortName => "short_name",
            What::Demangle => "demangle",
            What::DtypeBytes => "dtype_bytes",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [text] => Ok(vec![text::text_type(self.name(), text)?]),
            _ => plan_err!("{} takes one text, got {} arguments", self.name(), given.len()),
        }
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType> {
        Ok(self.result())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let apply = |texts: &ArrayRef| text::map(texts, &self.result(), &|texts| self.results(texts));
        match args.args.first() {
            Some(ColumnarValue::Array(texts)) => Ok(ColumnarValue::Array(apply(texts)?)),
            Some(ColumnarValue::Scalar(text)) => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&apply(&text.to_array()?)?, 0)?)),
            None => plan_err!("{} takes one text", self.name()),
        }
    }
}
