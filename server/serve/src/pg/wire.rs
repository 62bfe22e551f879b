//! A connection as bytes: whole messages in, buffered messages out.

use std::io;
use std::time::Duration;

use bytes::{Buf, BufMut, BytesMut};
use pgwire::error::PgWireError;
use pgwire::messages::{DecodeContext, PgWireFrontendMessage};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;

use super::shape;
use crate::failure::Failure;

/// The bytes that wait before they are sent.
pub const BUFFERED_BYTES: usize = 64 << 10;
/// The bytes of a message's length, which count themselves.
const LENGTH_BYTES: usize = 4;
/// The longest message that a client may send.
const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// The longest message before the user is known.
pub const MAX_STARTUP_BYTES: usize = 10_000;
/// The bytes that are read ahead while a statement runs.
const MAX_READ_AHEAD_BYTES: usize = 1 << 20;

/// A stream of bytes, with or without TLS.
pub trait Io: AsyncRead + AsyncWrite + Unpin + Send + Sync {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync> Io for T {}

/// Why a connection ends.
#[derive(Debug)]
pub enum Closed {
    /// The client went away, or does not read.
    Lost,
    /// The client broke the protocol; it is told so.
    Violation(Failure),
}

impl From<io::Error> for Closed {
    fn from(_: io::Error) -> Self {
        Self::Lost
    }
}

/// A connection.
pub struct Wire {
    stream: Box<dyn Io>,
    input: BytesMut,
    output: BytesMut,
    context: DecodeContext,
    /// How long a client may leave its messages unread.
    patience: Duration,
    /// The longest message that the client may send now.
    longest: usize,
}

impl Wire {
    /// A connection whose startup message was read.
    pub fn new(stream: Box<dyn Io>, patience: Duration) -> Self {
        let mut context = DecodeContext::default();
        context.awaiting_frontend_ssl = false;
        context.awaiting_frontend_startup = false;
        Self {
            stream,
            input: BytesMut::new(),
            output: BytesMut::new(),
            context,
            patience,
            longest: MAX_STARTUP_BYTES,
        }
    }

    /// Allows long messages, once the user is known.
    pub fn admit(&mut self) {
        self.longest = MAX_MESSAGE_BYTES;
    }

    /// The next message.
    pub async fn receive(&mut self) -> Result<PgWireFrontendMessage, Closed> {
        loop {
            if let Some(message) = self.decode()? {
                return Ok(message);
            }
            self.fill().await?;
        }
    }

    fn decode(&mut self) -> Result<Option<PgWireFrontendMessage>, Closed> {
        if let Some(length) = self.length() {
            if length < LENGTH_BYTES {
                return Err(violation(format!("a message of {length} bytes")));
            }
            if length > self.longest {
                return Err(violation(format!(
                    "a message of {length} bytes; the longest is {}",
                    self.longest
                )));
            }
        }
        if let (Some(kind), Some(length)) = (self.input.first(), self.length())
            && let Some(body) = self.input.get(1 + LENGTH_BYTES..1 + length)
            && !shape::fits(*kind, body)
        {
            return Err(violation(format!("malformed message of kind {:?}", char::from(*kind))));
        }
        let decoded = PgWireFrontendMessage::decode(&mut self.input, &self.context);
        decoded.map_err(|e: PgWireError| violation(e.to_string()))
    }

    /// The length of the next message, without its kind.
    fn length(&self) -> Option<usize> {
        self.input.get(1..5).map(|mut length| length.get_u32() as usize)
    }

    /// Reads what the client sent, for later.
    async fn fill(&mut self) -> Result<(), Closed> {
        match self.stream.read_buf(&mut self.input).await? {
            0 => Err(Closed::Lost),
            _ => Ok(()),
        }
    }

    /// Waits for work, unless the client goes away before it is done.
    pub async fn unless_lost<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Closed> {
        tokio::pin!(work);
        loop {
            if self.input.len() > MAX_READ_AHEAD_BYTES {
                return Ok(work.await);
            }
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                filled = self.fill() => filled?,
            }
        }
    }

    /// Adds a message to those that are sent with the next flush.
    pub fn put(&mut self, kind: u8, body: impl FnOnce(&mut BytesMut)) {
        message(&mut self.output, kind, body);
    }

    /// The buffer of messages that wait.
    pub fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    /// Whether enough messages wait.
    pub fn is_full(&self) -> bool {
        self.output.len() >= BUFFERED_BYTES
    }

    /// Sends the messages that wait.
    pub async fn flush(&mut self) -> Result<(), Closed> {
        self.flush_until(Instant::now() + self.patience).await
    }

    /// Sends the messages that wait. A client that does not read them until then is lost.
    pub async fn flush_until(&mut self, deadline: Instant) -> Result<(), Closed> {
        let sending = async {
            self.stream.write_all(&self.output).await?;
            self.stream.flush().await
        };
        tokio::time::timeout_at(deadline, sending).await.map_err(|_| Closed::Lost)??;
        self.output.clear();
        Ok(())
    }

    /// Ends the connection.
    pub async fn close(mut self) {
        let _ = tokio::time::timeout(Duration::from_secs(1), self.stream.shutdown()).await;
    }
}

/// The end of a connection whose client broke the protocol.
pub fn violation(text: impl Into<String>) -> Closed {
    Closed::Violation(Failure::new(crate::failure::code::PROTOCOL_VIOLATION, text))
}

/// Writes a message: its kind, its length, its body.
pub fn message(out: &mut BytesMut, kind: u8, body: impl FnOnce(&mut BytesMut)) {
    out.put_u8(kind);
    let start = out.len();
    out.put_i32(0);
    body(out);
    let length = (out.len() - start) as i32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Writes a text that ends with a zero. Zeros within it are left out.
pub fn text(out: &mut BytesMut, text: &str) {
    out.extend(text.bytes().filter(|byte| *byte != 0));
    out.put_u8(0);
}
