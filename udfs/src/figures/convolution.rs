//! Convolutions, forward, transposed and backward, with any number of spatial dimensions.

use super::call::{Call, Tensor};
use super::exact::{Counted, Reason, product, sum};
use super::formula::Formula;
use super::result::Figures;

/// A value for each spatial dimension; one number applies to all.
fn spatial(call: &Call, at: Option<usize>, dims: usize, default: i64) -> Counted<Vec<i64>> {
    let Some(at) = at else { return Ok(vec![default; dims]) };
    let values = call.numbers(at)?;
    match values.len() {
        1 => Ok(vec![values[0]; dims]),
        count if count == dims => Ok(values),
        _ => Err(Reason::Shapes),
    }
}

/// Input `[batch, channels, ..]` and weight `[outputs, channels of a group, ..]`.
pub fn forward(call: &Call, formula: &Formula) -> Counted<Figures> {
    let x = call.tensor(formula.first())?;
    let w = call.tensor(formula.at("second").unwrap_or(1))?;
    let dims = w.dims.len().checked_sub(2).filter(|dims| *dims > 0).ok_or(Reason::Shapes)?;
    let mut input = x.dims.to_vec();
    if input.len() == dims + 1 {
        input.insert(0, 1);
    }
    if input.len() != dims + 2 {
        return Err(Reason::Shapes);
    }
    let stride = spatial(call, formula.at("stride_at"), dims, 1)?;
    let padding = spatial(call, formula.at("padding_at"), dims, 0)?;
    let dilation = spatial(call, formula.at("dilation_at"), dims, 1)?;
    let is_transposed = match formula.at("transposed_at") {
        Some(at) => call.flag(at)?,
        None => formula.has("transposed"),
    };
    let groups = groups(call, formula, &input, &w, is_transposed)?;
    let mut output =
        vec![input[0], if is_transposed { product(&[w.dims[1], groups])? } else { w.dims[0] }];
    let extra = if is_transposed {
        spatial(call, formula.at("output_padding_at"), dims, 0)?
    } else {
        vec![0; dims]
    };
    for i in 0..dims {
        let size = output_size(
            [input[2 + i], w.dims[2 + i], stride[i], padding[i], dilation[i], extra[i]],
            is_transposed,
        );
        output.push(size.ok_or(Reason::Shapes)?);
    }
    let filter = product(&w.dims[1..])?;
    let positions = product(if is_transposed { &input } else { &output })?;
    let flop = product(&[2, positions, filter])?;
    let mut read = Vec::new();
    for tensor in call.leading(formula.reads())? {
        read.push(tensor.bytes()?);
    }
    let written = product(&[product(&output)?, x.width])?;
    let places = product(if is_transposed { &input[2..] } else { &output[2..] })?;
    let positions = product(&[input[0], places])?;
    Ok(Figures {
        sizes: Some(product_sizes(&w, groups, positions, is_transposed)?),
        dilation: dilation.iter().copied().max(),
        ..Figures::exact(flop, sum(&read)?, written)
    })
}

/// A convolution as a product: groups times `[positions, k] x [k, outputs of a group]`. A transposed
/// one makes a filter of outputs from each input.
fn product_sizes(
    w: &Tensor,
    groups: i64,
    positions: i64,
    is_transposed: bool,
) -> Counted<[i64; 4]> {
    let of_group = w.dims[0] / groups.max(1);
    let filter = product(&w.dims[1..])?;
    if is_transposed {
        let inner = product(&[of_group, product(&w.dims[2..])?])?;
        return Ok([groups, positions, w.dims[1], inner]);
    }
    Ok([groups, positions, of_group, filter])
}

/// The groups of channels: as written, else by the number of channels.
fn groups(
    call: &Call,
    formula: &Formula,
    input: &[i64],
    w: &Tensor,
    is_transposed: bool,
) -> Counted<i64> {
    let given = match formula.at("groups_at") {
        Some(at) => call.number(at)?,
        None => None,
    };
    let groups = match given {
        Some(groups) => groups,
        None if is_transposed => 1,
        None => input[1].checked_div(w.dims[1]).ok_or(Reason::Shapes)?,
    };
    let channels = if is_transposed { w.dims[0] } else { product(&[w.dims[1], groups])? };
    if groups < 1 || channels != input[1] || w.dims[0] % groups != 0 {
        return Err(Reason::Shapes);
    }
    Ok(groups)
}

/// The size of an output dimension, from the sizes of input and filter, stride, padding, dilation
/// and additional padding of the output.
fn output_size(
    [x, w, stride, padding, dilation, extra]: [i64; 6],
    is_transposed: bool,
) -> Option<i64> {
    if stride < 1 || dilation < 1 || padding < 0 || w < 1 {
        return None;
    }
    let reach = dilation.checked_mul(w - 1)?;
    let size = if is_transposed {
        x.checked_sub(1)?
            .checked_mul(stride)?
            .checked_sub(padding.checked_mul(2)?)?
            .checked_add(reach)?
            .checked_add(extra)?
            .checked_add(1)?
    } else {
        let room = padding.checked_mul(2)?.checked_add(x)?.checked_sub(reach)?.checked_sub(1)?;
        if room < 0 { return None } else { room / stride + 1 }
    };
    (size >= 0).then_some(size)
}

/// Gradient, input and weight; `mask_at` is the position of the gradients that are made.
pub fn backward(call: &Call, formula: &Formula) -> Counted<Figures> {
    let (gradient, x, w) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    if w.dims.len() < 3 || gradient.dims.len() != w.dims.len() || x.dims.len() != w.dims.len() {
        return Err(Reason::Shapes);
    }
    let is_transposed = match formula.at("transposed_at") {
        Some(at) => call.flag(at)?,
        None => false,
    };
    // The number of output channels is in both, and so is that of the input if it is transposed.
    let (outer, inner) = if is_transposed { (&x, &gradient) } else { (&gradient, &x) };
    if outer.dims[0] != inner.dims[0]
        || outer.dims[1] != w.dims[0]
        || w.dims[1] == 0
        || inner.dims[1] % w.dims[1] != 0
    {
        return Err(Reason::Shapes);
    }
    let dims = w.dims.len() - 2;
    let stride = spatial(call, formula.at("stride_at"), dims, 1)?;
    let padding = spatial(call, formula.at("padding_at"), dims, 0)?;
    let dilation = spatial(call, formula.at("dilation_at"), dims, 1)?;
    for i in 0..dims {
        let sizes = [inner.dims[2 + i], w.dims[2 + i], stride[i], padding[i], dilation[i], 0];
        if output_size(sizes, false) != Some(outer.dims[2 + i]) {
            return Err(Reason::Shapes);
        }
    }
    let mask = call.value(formula.at("mask_at").unwrap_or(10))?.to_ascii_lowercase();
    let wanted: Vec<bool> =
        mask.trim_matches(['[', ']']).split(',').map(|flag| flag.trim() == "true").collect();
    let [of_input, of_weight, of_bias] = wanted[..] else { return Err(Reason::NoValues) };
    let width = gradient.width;
    let each = product(&[2, outer.elements, product(&w.dims[1..])?])?;
    let flop = product(&[each, i64::from(of_input) + i64::from(of_weight)])?;
    let (by_input, by_weight) = (i64::from(of_input), i64::from(of_weight));
    let bias = if of_bias { gradient.dims[1] } else { 0 };
    let read = sum(&[gradient.elements, by_input * w.elements, by_weight * x.elements])?;
    let written = sum(&[by_input * x.elements, by_weight * w.elements, bias])?;
    let groups = (inner.dims[1] / w.dims[1]).max(1);
    let positions = product(&[outer.dims[0], product(&outer.dims[2..])?])?;
    Ok(Figures {
        sizes: Some(product_sizes(&w, groups, positions, is_transposed)?),
        dilation: dilation.iter().copied().max(),
        ..Figures::exact(flop, product(&[read, width])?, product(&[written, width])?)
    })
}
