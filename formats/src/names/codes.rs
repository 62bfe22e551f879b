//! The one-letter and two-letter codes of types and operators in mangled names (Itanium C++ ABI,
//! section 5.1).

/// Returns the built-in type for its letter.
pub(super) fn builtin(code: u8) -> Option<&'static str> {
    Some(match code {
        b'v' => "void",
        b'w' => "wchar_t",
        b'b' => "bool",
        b'c' => "char",
        b'a' => "signed char",
        b'h' => "unsigned char",
        b's' => "short",
        b't' => "unsigned short",
        b'i' => "int",
        b'j' => "unsigned int",
        b'l' => "long",
        b'm' => "unsigned long",
        b'x' => "long long",
        b'y' => "unsigned long long",
        b'n' => "__int128",
        b'o' => "unsigned __int128",
        b'f' => "float",
        b'd' => "double",
        b'e' => "long double",
        b'g' => "__float128",
        b'z' => "...",
        _ => return None,
    })
}

/// Returns the built-in type for the letter after `D`.
pub(super) fn builtin_d(code: u8) -> Option<&'static str> {
    Some(match code {
        b'd' => "decimal64",
        b'e' => "decimal128",
        b'f' => "decimal32",
        b'h' => "half",
        b'i' => "char32_t",
        b's' => "char16_t",
        b'u' => "char8_t",
        b'a' => "auto",
        b'c' => "decltype(auto)",
        b'n' => "std::nullptr_t",
        _ => return None,
    })
}

/// Returns the class of the standard library for the letter after `S`.
pub(super) fn standard(code: u8) -> Option<&'static str> {
    Some(match code {
        b'a' => "std::allocator",
        b'b' => "std::basic_string",
        b's' => "std::string",
        b'i' => "std::istream",
        b'o' => "std::ostream",
        b'd' => "std::iostream",
        _ => return None,
    })
}

/// Returns the symbol of an operator that can be overloaded.
pub(super) fn operator(code: &[u8]) -> Option<&'static str> {
    Some(match code {
        b"nw" => " new",
        b"na" => " new[]",
        b"dl" => " delete",
        b"da" => " delete[]",
        b"ps" | b"pl" => "+",
        b"ng" | b"mi" => "-",
        b"ad" | b"an" => "&",
        b"de" | b"ml" => "*",
        b"co" => "~",
        b"dv" => "/",
        b"rm" => "%",
        b"or" => "|",
        b"eo" => "^",
        b"aS" => "=",
        b"pL" => "+=",
        b"mI" => "-=",
        b"mL" => "*=",
        b"dV" => "/=",
        b"rM" => "%=",
        b"aN" => "&=",
        b"oR" => "|=",
        b"eO" => "^=",
        b"ls" => "<<",
        b"rs" => ">>",
        b"lS" => "<<=",
        b"rS" => ">>=",
        b"eq" => "==",
        b"ne" => "!=",
        b"lt" => "<",
        b"gt" => ">",
        b"le" => "<=",
        b"ge" => ">=",
        b"ss" => "<=>",
        b"nt" => "!",
        b"aa" => "&&",
        b"oo" => "||",
        b"pp" => "++",
        b"mm" => "--",
        b"cm" => ",",
        b"pm" => "->*",
        b"pt" => "->",
        b"cl" => "()",
        b"ix" => "[]",
        b"qu" => "?",
        b"aw" => " co_await",
        b"cv" | b"li" => " ",
        _ => return None,
    })
}

/// Returns the number of operands of an operator in expressions, including operators that cannot
/// occur there.
pub(super) fn arity(code: &[u8]) -> Option<usize> {
    Some(match code {
        b"nw" | b"na" | b"qu" => 3,
        b"dl" | b"da" | b"ps" | b"ng" | b"ad" | b"de" | b"co" | b"nt" | b"pp" | b"mm" => 1,
        b"cv" | b"li" | b"aw" => return None,
        _ => operator(code).map(|_| 2)?,
    })
}

/// Whether an expression code is followed by a list that ends with `E`.
pub(super) fn has_list(code: &[u8]) -> bool {
    matches!(code, b"cl" | b"cp" | b"il" | b"tl" | b"nw" | b"na" | b"pi" | b"sP" | b"rq" | b"rQ")
}

/// Whether an expression code is followed by a type.
pub(super) fn has_type(code: &[u8]) -> bool {
    matches!(code, b"cv" | b"tl" | b"st" | b"at" | b"sr" | b"ti" | b"dc" | b"sc" | b"cc" | b"rc")
}

/// Whether a code can occur in an expression.
pub(super) fn in_expression(code: &[u8]) -> bool {
    has_list(code)
        || has_type(code)
        || operator(code).is_some()
        || matches!(
            code,
            b"sz"
                | b"az"
                | b"sZ"
                | b"sp"
                | b"te"
                | b"nx"
                | b"tw"
                | b"tr"
                | b"dt"
                | b"ds"
                | b"gs"
                | b"on"
                | b"dn"
                | b"di"
                | b"dx"
                | b"dX"
        )
        || matches!(code, b"fl" | b"fr" | b"fL" | b"fR" | b"so")
}
