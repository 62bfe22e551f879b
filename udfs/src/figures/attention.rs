//! Attention over queries, keys and values, forward and backward, with lengths that are arguments
//! or only known within bounds.

use super::call::{Call, Tensor};
use super::exact::{Counted, Reason, product, sum};
use super::formula::Formula;
use super::result::{Figures, Quality};

/// The sizes of an attention: batch, heads of queries and of keys, lengths, head sizes.
struct Heads<'a> {
    q: Tensor<'a>,
    k: Tensor<'a>,
    v: Tensor<'a>,
    batch: i64,
    heads: i64,
    queries: i64,
    keys: i64,
    /// Sum of the head sizes of key and value.
    forward: i64,
    /// The same for the five products of the backward pass.
    backward: i64,
}

/// The pairs of query and key of one head: the visible ones, all, and the upper bound of the
/// visible ones.
struct Pairs {
    visible: i64,
    full: i64,
    upper: Option<i64>,
    /// Whether half of `visible` and `upper` is visible, which may not be a whole number.
    is_halved: bool,
    quality: Quality,
}

impl<'a> Heads<'a> {
    fn new(call: &'a Call, formula: &Formula, is_packed: bool) -> Counted<Self> {
        let first = formula.first();
        let tensor = |at: usize| call.tensor(first + at)?.with_dims(if is_packed { 3 } else { 4 });
        let (q, k, v) = (tensor(0)?, tensor(1)?, tensor(2)?);
        // The dimensions of heads and of length; packed sequences are [tokens, heads, size].
        let (heads_at, length_at) = match (is_packed, formula.at("heads_at")) {
            (true, _) => (1, 0),
            (false, Some(1)) => (1, 2),
            (false, _) => (2, 1),
        };
        let size_at = q.dims.len() - 1;
        let (heads, key_heads) = (q.dims[heads_at], k.dims[heads_at]);
        let is_grouped = key_heads > 0 && heads % key_heads == 0 || heads == key_heads;
        let fits = is_grouped
            && q.dims[size_at] == k.dims[size_at]
            && v.dims[heads_at] == key_heads
            && k.dims[length_at] == v.dims[length_at]
            && (is_packed || q.dims[0] == k.dims[0] && k.dims[0] == v.dims[0]);
        if !fits {
            return Err(Reason::Shapes);
        }
        let (key_size, value_size) = (q.dims[size_at], v.dims[size_at]);
        Ok(Self {
            q,
            k,
            v,
            batch: if is_packed { 1 } else { q.dims[0] },
            heads,
            queries: q.dims[length_at],
            keys: k.dims[length_at],
            forward: sum(&[key_size, value_size])?,
            backward: sum(&[product(&[3, key_size])?, product(&[2, value_size])?])?,
        })
    }

    /// The bytes of the result: as many rows as the query, with the head size of the value.
    fn result_bytes(&self) -> Counted<i64> {
        let size = self.v.dims.last().copied().unwrap_or(0);
        product(&[self.batch, self.heads, self.queries, size, self.q.width])
    }
}

/// Attention, forward.
pub fn forward(call: &Call, formula: &Formula) -> Counted<Figures> {
    attention(call, formula, false)
}

/// Attention, backward; the scores are computed a second time.
pub fn backward(call: &Call, formula: &Formula) -> Counted<Figures> {
    attention(call, formula, true)
}

fn attention(call: &Call, formula: &Formula, is_backward: bool) -> Counted<Figures> {
    let ends = match formula.at("ends_at") {
        Some(at) => call.optional(at)?,
        None => None,
    };
    let heads = Heads::new(call, formula, ends.is_some())?;
    let pairs = match ends {
        Some(ends) => packed_pairs(call, formula, &heads, &ends)?,
        None => pairs(call, formula, &heads)?,
    };
    // Packed sequences count with their mean lengths.
    let (sequences, parts) = match ends {
        Some(ends) => (ends.elements - 1, (ends.elements - 1).max(1)),
        None => (heads.batch, 1),
    };
    let size = if is_backward { heads.backward } else { heads.forward };
    let each = product(&[2, heads.batch, heads.heads, size])?;
    let flop = |pairs: i64| product(&[each, pairs]);
    let part = if pairs.is_halved { 2 } else { 1 };
    let visible = |pairs: i64| Ok(flop(pairs)? / part);
    let inputs = [heads.q.bytes()?, heads.k.bytes()?, heads.v.bytes()?];
    let result = heads.result_bytes()?;
    let mask = match formula.at("bias_at") {
        Some(at) => call.optional(at)?.map_or(Ok(0), |mask| mask.bytes())?,
        None => 0,
    };
    let [q, k, v] = inputs;
    let (read, written) = if is_backward {
        // The gradient, the result and the logarithm of the sums of the forward pass.
        let sums = product(&[4, heads.batch, heads.heads, heads.queries])?;
        (sum(&[q, k, v, result, result, sums, mask])?, sum(&inputs)?)
    } else {
        (sum(&[q, k, v, mask])?, result)
    };
    Ok(Figures {
        flop_full: Some(flop(pairs.full)?),
        flop_upper: pairs.upper.map(visible).transpose()?,
        quality: pairs.quality,
        sizes: Some([
            product(&[sequences, heads.heads])?,
            heads.queries / parts,
            heads.keys / parts,
            heads.q.dims.last().copied().unwrap_or(0),
        ]),
        ..Figures::exact(visible(pairs.visible)?, read, written)
    })
}

/// How a causal mask is placed if the lengths differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Causal {
    No,
    TopLeft,
    BottomRight,
}

fn causal(call: &Call, formula: &Formula) -> Counted<Causal> {
    let Some(at) = formula.at("causal_at") else { return Ok(Causal::No) };
    // An overload with scales has more arguments.
    let at = match (formula.at("scaled_arguments"), formula.at("scaled_causal_at")) {
        (Some(count), Some(scaled)) if call.len() >= count => scaled,
        _ => at,
    };
    Ok(match call.value(at)? {
        "2" => Causal::BottomRight,
        _ if !call.flag(at)? => Causal::No,
        _ if formula.has("bottom_right") => Causal::BottomRight,
        _ => Causal::TopLeft,
    })
}

/// The width of a window of keys that a query sees; `None` without one.
fn window(call: &Call, formula: &Formula, is_causal: bool) -> Counted<Option<i64>> {
    let Some(at) = formula.at("window_at") else { return Ok(None) };
    let side = |at| Ok(call.number(at).ok().flatten().filter(|size| *size >= 0));
    let (left, right): (Option<i64>, Option<i64>) = (side(at)?, side(at + 1)?);
    let right = if is_causal { Some(0) } else { right };
    match (left, right) {
        (Some(left), Some(right)) => sum(&[left, right, 1]).map(Some),
        _ => Ok(None),
    }
}

fn pairs(call: &Call, formula: &Formula, heads: &Heads) -> Counted<Pairs> {
    let (queries, keys) = (heads.queries, heads.keys);
    let causal = match causal(call, formula) {
        Err(Reason::NoValues) => return unknown_mask(queries, keys),
        other => other?,
    };
    let full = product(&[queries, keys])?;
    let halved = |is_halved, visible| {
        Ok(Pairs { visible, full, upper: None, is_halved, quality: Quality::Exact })
    };
    let exact = |visible| halved(false, visible);
    if let Some(width) = window(call, formula, causal != Causal::No)?.filter(|w| *w < keys) {
        let visible = product(&[queries, width])?;
        let (upper, is_halved) = (None, false);
        return Ok(Pairs { visible, full, upper, is_halved, quality: Quality::Estimate });
    }
    let triangle = |n: i64| Ok(product(&[n, sum(&[n, 1])?])? / 2);
    match causal {
        Causal::No => exact(full),
        // The convention for equal lengths is half of all pairs.
        _ if queries == keys => halved(true, full),
        Causal::TopLeft if queries < keys => exact(triangle(queries)?),
        Causal::TopLeft => exact(sum(&[triangle(keys)?, product(&[queries - keys, keys])?])?),
        Causal::BottomRight if queries < keys => exact(full - (triangle(queries)? - queries)),
        Causal::BottomRight => exact(triangle(keys)?),
    }
}

/// Without values of arguments it is unknown whether there is a causal mask.
fn unknown_mask(queries: i64, keys: i64) -> Counted<Pairs> {
    let full = product(&[queries, keys])?;
    Ok(Pairs {
        visible: full / 2,
        full,
        upper: Some(full),
        is_halved: false,
        quality: Quality::Bounds,
    })
}

/// Packed sequences whose lengths are only in the contents of `ends`.
fn packed_pairs(call: &Call, formula: &Formula, heads: &Heads, ends: &Tensor) -> Counted<Pairs> {
    let count = ends.with_dims(1)?.dims[0] - 1;
    let longest_at = formula.at("longest_at").ok_or(Reason::Lengths)?;
    let longest = call.number(longest_at)?.ok_or(Reason::Lengths)?;
    let longest_key = call.number(longest_at + 1)?.ok_or(Reason::Lengths)?;
    let (tokens, keys) = (heads.queries, heads.keys);
    // A limit above the number of tokens says nothing about the longest sequence.
    if longest > tokens {
        return Err(Reason::Lengths);
    }
    if count < 1 || longest < 0 || i128::from(longest) * i128::from(count) < i128::from(tokens) {
        return Err(Reason::Shapes);
    }
    // One query for each sequence sees all its keys.
    if longest == 1 && tokens == count {
        let (upper, is_halved) = (None, false);
        return Ok(Pairs { visible: keys, full: keys, upper, is_halved, quality: Quality::Exact });
    }
    if tokens != keys || longest != longest_key {
        return Err(Reason::Lengths);
    }
    let square = |n: i64| product(&[n, n]);
    // At least: the others have equal lengths. At most: as many as possible have the longest.
    let rest = tokens - longest;
    let least = if count == 1 { 0 } else { square(rest)? / (count - 1) };
    let lower = sum(&[square(longest)?, least])?;
    let whole = tokens.checked_div(longest).unwrap_or(0);
    let part = tokens.checked_rem(longest).unwrap_or(0);
    let upper = sum(&[product(&[whole, square(longest)?])?, square(part)?])?;
    let is_halved = causal(call, formula)? != Causal::No;
    let quality = if lower == upper { Quality::Exact } else { Quality::Bounds };
    let upper = (lower != upper).then_some(upper);
    Ok(Pairs { visible: lower, full: lower, upper, is_halved, quality })
}
