//! A connection as bytes: whole messages in, buffered messages out.

use std::io;
use std::time::Duration;

use bytes::{Buf, BufMut, BytesMut};
use pgwire::error::PgWireError;
use pgwire::messages::{DecodeContext, PgWireFrontendMessage};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;

use super::peer::Peer;
use super::shape;
use crate::failure::Failure;

/// The bytes that wait before they are sent.
pub const BUFFERED_BYTES: usize = 64 << 10;
/// The size of a buffer that is kept. A larger one, which one long message needed, is released.
const MAX_KEPT_BUFFER_BYTES: usize = 4 * BUFFERED_BYTES;
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
    peer: Peer,
    input: BytesMut,
    /// Whether the buffer of the input became large.
    input_is_large: bool,
    output: BytesMut,
    context: DecodeContext,
    /// How long a client may leave its messages unread.
    patience: Duration,
    /// The longest message that the client may send now.
    longest: usize,
}

impl Wire {
    /// A connection whose startup message was read.
    pub fn new(stream: Box<dyn Io>, peer: Peer, patience: Duration) -> Self {
        let mut context = DecodeContext::default();
        context.awaiting_frontend_ssl = false;
        context.awaiting_frontend_startup = false;
        Self {
            stream,
            peer,
            input: BytesMut::new(),
            input_is_large: false,
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
                if self.input.is_empty() && self.input_is_large {
                    (self.input, self.input_is_large) = (BytesMut::new(), false);
                }
                return Ok(message);
            }
            fill(&mut self.stream, &mut self.input).await?;
            self.input_is_large |= self.input.len() > MAX_KEPT_BUFFER_BYTES;
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

    /// Waits for work, unless the client goes away before it is done. What the client sends
    /// meanwhile is read up to a limit.
    pub async fn unless_lost<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Closed> {
        tokio::pin!(work);
        loop {
            let is_full = self.input.len() > MAX_READ_AHEAD_BYTES;
            self.input_is_large |= self.input.len() > MAX_KEPT_BUFFER_BYTES;
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                filled = fill(&mut self.stream, &mut self.input), if !is_full => filled?,
                () = self.peer.gone(), if is_full => return Err(Closed::Lost),
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
        if self.output.capacity() > MAX_KEPT_BUFFER_BYTES {
            self.output = BytesMut::new();
        }
        Ok(())
    }

    /// Ends the connection.
    pub async fn close(mut self) {
        let _ = tokio::time::timeout(Duration::from_secs(1), self.stream.shutdown()).await;
    }
}

/// Reads what the client sent.
async fn fill(stream: &mut Box<dyn Io>, input: &mut BytesMut) -> Result<(), Closed> {
    match stream.read_buf(input).await? {
        0 => Err(Closed::Lost),
        _ => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: usize = 8 << 20;

    #[tokio::test]
    async fn a_long_message_leaves_no_large_buffer() {
        let (near, mut far) = tokio::io::duplex(1 << 20);
        let mut wire = Wire::new(Box::new(near), Peer::Unknown, Duration::from_secs(60));
        wire.admit();
        let reader = tokio::spawn(async move {
            let mut query = Vec::new();
            query.put_u8(b'Q');
            query.put_i32(LONG as i32 + 5);
            query.resize(5 + LONG, b' ');
            query.push(0);
            far.write_all(&query).await.expect("a message");
            let mut answer = vec![0; 5 + LONG];
            far.read_exact(&mut answer).await.expect("an answer");
        });
        assert!(matches!(wire.receive().await, Ok(PgWireFrontendMessage::Query(_))));
        assert!(wire.input.capacity() <= MAX_KEPT_BUFFER_BYTES, "{}", wire.input.capacity());
        wire.put(b'D', |out| out.resize(out.len() + LONG, b'x'));
        wire.flush().await.expect("a reader");
        assert!(wire.output.capacity() <= MAX_KEPT_BUFFER_BYTES, "{}", wire.output.capacity());
        reader.await.expect("a reader");
    }
}
