//! Lines and objects of JSON-RPC 2.0.

use std::io::{self, BufRead};

use serde_json::{Map, Value, json};

/// The longest line that is read, in bytes. A statement has less.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// Numbers of errors.
pub mod code {
    /// The line is not JSON.
    pub const PARSE_ERROR: i64 = -32_700;
    /// The object is no request.
    pub const INVALID_REQUEST: i64 = -32_600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i64 = -32_601;
    /// A parameter is missing or wrong.
    pub const INVALID_PARAMS: i64 = -32_602;
    /// The program failed.
    pub const INTERNAL_ERROR: i64 = -32_603;
    /// There is no such resource, before 2026-07-28.
    pub const RESOURCE_NOT_FOUND: i64 = -32_002;
    /// Too many requests at once.
    pub const TOO_MANY_REQUESTS: i64 = -32_000;
    /// The version of the protocol is not known, since 2026-07-28.
    pub const UNSUPPORTED_VERSION: i64 = -32_022;
}

/// An error of the protocol. A model does not see it, so what a model did wrong is an answer of the
/// tool instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub code: i64,
    pub message: String,
    pub data: Option<Box<Value>>,
}

impl Fault {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// A message of a client.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// It expects an answer with the same id.
    Request { id: Value, method: String, params: Map<String, Value> },
    /// It expects no answer.
    Notification { method: String, params: Map<String, Value> },
    /// An answer to a request, of which this server sends none.
    Answer,
}

/// Reads a message. The error has the id of the request, if it can be told.
pub fn parse(line: &[u8]) -> Result<Message, (Value, Fault)> {
    let invalid = |id: &Value, what: &str| {
        (id.clone(), Fault::new(code::INVALID_REQUEST, format!("invalid request: {what}")))
    };
    let value: Value = serde_json::from_slice(line)
        .map_err(|e| (Value::Null, Fault::new(code::PARSE_ERROR, format!("not JSON: {e}"))))?;
    let Value::Object(mut object) = value else {
        return Err(invalid(&Value::Null, "one object a line is expected"));
    };
    let id = match object.remove("id") {
        None => None,
        Some(id @ (Value::String(_) | Value::Number(_))) => Some(id),
        Some(_) => return Err(invalid(&Value::Null, "the id is neither a text nor a number")),
    };
    let known = id.clone().unwrap_or(Value::Null);
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(&known, "jsonrpc is not \"2.0\""));
    }
    let method = match object.remove("method") {
        Some(Value::String(method)) => method,
        None if object.contains_key("result") || object.contains_key("error") => {
            return Ok(Message::Answer);
        }
        _ => return Err(invalid(&known, "there is no method")),
    };
    let params = match object.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(invalid(&known, "params is no object")),
    };
    Ok(match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    })
}

/// The answer to a request, as a line without its end.
pub fn answer(id: &Value, outcome: Result<Value, Fault>) -> String {
    let object = match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(fault) => {
            let mut error = json!({"code": fault.code, "message": fault.message});
            if let Some(data) = fault.data {
                error["data"] = *data;
            }
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    };
    object.to_string()
}

/// A notification, as a line without its end.
pub fn notification(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line without its end.
    Text(Vec<u8>),
    /// A line that is longer than [`MAX_LINE_BYTES`]. It was skipped.
    TooLong,
}

/// The next line that is not blank; `None` at the end of the input. A long line takes no memory.
pub fn line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let (mut text, mut is_long) = (Vec::new(), false);
    loop {
        let bytes = input.fill_buf()?;
        let (end, is_last) = match bytes.iter().position(|b| *b == b'\n') {
            Some(at) => (at, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        if text.len() + end > MAX_LINE_BYTES {
            is_long = true;
            text = Vec::new();
        }
        if !is_long {
            text.extend_from_slice(&bytes[..end]);
        }
        let (is_input_end, taken) =
            (bytes.is_empty(), end + usize::from(!bytes.is_empty() && is_last));
        input.consume(taken);
        if !is_last {
            continue;
        }
        if is_long {
            return Ok(Some(Line::TooLong));
        }
        if !text.trim_ascii().is_empty() {
            return Ok(Some(Line::Text(text)));
        }
        if is_input_end {
            return Ok(None);
        }
        text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_skipped_and_blank_ones_left_out() {
        let mut text = b"{}\n\n \r\n".to_vec();
        text.extend(vec![b'x'; MAX_LINE_BYTES + 1]);
        text.extend(b"\nlast");
        // Pieces of 7 bytes, as a pipe may hand them over.
        let mut input = io::BufReader::with_capacity(7, &text[..]);
        let mut next = || line(&mut input).expect("bytes");
        assert_eq!(next(), Some(Line::Text(b"{}".to_vec())));
        assert_eq!(next(), Some(Line::TooLong));
        assert_eq!(next(), Some(Line::Text(b"last".to_vec())));
        assert_eq!(next(), None);
    }

    #[test]
    fn objects_are_requests_notifications_or_answers() {
        let request = br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
        let ping = Message::Request { id: "a".into(), method: "ping".into(), params: Map::new() };
        assert_eq!(parse(request), Ok(ping));
        let notification = br#"{"jsonrpc":"2.0","method":"x","params":{}}"#;
        assert!(matches!(parse(notification), Ok(Message::Notification { .. })));
        assert_eq!(parse(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Ok(Message::Answer));
        for (text, id, code) in [
            (&b"{"[..], Value::Null, code::PARSE_ERROR),
            (b"\xff", Value::Null, code::PARSE_ERROR),
            (b"[]", Value::Null, code::INVALID_REQUEST),
            (br#"{"id":1,"method":"ping"}"#, 1.into(), code::INVALID_REQUEST),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null, code::INVALID_REQUEST),
            (br#"{"jsonrpc":"2.0","id":1}"#, 1.into(), code::INVALID_REQUEST),
            (
                br#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#,
                1.into(),
                code::INVALID_REQUEST,
            ),
        ] {
            let (of, fault) = parse(text).expect_err("it is malformed");
            assert_eq!((of, fault.code), (id, code), "{}", String::from_utf8_lossy(text));
        }
    }
}
