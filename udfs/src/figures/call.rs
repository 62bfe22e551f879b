//! A call of an operator: its arguments with shapes, types and values.

use std::borrow::Cow;

use super::exact::{Counted, Reason, product};
use super::text::{Shape, numbers, shapes, texts};
use crate::names::element_bytes;

/// A call of an operator.
pub struct Call<'a> {
    shapes: Vec<Shape>,
    types: Vec<Cow<'a, str>>,
    values: Option<Vec<Cow<'a, str>>>,
}

/// A tensor among the arguments.
#[derive(Debug, Clone, Copy)]
pub struct Tensor<'a> {
    /// The size of each dimension.
    pub dims: &'a [i64],
    /// Bytes of an element.
    pub width: i64,
    /// The name of the type.
    pub type_name: &'a str,
    /// Number of elements.
    pub elements: i64,
}

impl Tensor<'_> {
    /// Bytes of all elements.
    pub fn bytes(&self) -> Counted<i64> {
        product(&[self.elements, self.width])
    }

    /// The size of a dimension.
    pub fn size(&self, dimension: usize) -> Counted<i64> {
        self.dims.get(dimension).copied().ok_or(Reason::Shapes)
    }

    /// The tensor, if it has as many dimensions.
    pub fn with_dims(self, dims: usize) -> Counted<Self> {
        if self.dims.len() == dims { Ok(self) } else { Err(Reason::Shapes) }
    }
}

/// Types of arguments that are not tensors in traces of PyTorch 1, where they are named after the
/// kind of value.
const KINDS_OF_VALUES: [&str; 4] = ["Int", "Bool", "Double", "ComplexDouble"];

impl<'a> Call<'a> {
    /// Reads the texts of a trace.
    pub fn new(shape: &str, types: Option<&'a str>, values: Option<&'a str>) -> Counted<Self> {
        let shapes = shapes(shape).ok_or(Reason::Shapes)?;
        if shapes.is_empty() {
            return Err(Reason::NoShapes);
        }
        let types = types.ok_or(Reason::NoTypes)?;
        let types = texts(types).ok_or(Reason::UnknownType)?;
        Ok(Self { shapes, types, values: values.and_then(texts) })
    }

    /// Number of arguments.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// The name of an argument's type.
    pub fn type_name(&self, at: usize) -> &str {
        self.types.get(at).map_or("", AsRef::as_ref)
    }

    /// A tensor; `None` if the argument is missing or is not a tensor.
    pub fn optional(&self, at: usize) -> Counted<Option<Tensor<'_>>> {
        let name = self.type_name(at);
        let width = if KINDS_OF_VALUES.contains(&name) { None } else { element_bytes(name) };
        match (self.shapes.get(at), width) {
            (None, _) => Ok(None),
            (Some(Shape::One(dims)), Some(width)) => {
                let elements = product(dims)?;
                Ok(Some(Tensor { dims, width, type_name: name, elements }))
            }
            (Some(Shape::One(dims)), None) if dims.is_empty() => Ok(None),
            (Some(Shape::One(_) | Shape::List(_)), _) => Err(Reason::UnknownType),
            (Some(Shape::Odd), _) => Err(Reason::Shapes),
        }
    }

    /// A tensor that the formula needs.
    pub fn tensor(&self, at: usize) -> Counted<Tensor<'_>> {
        self.optional(at)?.ok_or(Reason::Shapes)
    }

    /// The tensors among the first arguments.
    pub fn leading(&self, count: usize) -> Counted<Vec<Tensor<'_>>> {
        (0..count).filter_map(|at| self.optional(at).transpose()).collect()
    }

    /// The shapes of a list of tensors; `None` if the argument is not a list.
    pub fn list(&self, at: usize) -> Option<&[Vec<i64>]> {
        match self.shapes.get(at) {
            Some(Shape::List(list)) => Some(list),
            _ => None,
        }
    }

    /// The text of a value; empty for None.
    pub fn value(&self, at: usize) -> Counted<&str> {
        let values = self.values.as_ref().ok_or(Reason::NoValues)?;
        values.get(at).map(AsRef::as_ref).ok_or(Reason::NoValues)
    }

    /// A value that is a whole number; `None` for None.
    pub fn number(&self, at: usize) -> Counted<Option<i64>> {
        match self.value(at)? {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| Reason::Values),
        }
    }

    /// A value that is a list of whole numbers, or one number.
    pub fn numbers(&self, at: usize) -> Counted<Vec<i64>> {
        match self.value(at)? {
            "" => Err(Reason::NoValues),
            text => numbers(text).or_else(|| Some(vec![text.parse().ok()?])).ok_or(Reason::Values),
        }
    }

    /// Whether a value is true. The type of a mask is true if it is not 0.
    pub fn flag(&self, at: usize) -> Counted<bool> {
        match self.value(at)? {
            "True" | "true" | "1" | "2" => Ok(true),
            "False" | "false" | "0" => Ok(false),
            "" => Err(Reason::NoValues),
            _ => Err(Reason::Values),
        }
    }
}
