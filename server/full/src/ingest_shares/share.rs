//! One of several equal parts, and how inputs are divided into parts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The largest number of parts.
const MAX_SHARES: usize = 1_000_000;

/// A part of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The number of the part, from 0.
    pub index: usize,
    /// The number of parts.
    pub of: usize,
}

impl Share {
    /// Part `index`, from 0, of `of` parts. Fails with the reason if there is no such part.
    pub fn new(index: usize, of: usize) -> Result<Self, String> {
        match of {
            0 => Err("there must be at least one part".to_owned()),
            1 if index > 0 => Err(
                "parts count from 0, so the only one is 0/1; without --share all inputs are read"
                    .to_owned(),
            ),
            _ if of > MAX_SHARES => Err(format!("there are at most {MAX_SHARES} parts")),
            _ if index >= of => {
                Err(format!("parts count from 0, so the last of {of} is {}/{of}", of - 1))
            }
            _ => Ok(Self { index, of }),
        }
    }
}

impl Display for Share {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
        let numbers = text.split_once('/').and_then(|(i, n)| Some((number(i)?, number(n)?)));
        let (index, of) = numbers.ok_or(
            "write it as I/N, where I counts from 0: 0/4, 1/4, 2/4 and 3/4 are all parts of four; \
             or as auto",
        )?;
        Self::new(index, of)
    }
}

/// The part of each input, from its size. The inputs are in the order of their names.
///
/// The largest input goes to the part with the fewest bytes so far, then the next one. Equal sizes
/// are taken in the order of the names, and equal parts in the order of their numbers, so that all
/// workers compute the same. The largest part exceeds the mean by one input at most.
pub fn deal(sizes: &[u64], parts: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&at| Reverse(sizes[at]));
    // Of parts with equal bytes the one with fewer inputs is first, so that empty files are
    // distributed too.
    let mut heap: BinaryHeap<Reverse<(u128, usize, usize)>> =
        (0..parts.min(sizes.len())).map(|part| Reverse((0, 0, part))).collect();
    let mut dealt = vec![0; sizes.len()];
    for at in order {
        let Some(Reverse((bytes, inputs, part))) = heap.pop() else { break };
        dealt[at] = part;
        heap.push(Reverse((bytes + u128::from(sizes[at]), inputs + 1, part)));
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_written_with_a_slash_and_count_from_zero() {
        assert_eq!("17/64".parse(), Ok(Share { index: 17, of: 64 }));
        assert_eq!("0/1".parse(), Ok(Share { index: 0, of: 1 }));
        for (text, wanted) in [
            ("64/64", "the last of 64 is 63/64"),
            ("1/1", "the only one is 0/1"),
            ("0/0", "at least one part"),
            ("1/9999999", "at most 1000000 parts"),
            ("", "write it as I/N"),
            ("1", "write it as I/N"),
            ("1/", "write it as I/N"),
            ("-1/4", "write it as I/N"),
            ("+1/4", "write it as I/N"),
            ("1/4/2", "write it as I/N"),
            ("a/b", "write it as I/N"),
        ] {
            let error = text.parse::<Share>().expect_err("no part");
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn the_largest_input_goes_first() {
        assert_eq!(deal(&[1, 5, 3, 3], 2), [0, 0, 1, 1]);
        assert_eq!(deal(&[7, 7, 7], 2), [0, 1, 0]);
        assert_eq!(deal(&[0, 0, 0], 3), [0, 1, 2]);
        assert_eq!(deal(&[1, 2], 5), [1, 0]);
        assert!(deal(&[], 5).is_empty());
    }

    /// Numbers that look random and are the same in each run.
    fn numbers(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        }
    }

    #[test]
    fn each_input_is_in_one_part_and_no_part_is_much_larger_than_the_mean() {
        for seed in 0..40 {
            let mut next = numbers(seed);
            let count = (next() % 300) as usize;
            // Some lists have equal sizes, some have a few huge inputs, some have empty ones.
            let sizes: Vec<u64> = (0..count)
                .map(|_| match seed % 4 {
                    0 => 1000,
                    1 => next() % 10,
                    2 => next() >> (next() % 64),
                    _ => 1 << (next() % 40),
                })
                .collect();
            let total: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
            let largest = u128::from(sizes.iter().copied().max().unwrap_or(0));
            for parts in 1..=64 {
                let dealt = deal(&sizes, parts);
                assert_eq!(dealt.len(), sizes.len());
                let mut bytes = vec![0u128; parts];
                for (part, size) in dealt.iter().zip(&sizes) {
                    bytes[*part] += u128::from(*size);
                }
                let fullest = bytes.into_iter().max().unwrap_or(0);
                let ideal = total.div_ceil(parts as u128);
                assert!(fullest <= ideal + largest, "{fullest} of {total} in {parts} parts");
            }
        }
    }
}
