//! Reads the protobuf wire format: fields of messages in memory, and fields of messages in a
//! content that is mapped piece by piece.
//!
//! No message tree is built, and no length is believed before it is compared with the bytes that
//! are left. Any bytes lead to fields or to a [`Fault`] with its place, never to a panic.

mod fields;
mod stream;
mod unknown;

pub use fields::{Field, Fields, Value, text, varint};
pub use stream::{Part, Stream};
pub use unknown::{UnknownField, UnknownFields};

use crate::counted::counted;
use crate::error::IngestError;

/// The reason why a message cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bad {
    /// A value is longer than its message.
    Ends {
        /// Number of bytes that the value claims.
        wanted: u64,
        /// Number of bytes that are left.
        left: u64,
    },
    /// A varint has more than ten bytes or more than 64 bits.
    Varint,
    /// A wire type that does not exist or that no writer uses (groups).
    WireType(u8),
    /// A field has the number 0.
    Number,
    /// A known field has another wire type than its definition.
    Kind(u32),
    /// Messages are nested deeper than any trace needs.
    Deep,
    /// There are more messages than memory is for.
    TooMany,
}

impl std::fmt::Display for Bad {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ends { wanted, left } => {
                write!(f, "a value claims {}, {left} left", counted(*wanted, "byte"))
            }
            Self::Varint => write!(f, "a varint has more than 64 bits"),
            Self::WireType(n) => write!(f, "wire type {n} does not exist in traces"),
            Self::Number => write!(f, "a field has the number 0"),
            Self::Kind(n) => write!(f, "field {n} has another wire type than its definition"),
            Self::Deep => write!(f, "messages are nested too deep"),
            Self::TooMany => write!(
                f,
                "its messages need more memory than --memory-limit leaves for them; raise the limit"
            ),
        }
    }
}

/// A fault of the wire format and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The reason.
    pub bad: Bad,
    /// Offset of the faulty field: in the slice, or in the content for a [`Stream`].
    pub at: u64,
}

impl Fault {
    /// Moves the place of a fault in a slice to the place in the content.
    pub fn within(self, start: u64) -> Self {
        Self { at: self.at.saturating_add(start), ..self }
    }
}

/// A fault of the wire format, or another error that ends reading.
pub enum Failure {
    /// The bytes are not the wire format.
    Wire(Fault),
    /// The content cannot be read.
    Failed(Box<IngestError>),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Wire(fault)
    }
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl Failure {
    /// Converts the failure to an error about the input.
    pub fn of(self, name: &str, format: &str) -> IngestError {
        match self {
            Self::Wire(fault) => {
                let reason = format!("not a {format} that can be read: {}", fault.bad);
                IngestError::input_at(name, reason, fault.at)
            }
            Self::Failed(error) => *error,
        }
    }
}
