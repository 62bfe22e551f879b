//! Reads CSV according to RFC 4180: quoted fields may contain commas, line ends and doubled quotes.

/// A record and the number of its first line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub line: usize,
    pub fields: Vec<String>,
}

/// Returns the records of a text; empty lines are skipped. A quote that is never closed extends to
/// the end of the text.
pub(super) fn records(text: &str) -> Vec<Record> {
    let mut reader =
        Reader { chars: text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable(), line: 1 };
    let mut records = Vec::new();
    while reader.chars.peek().is_some() {
        let record = reader.record();
        if record.fields.len() > 1 || record.fields.first().is_some_and(|field| !field.is_empty()) {
            records.push(record);
        }
    }
    records
}

struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
}

impl Reader<'_> {
    fn record(&mut self) -> Record {
        let line = self.line;
        let mut fields = vec![String::new()];
        while let Some(c) = self.chars.next() {
            match c {
                ',' => fields.push(String::new()),
                '\n' => {
                    self.line += 1;
                    break;
                }
                '\r' if self.chars.peek() == Some(&'\n') => {}
                '"' if fields.last().is_some_and(String::is_empty) => {
                    let quoted = self.quoted();
                    fields.pop();
                    fields.push(quoted);
                }
                _ => {
                    if let Some(field) = fields.last_mut() {
                        field.push(c);
                    }
                }
            }
        }
        Record { line, fields }
    }

    fn quoted(&mut self) -> String {
        let mut field = String::new();
        while let Some(c) = self.chars.next() {
            match c {
                '"' if self.chars.peek() == Some(&'"') => {
                    self.chars.next();
                    field.push('"');
                }
                '"' => break,
                _ => {
                    self.line += usize::from(c == '\n');
                    field.push(c);
                }
            }
        }
        field
    }
}

#[cfg(test)]
mod tests {
    use super::records;

    #[test]
    fn records_have_fields_lines_and_quotes() {
        let text = "\u{feff}a,b\r\n\n\"x,\"\"y\"\"\nz\",\n,last";
        let found: Vec<(usize, Vec<String>)> =
            records(text).into_iter().map(|r| (r.line, r.fields)).collect();
        let expected: Vec<(usize, Vec<String>)> =
            [(1, ["a", "b"]), (3, ["x,\"y\"\nz", ""]), (5, ["", "last"])]
                .map(|(line, f)| (line, f.map(String::from).to_vec()))
                .to_vec();
        assert_eq!(found, expected);
        assert!(records("").is_empty());
    }
}
