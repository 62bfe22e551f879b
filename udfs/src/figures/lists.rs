//! Operators on lists of tensors: fused optimizers and `_foreach_*`.

use super::call::Call;
use super::exact::{Counted, Reason, product, sum};
use super::formula::Formula;
use super::result::{Figures, Quality};

/// Bytes of an element of a list. Types of tensors in lists are not recorded; parameters of
/// optimizers are mostly float32.
const LIST_ELEMENT_BYTES: i64 = 4;

/// Elements of the tensors of a list; 0 for an argument that is not a list.
fn elements(call: &Call, at: usize) -> Counted<i64> {
    let Some(list) = call.list(at) else { return Ok(0) };
    sum(&list.iter().map(|shape| product(shape)).collect::<Counted<Vec<i64>>>()?)
}

/// Lists that are read and written, by their positions.
pub fn lists(call: &Call, formula: &Formula) -> Counted<Figures> {
    let of = |name: &str| -> Counted<i64> {
        let lists = formula.list(name);
        sum(&lists.iter().map(|at| elements(call, *at)).collect::<Counted<Vec<i64>>>()?)
    };
    if call.list(0).is_none() {
        return Err(Reason::ListShapes);
    }
    let count = elements(call, 0)?;
    let bytes = |elements: i64| product(&[elements, LIST_ELEMENT_BYTES]);
    let flop = product(&[formula.flop_per_element(), count])?;
    let (read, written) = (bytes(of("reads_at")?)?, bytes(of("writes_at")?)?);
    Ok(Figures { quality: Quality::Estimate, ..Figures::exact(flop, read, written) })
}

/// A kernel of Triton that Inductor made: its pointers are read or written once each.
///
/// Which of them are both is not recorded, so the upper bound adds the largest. Operations are not
/// known, except for a product of matrices in a template.
pub fn pointers(call: &Call, name: &str) -> Counted<Figures> {
    let mut tensors = Vec::new();
    for at in 0..call.len() {
        tensors.extend(call.optional(at)?.filter(|tensor| !tensor.dims.is_empty()));
    }
    let sizes = tensors.iter().map(super::call::Tensor::bytes).collect::<Counted<Vec<i64>>>()?;
    let largest = sizes.iter().copied().max().ok_or(Reason::Shapes)?;
    let all = sum(&sizes)?;
    let mut figures = Figures {
        flop: None,
        bytes_upper: Some(sum(&[all, largest])?),
        quality: Quality::Bounds,
        ..Figures::exact(0, all, 0)
    };
    let is_product = name.starts_with("triton_tem_fused_mm")
        || name.starts_with("triton_tem_fused_addmm")
        || name.starts_with("triton_mm");
    if is_product && let Some(last) = tensors.last() {
        let factors: Vec<&[i64]> =
            tensors[..tensors.len() - 1].iter().map(|tensor| tensor.dims).collect();
        let product_of = factors.windows(2).find_map(|pair| match (pair[0], pair[1], last.dims) {
            ([m, k], [inner, n], [rows, columns]) if k == inner && m == rows && n == columns => {
                Some([1, *m, *n, *k])
            }
            _ => None,
        });
        if let Some([_, m, n, k]) = product_of {
            figures.flop = Some(product(&[2, m, n, k])?);
            figures.sizes = product_of;
            figures.quality = Quality::Estimate;
        }
    }
    Ok(figures)
}
