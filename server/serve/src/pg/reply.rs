//! Messages of the server.

use bytes::{BufMut, BytesMut};

use super::types::Column;
use super::wire::{Wire, text};
use crate::failure::Failure;

/// The state of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transaction {
    /// No transaction was begun.
    #[default]
    Idle,
    /// It was begun.
    Open,
    /// A statement in it failed.
    Failed,
}

/// The class of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// A statement failed.
    Error,
    /// The connection ends.
    Fatal,
}

/// An error. `offset` is the number of characters of the client's text before the statement.
pub fn error(wire: &mut Wire, failure: &Failure, severity: Severity, offset: usize) {
    let severity = match severity {
        Severity::Error => "ERROR",
        Severity::Fatal => "FATAL",
    };
    wire.put(b'E', |out| fields(out, severity, failure, offset));
}

/// A remark about a statement that has no effect.
pub fn notice(wire: &mut Wire, note: &Failure) {
    wire.put(b'N', |out| fields(out, "WARNING", note, 0));
}

fn fields(out: &mut BytesMut, severity: &str, failure: &Failure, offset: usize) {
    let mut field = |kind: u8, value: &str| {
        out.put_u8(kind);
        text(out, value);
    };
    field(b'S', severity);
    field(b'V', severity);
    field(b'C', failure.code);
    field(b'M', &failure.message);
    if let Some(hint) = &failure.hint {
        field(b'H', hint);
    }
    if let Some(position) = failure.position {
        field(b'P', &(offset + position).to_string());
    }
    out.put_u8(0);
}

/// The columns of the rows that follow.
pub fn columns(wire: &mut Wire, columns: &[Column]) {
    wire.put(b'T', |out| {
        out.put_i16(columns.len() as i16);
        for column in columns {
            text(out, &column.name);
            out.put_i32(0);
            out.put_i16(0);
            out.put_u32(column.kind.oid());
            out.put_i16(column.kind.bytes());
            out.put_i32(-1);
            out.put_i16(i16::from(column.binary));
        }
    });
}

/// The types of parameters.
pub fn parameters(wire: &mut Wire, types: &[u32]) {
    wire.put(b't', |out| {
        out.put_u16(types.len() as u16);
        types.iter().for_each(|oid| out.put_u32(*oid));
    });
}

/// The end of a statement.
pub fn complete(wire: &mut Wire, tag: &str) {
    wire.put(b'C', |out| text(out, tag));
}

/// The value of a setting that clients keep track of.
pub fn parameter_status(wire: &mut Wire, name: &str, value: &str) {
    wire.put(b'S', |out| {
        text(out, name);
        text(out, value);
    });
}

/// A message without a body.
pub fn plain(wire: &mut Wire, kind: u8) {
    wire.put(kind, |_| {});
}

/// The server waits for a statement.
pub fn ready(wire: &mut Wire, transaction: Transaction) {
    let state = match transaction {
        Transaction::Idle => b'I',
        Transaction::Open => b'T',
        Transaction::Failed => b'E',
    };
    wire.put(b'Z', |out| out.put_u8(state));
}
