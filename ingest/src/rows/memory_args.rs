//! The args of an allocation or free that become columns.

use crate::json;

/// The args of an allocation or free.
#[derive(Default)]
pub struct MemoryArgs {
    pub bytes: Option<i64>,
    pub addr: Option<i64>,
    pub device_type: Option<i64>,
    pub device: Option<i64>,
    pub total_allocated: Option<i64>,
    pub total_reserved: Option<i64>,
    /// Whether it is a free, if the args state it.
    pub is_free: Option<bool>,
}

impl MemoryArgs {
    /// Adds a member of the args. For repeated keys, the last one is kept.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        let slot = match key {
            b"Bytes" => &mut self.bytes,
            b"Addr" => &mut self.addr,
            b"Device Type" => &mut self.device_type,
            b"Device Id" => &mut self.device,
            b"Total Allocated" => &mut self.total_allocated,
            b"Total Reserved" => &mut self.total_reserved,
            b"Action" => {
                self.is_free = match value {
                    b"\"free\"" => Some(true),
                    b"\"alloc\"" => Some(false),
                    _ => None,
                };
                return;
            }
            _ => return,
        };
        *slot = json::int(value);
    }
}
