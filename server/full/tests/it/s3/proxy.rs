//! A server between the program and moto, which answers some requests itself, and badly.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Bucket, Program};

/// What happens to a request.
pub enum Fate {
    /// Moto answers it.
    Pass,
    /// The answer has this status and this code of S3.
    Refuse(&'static str, &'static str),
    /// Moto answers it, but the connection ends after this number of bytes of the object.
    Cut(usize),
    /// The request is read and never answered.
    Silence,
}

/// A running server.
pub struct Proxy {
    address: String,
    requests: Arc<AtomicUsize>,
    faults: Arc<AtomicUsize>,
}

impl Proxy {
    /// Starts a server. `fate` gets the line of each request, such as `GET /bucket/key HTTP/1.1`.
    pub fn start(bucket: &Bucket, fate: impl Fn(&str) -> Fate + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (requests, faults) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let endpoint = bucket.environment().into_iter().find(|(name, _)| name == "AWS_ENDPOINT");
        let moto = endpoint.expect("an address").1.replace("http://", "");
        let met = faults.clone();
        let fate = move |line: &str| {
            let fate = fate(line);
            met.fetch_add(usize::from(!matches!(fate, Fate::Pass)), Ordering::SeqCst);
            fate
        };
        let (fate, count) = (Arc::new(fate), requests.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (fate, moto, count) = (fate.clone(), moto.clone(), count.clone());
                std::thread::spawn(move || answer(stream, &moto, fate.as_ref(), &count));
            }
        });
        Self { address, requests, faults }
    }

    /// The number of requests so far.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// The number of requests so far that met a fault.
    pub fn faults(&self) -> usize {
        self.faults.load(Ordering::SeqCst)
    }

    /// A call of the program that talks to this server, and gives up early.
    pub fn program(&self, folder: &std::path::Path, bucket: &Bucket) -> Program {
        let endpoint = format!("http://{}", self.address);
        let program = Program::new(folder).envs(bucket.environment());
        program.env("AWS_ENDPOINT", endpoint).env("TRACESQL_RETRY_SECONDS", "2")
    }
}

/// Answers one request and closes the connection. A client that goes away ends it early.
fn answer(
    mut client: TcpStream,
    moto: &str,
    fate: &dyn Fn(&str) -> Fate,
    count: &AtomicUsize,
) -> Option<()> {
    let (head, body) = request(&mut client)?;
    count.fetch_add(1, Ordering::SeqCst);
    let line = head.lines().next()?.to_owned();
    let limit = match fate(&line) {
        Fate::Pass => None,
        Fate::Cut(bytes) => Some(bytes),
        Fate::Silence => {
            std::thread::sleep(Duration::from_secs(60));
            return None;
        }
        Fate::Refuse(status, code) => {
            let text = format!("<Error><Code>{code}</Code><Message>the reason</Message></Error>");
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
                text.len()
            );
            return client.write_all(answer.as_bytes()).ok();
        }
    };
    let mut server = TcpStream::connect(moto).ok()?;
    let head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    server.write_all(head.as_bytes()).ok()?;
    server.write_all(&body).ok()?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).ok()?;
    if let Some(limit) = limit {
        let start = answer.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
        answer.truncate(start + limit);
    }
    client.write_all(&answer).ok()?;
    client.shutdown(Shutdown::Both).ok()
}

/// The head and the body of a request.
fn request(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let (mut bytes, mut part) = (Vec::new(), [0; 16 << 10]);
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break end + 4;
        }
        let read = client.read(&mut part).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&part[..read]);
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let length = head.lines().find_map(|line| {
        line.to_lowercase().strip_prefix("content-length:").map(|n| n.trim().parse::<usize>())
    });
    let length = length.and_then(Result::ok).unwrap_or_default();
    let mut body = bytes.split_off(end);
    let known = body.len();
    body.resize(length, 0);
    client.read_exact(&mut body[known..]).ok()?;
    Some((head, body))
}
