//! Reading a complete text here and there.

use super::content::Content;
use super::window::Window;
use crate::error::Result;

/// Reads a complete text here and there, mostly forwards.
pub struct Reader<'a> {
    content: &'a Content,
    len: u64,
    way: Way,
}

enum Way {
    Mapped(Mapped),
    Copied(Copied),
}

impl<'a> Reader<'a> {
    /// A reader of a text of `len` bytes.
    pub fn new(content: &'a Content, len: u64) -> Result<Self> {
        let way = if content.is_ours() {
            Way::Mapped(Mapped { window: content.bytes(0, len)?, touched: vec![false; (len / BLOCK) as usize + 1], blocks: 0 })
        } else {
            Way::Copied(Copied::default())
        };
        Ok(Self { content, len, way })
    }

    /// The text from `offset` on, `room` bytes at least unless it ends before; empty beyond its end.
    #[inline]
    pub fn from(&mut self, offset: u64, room: u32) -> Result<&[u8]> {
        match &mut self.way {
            Way::Mapped(mapped) => mapped.from(self.content, self.len, offset),
            Way::Copied(copied) => copied.from(self.content, offset, self.len.min(offset + u64::from(room)), self.len),
        }
    }
}

/// What was touched counts as memory of this process while it is mapped, up to a block for each place. So when many
/// blocks were touched the text is mapped anew.
struct Mapped {
    window: Window,
    touched: Vec<bool>,
    blocks: u32,
}

const BLOCK: u64 = 2 << 20;
const MOST_BLOCKS: u32 = 12;

impl Mapped {
    #[inline]
    fn from(&mut self, content: &Content, len: u64, offset: u64) -> Result<&[u8]> {
        if let Some(touched) = self.touched.get_mut((offset / BLOCK) as usize)
            && !*touched
        {
            *touched = true;
            self.blocks += 1;
            if self.blocks > MOST_BLOCKS {
                self.touched.fill(false);
                self.blocks = 0;
                self.window = content.bytes(0, len)?;
            }
        }
        Ok(self.window.get(offset as usize..).unwrap_or(&[]))
    }
}

/// The last part that was read. Where places follow each other closely, more is read ahead each time; where they lie far
/// apart, copying what is between them would cost more than asking for each.
#[derive(Default)]
struct Copied {
    bytes: Vec<u8>,
    start: u64,
    end: u64,
    ahead: u64,
}

const LEAST_AHEAD: u64 = 4 << 10;
const MOST_AHEAD: u64 = 256 << 10;

impl Copied {
    #[inline]
    fn from(&mut self, content: &Content, offset: u64, wanted_end: u64, len: u64) -> Result<&[u8]> {
        if offset < self.start || wanted_end > self.end {
            self.fill(content, offset, wanted_end, len)?;
        }
        Ok(self.bytes.get((offset - self.start) as usize..(self.end - self.start) as usize).unwrap_or(&[]))
    }

    #[cold]
    fn fill(&mut self, content: &Content, offset: u64, wanted_end: u64, len: u64) -> Result<()> {
        let follows = (self.start..=self.end + LEAST_AHEAD).contains(&offset);
        self.ahead = if follows { (self.ahead * 2).clamp(LEAST_AHEAD, MOST_AHEAD) } else { LEAST_AHEAD };
        let end = wanted_end.max(len.min(offset + self.ahead)).max(offset);
        let bytes = (end - offset) as usize;
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
        // Nothing is held if reading fails.
        (self.start, self.end) = (offset, offset);
        content.read_at(&mut self.bytes[..bytes], offset)?;
        self.end = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_places_are_read_as_they_are(places in prop::collection::vec((0u64..3_000_000, 1u32..20_000), 1..60), near in any::<bool>()) {
            let text: Vec<u8> = (0..1_500_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            file.write_all(&text).expect("written");
            let content = Content::of_file(file.reopen().expect("open"), file.path()).expect("content");
            let mut reader = Reader::new(&content, text.len() as u64).expect("a reader");
            let mut at = 0;
            for (place, room) in places {
                at = if near { at + place % 9_000 } else { place };
                let found = reader.from(at, room).expect("read");
                let rest = text.get(at as usize..).unwrap_or(&[]);
                prop_assert!(found.len() >= rest.len().min(room as usize));
                prop_assert_eq!(found, &rest[..found.len()]);
            }
        }
    }
}
