//! Sizes in the notation that people use.

/// Parses a size such as `1.5GB` or `400MiB` into bytes. The error is a message for the user.
pub fn bytes(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..at]
        .parse()
        .map_err(|_| format!("{text:?} is not a size; write for example 1GiB"))?;
    let unit = match text[at..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024f64.powi(2),
        "gib" => 1024f64.powi(3),
        "tib" => 1024f64.powi(4),
        unit => {
            return Err(format!("{unit:?} is not a unit of size; use KB, MB, GB, KiB, MiB or GiB"));
        }
    };
    let bytes = number * unit;
    if bytes < 64e6 { Err("at least 64MB are needed".to_owned()) } else { Ok(bytes as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(bytes("1GiB"), Ok(1 << 30));
        assert_eq!(bytes("1.5 GB"), Ok(1_500_000_000));
        assert!(bytes("12 parsecs").is_err());
        assert!(bytes("1").is_err());
    }
}
