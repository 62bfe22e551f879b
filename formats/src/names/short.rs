//! Shortens kernel names so that they fit into a table.

use super::{demangle, plain};

/// Number of bytes of a name that are read.
const MAX_READ: usize = 1 << 14;
/// Maximum number of rounds. The short form of a name can be a name that can be shortened again.
const MAX_ROUNDS: usize = 8;

/// Removes the return type, the template arguments and the parameters from the name of a function,
/// and all namespaces except the outermost one.
///
/// A text that is not a C++ function is returned unchanged, and so is a name that contains another
/// name at more than eight levels. Only the first 16,384 bytes are read. The result is empty only
/// if the name is empty, and shortening a short name does not change it.
pub fn short_name(name: &str) -> String {
    let whole = plain::prefix(name.trim(), MAX_READ).trim_end();
    let mut text = whole.to_owned();
    for _ in 0..MAX_ROUNDS {
        let readable = demangle::demangle(&text).or_else(|| demangle::path(&text));
        let shorter = shorten(readable.as_deref().unwrap_or(&text)).trim().to_owned();
        if shorter.is_empty() || shorter.len() >= text.len() {
            return text;
        }
        text = shorter;
    }
    whole.to_owned()
}

fn shorten(text: &str) -> String {
    match outline(text) {
        Outline::Function(outline) => outermost(last_word(outline.trim())),
        Outline::Text if text.replace(ANONYMOUS, "").contains(char::is_whitespace) => {
            text.to_owned()
        }
        Outline::Text => outermost(text),
    }
}

const ANONYMOUS: &str = "(anonymous namespace)";
/// Texts that can follow the parameter list of a function.
const AFTER_PARAMETERS: [&str; 6] = ["::", " const", " volatile", " &", " [clone", "["];

/// Operators with brackets in their names, longer ones before shorter ones.
const OPERATORS: [&str; 13] = [
    "operator()", "operator[]", "operator->*", "operator->", "operator<=>", "operator<<=",
    "operator>>=", "operator<<", "operator>>", "operator<=", "operator>=", "operator<",
    "operator>",
];

enum Outline {
    /// A C++ function, without the contents of its brackets.
    Function(String),
    /// Anything else.
    Text,
}

/// Distinguishes C++ functions from other texts, and drops their brackets and everything after the
/// parameters.
fn outline(text: &str) -> Outline {
    let mut scan = Scan { text, at: 0, out: String::with_capacity(text.len()) };
    let mut is_function = text.starts_with("void ");
    while let Some(c) = scan.rest().chars().next() {
        if c == '(' && scan.keep(ANONYMOUS) || c == 'o' && scan.operator() {
            continue;
        }
        match c {
            '<' if scan.after_name() => {
                is_function = true;
                scan.skip_group();
            }
            '(' if scan.after_name() => {
                is_function = true;
                scan.skip_group();
                let rest = scan.rest();
                if !rest.is_empty() && !AFTER_PARAMETERS.iter().any(|word| rest.starts_with(word)) {
                    return Outline::Text;
                }
                if !rest.starts_with("::") {
                    break;
                }
            }
            '[' if scan.rest().starts_with("[abi:") => scan.skip_group(),
            '{' if scan.rest().starts_with("{lambda(") => {
                scan.out.push_str("{lambda}");
                scan.skip_group();
            }
            _ => {
                scan.out.push(c);
                scan.at += c.len_utf8();
            }
        }
    }
    if is_function { Outline::Function(scan.out) } else { Outline::Text }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    out: String,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn keep(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.out.push_str(word);
            self.at += word.len();
        }
        found
    }

    /// Copies `operator<<` and similar operators: the brackets in their symbols do not open or
    /// close groups.
    fn operator(&mut self) -> bool {
        let starts_word = !self.out.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let found = starts_word && OPERATORS.iter().any(|word| self.keep(word));
        if found && self.rest().starts_with(" <") {
            self.at += 1;
        }
        found
    }

    fn after_name(&self) -> bool {
        let ends_word =
            self.out.ends_with(|last: char| last.is_alphanumeric() || "_$})>".contains(last));
        ends_word || OPERATORS.iter().any(|word| self.out.ends_with(word))
    }

    /// Skips a bracket and everything up to the matching bracket, or up to the end if there is
    /// none.
    fn skip_group(&mut self) {
        let mut open = Open::default();
        let mut before = b' ';
        for (offset, byte) in self.rest().bytes().enumerate() {
            match byte {
                b'<' | b'(' | b'[' | b'{' => open.push(byte),
                b'>' if before != b'-' => open.close_angle(),
                b')' => open.close(b'('),
                b']' => open.close(b'['),
                b'}' => open.close(b'{'),
                _ => {}
            }
            before = byte;
            if open.is_empty() {
                self.at += offset + 1;
                return;
            }
        }
        self.at = self.text.len();
    }
}

/// The brackets that are currently open.
#[derive(Default)]
struct Open {
    brackets: Vec<u8>,
    /// Number of open brackets of each kind. It avoids a search for a bracket without a partner.
    counts: [usize; 4],
}

impl Open {
    fn push(&mut self, bracket: u8) {
        self.brackets.push(bracket);
        self.counts[kind(bracket)] += 1;
    }

    fn pop(&mut self) -> Option<u8> {
        let bracket = self.brackets.pop()?;
        self.counts[kind(bracket)] -= 1;
        Some(bracket)
    }

    fn is_empty(&self) -> bool {
        self.brackets.is_empty()
    }

    fn close_angle(&mut self) {
        if self.brackets.last() == Some(&b'<') {
            self.pop();
        }
    }

    /// Closes a bracket and everything opened since then. A `<` in between was a comparison.
    fn close(&mut self, opening: u8) {
        if self.counts[kind(opening)] > 0 {
            while self.pop().is_some_and(|bracket| bracket != opening) {}
        }
    }
}

fn kind(bracket: u8) -> usize {
    match bracket {
        b'(' => 0,
        b'[' => 1,
        b'{' => 2,
        _ => 3,
    }
}

/// Returns the text after the return type.
fn last_word(text: &str) -> &str {
    let mut from = 0;
    for (at, _) in text.match_indices(' ') {
        if !text[..at].ends_with("(anonymous") {
            from = at + 1;
        }
    }
    &text[from..]
}

/// Converts `a::b::f` to `a::f`; anonymous namespaces are ignored.
fn outermost(path: &str) -> String {
    let parts: Vec<&str> =
        path.split("::").filter(|part| !part.is_empty() && *part != ANONYMOUS).collect();
    match parts.as_slice() {
        [first, .., last] => format!("{first}::{last}"),
        [only] => (*only).to_owned(),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::short_name;

    #[test]
    fn kernels_of_real_traces_get_short_names() {
        let cases = [
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 3> >(int, at::native::AddFunctor<float>, at::detail::Array<char*, 3>)",
                "at::vectorized_elementwise_kernel",
            ),
            (
                "void at::native::unrolled_elementwise_kernel<at::native::copy_device_to_device(at::TensorIterator&, bool)::{lambda()#2}::operator()() const::{lambda()#8}::operator()() const::{lambda(float)#1}>(int)",
                "at::unrolled_elementwise_kernel",
            ),
            (
                "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true>(float*, float const*, int, int, int)",
                "softmax_warp_forward",
            ),
            (
                "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int, float const*)",
                "at::max_pool_forward_nchw",
            ),
            (
                "void nchwToNhwcKernel<float, float, float, true, false, (cudnnKernelDataType_t)0>(int, int)",
                "nchwToNhwcKernel",
            ),
            (
                "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, 6>(cublasGemvParams<float>)",
                "internal::kernel",
            ),
            (
                "cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)",
                "cask_cudnn::computeOffsetsKernel",
            ),
            (
                "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "ncclDevKernel_AllGather_RING_LL",
            ),
            (
                "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
                "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",
            ),
            (
                "void rocprim::ROCPRIM_400400_NS::detail::trampoline_kernel<rocprim::x>(y)",
                "rocprim::trampoline_kernel",
            ),
            (
                "_ZN5aiter24add_rmsnorm_quant_kernelIfLi256ELb0EEEvPT_i",
                "aiter::add_rmsnorm_quant_kernel",
            ),
            (
                "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib",
                "aiter::add_rmsnorm_quant_kernel",
            ),
            (
                "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i",
                "sgl_hip::act_and_mul_kernel",
            ),
            (
                "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS",
                "ck_tile::kentry",
            ),
            ("__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer.kd"),
            ("volta_sgemm_64x64_nt", "volta_sgemm_64x64_nt"),
            ("triton_poi_fused_addmm_silu_2", "triton_poi_fused_addmm_silu_2"),
            ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
            ("Memset (Device)", "Memset (Device)"),
            ("Stream Wait Event", "Stream Wait Event"),
            ("void foo<4, (a > b)>(int) [clone .kd]", "foo"),
            ("bool a::b::operator< <int>(int, int)", "a::operator<"),
            ("void a::f(int)::{lambda(float)#1}::operator()(float) const", "a::operator()"),
            (
                "torch/nn/modules/module.py(1532): _call_impl",
                "torch/nn/modules/module.py(1532): _call_impl",
            ),
            (
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
            ),
            ("void cut::off<4, at::native::AddFunc", "cut::off"),
            ("aten::copy_", "aten::copy_"),
            ("", ""),
            ("<>", "<>"),
            ("()", "()"),
        ];
        for (name, short) in cases {
            assert_eq!(short_name(name), short, "{name}");
        }
    }

    /// Fragments of names, and fragments that make names difficult to parse.
    const PIECES: [&str; 32] = [
        "void ",
        "operator",
        "operator<",
        "operator()",
        "(anonymous namespace)",
        "::",
        "{lambda(",
        "}",
        "_ZN3foo",
        "_Z1f",
        "_ZN",
        "3bar",
        "[abi:",
        "]",
        " const",
        " [clone",
        "a",
        "b_",
        "Z",
        "1",
        "<",
        ">",
        "(",
        ")",
        "{",
        "[",
        " ",
        ",",
        "&",
        "*",
        "->",
        "é",
    ];

    #[test]
    fn unclosed_brackets_take_linear_time() {
        let name = format!("f({}{}", "(".repeat(500_000), "]".repeat(500_000));
        assert!(short_name(&name).len() <= name.len());
    }

    #[test]
    fn only_the_start_of_a_long_name_is_read() {
        let rest = "x".repeat(5_000_000);
        assert_eq!(short_name(&format!("void a::b::f<{rest}>(int)")), "a::f");
        assert_eq!(short_name(&format!("_ZN1a1b1fI1xE{rest}")), "a::f");
        assert_eq!(short_name(&rest).len(), 1 << 14);
        let wide = "\u{10348}".repeat(100_000);
        let short = short_name(&format!("a{wide}"));
        assert!(
            short.len() <= 1 << 14 && wide.starts_with(&short[1..]),
            "cut between two characters"
        );
        assert_eq!(short_name(&" ".repeat(1_000_000)), "");
        for bracket in [
            "<",
            ">",
            "(",
            ")",
            "[",
            "{",
            "operator<",
            "{lambda(",
            "[abi:",
            "(anonymous namespace)",
            "a b",
            "a::",
            "_Z1f",
            "_ZN1a",
        ] {
            let name = format!("f{}", bracket.repeat(100_000));
            let short = short_name(&name);
            assert_eq!(short_name(&short), short, "{bracket}");
        }
    }

    #[test]
    fn names_inside_names_are_shortened_up_to_eight_times() {
        let mut name = "core".to_owned();
        for depth in 1..40 {
            name = format!("_Z{}{name}", name.len());
            let short = short_name(&name);
            assert_eq!(short, if depth < 8 { "core" } else { name.as_str() }, "{depth} times");
            assert_eq!(short_name(&short), short);
        }
    }

    fn check(name: &str) -> Result<(), TestCaseError> {
        let short = short_name(name);
        prop_assert_eq!(short_name(&short), short.clone());
        prop_assert_eq!(short.is_empty(), name.trim().is_empty());
        prop_assert!(short.len() <= name.len());
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_short_name_is_stable_and_never_empty(
            pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..16)
        ) {
            check(&pieces.concat())?;
        }

        #[test]
        fn any_text_has_a_short_name(letters in prop::collection::vec(any::<char>(), 0..40)) {
            check(&letters.into_iter().collect::<String>())?;
        }
    }
}
