//! Bit packing, and Parquet's hybrid encoding of runs and packed values.

/// Appends an unsigned integer as a varint: groups of seven bits, lowest first.
pub fn varint(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Returns the number of bits that can hold all values up to `max`.
pub fn width_of(max: u64) -> u32 {
    64 - max.leading_zeros()
}

/// Appends values of `width` bits each, lowest bit first. The number of values must be a multiple
/// of eight.
#[inline]
pub fn pack<T: Copy + Into<u64>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    out.reserve(values.len() / 8 * width as usize + 8);
    let (mut word, mut filled) = (0u64, 0u32);
    for &value in values {
        let value = value.into();
        word |= value << filled;
        filled += width;
        if filled >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            filled -= 64;
            word = if filled == 0 { 0 } else { value >> (width - filled) };
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..filled as usize / 8]);
}

/// Appends keys as runs of equal keys and groups of packed keys.
pub fn hybrid(keys: &[u32], width: u32, out: &mut Vec<u8>) {
    let (mut packed_from, mut at) = (0usize, 0usize);
    while at < keys.len() {
        let key = keys[at];
        let end = at + keys[at..].iter().take_while(|&&k| k == key).count();
        // A packed group holds a multiple of eight keys, so it may include the first keys of the
        // run.
        let start = at + packed_from.wrapping_sub(at) % 8;
        if end >= start + 16 {
            packed(&keys[packed_from..start], width, out);
            run(key, end - start, width, out);
            packed_from = end;
        }
        at = end;
    }
    packed(&keys[packed_from..], width, out);
}

/// Appends a run.
pub fn run(key: u32, len: usize, width: u32, out: &mut Vec<u8>) {
    varint((len as u64) << 1, out);
    out.extend_from_slice(&key.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Appends a packed group, padded to a multiple of eight keys.
fn packed(keys: &[u32], width: u32, out: &mut Vec<u8>) {
    if keys.is_empty() {
        return;
    }
    varint((keys.len().div_ceil(8) as u64) << 1 | 1, out);
    let (whole, rest) = keys.split_at(keys.len() / 8 * 8);
    pack(whole, width, out);
    if !rest.is_empty() {
        let mut last = [0u32; 8];
        last[..rest.len()].copy_from_slice(rest);
        pack(&last, width, out);
    }
}
