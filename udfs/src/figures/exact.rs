//! Exact arithmetic on sizes, and the reasons why a call cannot be counted.

/// A figure, or the reason why the call has no figure.
pub type Counted<T> = Result<T, Reason>;

/// The reason why a call cannot be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    NoFormula,
    NoShapes,
    NoTypes,
    UnknownType,
    NoValues,
    Values,
    Shapes,
    TooLarge,
    Lengths,
    HiddenWeights,
    ListShapes,
    Indices,
}

impl Reason {
    /// The reason in words, with the remedy where there is one.
    pub fn text(self) -> &'static str {
        match self {
            Self::NoFormula => "no formula for this operator in operator_formulas",
            Self::NoShapes => "shapes were not recorded: profile with record_shapes=True",
            Self::NoTypes => "types of inputs were not recorded",
            Self::UnknownType => "the type of an input was not recorded",
            Self::NoValues => {
                "values of arguments were not recorded: traces of PyTorch 2 have them"
            }
            Self::Values => "the values of the arguments are not those the formula is for",
            Self::Shapes => "the shapes of the inputs are not those the formula is for",
            Self::TooLarge => "the figures do not fit into 64 bits",
            Self::Lengths => "lengths of sequences not recorded",
            Self::HiddenWeights => "the weights are not arguments of this operator",
            Self::ListShapes => "shapes of tensors in lists were not recorded",
            Self::Indices => "the shapes of the indices were not recorded",
        }
    }
}

/// The product of sizes; a negative size is not a shape.
pub fn product(sizes: &[i64]) -> Counted<i64> {
    if sizes.iter().any(|size| *size < 0) {
        return Err(Reason::Shapes);
    }
    if sizes.contains(&0) {
        return Ok(0);
    }
    sizes.iter().try_fold(1_i64, |all, size| all.checked_mul(*size)).ok_or(Reason::TooLarge)
}

/// The sum of sizes.
pub fn sum(sizes: &[i64]) -> Counted<i64> {
    sizes.iter().try_fold(0_i64, |all, size| all.checked_add(*size)).ok_or(Reason::TooLarge)
}

/// The shape that two shapes are broadcast to; sizes are matched from the last dimension.
pub fn broadcast(a: &[i64], b: &[i64]) -> Counted<Vec<i64>> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let extra = long.len() - short.len();
    let mut shape = long.to_vec();
    for (size, other) in shape[extra..].iter_mut().zip(short) {
        *size = match (*size, *other) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            _ => return Err(Reason::Shapes),
        };
    }
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_beyond_64_bits_and_negative_sizes_have_a_reason() {
        assert_eq!(product(&[3, 4, 5]), Ok(60));
        assert_eq!(product(&[]), Ok(1));
        assert_eq!(product(&[i64::MAX, i64::MAX, 0]), Ok(0));
        assert_eq!(product(&[i64::MAX, 2]), Err(Reason::TooLarge));
        assert_eq!(product(&[-1, 0]), Err(Reason::Shapes));
        assert_eq!(sum(&[i64::MAX, 1]), Err(Reason::TooLarge));
    }

    #[test]
    fn shapes_are_broadcast_from_the_last_dimension() {
        assert_eq!(broadcast(&[3, 1], &[2, 1, 4]), Ok(vec![2, 3, 4]));
        assert_eq!(broadcast(&[], &[2]), Ok(vec![2]));
        assert_eq!(broadcast(&[0], &[1]), Ok(vec![0]));
        assert_eq!(broadcast(&[2], &[3]), Err(Reason::Shapes));
    }
}
