//! Sizes of the element types that occur in traces.

/// Returns the size in bytes of one element of a type, for any name that PyTorch, Kineto, NCCL or
/// numpy uses; `None` if the name is unknown.
///
/// The names of C++ (`long int`, `unsigned char`), of PyTorch's scalar types (`Long`, `Byte`) and
/// of its Python types (`torch.int64`) agree if case is ignored, so one list covers all of them.
pub(crate) fn bytes(name: &str) -> Option<i64> {
    let lower = name.trim().to_ascii_lowercase();
    let mut plain = lower.as_str();
    for prefix in ["const ", "torch.", "at::", "c10::", "std::", "nccl"] {
        plain = plain.strip_prefix(prefix).unwrap_or(plain);
    }
    if let Some(part) = plain.strip_prefix("complex<").and_then(|rest| rest.strip_suffix('>')) {
        // A complex number cannot consist of complex numbers.
        return if part.contains('<') { None } else { bytes(part).map(|part| 2 * part) };
    }
    if plain.starts_with("float8_e") || plain.starts_with("fp8_e") {
        return Some(1);
    }
    Some(match plain {
        "bool" | "byte" | "char" | "signed char" | "unsigned char" | "int8" | "uint8"
        | "int8_t" | "uint8_t" | "float8" | "fp8" | "qint8" | "quint8" | "quint4x2"
        | "quint2x4" | "bits8" | "float4_e2m1fn_x2" => 1,
        "half" | "bfloat16" | "bf16" | "float16" | "fp16" | "short" | "short int"
        | "unsigned short" | "unsigned short int" | "int16" | "uint16" | "int16_t" | "uint16_t"
        | "bits16" => 2,
        "float" | "float32" | "fp32" | "int" | "unsigned int" | "unsigned" | "int32" | "uint32"
        | "int32_t" | "uint32_t" | "qint32" | "tf32" | "tfloat32" | "complexhalf" | "complex32" => {
            4
        }
        "double"
        | "float64"
        | "fp64"
        | "long"
        | "long int"
        | "long long"
        | "long long int"
        | "unsigned long"
        | "unsigned long int"
        | "unsigned long long"
        | "unsigned long long int"
        | "__int64"
        | "unsigned __int64"
        | "int64"
        | "uint64"
        | "int64_t"
        | "uint64_t"
        | "complexfloat"
        | "complex64"
        | "cfloat" => 8,
        "complexdouble" | "complex128" | "cdouble" => 16,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn names_from_real_traces_have_sizes() {
        let known = [
            ("float", 4),
            ("Float", 4),
            ("double", 8),
            ("long int", 8),
            ("long", 8),
            ("Long", 8),
            ("__int64", 8),
            ("int", 4),
            ("Int", 4),
            ("short int", 2),
            ("signed char", 1),
            ("unsigned char", 1),
            ("Byte", 1),
            ("bool", 1),
            ("Bool", 1),
            ("c10::Half", 2),
            ("Half", 2),
            ("c10::BFloat16", 2),
            ("BFloat16", 2),
            ("c10::complex<float>", 8),
            ("c10::complex<double>", 16),
            ("c10::complex<c10::Half>", 4),
            ("ComplexFloat", 8),
            ("c10::Float8_e4m3fn", 1),
            ("Float8_e5m2", 1),
            ("Float8_e4m3fnuz", 1),
            ("Float8_e8m0fnu", 1),
            ("torch.bfloat16", 2),
            ("ncclFloat32", 4),
            ("int8_t", 1),
            ("UInt64", 8),
        ];
        for (name, size) in known {
            assert_eq!(bytes(name), Some(size), "{name}");
        }
        for name in [
            "",
            "Scalar",
            "ScalarList",
            "TensorList",
            "GenericList",
            "complex<>",
            "complex<complex<float>>",
            "floats",
            "float8",
        ] {
            assert_eq!(bytes(name), if name == "float8" { Some(1) } else { None }, "{name}");
        }
    }
}
