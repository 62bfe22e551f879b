//! The figures of a call.

/// How sure the figures of a call are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// Counted from what the trace contains.
    Exact,
    /// The true figures are these or higher.
    LowerBound,
    /// The true figures are between these and the upper ones.
    Bounds,
    /// Likely figures.
    Estimate,
}

impl Quality {
    /// The name in tables.
    pub fn text(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LowerBound => "lower_bound",
            Self::Bounds => "bounds",
            Self::Estimate => "estimate",
        }
    }
}

/// What one call computes, reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figures {
    /// Floating point operations; `None` if only bytes are known.
    pub flop: Option<i64>,
    /// Operations without regard to masks and sparsity, if they differ in kind.
    pub flop_full: Option<i64>,
    /// The upper bound of operations.
    pub flop_upper: Option<i64>,
    pub read: i64,
    pub written: i64,
    /// The upper bound of bytes read and written.
    pub bytes_upper: Option<i64>,
    pub quality: Quality,
    /// Batch, rows, columns and inner size of a product; of a grouped one, the number of groups and
    /// the sizes of a mean group. For attention: sequences times heads, mean length of the queries,
    /// mean length of the keys, head size. For convolutions: groups, positions, output channels of a
    /// group, elements that each output is made of.
    pub sizes: Option<[i64; 4]>,
    /// The largest dilation of a convolution.
    pub dilation: Option<i64>,
}

impl Figures {
    /// Figures that are exact.
    pub fn exact(flop: i64, read: i64, written: i64) -> Self {
        Self {
            flop: Some(flop),
            flop_full: None,
            flop_upper: None,
            read,
            written,
            bytes_upper: None,
            quality: Quality::Exact,
            sizes: None,
            dilation: None,
        }
    }
}
