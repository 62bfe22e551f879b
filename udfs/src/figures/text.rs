//! Reads shapes, types and values of arguments from the JSON text that profilers write.
//!
//! Only the forms that occur are read: lists of lists of whole numbers, and lists of texts. All
//! other texts give `None`.

use std::borrow::Cow;

/// The shape of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A tensor, or an argument that is not a tensor, which has no dimensions.
    One(Vec<i64>),
    /// The tensors of a list.
    List(Vec<Vec<i64>>),
    /// Something else.
    Odd,
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// The items of a list; `None` if the text is not a list of such items.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if !self.take(b'[') {
            return None;
        }
        if self.take(b']') {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(b']') {
                return Some(items);
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    fn number(&mut self) -> Option<i64> {
        self.peek()?;
        let start = self.at;
        while self.text.get(self.at).is_some_and(|b| b.is_ascii_digit() || *b == b'-') {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[start..self.at]).ok()?.parse().ok()
    }

    /// Skips a value of any form.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string_end()?;
                    if depth == 0 {
                        return Some(());
                    }
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth == 0 => return Some(()),
                b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Some(());
                    }
                }
                b',' if depth == 0 => return Some(()),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Moves past a string, and returns where its content ends.
    fn string_end(&mut self) -> Option<usize> {
        self.at += 1;
        loop {
            match self.text.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(self.at - 1);
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }
}

/// The shapes of all arguments.
pub fn shapes(text: &str) -> Option<Vec<Shape>> {
    let mut reader = Reader { text: text.as_bytes(), at: 0 };
    reader.list(|reader| {
        let start = reader.at;
        if let Some(sizes) = reader.list(Reader::number) {
            return Some(Shape::One(sizes));
        }
        reader.at = start;
        if let Some(list) = reader.list(|reader| reader.list(Reader::number)) {
            return Some(Shape::List(list));
        }
        reader.at = start;
        reader.skip()?;
        Some(Shape::Odd)
    })
}

/// The numbers of a list, such as `[2, 2]`.
pub fn numbers(text: &str) -> Option<Vec<i64>> {
    let mut reader = Reader { text: text.as_bytes(), at: 0 };
    let numbers = reader.list(Reader::number)?;
    reader.peek().is_none().then_some(numbers)
}

/// The texts of a list. Items of other forms become empty texts.
pub fn texts(text: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut reader = Reader { text: text.as_bytes(), at: 0 };
    reader.list(|reader| {
        if reader.peek()? != b'"' {
            reader.skip()?;
            return Some(Cow::Borrowed(""));
        }
        let start = reader.at + 1;
        let end = reader.string_end()?;
        let raw = text.get(start..end)?;
        Some(if raw.contains('\\') {
            Cow::Owned(raw.replace("\\\"", "\"").replace("\\\\", "\\"))
        } else {
            Cow::Borrowed(raw)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_tensors_and_of_lists_are_read() {
        let one = |sizes: &[i64]| Shape::One(sizes.to_vec());
        assert_eq!(shapes("[[2,3],[], [4]]"), Some(vec![one(&[2, 3]), one(&[]), one(&[4])]));
        assert_eq!(
            shapes("[[[2,3],[]],[7]]"),
            Some(vec![Shape::List(vec![vec![2, 3], vec![]]), one(&[7])])
        );
        assert_eq!(
            shapes(r#"[[2.5],7,"a]",[null],{"x":[1]},[-1]]"#),
            Some(vec![Shape::Odd, Shape::Odd, Shape::Odd, Shape::Odd, Shape::Odd, one(&[-1])])
        );
        for odd in ["", "x", "[[2,3", "[[2,3]", "\"[[2,3\"", "["] {
            assert_eq!(shapes(odd), None, "{odd}");
        }
    }

    #[test]
    fn values_and_types_are_texts() {
        assert_eq!(
            texts(r#"["", "[1, 2]", "a\"b", 7, null]"#),
            Some(vec!["".into(), "[1, 2]".into(), "a\"b".into(), "".into(), "".into()])
        );
        assert_eq!(texts("[\"a"), None);
        assert_eq!(numbers("[1, -2]"), Some(vec![1, -2]));
        assert_eq!(numbers("[1.5]"), None);
        assert_eq!(numbers("(1)"), None);
    }
}
