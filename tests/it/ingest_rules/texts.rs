//! Texts and args are decoded exactly and stored as valid JSON, whatever the input contains.

use crate::support::{TestStore, elements};

/// An instant with these args.
fn with_args(args: &str) -> TestStore {
    elements(format!(r#"{{"ph":"i","name":"x","pid":1,"tid":1,"ts":1,"args":{args}}}"#))
}

/// The args as stored, which must be JSON.
fn stored(args: &str) -> String {
    let stored = with_args(args).value("SELECT args FROM events");
    serde_json::from_str::<serde_json::Value>(&stored).unwrap_or_else(|e| panic!("{stored}: {e}"));
    stored
}

fn name_of(name: impl AsRef<[u8]>) -> (String, Vec<String>) {
    let store = elements(
        [b"{\"ph\":\"i\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"", name.as_ref(), b"\"}"].concat(),
    );
    (store.value("SELECT name FROM events"), store.issues())
}

#[test]
fn args_are_compact_and_complete() {
    assert_eq!(
        stored("{ \"a b\" : [ 1 , 2.50 ,\n \"x  y\" ] , \"c\" : { } , \"d\":null }"),
        r#"{"a b":[1,2.50,"x  y"],"c":{},"d":null}"#
    );
}

#[test]
fn numbers_in_args_keep_their_text() {
    let args = r#"{"a":18446744073709551615,"b":0.1000,"c":1E+5,"d":-0}"#;
    assert_eq!(stored(args), args);
}

#[test]
fn no_args_are_null_and_empty_args_are_not() {
    let store = elements(r#"{"ph":"i","name":"a","ts":1}, {"ph":"i","name":"b","ts":1,"args":{}}"#);
    assert_eq!(store.lines("SELECT args FROM events ORDER BY name"), ["NULL", "{}"]);
}

#[test]
fn args_other_than_objects_are_kept() {
    let store = elements(
        r#"{"ph":"i","name":"a","ts":1,"args":[1, 2]}, {"ph":"i","name":"b","ts":1,"args":"text"}, {"ph":"i","name":"c","ts":1,"args":7},
           {"ph":"i","name":"d","ts":1,"args":null}"#,
    );
    assert_eq!(
        store.lines("SELECT args FROM events ORDER BY name"),
        ["[1,2]", "\"text\"", "7", "NULL"]
    );
    assert_eq!(store.issues(), ["args_type 3"], "null stands for none");
}

#[test]
fn values_that_are_not_json_are_kept_in_quotes() {
    assert_eq!(
        stored(r#"{"a":NaN,"b":-Infinity,"c":nan,"d":N/A}"#),
        r#"{"a":"NaN","b":"-Infinity","c":"nan","d":"N/A"}"#
    );
    assert_eq!(
        stored(r#"{"a":007,"b":+1,"c":.5,"d":5.,"e":0x1f}"#),
        r#"{"a":"007","b":"+1","c":".5","d":"5.","e":"0x1f"}"#
    );
    assert_eq!(
        with_args(r#"{"a":NaN,"b":N/A}"#).issues(),
        ["non_json_value 1"],
        "one for each element"
    );
}

#[test]
fn a_value_that_is_missing_is_null() {
    assert_eq!(stored(r#"{"a": ,"b":[1,,2],"c":}"#), r#"{"a":null,"b":[1,null,2],"c":null}"#);
}

#[test]
fn a_hexadecimal_number_has_no_typed_column() {
    let store = with_args(r#"{"stream":0x262ca50,"device":0}"#);
    assert_eq!(
        store.lines("SELECT stream, device, args FROM events"),
        [r#"NULL 0 {"stream":"0x262ca50","device":0}"#]
    );
}

#[test]
fn escapes_are_decoded() {
    let (name, issues) = name_of(r#"a\n\tb \"q\" \/ \\ \u00e9 \ud83d\ude80"#);
    assert_eq!(name, "a\n\tb \"q\" / \\ é 🚀");
    assert!(issues.is_empty());
}

#[test]
fn a_nul_written_as_escape_is_kept() {
    assert_eq!(name_of(r"a\u0000b"), ("a\0b".to_owned(), vec![]));
}

#[test]
fn backslashes_that_escape_nothing_are_backslashes() {
    assert_eq!(
        name_of(r"C:\Temp\x41 \s"),
        (r"C:\Temp\x41 \s".to_owned(), vec!["bad_escape 1".to_owned()])
    );
    assert_eq!(stored(r#"{"p":"C:\Temp\x"}"#), r#"{"p":"C:\\Temp\\x"}"#);
}

#[test]
fn half_a_surrogate_pair_is_replaced() {
    assert_eq!(
        name_of(r"half \ud83d here"),
        ("half \u{fffd} here".to_owned(), vec!["lone_surrogate 1".to_owned()])
    );
    assert_eq!(stored(r#"{"k":"\udc00"}"#), r#"{"k":"\ufffd"}"#);
}

#[test]
fn raw_control_characters_are_kept() {
    assert_eq!(
        name_of("raw\nnew\tline \x1b[31m\0"),
        ("raw\nnew\tline \x1b[31m\0".to_owned(), vec!["control_character 1".to_owned()])
    );
    assert_eq!(stored("{\"k\":\"a\nb\0\"}"), r#"{"k":"a\u000ab\u0000"}"#);
}

#[test]
fn invalid_utf8_is_replaced() {
    assert_eq!(
        name_of(b"latin \xe9 and \xff"),
        ("latin \u{fffd} and \u{fffd}".to_owned(), vec!["invalid_utf8 1".to_owned()])
    );
    let store = elements(
        b"{\"ph\":\"i\",\"name\":\"x\",\"ts\":1,\"args\":{\"k\xc0\xaf\":\"\xed\xa0\x80\"}}",
    );
    let args = store.value("SELECT args FROM events");
    let value: serde_json::Value = serde_json::from_str(&args).expect("JSON");
    assert_eq!(value["k\u{fffd}\u{fffd}"], "\u{fffd}\u{fffd}\u{fffd}");
    assert_eq!(store.issues(), ["invalid_utf8 1"]);
}

#[test]
fn utf8_is_kept() {
    assert_eq!(name_of("naïve 🚀 名前"), ("naïve 🚀 名前".to_owned(), vec![]));
}

#[test]
fn names_beyond_a_mebibyte_are_cut() {
    let (name, issues) = name_of("n".repeat((1 << 20) + 1));
    assert_eq!((name.len(), issues), (1 << 20, vec!["string_cut 1".to_owned()]));
    let (name, issues) = name_of("n".repeat(1 << 20));
    assert_eq!((name.len(), issues), (1 << 20, vec![]));
}

#[test]
fn a_name_is_never_cut_within_a_character() {
    let (name, _) = name_of("é".repeat(600_000) + "x");
    assert!(name.chars().all(|c| c == 'é') && name.len() >= (1 << 20) - 1, "{} bytes", name.len());
}

#[test]
fn deep_args_are_kept_and_deeper_ones_cost_their_element() {
    let deep = |n: usize| {
        format!(
            r#"{{"ph":"i","name":"d{n}","ts":{n},"args":{{"k":{}1{}}}}}"#,
            "[".repeat(n),
            "]".repeat(n)
        )
    };
    let store = elements(format!("{}, {}, {}", deep(200), deep(100_000), deep(3)));
    assert_eq!(store.lines("SELECT name FROM events ORDER BY event_id"), ["d200", "d3"]);
    assert_eq!(store.issues(), ["too_deep 1"]);
}

#[test]
fn typed_columns_come_from_args() {
    let store = elements(
        r#"{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"External id":11,"Sequence number":3,"Fwd thread id":2,
            "Python id":7,"Python parent id":6,"Python module id":1,"device":0,"stream":7,"Input Dims":[[2, 3],[]],"Input type":["float",""],
            "Input Strides":[[3, 1],[]],"Concrete Inputs":["","False"],"Call stack":"f.py(1): f;g.py(2): \"g\"","Module Hierarchy":"A.B"}}"#,
    );
    assert_eq!(
        store.lines("SELECT external_id, sequence_number, fwd_thread_id, python_id, python_parent_id, python_module_id, device, stream FROM events"),
        ["11 3 2 7 6 1 0 7"]
    );
    assert_eq!(
        store.rows("SELECT input_dims, input_types, input_strides, concrete_inputs, call_stack, module_hierarchy FROM events"),
        [["[[2,3],[]]", r#"["float",""]"#, "[[3,1],[]]", r#"["","False"]"#, r#"f.py(1): f;g.py(2): "g""#, "A.B"]]
    );
}

#[test]
fn ids_in_quotes_and_with_a_point_are_numbers() {
    let store = with_args(r#"{"External id":"12","correlation":7.0,"stream":"3"}"#);
    assert_eq!(store.lines("SELECT external_id, correlation, stream FROM events"), ["12 7 3"]);
    assert!(store.issues().is_empty());
}

#[test]
fn ids_that_stand_for_none_are_null() {
    for id in ["0", "-1", "4294967295", "18446744073709551615", "null"] {
        let store = with_args(&format!(r#"{{"External id":{id},"correlation":{id}}}"#));
        assert_eq!(
            store.lines("SELECT external_id, correlation FROM events"),
            ["NULL NULL"],
            "{id}"
        );
        assert!(store.issues().is_empty(), "{id}");
    }
}

#[test]
fn ids_that_are_not_64_bit_integers_are_null_and_counted() {
    for id in ["\"0xc\"", "1.5", "[1]", "9223372036854775808"] {
        let store = with_args(&format!(r#"{{"correlation":{id}}}"#));
        assert_eq!(
            store.lines("SELECT correlation, args FROM events"),
            [format!(r#"NULL {{"correlation":{id}}}"#)]
        );
        assert_eq!(store.issues(), ["id_value 1"], "{id}");
    }
}

#[test]
fn old_and_new_spellings_of_external_id() {
    assert_eq!(with_args(r#"{"external id":5}"#).value("SELECT external_id FROM events"), "5");
    assert_eq!(
        with_args(r#"{"External id":6,"external id":5}"#).value("SELECT external_id FROM events"),
        "6"
    );
    assert_eq!(
        with_args(r#"{"external id":5,"External id":6}"#).value("SELECT external_id FROM events"),
        "6"
    );
}
