//! The pages of one column chunk, and the chunk's entry in the footer.

use bytes::Bytes;
use parquet::basic::{BoundaryOrder, Compression, Encoding, Type, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::table::Chunk;
use super::{GROUP_ROWS, PAGE_ROWS};
use crate::error::Result;

/// How much time is spent on compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// For small traces, where the time does not matter.
    Small,
    /// For large traces.
    Fast,
}

impl Effort {
    /// Returns the effort for an input of this size and number of elements. Binary formats need few
    /// bytes for an element.
    pub fn of(bytes: u64, elements: u64) -> Self {
        if bytes < 128 << 20 && elements < 400_000 { Self::Small } else { Self::Fast }
    }
}

/// Size in bytes up to which a page of a small trace has [`SHORT_PAGE_LEVEL`].
const SHORT_PAGE: usize = 16 << 10;
/// Zstandard level for short pages of small traces. Level 9 adds 1 to 8 % to the time of reading a
/// small trace, and saves less than 0.1 % of its bytes.
const SHORT_PAGE_LEVEL: i32 = 6;
/// Zstandard level for other pages of small traces. Level 7 takes up to 4 % more space, and level 9
/// saves 0.1 % of it.
const SMALL_LEVEL: i32 = 8;
/// Zstandard level for measuring which of two encodings is smaller.
const TRIAL_LEVEL: i32 = 1;

/// One possible encoding of the values of a chunk that has a single page.
pub struct Way<'a> {
    /// The encoded values without their levels.
    pub values: Vec<u8>,
    /// The dictionary page to which the values refer.
    pub dictionary: Option<&'a [u8]>,
    /// The encoding of the values.
    pub encoding: Encoding,
}

/// Compresses pages. One codec serves any number of columns, one after the other.
pub struct Codec {
    effort: Effort,
    zstd: Option<(i32, zstd::bulk::Compressor<'static>)>,
    /// The page under construction: levels, then values.
    pub body: Vec<u8>,
}

impl Codec {
    /// Creates a codec for the pages of a trace.
    pub fn new(effort: Effort) -> Self {
        Self { effort, zstd: None, body: Vec::new() }
    }

    /// Returns the effort of the codec.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Returns the number of rows after which a page ends.
    pub fn page_rows(&self) -> usize {
        if self.effort == Effort::Small { GROUP_ROWS } else { PAGE_ROWS }
    }

    /// Returns the smaller of two encodings of a chunk. The sizes include the dictionaries.
    pub fn smaller<'a>(&mut self, a: Way<'a>, b: Way<'a>) -> Result<Way<'a>> {
        let (size_a, size_b) = (self.size(&a)?, self.size(&b)?);
        Ok(if size_b < size_a { b } else { a })
    }

    fn size(&mut self, way: &Way<'_>) -> Result<usize> {
        let dictionary = way.dictionary.map_or(Ok(0), |raw| {
            self.compress_at(raw, TRIAL_LEVEL).map(|z| z.len().min(raw.len()) + 16)
        })?;
        Ok(dictionary + self.compress_at(&way.values, TRIAL_LEVEL)?.len().min(way.values.len()))
    }

    fn compress(&mut self, raw: &[u8], level: i32) -> Result<Vec<u8>> {
        let level = match self.effort {
            Effort::Small if raw.len() <= SHORT_PAGE => SHORT_PAGE_LEVEL,
            Effort::Small => SMALL_LEVEL,
            Effort::Fast => level,
        };
        self.compress_at(raw, level)
    }

    fn compress_at(&mut self, raw: &[u8], level: i32) -> Result<Vec<u8>> {
        let (old, zstd) = match &mut self.zstd {
            Some(zstd) => zstd,
            None => self
                .zstd
                .insert((level, zstd::bulk::Compressor::new(level).map_err(ParquetError::from)?)),
        };
        if *old != level {
            zstd.set_compression_level(level).map_err(ParquetError::from)?;
            *old = level;
        }
        Ok(zstd.compress(raw).map_err(ParquetError::from)?)
    }
}

/// The lowest and the highest of a set of integers.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub min: i64,
    pub max: i64,
}

impl Bounds {
    /// The bounds of an empty set of integers.
    pub const NONE: Self = Self { min: i64::MAX, max: i64::MIN };

    /// Extends the bounds to include an integer.
    #[inline(always)]
    pub fn add(&mut self, value: i64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Returns the bounds, or `None` if there are no integers.
    pub fn of_some(self) -> Option<Self> {
        (self.min <= self.max).then_some(self)
    }
}

/// A page that has not been compressed yet.
struct Raw {
    body: Vec<u8>,
    values: usize,
    encoding: Encoding,
}

/// The pages of a column chunk, which are added one after the other.
pub struct Pages {
    level: i32,
    bytes: TrackedWrite<Vec<u8>>,
    /// The first page, while it is small and the only one: compressing it may not save space.
    only: Option<Raw>,
    uncompressed: usize,
    rows: usize,
    encodings: Vec<Encoding>,
    offsets: OffsetIndexBuilder,
    /// Number of rows, number of NULLs and bounds of each page, if pages have bounds.
    bounds: Option<Vec<(usize, usize, Option<Bounds>)>>,
}

/// Maximum size, in bytes, of a chunk that stays uncompressed. Compressing it would save little, and
/// each reader of a compressed chunk sets up a decompressor, which takes longer than reading it.
const TINY_CHUNK: usize = 256;

/// Maximum size, in bytes, of a first page that stays uncompressed until it is known whether it is
/// the only page.
const SMALL_PAGE: usize = 4 << 10;

impl Pages {
    /// Creates an empty chunk. `level` is the Zstandard level for large traces; `bounds` determines
    /// whether pages have bounds.
    pub fn new(level: i32, bounds: bool) -> Self {
        Self {
            level,
            bytes: TrackedWrite::new(Vec::new()),
            only: None,
            uncompressed: 0,
            rows: 0,
            encodings: Vec::new(),
            offsets: OffsetIndexBuilder::new(),
            bounds: bounds.then(Vec::new),
        }
    }

    /// Adds a data page; `body` holds its levels and values.
    pub fn add(
        &mut self,
        codec: &mut Codec,
        body: &[u8],
        rows: usize,
        nulls: usize,
        encoding: Encoding,
        bounds: Option<Bounds>,
    ) -> Result<()> {
        if let Some(all) = &mut self.bounds {
            all.push((rows, nulls, bounds));
        }
        self.offsets.append_row_count(rows as i64);
        let first = self.rows == 0;
        self.rows += rows;
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
        if first && body.len() <= SMALL_PAGE {
            self.only = Some(Raw { body: body.to_vec(), values: rows, encoding });
            return Ok(());
        }
        self.flush_only(codec)?;
        let compressed = codec.compress(body, self.level)?;
        self.write(compressed, body.len(), rows, encoding)
    }

    fn flush_only(&mut self, codec: &mut Codec) -> Result<()> {
        let Some(raw) = self.only.take() else { return Ok(()) };
        let compressed = codec.compress(&raw.body, self.level)?;
        self.write(compressed, raw.body.len(), raw.values, raw.encoding)
    }

    fn write(
        &mut self,
        compressed: Vec<u8>,
        uncompressed: usize,
        values: usize,
        encoding: Encoding,
    ) -> Result<()> {
        let page = Page::DataPage {
            buf: compressed.into(),
            num_values: values as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let spec = SerializedPageWriter::new(&mut self.bytes)
            .write_page(CompressedPage::new(page, uncompressed))?;
        self.uncompressed += spec.uncompressed_size;
        self.offsets.append_offset_and_size(spec.offset as i64, spec.compressed_size as i32);
        Ok(())
    }

    /// Writes the only page of a chunk, compressed if that saves space. Returns the compression of
    /// the chunk and its dictionary page.
    fn finish_only(
        &mut self,
        codec: &mut Codec,
        only: Raw,
        dictionary: Option<&[u8]>,
    ) -> Result<(Compression, Option<Vec<u8>>)> {
        let size = only.body.len();
        let raw_size = size + dictionary.map_or(0, <[u8]>::len);
        if raw_size > TINY_CHUNK {
            let packed = codec.compress(&only.body, self.level)?;
            let dict = dictionary.map(|raw| codec.compress(raw, self.level)).transpose()?;
            if packed.len() + dict.as_ref().map_or(0, Vec::len) < raw_size {
                self.write(packed, size, only.values, only.encoding)?;
                return Ok((Compression::ZSTD(ZstdLevel::default()), dict));
            }
        }
        self.write(only.body, size, only.values, only.encoding)?;
        Ok((Compression::UNCOMPRESSED, dictionary.map(<[u8]>::to_vec)))
    }

    /// Returns the whole chunk: the dictionary if there is one (its bytes and its number of
    /// values), followed by the data pages.
    pub fn finish(
        mut self,
        codec: &mut Codec,
        column: &ColumnDescPtr,
        dictionary: Option<(&[u8], usize)>,
        statistics: Option<Statistics>,
    ) -> Result<Chunk> {
        let raw_dictionary = dictionary.map(|(raw, _)| raw);
        let (compression, dict) = match self.only.take() {
            Some(only) => self.finish_only(codec, only, raw_dictionary)?,
            None => {
                let dict = raw_dictionary.map(|raw| codec.compress(raw, self.level)).transpose()?;
                (Compression::ZSTD(ZstdLevel::default()), dict)
            }
        };
        let mut head = TrackedWrite::new(Vec::new());
        if let (Some(buf), Some((raw, values))) = (dict, dictionary) {
            let page = Page::DictionaryPage {
                buf: buf.into(),
                num_values: values as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let spec = SerializedPageWriter::new(&mut head)
                .write_page(CompressedPage::new(page, raw.len()))?;
            self.uncompressed += spec.uncompressed_size;
            self.encodings.push(Encoding::PLAIN);
        }
        if column.max_def_level() > 0 && !self.encodings.contains(&Encoding::RLE) {
            self.encodings.push(Encoding::RLE);
        }
        let (mut bytes, data) = (head.into_inner()?, self.bytes.into_inner()?);
        let dict_len = bytes.len();
        if dict_len == 0 {
            bytes = data;
        } else {
            bytes.extend_from_slice(&data);
        }
        let mut metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression(compression)
            .set_encodings(self.encodings)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(self.uncompressed as i64)
            .set_num_values(self.rows as i64)
            .set_data_page_offset(0);
        if let Some(statistics) = statistics {
            metadata = metadata.set_statistics(statistics);
        }
        // Only large traces have a page index; small traces are read as a whole.
        let large = codec.effort() == Effort::Fast;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: match self.bounds.filter(|_| large) {
                Some(bounds) => Some(column_index(&bounds)?),
                None => None,
            },
            offset_index: large.then(|| self.offsets.build()),
        };
        Ok(Chunk { bytes: Bytes::from(bytes), close: close.update_dictionary_location(dict_len)? })
    }
}

fn column_index(
    pages: &[(usize, usize, Option<Bounds>)],
) -> Result<parquet::file::page_index::column_index::ColumnIndexMetaData> {
    let mut index = ColumnIndexBuilder::new(Type::INT64);
    let bytes = |value: i64| value.to_le_bytes().to_vec();
    for &(rows, nulls, bounds) in pages {
        match bounds {
            Some(Bounds { min, max }) => index.append(false, bytes(min), bytes(max), nulls as i64),
            None => index.append(true, Vec::new(), Vec::new(), rows as i64),
        }
    }
    let known: Vec<Bounds> = pages.iter().filter_map(|p| p.2).collect();
    let pairs = || known.iter().zip(known.iter().skip(1));
    index.set_boundary_order(if pairs().all(|(a, b)| a.min <= b.min && a.max <= b.max) {
        BoundaryOrder::ASCENDING
    } else if pairs().all(|(a, b)| a.min >= b.min && a.max >= b.max) {
        BoundaryOrder::DESCENDING
    } else {
        BoundaryOrder::UNORDERED
    });
    Ok(index.build()?)
}
