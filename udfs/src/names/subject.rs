//! The form of a kernel's name against which rules about kernels are matched.

use std::borrow::Cow;

use tracesql_formats::names::plain;

/// The names that compilers and profilers give to anonymous namespaces.
const ANONYMOUS: [&str; 3] = ["(anonymous namespace)::", "<unnamed>::", "{anonymous}::"];

/// Returns the plain name without return type, anonymous namespaces and `.kd`.
pub(super) fn subject(name: &str) -> Cow<'_, str> {
    let plain = match plain(name) {
        Cow::Borrowed(plain) => {
            let plain = plain.strip_suffix(".kd").unwrap_or(plain);
            // Apart from `void`, kernels have only one form of return type:
            // `std::enable_if<…>::type f<…>(…)`.
            let constrained = || {
                plain
                    .strip_prefix("std::enable_if<")?
                    .split_once(">::type ")
                    .map(|(_, function)| function)
            };
            Cow::Borrowed(plain.strip_prefix("void ").or_else(constrained).unwrap_or(plain))
        }
        owned => owned,
    };
    if !ANONYMOUS.iter().any(|namespace| plain.contains(namespace)) {
        return plain;
    }
    Cow::Owned(
        ANONYMOUS.iter().fold(plain.into_owned(), |plain, namespace| plain.replace(namespace, "")),
    )
}

#[cfg(test)]
mod tests {
    use super::subject;

    #[test]
    fn return_types_and_anonymous_namespaces_are_dropped() {
        let cases = [
            ("void (anonymous namespace)::f<float>(float*)", "f<float>(float*)"),
            ("void a::<unnamed>::f(int)", "a::f(int)"),
            (
                "std::enable_if<!(false), void>::type internal::gemvx::kernel<int>(int)",
                "internal::gemvx::kernel<int>(int)",
            ),
            ("__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer"),
            ("_ZN12_GLOBAL__N_11fEv", "f"),
            ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
            ("", ""),
        ];
        for (name, expected) in cases {
            assert_eq!(subject(name), expected, "{name}");
        }
    }
}
