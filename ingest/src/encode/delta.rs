//! Integers as differences from the previous value (`DELTA_BINARY_PACKED`).

use super::bits::{pack, varint, width_of};

const BLOCK: usize = 128;
const MINI: usize = 32;

/// The integers of one page.
pub struct Delta {
    first: i64,
    last: i64,
    count: usize,
    block: [i64; BLOCK],
    filled: usize,
    blocks: Vec<u8>,
}

impl Default for Delta {
    fn default() -> Self {
        Self { first: 0, last: 0, count: 0, block: [0; BLOCK], filled: 0, blocks: Vec::new() }
    }
}

impl Delta {
    /// Appends an integer.
    #[inline(always)]
    pub fn push(&mut self, value: i64) {
        if self.count == 0 {
            self.first = value;
        } else {
            self.block[self.filled] = value.wrapping_sub(self.last);
            self.filled += 1;
            if self.filled == BLOCK {
                self.end_block();
            }
        }
        self.last = value;
        self.count += 1;
    }

    #[inline(never)]
    fn end_block(&mut self) {
        let deltas = &self.block[..self.filled];
        let min = deltas.iter().copied().fold(i64::MAX, i64::min);
        zigzag(min, &mut self.blocks);
        // Differences wrap around, so that the difference of any two integers can be represented.
        let mut packed = [0u64; BLOCK];
        let mut widths = [0u8; BLOCK / MINI];
        for (to, delta) in packed.iter_mut().zip(deltas) {
            *to = delta.wrapping_sub(min) as u64;
        }
        for (width, mini) in widths.iter_mut().zip(packed.chunks(MINI)) {
            *width = width_of(mini.iter().fold(0, |all, v| all | v)) as u8;
        }
        self.blocks.extend_from_slice(&widths);
        // Miniblocks after the last integer have width 0 and occupy no bytes.
        for (&width, mini) in widths.iter().zip(packed.chunks(MINI)) {
            pack(mini, width as u32, &mut self.blocks);
        }
        self.filled = 0;
    }

    /// Appends the page's values to `out` and empties the page.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if self.filled > 0 {
            self.end_block();
        }
        varint(BLOCK as u64, out);
        varint((BLOCK / MINI) as u64, out);
        varint(self.count as u64, out);
        zigzag(self.first, out);
        out.extend_from_slice(&self.blocks);
        self.blocks.clear();
        self.count = 0;
        self.first = 0;
    }
}

fn zigzag(n: i64, out: &mut Vec<u8>) {
    varint(((n << 1) ^ (n >> 63)) as u64, out);
}
