//! SQL keywords for highlighting and completion, sorted.

/// The keywords, in capitals.
pub const KEYWORDS: &[&str] = &[
    "ALL", "ANALYZE", "AND", "ANTI", "ANY", "ARRAY", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST",
    "CREATE", "CROSS", "CURRENT", "DESC", "DESCRIBE", "DISTINCT", "DROP", "ELSE", "END", "ESCAPE",
    "EXCEPT", "EXCLUDE", "EXISTS", "EXPLAIN", "FALSE", "FILTER", "FIRST", "FOLLOWING", "FORMAT",
    "FROM", "FULL", "GROUP", "GROUPING", "HAVING", "ILIKE", "IN", "INNER", "INTERSECT", "INTERVAL",
    "INTO", "IS", "JOIN", "LAST", "LATERAL", "LEFT", "LIKE", "LIMIT", "NATURAL", "NOT", "NULL",
    "NULLS", "OFFSET", "ON", "OR", "ORDER", "OUTER", "OVER", "PARTITION", "PRECEDING", "QUALIFY",
    "RANGE", "RECURSIVE", "REPLACE", "RIGHT", "ROW", "ROWS", "SELECT", "SEMI", "SET", "SETS",
    "SHOW", "SIMILAR", "SOME", "TABLE", "TABLES", "THEN", "TO", "TRUE", "UNBOUNDED", "UNION",
    "UNNEST", "USING", "VALUES", "VERBOSE", "VIEW", "WHEN", "WHERE", "WINDOW", "WITH", "WITHIN",
];

/// Whether a word is a keyword.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word.to_uppercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn keywords_are_sorted() {
        assert!(super::KEYWORDS.is_sorted());
        assert!(super::is_keyword("select") && !super::is_keyword("name"));
    }
}
