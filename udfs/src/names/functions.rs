//! The functions on names.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::datatypes::{Field, FieldRef};
use datafusion_common::{Result, ScalarValue, plan_err};
use datafusion_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use tracesql_formats::names::{demangle, short_name};

use super::rules::{Rule, Rules};
use super::subject::subject;
use super::{dtype, text};

/// `classify(ruleset, text)`, and `classify_rule`, which returns the priority of the matching rule.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Classify {
    rules: Rules,
    answer: Answer,
    signature: Signature,
}

/// The value that a function returns from the matching rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Answer {
    Value,
    Priority,
}

impl Answer {
    fn data_type(self) -> DataType {
        if self == Self::Value { DataType::Utf8View } else { DataType::Int64 }
    }

    fn array<'a>(self, rules: impl Iterator<Item = Result<Option<&'a Rule>>>) -> Result<ArrayRef> {
        Ok(match self {
            Self::Value => Arc::new(
                rules
                    .map(|rule| Ok(rule?.and_then(|rule| rule.value.as_deref())))
                    .collect::<Result<StringViewArray>>()?,
            ),
            Self::Priority => Arc::new(
                rules
                    .map(|rule| Ok(rule?.map(|rule| rule.priority)))
                    .collect::<Result<Int64Array>>()?,
            ),
        })
    }
}

impl Classify {
    pub fn new(rules: Rules, answer: Answer) -> Self {
        Self { rules, answer, signature: Signature::user_defined(Volatility::Immutable) }
    }

    fn answers(&self, ruleset: &str, texts: &ArrayRef) -> Result<ArrayRef> {
        let set = self.rules.ruleset(ruleset)?;
        text::map(texts, &self.answer.data_type(), &|texts| {
            self.answer.array(texts.iter().map(|text| set.rule(text)))
        })
    }
}

impl ScalarUDFImpl for Classify {
    fn name(&self) -> &str {
        match self.answer {
            Answer::Value => "classify",
            Answer::Priority => "classify_rule",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [ruleset, text] => Ok(vec![
                text::text_type(self.name(), ruleset).map(|_| DataType::Utf8)?,
                text::text_type(self.name(), text)?,
            ]),
            _ => plan_err!(
                "{} takes a ruleset and a text; arguments given: {}",
                self.name(),
                given.len()
            ),
        }
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType> {
        Ok(self.answer.data_type())
    }

    /// Refuses an unknown ruleset before the first row is processed.
    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        if let Some(Some(Some(Some(ruleset)))) =
            args.scalar_arguments.first().map(|value| value.map(ScalarValue::try_as_str))
        {
            self.rules.ruleset(ruleset)?;
        }
        Ok(Arc::new(Field::new(self.name(), self.answer.data_type(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [ruleset, texts] = <[ColumnarValue; 2]>::try_from(args.args).or_else(|args| {
            plan_err!("{} takes a ruleset and a text; arguments given: {}", self.name(), args.len())
        })?;
        let nothing = ScalarValue::try_from(&self.answer.data_type())?;
        match (ruleset, texts) {
            (ColumnarValue::Scalar(ruleset), ColumnarValue::Scalar(text)) => {
                let classes = match ruleset.try_as_str().flatten() {
                    Some(ruleset) => self.answers(ruleset, &text.to_array()?)?,
                    None => return Ok(ColumnarValue::Scalar(nothing)),
                };
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&classes, 0)?))
            }
            (ColumnarValue::Scalar(ruleset), ColumnarValue::Array(texts)) => {
                match ruleset.try_as_str().flatten() {
                    Some(ruleset) => Ok(ColumnarValue::Array(self.answers(ruleset, &texts)?)),
                    None => Ok(ColumnarValue::Scalar(nothing)),
                }
            }
            (ColumnarValue::Array(rulesets), texts) => {
                let texts = cast(&texts.into_array(rulesets.len())?, &DataType::Utf8View)?;
                let rulesets = cast(&rulesets, &DataType::Utf8View)?;
                let pairs = rulesets.as_string_view().iter().zip(texts.as_string_view());
                let rules = pairs.map(|(ruleset, text)| match ruleset.zip(text) {
                    Some((ruleset, text)) => self.rules.ruleset(ruleset)?.rule(text),
                    None => Ok(None),
                });
                Ok(ColumnarValue::Array(self.answer.array(rules)?))
            }
        }
    }
}

/// A function with one string argument.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct OfText {
    what: What,
    signature: Signature,
}

/// The functions with one string argument.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum What {
    KernelType(Rules),
    PlainName,
    ShortName,
    Demangle,
    DtypeBytes,
}

/// Returns the type of a kernel from its class. Classes that do not compute are separate types.
fn kernel_type(class: Option<&str>) -> &str {
    match class {
        Some(class @ ("communication" | "memcpy" | "memset" | "sync")) => class,
        _ => "computation",
    }
}

impl OfText {
    pub fn new(what: What) -> Self {
        Self { what, signature: Signature::user_defined(Volatility::Immutable) }
    }

    fn result(&self) -> DataType {
        if self.what == What::DtypeBytes { DataType::Int64 } else { DataType::Utf8View }
    }

    fn results(&self, texts: &[&str]) -> Result<ArrayRef> {
        Ok(match &self.what {
            What::KernelType(rules) => {
                let classes = rules.ruleset("kernel_class")?;
                let types =
                    texts.iter().map(|text| Ok(Some(kernel_type(classes.value(&subject(text))?))));
                Arc::new(types.collect::<Result<StringViewArray>>()?)
            }
            What::PlainName => {
                Arc::new(StringViewArray::from_iter_values(texts.iter().map(|text| subject(text))))
            }
            What::ShortName => Arc::new(StringViewArray::from_iter_values(
                texts.iter().map(|text| short_name(text)),
            )),
            What::Demangle => {
                let demangled =
                    texts.iter().map(|text| demangle(text).unwrap_or_else(|| (*text).to_owned()));
                Arc::new(StringViewArray::from_iter_values(demangled))
            }
            What::DtypeBytes => {
                Arc::new(texts.iter().map(|text| dtype::bytes(text)).collect::<Int64Array>())
            }
        })
    }
}

impl ScalarUDFImpl for OfText {
    fn name(&self) -> &str {
        match self.what {
            What::KernelType(_) => "kernel_type",
            What::PlainName => "plain_name",
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
            _ => plan_err!("{} takes one text; arguments given: {}", self.name(), given.len()),
        }
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType> {
        Ok(self.result())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let apply =
            |texts: &ArrayRef| text::map(texts, &self.result(), &|texts| self.results(texts));
        match args.args.first() {
            Some(ColumnarValue::Array(texts)) => Ok(ColumnarValue::Array(apply(texts)?)),
            Some(ColumnarValue::Scalar(text)) => Ok(ColumnarValue::Scalar(
                ScalarValue::try_from_array(&apply(&text.to_array()?)?, 0)?,
            )),
            None => plan_err!("{} takes one text", self.name()),
        }
    }
}
