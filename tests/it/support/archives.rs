//! Writes archives without compression, so that tests can damage a specific byte. Real compression
//! is tested with the fixtures and with `tests/data`.

/// A gzip member of stored blocks.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut blocks = bytes.chunks(0xffff).peekable();
    if blocks.peek().is_none() {
        out.extend([1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        let len = block.len() as u16;
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(len.to_le_bytes());
        out.extend((!len).to_le_bytes());
        out.extend(block);
    }
    out.extend(crc32(bytes).to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

/// A part of a Zstandard frame: a text, or a byte that is repeated for some MiB.
pub enum Part<'a> {
    Text(&'a [u8]),
    Repeat(u8, usize),
}

/// A Zstandard frame of raw and run-length blocks. 1 MiB of repetition takes 32 bytes.
pub fn zstd(parts: &[Part<'_>]) -> Vec<u8> {
    const BLOCK: usize = 128 << 10;
    // The header declares a window of 1 MiB, no checksum and no size.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 10 << 3];
    let mut block = |kind: u32, size: usize, body: &[u8]| {
        let header = (size as u32) << 3 | kind << 1;
        out.extend(&header.to_le_bytes()[..3]);
        out.extend(body);
    };
    for part in parts {
        match part {
            Part::Text(text) => text.chunks(BLOCK).for_each(|b| block(0, b.len(), b)),
            Part::Repeat(byte, mebibytes) => {
                (0..mebibytes * 8).for_each(|_| block(1, BLOCK, &[*byte]))
            }
        }
    }
    out.extend([1, 0, 0]);
    out
}

/// A zip archive of stored members.
pub fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let mut facts = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        for value in [crc32(bytes), bytes.len() as u32, bytes.len() as u32] {
            facts.extend(value.to_le_bytes());
        }
        facts.extend((name.len() as u16).to_le_bytes());
        facts.extend([0, 0]);
        let at = out.len() as u32;
        out.extend(b"PK\x03\x04");
        out.extend(&facts);
        out.extend(name.bytes());
        out.extend(*bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&facts);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.bytes());
    }
    let (start, n) = (out.len() as u32, members.len() as u16);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(n.to_le_bytes());
    out.extend(n.to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// A tar archive.
pub fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in members {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
        header[136..148].copy_from_slice(b"00000000000\0");
        header[148..156].fill(b' ');
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|&b| u32::from(b)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend(header);
        out.extend(*bytes);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &b| {
        (0..8).fold(
            crc ^ u32::from(b),
            |c, _| if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 },
        )
    })
}
