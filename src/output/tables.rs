//! Formats results for people: boxed tables, Markdown, or one value per line.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use comfy_table::{CellAlignment, presets};

use super::{Out, Sink, TableStyle, column_widths};
use crate::error::{Error, Result};

/// The values of a batch as texts that are safe on a terminal, grouped by column.
fn cells(batch: &RecordBatch, null: &str) -> Result<Vec<Vec<String>>> {
    let options = FormatOptions::new().with_null(null);
    let mut rows = vec![Vec::with_capacity(batch.num_columns()); batch.num_rows()];
    for column in batch.columns() {
        let formatter = ArrayFormatter::try_new(column.as_ref(), &options)
            .map_err(|e| Error::Query(e.to_string()))?;
        for (i, row) in rows.iter_mut().enumerate() {
            row.push(safe(&formatter.value(i).to_string()));
        }
    }
    Ok(rows)
}

/// A text with escapes for control characters, which could move a terminal's cursor or colour its
/// text.
pub fn safe(text: &str) -> String {
    if !text.chars().any(is_unsafe) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_unsafe(c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// Whether a character is a control character or reorders text.
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn headers(schema: &SchemaRef) -> Vec<String> {
    schema.fields().iter().map(|f| safe(f.name())).collect()
}

fn numeric(schema: &SchemaRef) -> Vec<bool> {
    schema.fields().iter().map(|f| f.data_type().is_numeric()).collect()
}

/// A table with a box around its columns.
pub struct Table {
    out: Out,
    schema: SchemaRef,
    rows: Vec<Vec<String>>,
    style: TableStyle,
}

impl Table {
    pub fn new(out: Out, schema: SchemaRef, style: TableStyle) -> Self {
        Self { out, schema, rows: Vec::new(), style }
    }
}

impl Sink for Table {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows.append(&mut cells(batch, "NULL")?);
        Ok(())
    }

    fn end(mut self: Box<Self>, has_more: bool) -> Result<()> {
        let (mut header, numeric, count) =
            (headers(&self.schema), numeric(&self.schema), self.rows.len());
        let mut notes =
            if self.style.in_shell { vec![rows_note(count, has_more)] } else { Vec::new() };
        if let Some(width) = self.style.width {
            let hidden = column_widths::table(&mut header, &mut self.rows, &numeric, width);
            if hidden > 0 {
                let all = header.len() + hidden;
                let how = if self.style.in_shell {
                    "\\x shows all of them, \\fit off lets lines be longer"
                } else {
                    "--format vertical shows all of them"
                };
                notes.push(format!("{} of {all} columns; {how}", header.len()));
            }
        }
        let mut table = comfy_table::Table::new();
        table
            .load_preset(presets::UTF8_FULL_CONDENSED)
            .set_header(header)
            .add_rows(std::mem::take(&mut self.rows));
        for (column, numeric) in table.column_iter_mut().zip(numeric) {
            if numeric {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let text = table.to_string();
        self.out.put(&text)?;
        self.out.put("\n")?;
        if !notes.is_empty() {
            self.out.put(&format!("({})\n", notes.join("; ")))?;
        }
        self.out.flush()
    }
}

/// The number of rows in words.
fn rows_note(rows: usize, has_more: bool) -> String {
    match (rows, has_more) {
        (1, true) => "the first row; \\maxrows changes how many are shown".to_owned(),
        (_, true) => format!("the first {rows} rows; \\maxrows changes how many are shown"),
        (1, false) => "1 row".to_owned(),
        (_, false) => format!("{rows} rows"),
    }
}

/// Whether a result comes from EXPLAIN.
pub fn is_plan(schema: &SchemaRef) -> bool {
    schema.fields().len() == 2
        && schema.field(0).name() == "plan_type"
        && schema.field(1).name() == "plan"
}

/// Prints the plans of EXPLAIN line by line.
pub struct Plan {
    out: Out,
}

impl Plan {
    pub fn new(out: Out) -> Self {
        Self { out }
    }
}

impl Sink for Plan {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let options = FormatOptions::new();
        let texts = |column: usize| {
            ArrayFormatter::try_new(batch.column(column).as_ref(), &options)
                .map_err(|e| Error::Query(e.to_string()))
        };
        let (kinds, plans) = (texts(0)?, texts(1)?);
        for row in 0..batch.num_rows() {
            self.out.put(&format!("{}\n", safe(&kinds.value(row).to_string())))?;
            for line in plans.value(row).to_string().lines() {
                self.out.put(&format!("  {}\n", safe(line)))?;
            }
        }
        Ok(())
    }

    fn end(mut self: Box<Self>, _has_more: bool) -> Result<()> {
        self.out.flush()
    }
}

/// A Markdown table.
pub struct Markdown {
    out: Out,
}

impl Markdown {
    pub fn new(mut out: Out, schema: SchemaRef) -> Result<Self> {
        let rule: Vec<&str> =
            numeric(&schema).iter().map(|&n| if n { "---:" } else { "---" }).collect();
        let header: Vec<String> = headers(&schema).iter().map(|h| escape(h)).collect();
        out.put(&format!("| {} |\n| {} |\n", header.join(" | "), rule.join(" | ")))?;
        Ok(Self { out })
    }
}

/// Escapes characters that Markdown would treat as separators or markup.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;")
}

impl Sink for Markdown {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        for row in cells(batch, "")? {
            let row: Vec<String> = row.iter().map(|c| escape(c)).collect();
            self.out.put(&format!("| {} |\n", row.join(" | ")))?;
        }
        Ok(())
    }

    fn end(mut self: Box<Self>, _has_more: bool) -> Result<()> {
        self.out.flush()
    }
}

/// One value per line.
pub struct Vertical {
    out: Out,
    names: Vec<String>,
    rows: usize,
    style: TableStyle,
}

impl Vertical {
    pub fn new(out: Out, schema: SchemaRef, style: TableStyle) -> Self {
        let names = headers(&schema);
        let width = names.iter().map(|n| column_widths::width(n)).max().unwrap_or(0);
        let names = names
            .iter()
            .map(|n| format!("{}{n}", " ".repeat(width - column_widths::width(n))))
            .collect();
        Self { out, names, rows: 0, style }
    }
}

impl Sink for Vertical {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        for row in cells(batch, "NULL")? {
            self.rows += 1;
            self.out.put(&format!("─── row {} ───\n", self.rows))?;
            for (name, value) in self.names.iter().zip(row) {
                self.out.put(&format!("{name} │ {value}\n"))?;
            }
        }
        Ok(())
    }

    fn end(mut self: Box<Self>, has_more: bool) -> Result<()> {
        if self.style.in_shell {
            self.out.put(&format!("({})\n", rows_note(self.rows, has_more)))?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn terminals_get_no_control_characters() {
        assert_eq!(safe("\x1b[31mred\x07"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(safe("a\nb"), "a\\nb");
        assert_eq!(safe("naïve 🚀"), "naïve 🚀");
    }
}
