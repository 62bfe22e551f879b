//! Records which rows of a page have a value.

use super::bits::{run, varint};

/// The rows of one page that have a value; all others are NULL.
#[derive(Default)]
pub struct Nulls {
    /// Number of rows up to the last one with a value.
    rows: usize,
    values: usize,
    /// One bit per row, used only once a value follows a NULL. The bits after the last value are 0.
    bits: Vec<u8>,
}

impl Nulls {
    /// Records that a row has a value. Rows come in ascending order.
    #[inline(always)]
    pub fn set(&mut self, row: usize) {
        if self.values == row {
            self.rows = row + 1;
            self.values += 1;
        } else {
            self.mixed(row);
        }
    }

    #[inline]
    fn mixed(&mut self, row: usize) {
        if self.rows == self.values {
            self.first_gap();
        }
        if self.bits.len() <= row / 8 {
            self.bits.resize(row / 8 + 1024, 0);
        }
        self.bits[row / 8] |= 1 << (row % 8);
        self.rows = row + 1;
        self.values += 1;
    }

    #[cold]
    fn first_gap(&mut self) {
        let whole = self.rows / 8;
        if self.bits.len() <= whole {
            self.bits.resize(whole + 1024, 0);
        }
        self.bits[..whole].fill(0xff);
        self.bits[whole] = (1 << (self.rows % 8)) - 1;
    }

    /// Returns the number of rows that have a value.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Appends the definition levels of a page of `rows` rows, and starts the next page.
    pub fn finish(&mut self, rows: usize, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        if self.values == self.rows {
            if self.values > 0 {
                run(1, self.values, 1, out);
            }
            if rows > self.values {
                run(0, rows - self.values, 1, out);
            }
        } else {
            let bytes = rows.div_ceil(8);
            if self.bits.len() < bytes {
                self.bits.resize(bytes, 0);
            }
            levels(&self.bits[..bytes], rows, out);
            self.bits[..bytes].fill(0);
        }
        let len = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&len.to_le_bytes());
        *self = Self { bits: std::mem::take(&mut self.bits), ..Self::default() };
    }
}

/// Appends levels of 0 and 1: as runs where eight or more bytes are equal, otherwise packed.
fn levels(bits: &[u8], rows: usize, out: &mut Vec<u8>) {
    let (mut plain_from, mut at) = (0, 0);
    while at < bits.len() {
        let byte = bits[at];
        let end = at + bits[at..].iter().take_while(|&&b| b == byte).count();
        // A run counts rows, so it must not reach into the unused bits of the last byte.
        let end =
            if !rows.is_multiple_of(8) && end == bits.len() { (end - 1).max(at) } else { end };
        if matches!(byte, 0 | 0xff) && end - at >= 8 {
            plain(&bits[plain_from..at], out);
            run((byte & 1) as u32, (end - at) * 8, 1, out);
            plain_from = end;
        }
        at = end.max(at + 1);
    }
    plain(&bits[plain_from..], out);
}

fn plain(bits: &[u8], out: &mut Vec<u8>) {
    if !bits.is_empty() {
        varint((bits.len() as u64) << 1 | 1, out);
        out.extend_from_slice(bits);
    }
}
