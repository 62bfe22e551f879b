use std::collections::HashSet;

use super::super::demangle::demangle;
use super::{MAX_READ, MAX_TEXT, plain};

const COMPILED: &str = include_str!("../mangled.txt");

#[test]
fn kernel_names_are_written_out() {
    let cases = [
        (
            "_ZN5aiter41I8gemm_bf16_perTokenI8_BpreShuffle_32x128E",
            "aiter::I8gemm_bf16_perTokenI8_BpreShuffle_32x128",
        ),
        (
            "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bfLi256ELb0ELin1EEEvPT0_PT_i.kd",
            "aiter::add_rmsnorm_quant_kernel<std::bfloat16_t, float, 256, false, -1>(int)",
        ),
        ("__ZN1a1fI6__halfEEvPKT_13__nv_bfloat16", "a::f<__half>(__nv_bfloat16)"),
        (
            "_ZN7cutlass13device_kernelIN5flash11enable_sm90INS1_16FlashAttnFwdSm90INS1_25CollectiveMainloopFwdSm90ILi2EN4cute5tupleIJNS5_1CILi1EEES8_S8_EEENS6_IJNS7_ILi128E",
            "cutlass::device_kernel<flash::enable_sm90<FlashAttnFwdSm90<CollectiveMainloopFwdSm90<2, cute::tuple<C<1>>, <<128",
        ),
        (
            "_Z22dequantize_mul_mat_vecIL9ggml_type8ELN1a4KindE1EEvPKvPKfPfii",
            "dequantize_mul_mat_vec<(ggml_type)8, (a::Kind)1>(float, float, int, int)",
        ),
        (
            "_ZN2at6native54_GLOBAL__N__8e11a5fb_21_DistributionNormal_cu_0c5b6e856kernelIfEEvl",
            "at::native::(anonymous namespace)::kernel<float>(long)",
        ),
        (
            "_ZN3gen11act_and_mulI4bf16XadL_Z4siluIS0_ET_RKS1_EEEEvPS1_i",
            "gen::act_and_mul<bf16, silu<>>(int)",
        ),
        (
            "_ZZN1a6launchIfEEvPT_iENKUlfE_clEf",
            "a::launch<float>(int)::{lambda(float)}::operator()(float)",
        ),
        ("_Z4foldIJifdEEDTclsr3stdE5beginfp_EEDpT_", "fold<int, float, double>(std::begin)"),
        ("_ZNK1aplERKS_", "a::operator+"),
        ("_ZN1acvPKcEv", "a::operator char"),
        ("_ZN1a3getB5cxx11Ev", "a::get[abi:cxx11]"),
        ("_ZTVN1a1bE", "a::b"),
        // Names that were cut off, before an identifier and inside one.
        (
            "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPip",
            "ck_tile::kentry<1, Rmsnorm2dFwd<Rmsnorm2dFwdPip",
        ),
        ("_ZN7ck_tile6kentryILi1ENS_12", "ck_tile::kentry<1, "),
    ];
    for (name, text) in cases {
        assert_eq!(plain(name), text, "{name}");
    }
}

#[test]
fn a_name_that_is_not_mangled_stays() {
    for name in [
        "",
        "_Z",
        "_Zebra_kernel",
        "__Zx",
        "_ZZ",
        "volta_sgemm_64x64_nt",
        "void f<a::b>(int)",
        "Memcpy HtoD (Pageable -> Device)",
        "_é",
        "_Zé",
    ] {
        assert_eq!(plain(name), name);
    }
}

#[test]
fn a_wrong_length_keeps_the_text() {
    assert_eq!(
        plain("_ZN5aiter38I8gemm_bf16_perTokenI8_BpreShuffle_32x128E"),
        "aiter::I8gemm_bf16_perTokenI8_BpreShuffle_32x128E"
    );
    assert_eq!(plain("_ZN5aiter99I8gemm_bf16_32x128E"), "aiter::I8gemm_bf16_32x128E");
    assert_eq!(plain("_Z99999999999999999999999999gemm"), "gemm");
    assert_eq!(plain("_ZN1a4gemm_with more (words)E"), "a::gemm_with more (words)E");
    assert_eq!(plain("_Z9gemm é_kernel"), "gemm é_kernel");
    assert_eq!(plain("_ZN1a6gemm_tn80E"), "a::gemm_tn80E");
    assert_eq!(plain("_Z3aéb"), "aé(bool)");
}

/// The text contains every identifier of a compiled name, and no other identifier.
#[test]
fn no_identifier_is_lost_or_made_up() {
    let mut names = 0;
    for name in COMPILED.lines() {
        let Some(full) = demangle(name) else { continue };
        // Words that the demangler itself writes, and its form of literal operators.
        let own = [
            "parm", "operator_ns", "auto", "void", "const", "volatile", "noexcept", "decltype",
            "unsigned", "lambda", "_ns", "char", "long",
        ];
        let words = |text: &str| -> HashSet<String> {
            let words = text
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|word| word.starts_with(|c: char| !c.is_ascii_digit()));
            words.filter(|word| !own.contains(word)).map(str::to_owned).collect()
        };
        let text = plain(name);
        assert_eq!(words(&text), words(&full), "{name}\n{full}\n{text}");
        names += 1;
    }
    assert!(names > 50);
}

#[test]
fn identifiers_keep_their_order() {
    let identifiers: Vec<String> = (0..50).map(|i| format!("name{i}")).collect();
    let name = format!(
        "_ZN{}E",
        identifiers.iter().map(|name| format!("{}{name}", name.len())).collect::<String>()
    );
    assert_eq!(plain(&name), identifiers.join("::"));
}

#[test]
fn only_the_start_of_long_names_is_read() {
    let long = "x".repeat(5_000_000);
    assert_eq!(plain(&long).len(), MAX_TEXT);
    assert_eq!(plain(&"é".repeat(MAX_TEXT)).len(), MAX_TEXT);
    assert_eq!(
        plain(&format!("a{}", "é".repeat(MAX_TEXT))).len(),
        MAX_TEXT - 1,
        "cut between two characters"
    );
    let mangled = format!("_ZN1a1fI{}EEvv", "N1b1cE".repeat(1_000_000));
    let text = plain(&mangled);
    assert!(text.starts_with("a::f<b::c, b::c, ") && text.len() <= MAX_TEXT);
    assert_eq!(text, plain(&mangled[..MAX_READ * 2]), "what comes later changes nothing");
    assert!(plain(&format!("_Z5000000{long}")).len() <= MAX_TEXT);
}

/// The input consists of pieces of names in any order, and of names that were cut or damaged
/// anywhere.
#[test]
fn a_hostile_name_gives_a_short_text() {
    let pieces = [
        "N",
        "I",
        "E",
        "S_",
        "S9",
        "St",
        "Sa",
        "T_",
        "T",
        "3foo",
        "9x",
        "L",
        "Li1E",
        "Lb",
        "L_Z",
        "X",
        "DT",
        "cl",
        "cv",
        "sr",
        "sr1a",
        "Z",
        "Ul",
        "Ut",
        "J",
        "F",
        "A",
        "A3_",
        "M",
        "D",
        "DF16",
        "B",
        "B1x",
        "_",
        ".",
        "E_",
        "é",
        "\0",
        " ",
        "99999999999999999999",
        "0",
        "fp_",
        "fL",
        "GT",
        "TV",
        "operator",
        "_GLOBAL__N_1",
        "12_GLOBAL__N_1",
        "K",
        "P",
        "v",
    ];
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..50_000 {
        let name: String = (0..1 + next(12)).map(|_| pieces[next(pieces.len())]).collect();
        let name = format!("_Z{}", name.repeat(1 + next(4)));
        assert!(plain(&name).len() <= MAX_TEXT, "{name}");
    }
    for piece in pieces {
        assert!(plain(&format!("_Z{}", piece.repeat(100_000))).len() <= MAX_TEXT, "{piece}");
        assert!(plain(&format!("_Z1fI{}", piece.repeat(100_000))).len() <= MAX_TEXT, "{piece}");
    }
    for name in COMPILED.lines() {
        for end in 2..name.len() {
            let cut = plain(&name[..end]);
            let damaged = plain(&format!("{}9{}", &name[..end], &name[end..])).len();
            assert!(cut.len() <= 12 * end && damaged <= 12 * name.len(), "{name}");
        }
    }
}
