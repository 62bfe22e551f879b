//! Finds the first byte of a kind among sixteen bytes at once.
//!
//! On x86-64 this uses SSE2, which every such processor has, so nothing is chosen at run time.
//! Elsewhere it uses arithmetic on words of eight bytes. No pointers are involved: a window is an
//! array, so reading it is checked like any other slice.

/// Sixteen bytes of text.
pub(super) type Window = [u8; WINDOW];

/// Number of bytes that are examined at once.
pub(super) const WINDOW: usize = 16;

/// Returns the sixteen bytes at a position, or `None` near the end of the text.
#[inline(always)]
pub(super) fn window(bytes: &[u8], at: usize) -> Option<Window> {
    bytes.get(at..at + WINDOW)?.try_into().ok()
}

/// Returns the position of the first quote or backslash, or [`WINDOW`].
#[inline(always)]
pub(super) fn quote_or_escape(w: &Window) -> usize {
    kinds::quote_or_escape(w)
}

/// Returns the position of the first byte that ends a plain part of a string, or [`WINDOW`]: a
/// quote, a backslash, a control character or a non-ASCII byte.
#[inline(always)]
pub(super) fn not_plain(w: &Window) -> usize {
    kinds::not_plain(w)
}

/// Returns the position of the first byte that is not a digit, `-`, `.` or `/`, or [`WINDOW`].
#[inline(always)]
pub(super) fn not_number(w: &Window) -> usize {
    kinds::not_number(w)
}

/// Sets the bit of each byte that is a digit.
#[inline(always)]
pub(super) fn digits(w: &Window) -> u32 {
    kinds::digits(w)
}

#[cfg(target_arch = "x86_64")]
mod kinds {
    use std::arch::x86_64::*;

    use super::Window;

    #[inline(always)]
    pub fn quote_or_escape(w: &Window) -> usize {
        // SAFETY: SSE2 is a part of x86-64. Here and below, this takes a third fewer instructions
        // than words of eight bytes.
        unsafe { sse2::quote_or_escape(bytemuck::cast(*w)) }
    }

    #[inline(always)]
    pub fn not_plain(w: &Window) -> usize {
        // SAFETY: SSE2 is a part of x86-64.
        unsafe { sse2::not_plain(bytemuck::cast(*w)) }
    }

    #[inline(always)]
    pub fn not_number(w: &Window) -> usize {
        // SAFETY: SSE2 is a part of x86-64.
        unsafe { sse2::not_number(bytemuck::cast(*w)) }
    }

    #[inline(always)]
    pub fn digits(w: &Window) -> u32 {
        // SAFETY: SSE2 is a part of x86-64.
        unsafe { sse2::within(bytemuck::cast(*w), b'0', b'9') }
    }

    /// Functions that only compute; they are unsafe to call on a processor without SSE2.
    mod sse2 {
        use super::*;

        #[inline]
        #[target_feature(enable = "sse2")]
        fn first(hits: __m128i) -> usize {
            (_mm_movemask_epi8(hits) as u32 | 1 << 16).trailing_zeros() as usize
        }

        #[inline]
        #[target_feature(enable = "sse2")]
        fn equal(w: __m128i, byte: u8) -> __m128i {
            _mm_cmpeq_epi8(w, _mm_set1_epi8(byte as i8))
        }

        #[inline]
        #[target_feature(enable = "sse2")]
        pub fn quote_or_escape(w: __m128i) -> usize {
            first(_mm_or_si128(equal(w, b'"'), equal(w, b'\\')))
        }

        #[inline]
        #[target_feature(enable = "sse2")]
        pub fn not_plain(w: __m128i) -> usize {
            let ends = _mm_or_si128(equal(w, b'"'), equal(w, b'\\'));
            // As signed numbers, non-ASCII bytes are below the control characters.
            first(_mm_or_si128(ends, _mm_cmplt_epi8(w, _mm_set1_epi8(0x20))))
        }

        #[inline]
        #[target_feature(enable = "sse2")]
        pub fn not_number(w: __m128i) -> usize {
            (!within(w, b'-', b'9')).trailing_zeros() as usize
        }

        /// Sets the bit of each byte from `low` up to `high`.
        #[inline]
        #[target_feature(enable = "sse2")]
        pub fn within(w: __m128i, low: u8, high: u8) -> u32 {
            let above = _mm_sub_epi8(w, _mm_set1_epi8(low as i8));
            let most = _mm_set1_epi8((high - low) as i8);
            _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(above, most), above)) as u32
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
use portable as kinds;

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    use super::Window;

    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;

    /// Applies a function to both halves of a window. The function sets the high bit of each byte
    /// that is looked for; only its lowest set bit is reliable.
    #[inline(always)]
    fn first(w: &Window, hits: impl Fn(u64) -> u64) -> usize {
        let halves = w.as_chunks::<8>().0.iter().map(|half| hits(u64::from_le_bytes(*half)));
        halves
            .enumerate()
            .find(|(_, hit)| *hit != 0)
            .map_or(w.len(), |(half, hit)| half * 8 + hit.trailing_zeros() as usize / 8)
    }

    #[inline(always)]
    fn equal(w: u64, byte: u8) -> u64 {
        let x = w ^ (LOW * byte as u64);
        x.wrapping_sub(LOW) & !x & HIGH
    }

    #[inline(always)]
    pub fn quote_or_escape(w: &Window) -> usize {
        first(w, |w| equal(w, b'"') | equal(w, b'\\'))
    }

    #[inline(always)]
    pub fn not_plain(w: &Window) -> usize {
        first(w, |w| {
            let control = w.wrapping_sub(LOW * 0x20) & !w;
            equal(w, b'"') | equal(w, b'\\') | ((control | w) & HIGH)
        })
    }

    #[inline(always)]
    pub fn digits(w: &Window) -> u32 {
        w.iter().rev().fold(0, |bits, b| bits << 1 | u32::from(b.is_ascii_digit()))
    }

    #[inline(always)]
    pub fn not_number(w: &Window) -> usize {
        // Adding sets the high bit of bytes above '9'; subtracting sets it for bytes below '-'.
        first(w, |w| {
            let low = w & !HIGH;
            let above = low + LOW * (0x7f - b'9' as u64);
            let below = !(low | HIGH).wrapping_sub(LOW * b'-' as u64);
            (w | above | below) & HIGH
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_byte_of_each_kind_is_found(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'"'), Just(b'\\'), b'+'..=b':', any::<u8>(), b'a'..=b'z'],
                WINDOW,
            ),
        ) {
            let w = window(&bytes, 0).expect("sixteen bytes");
            let first = |is: fn(u8) -> bool| bytes.iter().position(|&b| is(b)).unwrap_or(WINDOW);
            let quote = first(|b| matches!(b, b'"' | b'\\'));
            let plain = first(|b| matches!(b, b'"' | b'\\' | 0..0x20 | 0x80..));
            let number = first(|b| !(b'-'..=b'9').contains(&b));
            prop_assert_eq!((quote_or_escape(&w), portable::quote_or_escape(&w)), (quote, quote));
            prop_assert_eq!((not_plain(&w), portable::not_plain(&w)), (plain, plain));
            let bits = |is: fn(&u8) -> bool| (0..WINDOW).map(|i| u32::from(is(&bytes[i])) << i).sum();
            let all: u32 = bits(u8::is_ascii_digit);
            prop_assert_eq!((digits(&w), portable::digits(&w)), (all, all));
            prop_assert_eq!((not_number(&w), portable::not_number(&w)), (number, number));
        }
    }
}
