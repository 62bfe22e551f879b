//! Arguments of tools and prompts. An error about them names the argument and what it takes,
//! because a model reads it.

use datafusion::common::ScalarValue;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::requests::parameter;

/// The arguments of a call.
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// The arguments of a call to something that knows these names.
    pub fn new(given: Map<String, Value>, known: &[&str]) -> Result<Self> {
        match given.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(Error::Usage(format!(
                    "there is no argument {name:?}; those known are: {known}"
                )))
            }
            None => Ok(Self(given.into_iter().filter(|(_, value)| !value.is_null()).collect())),
        }
    }

    /// A text; `None` if it is not given.
    pub fn text(&self, name: &str) -> Result<Option<&str>> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(name, "a text")),
        }
    }

    /// A text that must be given.
    pub fn needed(&self, name: &str) -> Result<&str> {
        self.text(name)?.ok_or_else(|| Error::Usage(format!("the argument {name:?} is missing")))
    }

    /// A text or a list of texts; empty if it is not given.
    pub fn texts(&self, name: &str) -> Result<Vec<String>> {
        let of = |value: &Value| value.as_str().map(str::to_owned);
        match self.0.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(all)) => {
                all.iter().map(|v| of(v).ok_or_else(|| wrong(name, "a list of texts"))).collect()
            }
            Some(one) => Ok(vec![of(one).ok_or_else(|| wrong(name, "a text or a list of texts"))?]),
        }
    }

    /// A flag; false if it is not given.
    pub fn flag(&self, name: &str) -> Result<bool> {
        match self.0.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(wrong(name, "true or false")),
        }
    }

    /// A number from 1 to a limit.
    pub fn up_to(&self, name: &str, default: usize, most: usize) -> Result<usize> {
        let Some(value) = self.0.get(name) else { return Ok(default) };
        let number = value.as_u64().and_then(|n| usize::try_from(n).ok());
        number
            .filter(|n| (1..=most).contains(n))
            .ok_or_else(|| wrong(name, &format!("a whole number from 1 to {most}")))
    }

    /// An integer that must be given. A large one may be a text.
    pub fn integer(&self, name: &str) -> Result<i64> {
        let number = match self.0.get(name) {
            None => return Err(Error::Usage(format!("the argument {name:?} is missing"))),
            Some(Value::String(text)) => text.parse().ok(),
            Some(value) => value.as_i64(),
        };
        number.ok_or_else(|| wrong(name, "a whole number"))
    }

    /// Values by name; empty if there are none.
    pub fn values(&self, name: &str) -> Result<Vec<(String, ScalarValue)>> {
        let Some(value) = self.0.get(name) else { return Ok(Vec::new()) };
        let Value::Object(values) = value else {
            return Err(wrong(name, "an object: {\"step\": 3}"));
        };
        let of = |(name, value): (&String, &Value)| Ok((name.clone(), scalar(name, value)?));
        values.iter().map(of).collect()
    }
}

fn scalar(name: &str, value: &Value) -> Result<ScalarValue> {
    parameter(value).ok_or_else(|| match value {
        Value::Number(_) => wrong(name, "a number that fits into 64 bits"),
        _ => wrong(name, "a text, a number, true, false or null"),
    })
}

fn wrong(name: &str, takes: &str) -> Error {
    Error::Usage(format!("the argument {name:?} takes {takes}"))
}
