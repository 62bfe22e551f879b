//! Opcodes of Python's pickle format, protocols 0 to 5.

/// Marks the start of a run of items on the stack.
pub const MARK: u8 = b'(';
/// Ends the pickle; the top of the stack is its value.
pub const STOP: u8 = b'.';
/// Removes the top of the stack.
pub const POP: u8 = b'0';
/// Removes the top of the stack down to the last mark.
pub const POP_MARK: u8 = b'1';
/// Repeats the top of the stack.
pub const DUP: u8 = b'2';
/// An integer or truth value as a line of text.
pub const INT: u8 = b'I';
/// A long integer as a line of text.
pub const LONG: u8 = b'L';
/// A signed integer of 4 bytes.
pub const BININT: u8 = b'J';
/// An unsigned integer of 1 byte.
pub const BININT1: u8 = b'K';
/// An unsigned integer of 2 bytes.
pub const BININT2: u8 = b'M';
/// `None`.
pub const NONE: u8 = b'N';
/// A text with a length of 4 bytes.
pub const BINUNICODE: u8 = b'X';
/// A text with a length of 1 byte.
pub const SHORT_BINUNICODE: u8 = 0x8c;
/// A text with a length of 8 bytes.
pub const BINUNICODE8: u8 = 0x8d;
/// Bytes of Python 2 texts with a length of 4 bytes.
pub const BINSTRING: u8 = b'T';
/// Bytes of Python 2 texts with a length of 1 byte.
pub const SHORT_BINSTRING: u8 = b'U';
/// A double in big-endian order.
pub const BINFLOAT: u8 = b'G';
/// An empty list.
pub const EMPTY_LIST: u8 = b']';
/// An empty dict.
pub const EMPTY_DICT: u8 = b'}';
/// An empty tuple.
pub const EMPTY_TUPLE: u8 = b')';
/// Adds one item to a list.
pub const APPEND: u8 = b'a';
/// Adds the items after the last mark to a list.
pub const APPENDS: u8 = b'e';
/// Makes a list of the items after the last mark.
pub const LIST: u8 = b'l';
/// Makes a dict of the items after the last mark.
pub const DICT: u8 = b'd';
/// Sets one item of a dict.
pub const SETITEM: u8 = b's';
/// Sets the items after the last mark in a dict.
pub const SETITEMS: u8 = b'u';
/// Makes a tuple of the items after the last mark.
pub const TUPLE: u8 = b't';
/// Makes a tuple of one item.
pub const TUPLE1: u8 = 0x85;
/// Makes a tuple of two items.
pub const TUPLE2: u8 = 0x86;
/// Makes a tuple of three items.
pub const TUPLE3: u8 = 0x87;
/// `True`.
pub const NEWTRUE: u8 = 0x88;
/// `False`.
pub const NEWFALSE: u8 = 0x89;
/// An integer with a length of 1 byte.
pub const LONG1: u8 = 0x8a;
/// Fetches a value from the memo; the index has 1 byte.
pub const BINGET: u8 = b'h';
/// Fetches a value from the memo; the index has 4 bytes.
pub const LONG_BINGET: u8 = b'j';
/// Stores the top of the stack in the memo; the index has 1 byte.
pub const BINPUT: u8 = b'q';
/// Stores the top of the stack in the memo; the index has 4 bytes.
pub const LONG_BINPUT: u8 = b'r';
/// Stores the top of the stack in the memo at the next index.
pub const MEMOIZE: u8 = 0x94;
/// States the protocol.
pub const PROTO: u8 = 0x80;
/// Begins a frame; the length has 8 bytes.
pub const FRAME: u8 = 0x95;

/// Returns the name of an opcode that is refused.
pub fn refused_name(opcode: u8) -> &'static str {
    match opcode {
        b'c' => "GLOBAL",
        0x93 => "STACK_GLOBAL",
        b'R' => "REDUCE",
        b'b' => "BUILD",
        b'i' => "INST",
        b'o' => "OBJ",
        0x81 => "NEWOBJ",
        0x92 => "NEWOBJ_EX",
        b'P' => "PERSID",
        b'Q' => "BINPERSID",
        0x82 => "EXT1",
        0x83 => "EXT2",
        0x84 => "EXT4",
        0x96 => "BYTEARRAY8",
        0x97 => "NEXT_BUFFER",
        0x98 => "READONLY_BUFFER",
        0x8b => "LONG4",
        b'B' => "BINBYTES",
        b'C' => "SHORT_BINBYTES",
        0x8e => "BINBYTES8",
        0x8f => "EMPTY_SET",
        0x90 => "ADDITEMS",
        0x91 => "FROZENSET",
        b'F' => "FLOAT",
        b'S' => "STRING",
        b'V' => "UNICODE",
        b'g' => "GET",
        b'p' => "PUT",
        _ => "unknown",
    }
}
