//! Keys that the layout of a snapshot uses. Each key has the number under which it is interned.

use super::values::Pool;

macro_rules! keys {
    ($($number:literal $name:ident $text:literal,)*) => {
        $(#[doc = concat!("The key `", $text, "`.")] pub const $name: u32 = $number;)*
        const TEXTS: &[&str] = &[$($text),*];
    };
}

keys! {
    0 ACTION "action",
    1 ADDR "addr",
    2 SIZE "size",
    3 STREAM "stream",
    4 TIME_US "time_us",
    5 FRAMES "frames",
    6 DEVICE_FREE "device_free",
    7 POOL_ID "pool_id",
    8 FILENAME "filename",
    9 NAME "name",
    10 LINE "line",
    11 STAGE "stage",
    12 DEVICE "device",
    13 STATE "state",
    14 ADDRESS "address",
    15 REQUESTED_SIZE "requested_size",
    16 HISTORY "history",
    17 REAL_SIZE "real_size",
    18 BLOCKS "blocks",
    19 TOTAL_SIZE "total_size",
    20 ALLOCATED_SIZE "allocated_size",
    21 ACTIVE_SIZE "active_size",
    22 SEGMENT_TYPE "segment_type",
    23 SEGMENT_POOL_ID "segment_pool_id",
    24 IS_EXPANDABLE "is_expandable",
    25 SEGMENTS "segments",
    26 DEVICE_TRACES "device_traces",
    27 EXTERNAL_ANNOTATIONS "external_annotations",
    28 HOST_SEGMENTS "host_segments",
    29 HOST_TRACES "host_traces",
    30 ENTRIES "entries",
    31 VERSION "version",
    32 PG_CONFIG "pg_config",
}

/// Returns a pool of texts that holds all keys under their numbers.
pub fn texts() -> Pool<u8> {
    let mut pool = Pool::default();
    for text in TEXTS {
        pool.intern(text.as_bytes());
    }
    pool
}

#[cfg(test)]
mod tests {
    #[test]
    fn keys_have_their_numbers() {
        let texts = super::texts();
        for (number, text) in super::TEXTS.iter().enumerate() {
            assert_eq!(texts.text(number as u32), *text);
        }
    }
}
