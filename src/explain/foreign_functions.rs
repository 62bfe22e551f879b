//! Functions of other engines, and how to write them here.

use crate::sql_text::lex::{Kind, Token};

/// Names of functions in lower case, and the advice for them, sorted by name.
const FOREIGN: &[(&str, &str)] = &[
    ("any", "write any_value(x)"),
    ("approx_count_distinct", "write approx_distinct(x)"),
    ("approx_quantile", "write approx_percentile_cont(x, 0.9), or quantile(x, 0.9) for exact ones"),
    ("arg_max", "write first_value(x ORDER BY y DESC)"),
    ("arg_min", "write first_value(x ORDER BY y)"),
    ("argmax", "write first_value(x ORDER BY y DESC)"),
    ("argmin", "write first_value(x ORDER BY y)"),
    ("charindex", "write strpos(text, part)"),
    ("count_if", "write count(*) FILTER (WHERE condition)"),
    ("countif", "write count(*) FILTER (WHERE condition)"),
    ("date_diff", DIFFERENCE),
    ("datediff", DIFFERENCE),
    ("epoch_ns", "times are already BIGINT nanoseconds"),
    ("format_duration", "write format_ns(ns)"),
    ("formatreadablesize", "write format_bytes(bytes)"),
    ("formatreadabletimedelta", "write format_ns(ns)"),
    ("group_concat", "write string_agg(x, ', ')"),
    ("histogram", "group by the lower bound: GROUP BY dur_ns / 1000 * 1000"),
    ("if", "write CASE WHEN condition THEN a ELSE b END"),
    ("iff", "write CASE WHEN condition THEN a ELSE b END"),
    ("iif", "write CASE WHEN condition THEN a ELSE b END"),
    ("isnull", "write x IS NULL, or coalesce(x, y)"),
    ("len", "write length(x)"),
    ("list", "write array_agg(x)"),
    ("list_agg", "write string_agg(x, ', ') for text, array_agg(x) for a list"),
    ("list_value", "write [a, b]"),
    ("listagg", "write string_agg(x, ', ')"),
    ("max_by", "write first_value(x ORDER BY y DESC)"),
    ("min_by", "write first_value(x ORDER BY y)"),
    ("mode", "write SELECT x … GROUP BY x ORDER BY count(*) DESC LIMIT 1"),
    ("percentile", QUANTILE),
    ("percentile_disc", QUANTILE),
    ("pg_size_pretty", "write format_bytes(bytes)"),
    ("quantile_disc", QUANTILE),
    ("regexp_extract", "write regexp_match(text, pattern)[1]"),
    ("regexp_matches", "write regexp_like(text, pattern)"),
    ("rowid", "write row_number() OVER ()"),
    ("split", "write string_to_array(text, delimiter), or split_part(text, delimiter, n)"),
    ("str_split", "write string_to_array(text, delimiter)"),
    ("strftime", "write to_char(to_timestamp_nanos(ns), '%H:%M:%S')"),
    ("string_split", "write string_to_array(text, delimiter)"),
    ("strlen", "write length(x)"),
    ("strptime", "write to_timestamp(text, '%Y-%m-%d %H:%M:%S')"),
    ("sum_if", "write sum(x) FILTER (WHERE condition)"),
    ("sumif", "write sum(x) FILTER (WHERE condition)"),
    ("time_bucket", "times are BIGINT nanoseconds: ts_ns / 1000000 * 1000000 is the millisecond"),
    ("timediff", DIFFERENCE),
    ("timestampdiff", DIFFERENCE),
    ("uniq", "write count(DISTINCT x), or approx_distinct(x)"),
    ("uniqexact", "write count(DISTINCT x)"),
];

const DIFFERENCE: &str = "times are BIGINT nanoseconds: subtract them, as in end_ns - ts_ns";
const QUANTILE: &str = "write quantile(x, 0.9), with a share from 0 to 1";

/// Functions that read a member of a JSON text.
const JSON: &[&str] = &[
    "get_json_object",
    "json_extract",
    "json_extract_path",
    "json_extract_path_text",
    "json_extract_scalar",
    "json_extract_string",
    "json_query",
    "json_value",
    "jsonextractfloat",
    "jsonextractint",
    "jsonextractstring",
];

/// The advice for a function of another engine.
pub fn advice(name: &str) -> Option<&'static str> {
    let at = FOREIGN.binary_search_by_key(&name.to_lowercase().as_str(), |(name, _)| *name).ok()?;
    Some(FOREIGN[at].1)
}

/// The advice for a function of another engine that reads JSON, with the arguments of the call.
pub fn call_of_json(tokens: &[Token], name: &str) -> Option<String> {
    if !JSON.contains(&name.to_lowercase().as_str()) {
        return None;
    }
    let at = tokens.iter().position(|t| t.name().is_some_and(|n| n.eq_ignore_ascii_case(name)));
    let call = at.and_then(|at| tokens.get(at + 2..at + 5));
    let (json, key) = match call {
        Some([json, comma, key]) if comma.text == "," && key.kind == Kind::Text => {
            (json.text, key.text.trim_matches('\''))
        }
        _ => ("args", "key"),
    };
    let key = key.trim_start_matches("$.").trim_matches('"');
    Some(format!("write {json}->>'{key}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::engine::{Engine, EngineOptions};
    use crate::runtime;
    use crate::sql_text::lex;

    #[test]
    fn the_names_are_sorted() {
        assert!(FOREIGN.is_sorted_by_key(|(name, _)| name));
    }

    #[test]
    fn advised_functions_exist_and_foreign_ones_do_not() {
        let engine = Engine::without_store(&EngineOptions::default()).expect("a session");
        let catalog = Catalog::of(&engine, &runtime::with_threads(1).expect("threads"));
        for (name, advice) in FOREIGN {
            assert!(catalog.function(name).is_none(), "{name} exists");
            let tokens = lex::words(&lex::tokens(advice));
            for call in tokens.windows(2).filter(|t| t[1].text == "(" && t[0].kind == Kind::Word) {
                let is_word = ["FILTER", "OVER"].iter().any(|w| call[0].is_word(w));
                assert!(is_word || catalog.function(call[0].text).is_some(), "{name}: {advice}");
            }
        }
        for name in JSON {
            assert!(catalog.function(name).is_none(), "{name} exists");
        }
    }

    #[test]
    fn calls_on_json_keep_their_arguments() {
        let tokens = |sql| lex::words(&lex::tokens(sql));
        let sql = "SELECT json_extract(args, '$.stream')";
        assert_eq!(
            call_of_json(&tokens(sql), "json_extract").as_deref(),
            Some("write args->>'stream'")
        );
    }
}
