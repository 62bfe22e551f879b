//! Pooling and upsampling of images.

use super::call::Call;
use super::exact::{Counted, Reason, product};
use super::formula::Formula;
use super::result::Figures;

/// Pooling: the elements of a window for each element of the result.
pub fn pool(call: &Call, formula: &Formula) -> Counted<Figures> {
    let x = call.tensor(0)?;
    let window = call.numbers(1)?;
    let dims = window.len().max(formula.at("spatial").unwrap_or(1));
    let outer = x.dims.len().checked_sub(dims).ok_or(Reason::Shapes)?;
    let each = |at: Option<usize>, default: &[i64]| -> Counted<Vec<i64>> {
        let given = at.map_or(Ok(Vec::new()), |at| call.numbers(at))?;
        let given = if given.is_empty() { default.to_vec() } else { given };
        match given.len() {
            1 => Ok(vec![given[0]; dims]),
            count if count == dims => Ok(given),
            _ => Err(Reason::Shapes),
        }
    };
    let window = each(None, &window)?;
    let stride = each(Some(2), &window)?;
    let padding = each(Some(3), &[0])?;
    let dilation = each(formula.at("dilation_at"), &[1])?;
    let rounds_up = formula.at("ceil_at").map_or(Ok(false), |at| call.flag(at))?;
    let mut output = x.dims[..outer].to_vec();
    for i in 0..dims {
        output.push(
            pooled([x.dims[outer + i], window[i], stride[i], padding[i], dilation[i]], rounds_up)
                .ok_or(Reason::Shapes)?,
        );
    }
    let results = product(&output)?;
    let written = product(&[results, x.width + formula.number("index_bytes").unwrap_or(0)])?;
    let flop = product(&[results, product(&window)?])?;
    Ok(Figures::exact(flop, x.bytes()?, written))
}

fn pooled([x, window, stride, padding, dilation]: [i64; 5], rounds_up: bool) -> Option<i64> {
    if stride < 1 || dilation < 1 || window < 1 || padding < 0 {
        return None;
    }
    let padded = padding.checked_mul(2)?.checked_add(x)?;
    let room = padded.checked_sub(dilation.checked_mul(window - 1)?)?.checked_sub(1)?;
    if room < 0 {
        return None;
    }
    let size = room / stride + 1;
    // The last window begins within the input or its left padding.
    let more =
        rounds_up && room % stride != 0 && size.checked_mul(stride)? < x.checked_add(padding)?;
    Some(size + i64::from(more))
}

/// Pooling to a given size: each element of the input once.
pub fn adaptive_pool(call: &Call, _: &Formula) -> Counted<Figures> {
    let x = call.tensor(0)?;
    let size = call.numbers(1)?;
    let outer = x.dims.len().checked_sub(size.len()).ok_or(Reason::Shapes)?;
    let results = product(&[product(&x.dims[..outer])?, product(&size)?])?;
    Ok(Figures::exact(x.elements, x.bytes()?, product(&[results, x.width])?))
}

/// Upsampling to a size (argument 1) or by factors (the last argument).
pub fn upsample(call: &Call, formula: &Formula) -> Counted<Figures> {
    let x = call.tensor(0)?;
    let dims = formula.at("spatial").unwrap_or(2);
    let outer = x.dims.len().checked_sub(dims).ok_or(Reason::Shapes)?;
    let mut output = x.dims[..outer].to_vec();
    match call.numbers(1) {
        Ok(size) if size.len() == dims => output.extend(size),
        _ => {
            let factors = call.value(call.len() - 1)?.trim_matches(['[', ']']).split(',');
            let factors: Vec<f64> = factors.filter_map(|f| f.trim().parse().ok()).collect();
            if factors.len() != dims || factors.iter().any(|f| !(*f > 0.0 && *f < 1e6)) {
                return Err(Reason::NoValues);
            }
            for (size, factor) in x.dims[outer..].iter().zip(factors) {
                // PyTorch rounds down, too.
                output.push((*size as f64 * factor) as i64);
            }
        }
    }
    let results = product(&output)?;
    let flop = product(&[formula.flop_per_element(), results])?;
    Ok(Figures::exact(flop, x.bytes()?, product(&[results, x.width])?))
}
