//! The precision in which a call computes, which decides the peak that it is compared with.

use super::call::Call;
use super::formula::Formula;

/// The name of an argument's type, as written.
pub fn element(types: &str, at: usize) -> Option<&str> {
    // Types contain neither quotes nor commas.
    let inner = types.trim().strip_prefix('[')?.strip_suffix(']')?;
    inner.split(',').nth(at).map(|text| text.trim().trim_matches('"')).filter(|t| !t.is_empty())
}

/// The class of a type: fp64, fp32, fp16, bf16, fp8, fp4 or int8.
fn class(type_name: &str) -> Option<&'static str> {
    let lower = type_name.to_ascii_lowercase();
    let plain = lower.strip_prefix("c10::").unwrap_or(&lower);
    Some(match plain {
        "double" => "fp64",
        "float" => "fp32",
        "half" => "fp16",
        "bfloat16" => "bf16",
        "signed char" | "unsigned char" => "int8",
        _ if plain.starts_with("float8") => "fp8",
        _ if plain.starts_with("float4") => "fp4",
        _ => return None,
    })
}

/// The class of a call: for products that of the activations, for other work that of the units
/// that compute elements, which take 16 bits as 32.
pub fn of(call: &Call, formula: &Formula) -> Option<&'static str> {
    let first = class(call.type_name(formula.first()));
    match formula.text("unit") {
        Some("matrix") => {
            let second = formula.at("second").map(|at| class(call.type_name(at)));
            match (first, second) {
                // A weight of few bits is widened to the type of the activations, and the other
                // way round.
                (Some("int8" | "fp8" | "fp4"), Some(wide @ Some("bf16" | "fp16" | "fp32"))) => wide,
                (Some("fp8"), Some(Some("fp4"))) => Some("fp8"),
                (Some("fp4"), Some(Some("fp8"))) => Some("fp8"),
                _ => first,
            }
        }
        _ if first == Some("fp64") => Some("fp64"),
        _ if call.type_name(formula.first()).contains("omplex<double>") => Some("fp64"),
        _ => Some("fp32"),
    }
}
