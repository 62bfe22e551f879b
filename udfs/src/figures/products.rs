//! Matrix products: dense, quantised, sparse and grouped.

use super::call::{Call, Tensor};
use super::exact::{Counted, Reason, broadcast, product, sum};
use super::formula::Formula;
use super::result::{Figures, Quality};

/// Bytes of an element of the result: those of the argument `out`, or by the argument `out_dtype`,
/// else by `result_bytes`, else those of the first factor.
fn result_bytes(call: &Call, formula: &Formula, factor: &Tensor) -> i64 {
    if let Some(Ok(out)) = formula.at("out_at").map(|at| call.tensor(at)) {
        return out.width;
    }
    // Numbers of PyTorch's scalar types.
    let by_argument = formula.at("out_dtype_at").and_then(|at| {
        Some(match call.number(at).ok()?? {
            5 | 15 => 2,
            6 => 4,
            7 => 8,
            23..=26 | 44 => 1,
            _ => return None,
        })
    });
    by_argument.or(formula.number("result_bytes")).unwrap_or(factor.width)
}

fn read_bytes(tensors: &[Tensor]) -> Counted<i64> {
    sum(&tensors.iter().map(Tensor::bytes).collect::<Counted<Vec<i64>>>()?)
}

/// Values packed in one element of a factor: two for packed 4-bit types.
fn packed(factor: &Tensor) -> i64 {
    if factor.type_name.to_ascii_lowercase().contains("float4") { 2 } else { 1 }
}

/// The sizes of a product: batch, rows, columns, inner size.
fn sizes(a: &[i64], b: &[i64]) -> Counted<[i64; 4]> {
    match (a, b) {
        ([rows @ .., k], [inner]) if k == inner => Ok([1, product(rows)?, 1, *k]),
        ([k], [batch @ .., inner, n]) if k == inner => Ok([product(batch)?, 1, *n, *k]),
        ([a_batch @ .., m, k], [b_batch @ .., inner, n]) if k == inner => {
            Ok([product(&broadcast(a_batch, b_batch)?)?, *m, *n, *k])
        }
        _ => Err(Reason::Shapes),
    }
}

/// Factors `[.., m, k]` and `[.., k, n]`. Operators that take factors with certain numbers of
/// dimensions only (`dims`) do not broadcast batches.
pub fn matmul(call: &Call, formula: &Formula) -> Counted<Figures> {
    let mut a = call.tensor(formula.first())?;
    let mut b = call.tensor(formula.at("second").unwrap_or(1))?;
    if let [of_a, of_b] = formula.list("dims")[..] {
        (a, b) = (a.with_dims(of_a)?, b.with_dims(of_b)?);
        if of_a == 3 && a.dims[0] != b.dims[0] {
            return Err(Reason::Shapes);
        }
    }
    let [batch, m, n, k] = sizes(a.dims, b.dims)?;
    // The results of a batch may be added up.
    let results = if formula.has("sums_batch") { 1 } else { batch };
    dense(call, formula, &a, [batch, m, n, k], results)
}

/// Input `[.., k]` and weight `[n, k]`.
pub fn linear(call: &Call, formula: &Formula) -> Counted<Figures> {
    let a = call.tensor(formula.first())?;
    let w = call.tensor(formula.at("second").unwrap_or(1))?;
    let ([rows @ .., k], [n, inner]) = (a.dims, w.dims) else { return Err(Reason::Shapes) };
    if k != inner {
        return Err(Reason::Shapes);
    }
    dense(call, formula, &a, [1, product(rows)?, *n, *k], 1)
}

fn dense(
    call: &Call,
    formula: &Formula,
    a: &Tensor,
    [batch, m, n, k]: [i64; 4],
    results: i64,
) -> Counted<Figures> {
    let k = product(&[k, packed(a)])?;
    let mut tensors = call.leading(formula.reads())?;
    for at in formula.list("reads_at") {
        tensors.extend(call.optional(at)?);
    }
    let read = read_bytes(&tensors)?;
    let written = product(&[results, m, n, result_bytes(call, formula, a)])?;
    let flop = product(&[2, batch, m, n, k])?;
    Ok(Figures { sizes: Some([batch, m, n, k]), ..Figures::exact(flop, read, written) })
}

/// Input `[m, k]`, a packed weight, and scales and zeros `[groups, n, 2]`.
pub fn packed_weight(call: &Call, formula: &Formula) -> Counted<Figures> {
    let a = call.tensor(0)?.with_dims(2)?;
    let scales = call.tensor(formula.at("scales_at").unwrap_or(3))?.with_dims(3)?;
    let (m, k, n) = (a.dims[0], a.dims[1], scales.dims[1]);
    let read = sum(&[a.bytes()?, call.tensor(1)?.bytes()?, scales.bytes()?])?;
    let written = product(&[m, n, result_bytes(call, formula, &a)])?;
    let flop = product(&[2, m, n, k])?;
    Ok(Figures { sizes: Some([1, m, n, k]), ..Figures::exact(flop, read, written) })
}

/// A 2:4 sparse factor, in one tensor or with separate metadata, and a dense factor `[k, n]`. Half
/// of the dense operations are done.
pub fn sparse(call: &Call, formula: &Formula) -> Counted<Figures> {
    let a = call.tensor(0)?;
    let dense = call.tensor(formula.at("second").unwrap_or(2))?.with_dims(2)?;
    let (k, n) = (dense.dims[0], dense.dims[1]);
    let m = match a.dims {
        [m, half] if formula.has("metadata") && 2 * i128::from(*half) == i128::from(k) => *m,
        // Values and metadata take 9 sixteenths of the elements, 10 with elements of a byte.
        [_] | [_, _] if !formula.has("metadata") => {
            let parts = product(&[a.elements, 16])?;
            let row = product(&[k, if a.width == 1 { 10 } else { 9 }])?;
            if row == 0 || parts % row != 0 {
                return Err(Reason::Shapes);
            }
            parts / row
        }
        _ => return Err(Reason::Shapes),
    };
    let read = read_bytes(&call.leading(formula.reads())?)?;
    let written = product(&[m, n, result_bytes(call, formula, &a)])?;
    let full = product(&[2, m, n, k])?;
    Ok(Figures {
        flop_full: Some(full),
        sizes: Some([1, m, n, k]),
        ..Figures::exact(product(&[m, n, k])?, read, written)
    })
}

/// Products of groups of rows or columns; `groups_at` is the position of their ends.
pub fn grouped(call: &Call, formula: &Formula) -> Counted<Figures> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let ends = call.optional(formula.at("groups_at").unwrap_or(2))?;
    let groups = || match ends {
        Some(ends) if ends.dims.len() == 1 => Ok(ends.dims[0]),
        _ => Err(Reason::Shapes),
    };
    let (sizes, results) = match (a.dims, b.dims) {
        ([m, k], [count, inner, n]) if k == inner && *count == groups()? => {
            ([1, *m, *n, *k], [1, *m, *n])
        }
        ([count, m, k], [inner, n]) if k == inner && *count == groups()? => {
            ([1, *m, *n, *k], [1, *m, *n])
        }
        ([m, k], [inner, n]) if k == inner => ([1, *m, *n, *k], [groups()?, *m, *n]),
        ([count, m, k], [others, inner, n]) if k == inner && count == others => {
            ([*count, *m, *n, *k], [*count, *m, *n])
        }
        _ => return Err(Reason::Shapes),
    };
    let mut read = vec![a.bytes()?, b.bytes()?];
    for at in formula.list("scales_at") {
        if let Some(scales) = call.optional(at)?.filter(|scales| scales.elements > 1) {
            read.push(scales.bytes()?);
        }
    }
    let [batch, m, n, k] = sizes;
    let k = product(&[k, packed(&a)])?;
    // The sizes of a mean group.
    let mean = |size: i64| groups().map_or(size, |count| size.checked_div(count).unwrap_or(0));
    let sizes = match (a.dims.len(), b.dims.len()) {
        (2, 3) => Some([groups()?, mean(m), n, k]),
        (3, 2) => Some([groups()?, m, mean(n), k]),
        (2, 2) => Some([groups()?, m, n, mean(k)]),
        _ => Some([batch, m, n, k]),
    };
    let width = result_bytes(call, formula, &a);
    let written = product(&[product(&results)?, width])?;
    let flop = product(&[2, batch, m, n, k])?;
    // Rows after the last group are not computed, and the ends are not recorded.
    let quality = if ends.is_some() { Quality::Estimate } else { Quality::Exact };
    Ok(Figures { sizes, quality, ..Figures::exact(flop, sum(&read)?, written) })
}
