//! Elementwise operators, reductions, normalisation, lookups, copies and fills.

use super::call::{Call, Tensor};
use super::exact::{Counted, Reason, broadcast, product, sum};
use super::formula::Formula;
use super::result::{Figures, Quality};

fn bytes(tensors: &[Tensor]) -> Counted<i64> {
    sum(&tensors.iter().map(Tensor::bytes).collect::<Counted<Vec<i64>>>()?)
}

/// The width of a result: as the formula states, that of the first argument if it is changed in
/// place, else that of the widest tensor. Tensors without dimensions do not widen a result.
fn width(formula: &Formula, tensors: &[Tensor]) -> Counted<i64> {
    if let Some(width) = formula.number("result_bytes") {
        return Ok(width);
    }
    if formula.has("in_place") {
        return tensors.first().map(|first| first.width).ok_or(Reason::Shapes);
    }
    let shaped = tensors.iter().filter(|tensor| !tensor.dims.is_empty());
    let widest = shaped.map(|tensor| tensor.width).max();
    widest.or(tensors.iter().map(|tensor| tensor.width).max()).ok_or(Reason::Shapes)
}

/// Each element of the result, whose shape is that of the tensors read, broadcast.
pub fn map(call: &Call, formula: &Formula) -> Counted<Figures> {
    let tensors = call.leading(formula.reads())?;
    let mut shape = Vec::new();
    for tensor in &tensors {
        shape = broadcast(&shape, tensor.dims)?;
    }
    let mut elements = product(&shape)?;
    if formula.has("in_place") {
        let first = call.tensor(0)?;
        if first.dims != shape {
            return Err(Reason::Shapes);
        }
        elements = first.elements;
    }
    let flop = product(&[formula.flop_per_element(), elements])?;
    let written = product(&[elements, width(formula, &tensors)?])?;
    Ok(Figures::exact(flop, bytes(&tensors)?, written))
}

/// Each element of the first argument; the result has its shape.
pub fn like_first(call: &Call, formula: &Formula) -> Counted<Figures> {
    let first = call.tensor(0)?;
    let flop = product(&[formula.flop_per_element(), first.elements])?;
    Ok(Figures::exact(flop, bytes(&call.leading(formula.reads())?)?, first.bytes()?))
}

/// Each element of the first argument; the result lacks some dimensions.
pub fn reduction(call: &Call, formula: &Formula) -> Counted<Figures> {
    let first = call.tensor(0)?;
    let results = match formula.at("dims_at") {
        Some(at) if call.len() > 2 => kept_elements(call, &first, at)?,
        _ => 1,
    };
    let width = width(formula, &[first])?;
    let width =
        sum(&[width, formula.number("index_bytes").filter(|_| call.len() > 1).unwrap_or(0)])?;
    let flop = product(&[formula.flop_per_element(), first.elements])?;
    Ok(Figures::exact(flop, first.bytes()?, product(&[results, width])?))
}

/// A reduction over all elements or one dimension, or, with a second tensor, a map.
pub fn extreme(call: &Call, formula: &Formula) -> Counted<Figures> {
    if call.optional(1)?.is_some() { map(call, formula) } else { reduction(call, formula) }
}

/// The elements that are left of a tensor without the dimensions that a value names.
fn kept_elements(call: &Call, tensor: &Tensor, at: usize) -> Counted<i64> {
    if matches!(call.value(at)?, "" | "[]") {
        return Ok(1);
    }
    let count = i64::try_from(tensor.dims.len()).map_err(|_| Reason::Shapes)?;
    let mut sizes = tensor.dims.to_vec();
    for dim in call.numbers(at)? {
        let dim = if dim < 0 { dim.saturating_add(count) } else { dim };
        // A tensor without dimensions may be reduced over dimension 0.
        match usize::try_from(dim).ok().and_then(|dim| sizes.get_mut(dim)) {
            Some(size) => *size = 1,
            None if count == 0 && matches!(dim, 0 | -1) => {}
            None => return Err(Reason::Shapes),
        }
    }
    product(&sizes)
}

/// Elements or slices of `first` that `second` names; nothing is computed.
pub fn gather(call: &Call, formula: &Formula) -> Counted<Figures> {
    let table = call.tensor(formula.first())?;
    let names = call.tensor(formula.at("second").unwrap_or(1))?;
    let slice = if formula.has("single_elements") {
        1
    } else {
        let dimension = match formula.at("dims_at") {
            Some(at) => call.number(at)?.ok_or(Reason::NoValues)?,
            None => 0,
        };
        let count = i64::try_from(table.dims.len()).map_err(|_| Reason::Shapes)?;
        let dimension = if dimension < 0 { dimension.saturating_add(count) } else { dimension };
        let size = table.size(usize::try_from(dimension).map_err(|_| Reason::Shapes)?)?;
        table.elements.checked_div(size).ok_or(Reason::Shapes)?
    };
    let moved = product(&[names.elements, slice, table.width])?;
    Ok(Figures::exact(0, sum(&[names.bytes()?, moved])?, moved))
}

/// `second` is read, `first` is written.
pub fn copy(call: &Call, formula: &Formula) -> Counted<Figures> {
    let read = call.tensor(formula.at("second").unwrap_or(1))?.bytes()?;
    Ok(Figures::exact(0, read, call.tensor(formula.first())?.bytes()?))
}

/// `first` is written.
pub fn fill(call: &Call, formula: &Formula) -> Counted<Figures> {
    Ok(Figures::exact(0, 0, call.tensor(formula.first())?.bytes()?))
}

/// Arguments that are read and written, by their positions. `rows_at` names tables, and tensors
/// with a position for each row that is read.
pub fn arguments(call: &Call, formula: &Formula) -> Counted<Figures> {
    let mut elements = Vec::new();
    for at in formula.list("elements_at") {
        elements.extend(call.optional(at)?.map(|tensor| tensor.elements));
    }
    if elements.is_empty() && formula.has("elements_at") {
        return Err(Reason::Shapes);
    }
    let mut read = Vec::new();
    for at in formula.list("reads_at") {
        if let Some(tensor) = call.optional(at)? {
            read.push(tensor.bytes()?);
        }
    }
    for (table, positions) in formula.pairs("rows_at") {
        let (table, positions) = (call.tensor(table)?, call.tensor(positions)?);
        let row = table.elements.checked_div(table.size(0)?).ok_or(Reason::Shapes)?;
        read.push(product(&[positions.elements, row, table.width])?);
    }
    let mut written = Vec::new();
    for (shape, width) in formula.pairs("writes_at") {
        if let (Some(shape), Some(width)) = (call.optional(shape)?, call.optional(width)?) {
            written.push(product(&[shape.elements, width.width])?);
        }
    }
    if read.is_empty() && written.is_empty() {
        return Err(Reason::Shapes);
    }
    if let Some(count) = formula.number("results") {
        written.push(product(&[count, call.tensor(0)?.width])?);
    }
    let flop = product(&[formula.flop_per_element(), sum(&elements)?])?;
    let mut figures = Figures::exact(flop, sum(&read)?, sum(&written)?);
    if formula.has("estimate") {
        figures.quality = Quality::Estimate;
    }
    Ok(figures)
}
