//! Counts with their nouns, for messages.

/// A count with its noun: `1 byte`, `2 bytes`.
pub(crate) fn counted(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_is_singular() {
        let counts = [0, 1, 2].map(|n| super::counted(n, "row"));
        assert_eq!(counts, ["0 rows", "1 row", "2 rows"]);
    }
}
