//! Fused mixtures of experts.

use super::call::Call;
use super::exact::{Counted, Reason, product, sum};
use super::formula::Formula;
use super::result::{Figures, Quality};

/// Input `[tokens, h]`, weights `[experts, 2 i or i, h]` and `[experts, h, i]`, and the experts of
/// each token.
///
/// Which experts get a token is not recorded: the bytes are those to expect if each token chooses
/// its experts at random, the upper bound is that each choice is another expert.
pub fn fused(call: &Call, formula: &Formula) -> Counted<Figures> {
    let first = formula.first();
    let x = call.tensor(first)?.with_dims(2)?;
    let up = call.tensor(first + 1)?.with_dims(3)?;
    let down = call.tensor(first + 2)?.with_dims(3)?;
    let [tokens, hidden] = [x.dims[0], x.dims[1]];
    let experts = up.dims[0];
    let chosen = match formula.at("chosen_value_at") {
        Some(at) => call.number(at)?.ok_or(Reason::NoValues)?,
        None => call.tensor(first + 3)?.with_dims(2)?.dims[1],
    };
    let inner = inner_size(up.dims[1], down.dims[2])?;
    let fits = down.dims[0] == experts
        && down.dims[1] == hidden
        && (up.dims[2] == hidden || up.dims[2] == hidden / 2)
        && (1..=experts).contains(&chosen);
    if !fits {
        return Err(Reason::Shapes);
    }
    let choices = product(&[tokens, chosen])?;
    let flop = product(&[2, choices, hidden, sum(&[up.dims[1], inner])?])?;
    let all = sum(&[up.bytes()?, down.bytes()?])?;
    let mut ends = vec![x.bytes()?];
    for at in formula.list("reads_at") {
        if let Some(tensor) = call.optional(at)? {
            ends.push(tensor.bytes()?);
        }
    }
    let ends = sum(&ends)?;
    let weights = |hit: f64| (all as f64 / experts as f64 * hit).round() as i64;
    let share = 1.0 - chosen as f64 / experts as f64;
    let expected = experts as f64 * (1.0 - libm::pow(share, tokens as f64));
    let read = sum(&[ends, weights(expected)])?;
    let most = sum(&[ends, weights(choices.min(experts) as f64)])?;
    // A result that is an argument can be wider than the input.
    let written = match formula.at("out_at") {
        Some(at) => product(&[x.elements, call.tensor(at)?.width])?,
        None => x.bytes()?,
    };
    Ok(Figures {
        bytes_upper: Some(sum(&[most, written])?),
        quality: Quality::Estimate,
        sizes: Some([experts, (choices / experts).max(1), up.dims[1], hidden]),
        ..Figures::exact(flop, read, written)
    })
}

/// The size between both products. Weights of 4 bits are packed two a byte, so the second weight
/// has half as many columns.
fn inner_size(wide: i64, columns: i64) -> Counted<i64> {
    let times = |factor: i64| product(&[columns, factor]);
    if wide == columns || wide == times(2)? {
        Ok(columns)
    } else if wide == times(4)? {
        times(2)
    } else {
        Err(Reason::Shapes)
    }
}
