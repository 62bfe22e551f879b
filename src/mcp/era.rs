//! What differs between the two eras of the protocol.
//!
//! Up to 2025-11-25 a client agrees on a version by `initialize`. Since 2026-07-28 there is no
//! state: each request names its version and the capabilities of the client in `_meta`,
//! `server/discover` takes the place of the handshake, and results state that they are complete and
//! how long they may be kept. A server that knows both decides for each request.

use serde_json::{Map, Value, json};

use super::wire::{Fault, code};

/// Versions without a state, newest first.
const STATELESS: [&str; 1] = ["2026-07-28"];
/// Versions with a handshake, newest first.
const HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// How long a client may keep what does not change while the server runs, in milliseconds.
const KEPT_MS: u64 = 3_600_000;

/// The era of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With a handshake.
    Handshake,
    /// Without a state.
    Stateless,
}

/// How long a client may keep a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The result is no list and no document.
    NotSaid,
    /// It is the same while the server runs.
    Long,
    /// It may change at any time.
    Never,
}

impl Era {
    /// The era of a request. `is_initialized` says whether the client shook hands.
    pub fn of(
        method: &str,
        params: &Map<String, Value>,
        is_initialized: bool,
    ) -> Result<Self, Fault> {
        let meta = params.get("_meta");
        let Some(version) = meta.and_then(|meta| meta.get(VERSION_KEY)) else {
            return match method {
                "initialize" | "ping" => Ok(Self::Handshake),
                _ if is_initialized => Ok(Self::Handshake),
                _ => Err(Fault::new(
                    code::INVALID_PARAMS,
                    format!("send initialize first, or name the version in _meta: {VERSION_KEY}"),
                )),
            };
        };
        let version = version.as_str().unwrap_or_default();
        if !STATELESS.contains(&version) {
            return Err(unsupported(version));
        }
        if !meta.is_some_and(|meta| meta.get(CAPABILITIES_KEY).is_some_and(Value::is_object)) {
            return Err(Fault::new(
                code::INVALID_PARAMS,
                format!("_meta lacks {CAPABILITIES_KEY}, an object"),
            ));
        }
        Ok(Self::Stateless)
    }

    /// A result as this era has it.
    pub fn finish(self, mut result: Value, kept: Kept) -> Value {
        if self == Self::Handshake {
            return result;
        }
        if let Some(result) = result.as_object_mut() {
            result.insert("resultType".to_owned(), "complete".into());
            if kept != Kept::NotSaid {
                let time = if kept == Kept::Long { KEPT_MS } else { 0 };
                result.insert("ttlMs".to_owned(), time.into());
                result.insert("cacheScope".to_owned(), "private".into());
            }
        }
        result
    }

    /// The error for a resource that does not exist.
    pub fn no_resource(self, uri: &str) -> Fault {
        let code = match self {
            Self::Handshake => code::RESOURCE_NOT_FOUND,
            Self::Stateless => code::INVALID_PARAMS,
        };
        let data = Some(Box::new(json!({"uri": uri})));
        Fault { data, ..Fault::new(code, format!("there is no resource {uri}")) }
    }
}

fn unsupported(requested: &str) -> Fault {
    let data = Some(Box::new(json!({"supported": versions(), "requested": requested})));
    let message = format!("the version {requested:?} of the protocol is not known");
    Fault { data, ..Fault::new(code::UNSUPPORTED_VERSION, message) }
}

fn versions() -> Vec<&'static str> {
    STATELESS.into_iter().chain(HANDSHAKE).collect()
}

fn capabilities() -> Value {
    json!({"tools": {}, "resources": {}, "prompts": {}})
}

fn server_info() -> Value {
    json!({
        "name": "tracesql",
        "title": "tracesql: SQL over machine-learning profiler traces",
        "version": tracesql_ingest::VERSION,
    })
}

/// The answer to `initialize`. A client that names an unknown version gets the newest one.
pub fn initialize(params: &Map<String, Value>, instructions: &str) -> Value {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    let version = HANDSHAKE.into_iter().find(|known| wanted == Some(known)).unwrap_or(HANDSHAKE[0]);
    json!({
        "protocolVersion": version,
        "capabilities": capabilities(),
        "serverInfo": server_info(),
        "instructions": instructions,
    })
}

/// The answer to `server/discover`.
pub fn discover(instructions: &str) -> Value {
    json!({
        "supportedVersions": versions(),
        "capabilities": capabilities(),
        "instructions": instructions,
        "_meta": {SERVER_KEY: server_info()},
    })
}
