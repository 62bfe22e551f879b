//! Records of rocprofv3's JSON.

use crate::json::{self, Cursor};

/// The members of a record that have a meaning, as raw JSON.
#[derive(Default)]
pub struct Record<'r> {
    pub kind: Option<i64>,
    pub operation: Option<i64>,
    pub thread: Option<i64>,
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub correlation: Option<i64>,
    pub external: Option<i64>,
    pub stream: Option<i64>,
    pub agent: Option<i64>,
    pub queue: Option<i64>,
    pub to: Option<i64>,
    pub from: Option<i64>,
    pub bytes: Option<i64>,
    pub address: Option<i64>,
    pub kernel: Option<i64>,
    pub block: Option<[i64; 3]>,
    pub grid: Option<[i64; 3]>,
    pub shared: Option<i64>,
    pub private: Option<i64>,
    /// All other members.
    pub others: Vec<(&'r [u8], &'r [u8])>,
}

/// Returns the handle of an object such as `{"handle": 1}`, or the value if it is a number.
fn handle(raw: &[u8]) -> Option<i64> {
    if raw.first() != Some(&b'{') {
        let inner = json::unquote(raw);
        if let Some(hex) = inner.strip_prefix(b"0x") {
            return i64::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok();
        }
        return json::int(raw);
    }
    let mut found = None;
    let _ = Cursor::new(raw, 0).object(|key, value| {
        if matches!(key, b"handle" | b"value") {
            found = json::int(value);
        }
    });
    found
}

/// Returns the numbers of an object with `x`, `y` and `z`.
fn triple(raw: &[u8]) -> Option<[i64; 3]> {
    let mut found = [None; 3];
    let _ = Cursor::new(raw, 0).object(|key, value| {
        if let Some(at) = [b"x", b"y", b"z"].iter().position(|name| key == &name[..]) {
            found[at] = json::int(value);
        }
    });
    match found {
        [Some(x), Some(y), Some(z)] => Some([x, y, z]),
        _ => None,
    }
}

impl<'r> Record<'r> {
    /// Reads the members of a record.
    pub fn read(raw: &'r [u8]) -> Self {
        let mut record = Self::default();
        let _ = Cursor::new(raw, 0).object(|key, value| record.set(key, value));
        record
    }

    fn set(&mut self, key: &'r [u8], value: &'r [u8]) {
        let slot = match key {
            b"size" => return,
            b"kind" => &mut self.kind,
            b"operation" => &mut self.operation,
            b"thread_id" => &mut self.thread,
            b"start_timestamp" => &mut self.start,
            b"end_timestamp" => &mut self.end,
            b"stream_id" => &mut self.stream,
            b"agent_id" => &mut self.agent,
            b"queue_id" => &mut self.queue,
            b"dst_agent_id" => &mut self.to,
            b"src_agent_id" => &mut self.from,
            b"bytes" | b"allocation_size" => &mut self.bytes,
            b"address" | b"starting_address" => &mut self.address,
            b"kernel_id" => &mut self.kernel,
            b"group_segment_size" => &mut self.shared,
            b"private_segment_size" => &mut self.private,
            b"correlation_id" => {
                let _ = Cursor::new(value, 0).object(|key, value| match key {
                    b"internal" => self.correlation = json::int(value),
                    b"external" => self.external = handle(value),
                    _ => {}
                });
                return;
            }
            b"dispatch_info" => {
                let _ = Cursor::new(value, 0).object(|key, value| self.set(key, value));
                return;
            }
            b"workgroup_size" => return self.block = triple(value),
            b"grid_size" => return self.grid = triple(value),
            _ => return self.others.push((key, value)),
        };
        *slot = handle(value);
    }
}
