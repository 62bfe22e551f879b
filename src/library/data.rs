//! Data tables: rows of CSV files, with the column types that the comments of the view declare.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::csv::ReaderBuilder;
use arrow::datatypes::{Field, Schema, SchemaRef};

use super::types::arrow_type;
use super::{Body, Problem, View};

/// The rows of a data table. All its files have a header line with the columns in order.
pub fn rows(view: &View) -> Result<(SchemaRef, Vec<RecordBatch>), Problem> {
    let Body::Data(files) = &view.body else {
        return Err(Problem {
            file: view.file.clone(),
            line: 1,
            message: format!("{} is not a data table", view.name),
        });
    };
    let mut fields = Vec::with_capacity(view.columns.len());
    for column in &view.columns {
        let Some(data_type) = arrow_type(&column.data_type) else {
            let message = format!(
                "column {}: a data table has BIGINT, DOUBLE, VARCHAR and BOOLEAN, not {}",
                column.name, column.data_type
            );
            return Err(Problem { file: view.file.clone(), line: 1, message });
        };
        fields.push(Field::new(&column.name, data_type, true));
    }
    let schema = Arc::new(Schema::new(fields));
    let mut batches = Vec::new();
    for csv in files {
        let problem =
            |line: usize, message: String| Problem { file: csv.file.clone(), line, message };
        let header: Vec<&str> =
            csv.text.lines().next().unwrap_or_default().split(',').map(str::trim).collect();
        if !header.iter().copied().eq(view.columns.iter().map(|c| c.name.as_str())) {
            let names: Vec<&str> = view.columns.iter().map(|c| c.name.as_str()).collect();
            return Err(problem(1, format!("the first line must be {}", names.join(","))));
        }
        let reader =
            ReaderBuilder::new(schema.clone()).with_header(true).build(csv.text.as_bytes());
        for batch in reader.map_err(|e| problem(1, e.to_string()))? {
            batches.push(batch.map_err(|e| problem(1, e.to_string()))?);
        }
    }
    Ok((schema, batches))
}
