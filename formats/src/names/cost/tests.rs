use super::super::demangle::demangle;
use super::{MAX_WORK, work};

/// Names that a compiler generated from mangled.cpp, in the same folder.
const COMPILED: &str = include_str!("../mangled.txt");
/// The only one of these names that the demangler does not know.
const UNKNOWN: &str =
    "_ZN3lib7reducedIdEENSt9enable_ifIXoosrSt7is_sameIT_fE5valuesrS2_IS3_dE5valueES3_E4typeES3_";

fn of(symbol: &str) -> Option<u64> {
    work(symbol.strip_prefix("_Z").unwrap())
}

#[test]
fn names_from_a_compiler_stay_far_below_the_bound() {
    assert!(COMPILED.lines().count() > 50);
    for name in COMPILED.lines().filter(|name| *name != UNKNOWN) {
        let work = of(name).unwrap_or_else(|| panic!("{name} is refused"));
        assert!(work < MAX_WORK / 16, "{name}: {work}");
        assert!(demangle(name).is_some(), "{name}");
    }
    assert_eq!(demangle(UNKNOWN), None);
}

#[test]
fn long_and_deep_names_are_read() {
    let arguments = "NS_6detail12TensorInfo8dILi128EfEE".repeat(400);
    let name = format!("_ZN3lib6kernelI{arguments}EEvPKT_i");
    assert!(name.len() > 10_000 && demangle(&name).is_some());
    let deep = format!("_ZN3lib6kernelI{}f{}EEvPKT_i", "NS_4TileILi64E".repeat(8), "EE".repeat(8));
    assert!(demangle(&deep).is_some(), "{deep}");
}

#[test]
fn a_name_whose_tries_multiply_is_refused() {
    let nested = |prefix: &str, open: &str, times: usize, end: &str| {
        format!("_Z{prefix}{}{end}", open.repeat(times))
    };
    let names = [
        nested("1fDT", "dl", 24, ""),
        nested("1fDT", "dl", 24, "fp_E"),
        nested("1fIXdl", "da", 30, "Li1EEEvv"),
        nested("1fDT", "gsdl", 12, ""),
        nested("1fDT", "nw_", 24, "i"),
        format!("_Z1a{}S99_{}", "IS_".repeat(17), "E".repeat(17)),
        format!("_Z1a{}S99_{}", "ISa".repeat(17), "E".repeat(17)),
        format!("_Z1a{}S99_{}", "ISt1b".repeat(17), "E".repeat(17)),
        format!("_Z1a{}S99_{}", "IL3foo".repeat(12), "E1E".repeat(12)),
        format!("_Z{}S99_", "cvZ1fvE".repeat(15)),
        format!("_ZcvT_{}i{}v", "IT_".repeat(20), "E".repeat(20)),
        // Text after a type that could end too early.
        "_Z1fILSt3fooIS99_E1EEvv".to_owned(),
        "_Z1fILi1dldldlEEvv".to_owned(),
    ];
    for name in names {
        assert_eq!(of(&name), None, "{name}");
        assert_eq!(demangle(&name), None, "{name}");
    }
}

#[test]
fn each_level_of_a_second_try_doubles_the_work() {
    let nested = |levels: usize| format!("_Z1a{}S99_{}", "ISa".repeat(levels), "E".repeat(levels));
    let work: Vec<u64> = (1..10).map(|levels| of(&nested(levels)).unwrap()).collect();
    let grows = work.windows(3).all(|w| w[2] - w[1] == 2 * (w[1] - w[0]));
    assert!(grows, "each level doubles what is inside it: {work:?}");
    let flat: Vec<u64> =
        (1..10).map(|many| of(&format!("_Z1aI{}E", "SaIcE".repeat(many))).unwrap()).collect();
    assert!(
        flat.windows(3).all(|w| w[2] - w[1] == w[1] - w[0]),
        "pieces side by side do not: {flat:?}"
    );
}

/// Codes of operators, and codes that start types, names, arguments and expressions.
const CODES: &[&str] = &[
    "dl",
    "da",
    "nw",
    "na",
    "nw_",
    "gs",
    "gsdl",
    "cl",
    "il",
    "tl",
    "tli",
    "cv",
    "cvi",
    "cvi_",
    "sr",
    "srT_",
    "srSt",
    "srN",
    "sr3foo",
    "srDT",
    "on",
    "onpl",
    "dn",
    "pl",
    "ad",
    "de",
    "ng",
    "qu",
    "fp_",
    "fL0p_",
    "fl",
    "flpl",
    "fLpl",
    "dt",
    "dtfp_",
    "pt",
    "ds",
    "st",
    "sz",
    "sZ",
    "sP",
    "sp",
    "so",
    "te",
    "ti",
    "nx",
    "tw",
    "sc",
    "pp",
    "pp_",
    "mm_",
    "N",
    "NS_",
    "NSt",
    "N1a",
    "NT_",
    "NDT",
    "I",
    "J",
    "X",
    "L",
    "L_Z",
    "L3foo",
    "LSt",
    "LZ",
    "Li",
    "E",
    "Z",
    "Z1f",
    "Z1fvE",
    "Ul",
    "UlT_",
    "Ut_",
    "St",
    "St1a",
    "Sa",
    "S_",
    "S0_",
    "SZZZZZZZZZZZZZZZZZZZZ_",
    "T_",
    "T_I",
    "S_I",
    "SaI",
    "St1aI",
    "1aI",
    "N1aI",
    "DT",
    "Dt",
    "DO",
    "Do",
    "Dp",
    "Dv4_",
    "Dv_",
    "DB",
    "F",
    "FvvE",
    "P",
    "R",
    "K",
    "rVK",
    "A",
    "A3_",
    "A_",
    "M",
    "U1a",
    "U",
    "u",
    "C",
    "C1",
    "CI1",
    "D1",
    "B1x",
    "Ts",
    "TV",
    "Th1_",
    "GV",
    "GTt",
    "99999999999999999999",
    "é",
    "_",
    ".",
    "n1",
];

#[test]
fn every_hostile_name_ends_in_bounded_time() {
    let tails = ["", "i", "fp_E", "S99_E", "Li1EE", "3foo"];
    let mut names = 0_u32;
    let mut hostile = |before: &str, unit: &str, after: &str| {
        let times = 300 / unit.len().max(1);
        for tail in tails {
            let closed = "E".repeat(if tail.is_empty() { 0 } else { times });
            let _ = demangle(&format!("_Z1f{before}{}{tail}{closed}{after}", unit.repeat(times)));
            names += 1;
        }
    };
    for first in CODES {
        hostile("", first, "");
        hostile("DT", first, "EE");
        hostile("IX", first, "EEvv");
        for second in CODES {
            hostile("DT", &format!("{first}{second}"), "");
            hostile("I", &format!("{first}{second}"), "Evv");
        }
    }
    assert!(names > 100_000, "{names}");
}
