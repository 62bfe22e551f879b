//! A server of pages and a plain client, which writes requests as it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A server that runs.
pub struct Ui {
    pub process: Child,
    pub port: u16,
    pub token: String,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value)
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The message of an error.
    #[track_caller]
    pub fn message(&self) -> String {
        self.json()["error"]["message"].as_str().expect("a message").to_owned()
    }
}

impl Ui {
    /// Starts a server with these arguments on any free port.
    pub fn start(arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_tracesql"))
            .arg("ui")
            .args(arguments)
            .args(["--no-open", "--port", "0"])
            .stdin(if arguments == ["-"] { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let (address, token) = line.trim().split_once("/#token=").expect("an address");
        let port = address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        Self { process, port, token: token.to_owned() }
    }

    /// Sends a request with these headers only, and reads the answer.
    pub fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = self.connection();
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len()));
        // The server may answer and close before it has read all.
        let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.write_all(body));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        reply(&answer)
    }

    /// A connection to the server.
    pub fn connection(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        stream
    }

    /// The events that the server sends from now on.
    pub fn events(&self) -> impl Iterator<Item = String> + use<> {
        let mut stream = self.connection();
        let request = format!(
            "GET /api/events HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n",
            self.host(),
            self.token
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        std::iter::from_fn(move || lines.find(|line| line.starts_with("event: ")))
    }

    /// The host that requests name.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends a request as the pages do.
    pub fn ask(&self, method: &str, path: &str, body: &Value) -> Reply {
        let (host, bearer) = (self.host(), format!("Bearer {}", self.token));
        let headers = [
            ("host", host.as_str()),
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.raw(method, path, &headers, body.as_bytes())
    }

    /// The answer to a request that must succeed.
    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        let reply = self.ask("GET", path, &Value::Null);
        assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
        reply.json()
    }

    /// The answer to a request that must succeed.
    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Value {
        let reply = self.ask("POST", path, body);
        assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
        reply.json()
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn reply(answer: &[u8]) -> Reply {
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(answer.len());
    let head = String::from_utf8_lossy(&answer[..end]);
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let rest = answer.get(end + 4..).unwrap_or_default();
    let is_chunked = headers.iter().any(|(n, v)| n == "transfer-encoding" && v == "chunked");
    let body = if is_chunked { unchunked(rest) } else { rest.to_vec() };
    Reply { status, headers, body }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|w| w == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).ok();
        let size = size.and_then(|text| usize::from_str_radix(text, 16).ok()).unwrap_or(0);
        let Some(piece) = rest.get(end + 2..end + 2 + size).filter(|p| !p.is_empty()) else {
            break;
        };
        body.extend_from_slice(piece);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    body
}
