//! The algorithms of the functions, on plain slices without Arrow or DataFusion.
//!
//! Intervals are half-open, `[start, end)`. Callers must drop empty intervals, because these
//! contain no instant.

pub mod asof;
pub mod count;
pub mod flatten;
pub mod gaps;
pub mod merge;
pub mod overlap;
pub mod pairs;
pub mod subtract;
#[cfg(test)]
pub mod testing;

use std::fmt;

/// A half-open interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first instant in the interval.
    pub start: i64,
    /// The first instant after the interval.
    pub end: i64,
}

impl Span {
    /// Creates a span; returns an error if it ends before it starts.
    pub fn new(start: i64, end: i64) -> Result<Self, Fault> {
        if end < start { Err(Fault::Negative { start, end }) } else { Ok(Self { start, end }) }
    }

    /// Whether the span is empty.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Returns the length, which can exceed `i64`.
    pub fn len(self) -> u64 {
        self.end.wrapping_sub(self.start) as u64
    }
}

/// A span with the number of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Row number.
    pub row: u32,
    /// The interval.
    pub span: Span,
}

/// Reasons why values are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An interval that ends before it starts.
    Negative { start: i64, end: i64 },
    /// A length that overflows BIGINT.
    TooLong,
    /// A set number that has no bit.
    Set(i64),
    /// More sets in one group than available bits.
    TooManySets(usize),
    /// Bounds in the wrong order.
    Bounds { from: i64, to: i64 },
    /// More elements than a list can hold.
    TooMany,
}

/// Maximum number of sets. Each set is a bit of a BIGINT that stays positive.
pub const MAX_SETS: usize = 63;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Negative { start, end } => write!(
                f,
                "negative interval: it starts at {start} and ends at {end}; write greatest(end, \
                 start) for the end, or leave such rows out with WHERE end >= start"
            ),
            Self::TooLong => f.write_str(
                "the length does not fit in BIGINT; are start and end in the same unit?",
            ),
            Self::Set(set) => write!(
                f,
                "set {set} is outside 0..62; number the sets from 0, or name them with text"
            ),
            Self::TooManySets(n) => {
                write!(
                    f,
                    "{n} sets in one group, but at most {MAX_SETS} are possible; use fewer labels, \
                     or group by something finer"
                )
            }
            Self::Bounds { from, to } => {
                write!(f, "from ({from}) lies after to ({to}); exchange them")
            }
            Self::TooMany => {
                f.write_str("more than 2147483647 elements in one list; group by something finer")
            }
        }
    }
}

/// Converts a length to BIGINT.
pub fn as_bigint(len: u128) -> Result<i64, Fault> {
    i64::try_from(len).map_err(|_| Fault::TooLong)
}
