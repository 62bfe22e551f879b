//! Demangles the names that C++ compilers write into binaries.

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite};

use super::cost;

/// Maximum number of bytes of a mangled name and of its demangled text. Longer names are not
/// demangled, because a text of this length is of no use to a reader.
const MAX_BYTES: usize = 1 << 16;

/// Returns the C++ name for a mangled name of the Itanium ABI, or `None` if the name is not mangled
/// or cannot be read.
///
/// The suffix `.kd`, which AMD's compiler adds to the names of kernels, is dropped. The time is
/// bounded: a name is not demangled if that would take too long, or if the name or its text exceeds
/// 65,536 bytes.
pub fn demangle(name: &str) -> Option<String> {
    let symbol = mangled(name)?;
    let encoding = symbol.strip_prefix("_Z").or_else(|| symbol.strip_prefix("__Z"))?;
    if symbol.len() > MAX_BYTES || !cost::is_bounded(encoding) {
        return None;
    }
    let (parsed, rest) = BorrowedSymbol::with_tail(symbol.as_bytes()).ok()?;
    let mut text = Limited(String::new());
    parsed.structured_demangle(&mut text, &DemangleOptions::default()).ok()?;
    (rest.is_empty() || rest.starts_with(b".")).then_some(text.0)
}

/// Returns the symbol without `.kd` if it starts like a mangled name.
pub(super) fn mangled(name: &str) -> Option<&str> {
    let symbol = name.strip_suffix(".kd").unwrap_or(name);
    (symbol.starts_with("_Z") || symbol.starts_with("__Z")).then_some(symbol)
}

/// Reads the namespaces and the function from the start of a mangled name: `a::b::f` for
/// `_ZN1a1b1fI…`.
///
/// This is used for names that cannot be read as a whole, for instance because they were cut off.
pub(super) fn path(name: &str) -> Option<String> {
    let symbol = mangled(name)?.trim_start_matches('_').strip_prefix('Z')?;
    let mut rest = symbol.strip_prefix('N').unwrap_or(symbol).trim_start_matches(['L', 'K']);
    let nested = symbol.starts_with('N');
    let mut parts: Vec<&str> = Vec::new();
    while let Some((part, after)) = identifier(rest) {
        rest = after;
        parts.push(if part.starts_with("_GLOBAL__N") { "(anonymous namespace)" } else { part });
        if !nested {
            break;
        }
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

/// Splits `3fooX` into `foo` and `X`.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text.get(..digits)?.parse().ok()?;
    let end = digits.checked_add(length)?;
    Some((text.get(digits..end)?, text.get(end..)?))
}

/// A string that refuses to grow beyond [`MAX_BYTES`].
struct Limited(String);

impl DemangleWrite for Limited {
    fn write_string(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > MAX_BYTES {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mangled_name_becomes_a_cpp_name() {
        let name = "_ZN5aiter24add_rmsnorm_quant_kernelIfLi256ELb0EEEvPT_i.kd";
        assert_eq!(
            demangle(name).unwrap(),
            "void aiter::add_rmsnorm_quant_kernel<float, 256, false>(float*, int)"
        );
        for name in ["", "_Z", "_ZN", "volta_sgemm_64x64_nt", "_ZN5aiter", "ZN3foo", "void f()"] {
            assert_eq!(demangle(name), None, "{name}");
        }
    }

    #[test]
    fn the_path_of_a_name_that_cannot_be_read_as_a_whole() {
        assert_eq!(path("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dF").unwrap(), "ck_tile::kentry");
        assert_eq!(
            path("_ZN2ck6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_")
                .unwrap(),
            "ck::device::(anonymous namespace)::kernel_grouped_conv_fwd_xdl_cshuffle_v3"
        );
        assert_eq!(path("_Z3fooi3bar").unwrap(), "foo");
        for name in ["_ZN99999999999999999999x", "_ZN9short", "_ZN", "foo"] {
            assert_eq!(path(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_whose_text_explodes_is_not_demangled() {
        let mut name = String::from("_Z1f");
        name.push_str("St4pairIiiE");
        for i in 0..40 {
            let back = if i == 0 {
                "S0_".to_owned()
            } else {
                format!("S{}_", char::from_digit(i, 36).unwrap_or('Z').to_ascii_uppercase())
            };
            name.push_str(&format!("St4pairI{back}{back}E"));
        }
        assert!(demangle(&name).is_none_or(|text| text.len() <= MAX_BYTES));
    }
}
