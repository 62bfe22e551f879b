//! Fourier transforms.

use super::call::Call;
use super::exact::{Counted, Reason, product};
use super::formula::Formula;
use super::result::{Figures, Quality};

/// Operations for each element and each halving of the length of a complex transform. This is the
/// convention of benchmarks, which holds whatever algorithm is used.
const FLOP_PER_HALVING: f64 = 5.0;

/// A transform over the dimensions of argument 1. The option `result` states what becomes of a real
/// input or result: `half` keeps half of the last dimension, `whole` makes it whole again.
///
/// A real transform needs half of the operations. The sizes are the number of transforms, their
/// length, the part of the length that is no product of 2, 3, 5 and 7, and the length again.
pub fn fourier(call: &Call, formula: &Formula) -> Counted<Figures> {
    let x = call.tensor(0)?;
    let count = i64::try_from(x.dims.len()).map_err(|_| Reason::Shapes)?;
    let mut places = Vec::new();
    for dim in call.numbers(1)? {
        let dim = if dim < 0 { dim.saturating_add(count) } else { dim };
        let place = usize::try_from(dim).map_err(|_| Reason::Shapes)?;
        if place >= x.dims.len() || places.contains(&place) {
            return Err(Reason::Shapes);
        }
        places.push(place);
    }
    let last = *places.last().ok_or(Reason::Shapes)?;
    let (mut input, mut output) = (x.dims.to_vec(), x.dims.to_vec());
    // Numbers of the result in the width of the input: a complex one has twice that of a real one.
    let (mut grows, mut shrinks, mut part) = (1, 1, 1.0);
    match formula.text("result") {
        Some("half") => {
            part = 0.5;
            grows = 2;
            if call.flag(3)? {
                output[last] = output[last] / 2 + 1;
            }
        }
        Some("whole") => {
            part = 0.5;
            shrinks = 2;
            output[last] = call.number(3)?.ok_or(Reason::NoValues)?;
            input[last] = output[last];
        }
        _ => {}
    }
    let all = product(&input)?;
    let lengths: Vec<i64> = places.iter().map(|place| input[*place]).collect();
    let length = product(&lengths)?;
    let rough = product(&lengths.iter().map(|size| rough_part(*size)).collect::<Vec<i64>>())?;
    let halvings = if length > 1 { libm::log2(length as f64) } else { 0.0 };
    let flop = (part * FLOP_PER_HALVING * all as f64 * halvings).round();
    if flop >= i64::MAX as f64 {
        return Err(Reason::TooLarge);
    }
    let written = product(&[product(&output)?, x.width, grows])? / shrinks;
    Ok(Figures {
        quality: Quality::Estimate,
        sizes: Some([all.checked_div(length).unwrap_or(0), length, rough, length]),
        ..Figures::exact(flop as i64, x.bytes()?, written)
    })
}

/// What is left of a length without its factors 2, 3, 5 and 7, for which libraries have kernels.
fn rough_part(length: i64) -> i64 {
    let mut rest = length.max(1);
    for factor in [2, 3, 5, 7] {
        while rest % factor == 0 {
            rest /= factor;
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(options: &str, shape: &str, kind: &str, values: &str) -> Counted<Figures> {
        let types = format!(r#"["{kind}","ScalarList","Scalar","Scalar"]"#);
        let shapes = format!("[{shape},[],[],[]]");
        let call = Call::new(&shapes, Some(types.as_str()), Some(values))?;
        fourier(&call, &Formula::new("transform", options))
    }

    #[test]
    fn real_and_complex_transforms_are_counted() {
        let values = r#"["","[1]","0","True"]"#;
        let half = figures("result=half", "[4,8]", "float", values).expect("figures");
        // 2.5 * 32 * 3 operations; the result has 4 * 5 complex numbers.
        assert_eq!((half.flop, half.read, half.written), (Some(240), 128, 160));
        let values = r#"["","[1]","0","8"]"#;
        let kind = "c10::complex<float>";
        let whole = figures("result=whole", "[4,5]", kind, values).expect("figures");
        assert_eq!((whole.flop, whole.read, whole.written), (Some(240), 160, 128));
        let values = r#"["","[0, 1]","0","True"]"#;
        let both = figures("", "[4,8]", kind, values).expect("figures");
        assert_eq!((both.flop, both.read, both.written), (Some(800), 256, 256));
        assert_eq!(both.sizes, Some([1, 32, 1, 32]));
    }

    #[test]
    fn odd_dimensions_have_a_reason() {
        for dims in ["[2]", "[-3]", "[1, 1]", "[]"] {
            let values = format!(r#"["","{dims}","0","True"]"#);
            let found = figures("", "[4,8]", "c10::complex<float>", &values);
            assert_eq!(found, Err(Reason::Shapes), "{dims}");
        }
        assert_eq!(rough_part(4096), 1);
        assert_eq!(rough_part(4100), 41);
        assert_eq!(rough_part(0), 1);
    }
}
