//! A session of the engine as `sqllogictest` runs it.

use arrow::util::display::{ArrayFormatter, FormatOptions};
use async_trait::async_trait;
use futures::TryStreamExt;
use sqllogictest::{AsyncDB, ColumnType, DBOutput};
use tracesql::engine::Engine;

/// A session with the interface that the runner requires.
pub struct Session(pub Engine);

#[async_trait]
impl AsyncDB for Session {
    type Error = tracesql::Error;
    type ColumnType = Letter;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<Letter>, tracesql::Error> {
        // A setting for the rest of the file, in the syntax of the shell.
        if let Some((name, value)) =
            sql.strip_prefix("\\set ").and_then(|rest| rest.split_once(' '))
        {
            let done = self.0.settings().set(name, value.trim());
            return if done {
                Ok(DBOutput::StatementComplete(0))
            } else {
                Err(tracesql::Error::Usage(format!("{name} is no setting")))
            };
        }
        let mut output = DBOutput::StatementComplete(0);
        for statement in self.0.parse(sql)? {
            let stream = self.0.run(statement, &[]).await?;
            let schema = stream.schema();
            let batches: Vec<_> = stream.try_collect().await?;
            if schema.fields().is_empty() {
                continue;
            }
            let options = FormatOptions::new().with_null("NULL");
            let mut rows = Vec::new();
            for batch in &batches {
                let columns: Result<Vec<_>, _> = batch
                    .columns()
                    .iter()
                    .map(|c| ArrayFormatter::try_new(c.as_ref(), &options))
                    .collect();
                let columns = columns.map_err(|e| tracesql::Error::Query(e.to_string()))?;
                rows.extend(
                    (0..batch.num_rows())
                        .map(|i| columns.iter().map(|c| cell(c.value(i).to_string())).collect()),
                );
            }
            let types = schema.fields().iter().map(|f| kind(f.data_type())).collect();
            output = DBOutput::Rows { types, rows };
        }
        Ok(output)
    }

    async fn shutdown(&mut self) {}
}

fn cell(value: String) -> String {
    if value.is_empty() { "(empty)".to_owned() } else { value.replace(['\n', '\t'], " ") }
}

/// The types in the notation of the files: I for integer, R for number, B for boolean, T for
/// anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter(char);

impl ColumnType for Letter {
    fn from_char(value: char) -> Option<Self> {
        Some(Self(value))
    }

    fn to_char(&self) -> char {
        self.0
    }
}

fn kind(data_type: &arrow::datatypes::DataType) -> Letter {
    use arrow::datatypes::DataType;
    Letter(match data_type {
        t if t.is_integer() => 'I',
        t if t.is_floating() => 'R',
        DataType::Boolean => 'B',
        _ => 'T',
    })
}
