//! The shape of messages. A message is read only if its parts fit into it, because the decoder
//! relies on that.

/// Whether the parts of a message of this kind fit into its body, and fill it.
pub fn fits(kind: u8, body: &[u8]) -> bool {
    let mut rest = Rest(body);
    let fits = match kind {
        b'Q' => rest.text(),
        b'P' => rest.text().and_then(|()| rest.text()).and_then(|()| rest.items(4)),
        b'B' => bind(&mut rest),
        b'D' | b'C' => rest.skip(1).and_then(|()| rest.text()),
        b'E' => rest.text().and_then(|()| rest.skip(4)),
        b'f' => rest.text(),
        b'S' | b'H' | b'X' | b'c' => Some(()),
        // The others are a stream of bytes, or are refused.
        _ => return true,
    };
    fits.is_some() && rest.0.is_empty()
}

fn bind(rest: &mut Rest<'_>) -> Option<()> {
    rest.text()?;
    rest.text()?;
    rest.items(2)?;
    for _ in 0..rest.number()? {
        let (length, after) = rest.0.split_first_chunk::<4>()?;
        rest.0 = after;
        // A negative length stands for NULL.
        if let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) {
            rest.skip(length)?;
        }
    }
    rest.items(2)
}

/// The part of a body that was not looked at.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    /// A text that ends with a zero.
    fn text(&mut self) -> Option<()> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        self.skip(end + 1)
    }

    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_first_chunk::<2>()?;
        self.0 = rest;
        Some(usize::from(u16::from_be_bytes(*number)))
    }

    /// A number, and so many items.
    fn items(&mut self, bytes_of_item: usize) -> Option<()> {
        let number = self.number()?;
        self.skip(number * bytes_of_item)
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn only_whole_messages_fit() {
        let whole: [(u8, &[u8]); 8] = [
            (b'Q', b"SELECT 1\0"),
            (b'P', b"\0SELECT $1\0\0\x01\0\0\0\x14"),
            (b'B', b"\0\0\0\x01\0\x01\0\x02\0\0\0\x03abc\xff\xff\xff\xff\0\0"),
            (b'D', b"Sname\0"),
            (b'C', b"P\0"),
            (b'E', b"\0\0\0\0\0"),
            (b'S', b""),
            (b'd', b"anything"),
        ];
        for (kind, body) in whole {
            assert!(fits(kind, body), "{kind} {body:?}");
            if kind != b'd' {
                assert!(!fits(kind, &[body, b"x"].concat()), "{kind} {body:?}");
            }
            for end in 0..body.len() {
                assert!(kind == b'd' || !fits(kind, &body[..end]), "{kind} {:?}", &body[..end]);
            }
        }
    }
}
