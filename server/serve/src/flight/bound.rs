//! Values that a client binds to parameters. They arrive as messages of Arrow IPC.
//!
//! The decoder of Arrow allocates what a message asks for, and panics if a length is wrong. So each
//! message is checked before it is decoded: what it declares must fit into the message and into the
//! limits of this file. What the decoder still cannot read ends the request and nothing else.

use arrow::array::RecordBatch;
use arrow::ipc::{self, MessageHeader};
use arrow_flight::FlightData;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use flatbuffers::VerifierOptions;
use futures::{FutureExt, Stream, TryStreamExt, stream};
use tonic::Status;

use super::status;

/// The maximum size of the values that are bound to a statement, in bytes.
pub const MAX_BYTES: usize = 64 << 20;
/// The maximum number of rows that can be bound to one execution of a statement.
pub const MAX_ROWS: usize = 1_000;
/// The maximum number of tables in a header. A column takes two or three.
const MAX_TABLES: usize = 300_000;

/// The batches with the values that a client sends.
pub async fn read(
    mut messages: impl Stream<Item = Result<FlightData, Status>> + Unpin,
) -> Result<Vec<RecordBatch>, Status> {
    let (mut declared, mut checked) = (Declared::default(), Vec::new());
    while let Some(message) = messages.try_next().await? {
        declared.add(&message)?;
        checked.push(message);
    }
    // Values are copied and validated, which takes a while, so a connection's thread is too good
    // for it. A panic ends only this task.
    let decoding = tokio::task::spawn_blocking(move || decoded(checked));
    decoding.await.unwrap_or_else(|_| Err(malformed("they do not fit their columns")))
}

/// What the messages of a stream declare, taken together.
#[derive(Default)]
struct Declared {
    rows: usize,
    bytes: usize,
}

impl Declared {
    /// Adds a message. Fails if it does not hold what it declares, or if the stream has too much.
    fn add(&mut self, message: &FlightData) -> Result<(), Status> {
        // A text can be referred to many times, so the header is measured with all references.
        let options = VerifierOptions {
            max_tables: MAX_TABLES,
            max_apparent_size: MAX_BYTES,
            ..VerifierOptions::default()
        };
        let root = ipc::root_as_message_with_opts(&options, &message.data_header)
            .map_err(|e| malformed(&e.to_string()))?;
        self.count(message.data_header.len())?;
        let batch = match root.header_type() {
            MessageHeader::RecordBatch => root.header_as_record_batch(),
            MessageHeader::DictionaryBatch => {
                let dictionary = root.header_as_dictionary_batch();
                if dictionary.is_some_and(|dictionary| dictionary.isDelta()) {
                    return Err(Status::invalid_argument(
                        "a dictionary of the bound values is sent in parts, which this server \
                         does not read; send it whole",
                    ));
                }
                dictionary.and_then(|dictionary| dictionary.data())
            }
            _ => return Ok(()),
        };
        let batch = batch.ok_or_else(|| malformed("a message without a batch"))?;
        if root.header_type() == MessageHeader::RecordBatch {
            self.add_rows(batch.length())?;
        }
        self.add_buffers(batch, message.data_body.len())
    }

    fn add_rows(&mut self, rows: i64) -> Result<(), Status> {
        let rows = usize::try_from(rows).map_err(|_| malformed("a negative number of rows"))?;
        self.rows = self.rows.saturating_add(rows);
        check_rows(self.rows)
    }

    fn add_buffers(&mut self, batch: ipc::RecordBatch<'_>, body: usize) -> Result<(), Status> {
        if batch.compression().is_some() {
            return Err(Status::invalid_argument(
                "the bound values are compressed, which this server does not read; send them \
                 without compression",
            ));
        }
        for buffer in batch.buffers().into_iter().flatten() {
            let place = usize::try_from(buffer.offset()).ok();
            let length = usize::try_from(buffer.length()).ok();
            let end = place.zip(length).and_then(|(place, length)| place.checked_add(length));
            match (length, end) {
                (Some(length), Some(end)) if end <= body => self.count(length)?,
                _ => return Err(malformed("a column outside of its message")),
            }
        }
        Ok(())
    }

    /// Buffers may overlap, so each counts in full.
    fn count(&mut self, bytes: usize) -> Result<(), Status> {
        self.bytes = self.bytes.saturating_add(bytes);
        check_bytes(self.bytes)
    }
}

/// Fails if these are too many rows.
pub fn check_rows(rows: usize) -> Result<(), Status> {
    if rows <= MAX_ROWS {
        return Ok(());
    }
    Err(Status::invalid_argument(format!(
        "{rows} rows of parameters were bound, and at most {MAX_ROWS} are allowed; run the \
         statement several times"
    )))
}

/// Fails if these are too many bytes.
pub fn check_bytes(bytes: usize) -> Result<(), Status> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(Status::resource_exhausted(format!(
        "more than {} MiB of values were bound; run the statement several times",
        MAX_BYTES >> 20
    )))
}

fn decoded(messages: Vec<FlightData>) -> Result<Vec<RecordBatch>, Status> {
    let messages = stream::iter(messages.into_iter().map(Ok));
    let batches = FlightRecordBatchStream::new_from_flight_data(messages).try_collect();
    // All messages are here, so nothing has to be waited for.
    match batches.now_or_never() {
        Some(Ok(batches)) => Ok(batches),
        Some(Err(FlightError::Tonic(status))) => Err(*status),
        Some(Err(error)) => Err(malformed(&error.to_string())),
        None => Err(Status::internal("the bound values were not decoded")),
    }
}

fn malformed(what: &str) -> Status {
    Status::invalid_argument(status::short(&format!("the bound values are malformed: {what}")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, NullArray, RecordBatch, StringArray};
    use arrow::ipc::CompressionType;
    use arrow::ipc::writer::IpcWriteOptions;
    use arrow_flight::FlightData;
    use arrow_flight::encode::FlightDataEncoderBuilder;
    use futures::{TryStreamExt, stream};
    use tonic::{Code, Status};

    use super::{MAX_BYTES, MAX_ROWS, read};

    fn batch(rows: usize) -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1; rows]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["text"; rows]));
        RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).expect("a batch")
    }

    async fn messages(batches: Vec<RecordBatch>, options: IpcWriteOptions) -> Vec<FlightData> {
        let batches = stream::iter(batches.into_iter().map(Ok));
        let encoder = FlightDataEncoderBuilder::new().with_options(options).build(batches);
        encoder.try_collect().await.expect("messages")
    }

    async fn sent(messages: Vec<FlightData>) -> Result<Vec<RecordBatch>, Status> {
        read(stream::iter(messages.into_iter().map(Ok))).await
    }

    async fn code(messages: Vec<FlightData>) -> Code {
        sent(messages).await.expect_err("refused").code()
    }

    #[tokio::test]
    async fn values_arrive_as_they_were_sent() {
        let sent_batches = vec![batch(3), batch(2)];
        let messages = messages(sent_batches.clone(), IpcWriteOptions::default()).await;
        assert_eq!(sent(messages).await.expect("values"), sent_batches);
    }

    #[tokio::test]
    async fn compressed_values_are_refused_before_they_are_unpacked() {
        for kind in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let options = IpcWriteOptions::default().try_with_compression(Some(kind));
            let messages = messages(vec![batch(1_000)], options.expect("known")).await;
            let refused = sent(messages).await.expect_err("refused");
            assert!(refused.message().contains("compressed"), "{}", refused.message());
        }
    }

    #[tokio::test]
    async fn rows_are_counted_before_they_are_decoded() {
        let rows = MAX_ROWS / 2 + 1;
        assert_eq!(
            code(messages(vec![batch(rows), batch(rows)], IpcWriteOptions::default()).await).await,
            Code::InvalidArgument
        );
        // These rows take no bytes at all.
        let nothing: ArrayRef = Arc::new(NullArray::new(usize::MAX / 2));
        let huge = RecordBatch::try_from_iter([("nothing", nothing)]).expect("a batch");
        let refused = messages(vec![huge.clone(), huge], IpcWriteOptions::default()).await;
        assert_eq!(code(refused).await, Code::InvalidArgument);
    }

    #[tokio::test]
    async fn columns_that_share_bytes_count_in_full() {
        let text = "x".repeat(MAX_BYTES / 8);
        let texts: ArrayRef = Arc::new(StringArray::from(vec![text]));
        let columns = (0..9).map(|at| (format!("c{at}"), texts.clone()));
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let messages = messages(vec![batch], IpcWriteOptions::default()).await;
        assert_eq!(code(messages).await, Code::ResourceExhausted);
    }

    #[tokio::test]
    async fn a_message_that_is_cut_short_is_refused() {
        let mut messages = messages(vec![batch(100)], IpcWriteOptions::default()).await;
        let body = messages[1].data_body.clone();
        messages[1].data_body = body.slice(..body.len() / 2);
        assert_eq!(code(messages.clone()).await, Code::InvalidArgument);
        messages.swap(0, 1);
        assert_eq!(code(messages).await, Code::InvalidArgument);
        assert_eq!(code(vec![FlightData::new()]).await, Code::InvalidArgument);
    }
}
