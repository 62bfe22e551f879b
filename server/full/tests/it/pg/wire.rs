//! A client that writes messages byte by byte, also wrong ones.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

/// A connection.
pub struct Wire(pub TcpStream);

/// A message of the server.
#[derive(Debug, Clone)]
pub struct Message {
    pub kind: u8,
    pub body: Vec<u8>,
}

impl Message {
    /// The code of an error.
    pub fn code(&self) -> String {
        let mut fields = self.body.split(|byte| *byte == 0);
        let code = fields.find(|field| field.first() == Some(&b'C'));
        String::from_utf8_lossy(code.and_then(|code| code.get(1..)).unwrap_or_default()).into()
    }
}

impl Message {
    /// The values of a row, as texts; NULL is empty.
    pub fn texts(&self) -> Vec<String> {
        let mut rest = &self.body[2..];
        let mut texts = Vec::new();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = i32::from_be_bytes(*length).max(0) as usize;
            let (value, after) = after.split_at(length);
            texts.push(String::from_utf8_lossy(value).into_owned());
            rest = after;
        }
        texts
    }
}

impl Wire {
    /// A connection without any message.
    pub fn open(port: u16) -> Self {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        Self(stream)
    }

    /// A connection that was let in without a password.
    pub fn start(port: u16) -> Self {
        let mut wire = Self::open(port);
        wire.startup();
        wire.until_ready();
        wire
    }

    /// Sends a startup message.
    pub fn startup(&mut self) {
        let body = b"\0\x03\0\0user\0me\0database\0tracesql\0\0";
        self.bytes(&(body.len() as u32 + 4).to_be_bytes());
        self.bytes(body);
    }

    /// Sends bytes. The server may have closed the connection.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes);
    }

    /// Sends a message.
    pub fn send(&mut self, kind: u8, body: &[u8]) {
        self.bytes(&[kind]);
        self.bytes(&(body.len() as u32 + 4).to_be_bytes());
        self.bytes(body);
    }

    /// Sends a statement.
    pub fn query(&mut self, sql: &str) {
        self.send(b'Q', &[sql.as_bytes(), b"\0"].concat());
    }

    /// The next message; `None` if the server closed the connection.
    pub fn next(&mut self) -> Option<Message> {
        let mut head = [0; 5];
        self.0.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length - 4];
        self.0.read_exact(&mut body).ok()?;
        Some(Message { kind: head[0], body })
    }

    /// Messages until the server waits for a statement or closes the connection.
    pub fn until_ready(&mut self) -> Vec<Message> {
        let mut all = Vec::new();
        while let Some(message) = self.next() {
            let kind = message.kind;
            all.push(message);
            if kind == b'Z' {
                break;
            }
        }
        all
    }

    /// The codes of the errors of a statement.
    pub fn codes(&mut self, sql: &str) -> Vec<String> {
        self.query(sql);
        let answer = self.until_ready();
        answer.iter().filter(|m| m.kind == b'E').map(Message::code).collect()
    }

    /// The first value of the first row of a statement, as text.
    #[track_caller]
    pub fn value(&mut self, sql: &str) -> String {
        self.query(sql);
        let answer = self.until_ready();
        let row = answer.iter().find(|m| m.kind == b'D');
        let row = row.unwrap_or_else(|| panic!("{sql}: {answer:?}"));
        String::from_utf8_lossy(row.body.get(6..).unwrap_or_default()).into()
    }

    /// Prepares a statement. The server answers when it is asked to.
    pub fn parse(&mut self, name: &str, sql: &str) {
        self.send(b'P', &[name.as_bytes(), b"\0", sql.as_bytes(), b"\0\0\0"].concat());
    }

    /// Binds a prepared statement without parameters to a portal.
    pub fn bind(&mut self, portal: &str, statement: &str) {
        let names = [portal.as_bytes(), b"\0", statement.as_bytes(), b"\0"].concat();
        self.send(b'B', &[&names[..], b"\0\0\0\0\0\0"].concat());
    }

    /// Runs a statement by the extended protocol.
    pub fn extended(&mut self, sql: &str) -> Vec<Message> {
        self.parse("", sql);
        self.bind("", "");
        self.send(b'D', b"P\0");
        self.send(b'E', b"\0\0\0\0\0");
        self.send(b'S', b"");
        self.until_ready()
    }

    /// Messages until `number` of this kind arrived.
    pub fn until(&mut self, kind: u8, number: usize) -> Vec<Message> {
        let mut all = Vec::new();
        while all.iter().filter(|m: &&Message| m.kind == kind).count() < number {
            match self.next() {
                Some(message) => all.push(message),
                None => break,
            }
        }
        all
    }
}
