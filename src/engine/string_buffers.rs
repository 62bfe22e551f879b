//! Columns of texts without buffers that they do not need.
//!
//! - Why: an array of texts refers to buffers. Arrow's kernels hand on all buffers of their inputs,
//!   used or not, and the same buffer again for each input. After a few joins, a batch of 8,192
//!   names refers to thousands of buffers, and each kernel copies the list.
//! - Measured: six aggregates over `critical_path` of 1 million events take 3.2 instead of 9.3 CPU
//!   seconds (2 cores, medians of 3 runs), together with [`super::rules::constant_trace_id`] for
//!   table functions. It is done where the rows of views are handed on, and in large stores also
//!   after joins, sorts and windows ([`super::rules::text_buffers`]).
//! - Remove when Arrow's kernels leave out buffers that an array does not use.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ByteView, StringViewArray, StringViewBuilder};
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::datatypes::DataType;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

/// An array with fewer buffers stays as it is: to look at 8,192 texts takes as long as to hand on a
/// list of some hundred buffers several times.
const MIN_BUFFERS: usize = 256;

/// Longer texts lie in a buffer.
const MAX_INLINE_BYTES: u32 = 12;

/// The batch with each buffer of a column of texts once, and without those that no text lies in.
pub fn without_unused(batch: RecordBatch) -> Result<RecordBatch> {
    let is_large = |column: &ArrayRef| {
        *column.data_type() == DataType::Utf8View
            && column.as_string_view().data_buffers().len() >= MIN_BUFFERS
    };
    if !batch.columns().iter().any(is_large) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(|column| match is_large(column) {
        true => Arc::new(with_used(column.as_string_view())) as ArrayRef,
        false => column.clone(),
    });
    Ok(RecordBatch::try_new(batch.schema(), columns.collect())?)
}

/// The batch with new buffers that hold each long text of a column once, and nothing else. Rows that
/// wait for a while should not keep the buffers of others, and texts such as the list of a
/// collective's ranks are repeated in many rows.
pub fn with_each_text_once(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(|column| match column.as_string_view_opt() {
        Some(texts) if !texts.data_buffers().is_empty() => {
            let once = StringViewBuilder::with_capacity(texts.len());
            let mut once = once.with_deduplicate_strings();
            texts.iter().for_each(|text| once.append_option(text));
            Arc::new(once.finish()) as ArrayRef
        }
        _ => column.clone(),
    });
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns.collect(), &rows)?)
}

fn with_used(texts: &StringViewArray) -> StringViewArray {
    let buffers = texts.data_buffers();
    let mut used: Vec<Buffer> = Vec::new();
    let mut by_address: HashMap<(usize, usize), u32> = HashMap::new();
    let mut places: Vec<Option<u32>> = vec![None; buffers.len()];
    let mut place_of = |index: u32| {
        *places[index as usize].get_or_insert_with(|| {
            let buffer = &buffers[index as usize];
            let next = used.len() as u32;
            let known = (buffer.as_ptr() as usize, buffer.len());
            let place = *by_address.entry(known).or_insert(next);
            if place == next {
                used.push(buffer.clone());
            }
            place
        })
    };
    let views = texts.views().iter().enumerate().map(|(row, view)| {
        let view = ByteView::from(*view);
        match view.length > MAX_INLINE_BYTES {
            _ if texts.is_null(row) => 0,
            true => ByteView { buffer_index: place_of(view.buffer_index), ..view }.as_u128(),
            false => view.as_u128(),
        }
    });
    let views: ScalarBuffer<u128> = views.collect();
    // SAFETY: each view keeps its length, prefix and offset, and its buffer has a new place.
    // Checking all texts again takes longer than the buffers cost.
    unsafe { StringViewArray::new_unchecked(views, used, texts.nulls().cloned()) }
}

/// The rows of a stream, with each batch as [`without_unused`] returns it.
pub fn stream(rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let rows = rows.map(|batch| without_unused(batch?));
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, AsArray, StringViewArray};
    use arrow::compute::concat;
    use arrow::record_batch::RecordBatch;

    use super::{MIN_BUFFERS, without_unused};

    const LONG: &str = "a text that does not fit into a view";

    /// Texts whose array has the same buffer once for each slice.
    fn sliced(texts: &StringViewArray, slices: usize) -> RecordBatch {
        let slice = texts.slice(1, texts.len() - 1);
        let joined = concat(&vec![&slice as _; slices]).expect("one array");
        RecordBatch::try_from_iter([("texts", joined)]).expect("a batch")
    }

    #[test]
    fn texts_stay_and_each_buffer_is_kept_once() {
        let other = format!("{LONG}, which is another one");
        let texts = [Some(LONG), Some("short"), None, Some(&other), Some(""), Some(LONG)];
        let texts = StringViewArray::from_iter(texts);
        let before = sliced(&texts, MIN_BUFFERS);
        let after = without_unused(before.clone()).expect("a batch");
        assert_eq!(after, before);
        let buffers = |batch: &RecordBatch| batch.column(0).as_string_view().data_buffers().len();
        assert!(buffers(&before) >= MIN_BUFFERS);
        assert_eq!(buffers(&after), texts.data_buffers().len());
        after.column(0).to_data().validate_full().expect("valid views");
    }

    #[test]
    fn buffers_of_other_rows_are_left_out() {
        let owned: Vec<String> = (0..MIN_BUFFERS).map(|i| format!("{LONG} {i}")).collect();
        let each: Vec<StringViewArray> =
            owned.iter().map(|text| StringViewArray::from_iter([Some(text)])).collect();
        let each: Vec<_> = each.iter().map(|array| array as &dyn Array).collect();
        let all = concat(&each).expect("one array");
        let last = all.slice(MIN_BUFFERS - 1, 1);
        assert_eq!(last.as_string_view().data_buffers().len(), MIN_BUFFERS);
        let batch = RecordBatch::try_from_iter([("texts", Arc::clone(&last))]).expect("a batch");
        let after = without_unused(batch).expect("a batch");
        assert_eq!(after.column(0), &last);
        assert_eq!(after.column(0).as_string_view().data_buffers().len(), 1);
    }

    #[test]
    fn short_lists_stay_as_they_are() {
        let texts = StringViewArray::from_iter([Some(LONG), Some(LONG)]);
        let batch = sliced(&texts, MIN_BUFFERS - 1);
        let after = without_unused(batch.clone()).expect("a batch");
        let buffers = |batch: &RecordBatch| batch.column(0).as_string_view().data_buffers().len();
        assert_eq!(buffers(&after), buffers(&batch));
    }
}
