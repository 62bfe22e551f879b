//! Issues of a trace: counted, located and stored as rows of `ingest_issues`.

use std::collections::BTreeMap;

use crate::json::Oddities;

/// How serious an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing, but not an error (for example, times were rounded to the nanosecond).
    Info,
    /// Something was unusual, but the element was kept.
    Warning,
    /// An element, or some bytes of the input, could not be kept.
    Error,
}

impl Severity {
    /// Returns the text stored in `ingest_issues.severity`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! codes {
    ($($variant:ident $severity:ident $skips:literal $code:literal $meaning:literal;)*) => {
        /// The kinds of issues. Queries may rely on the text of each kind ([`Code::as_str`]).
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $meaning] $variant),* }
        impl Code {
            /// All codes, in the order in which `ingest_issues` lists them.
            pub const ALL: &[Code] = &[$(Code::$variant),*];
            /// Returns the text stored in `ingest_issues.code`.
            pub fn as_str(self) -> &'static str { match self { $(Code::$variant => $code),* } }
            /// Returns the severity of the issue.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity),* }
            }
            /// Whether each occurrence is an element that has no row in `events`.
            pub fn skips(self) -> bool { match self { $(Code::$variant => $skips),* } }
            /// Describes in one sentence what was found and how it was handled.
            pub fn meaning(self) -> &'static str { match self { $(Code::$variant => $meaning),* } }
        }
    };
}

codes! {
    MalformedEvent Error true "malformed_event"
        "The text of an element is not an object that can be read (often an unescaped quote in a \
         name); it was skipped and reading went on at the next element.";
    NotAnObject Error true "not_an_object"
        "An element of the event list is not an object; it was skipped.";
    NoPhase Error true "no_phase"
        "An element has no text `ph`, so it is not known what it is; it was skipped.";
    NoTimestamp Error true "no_timestamp"
        "An element has no usable `ts`, so it cannot be placed in time; it was skipped.";
    TimestampRange Error true "timestamp_out_of_range"
        "A `ts` does not fit 64-bit nanoseconds; the element was skipped.";
    TooDeep Error true "too_deep" "An element nests deeper than 512 levels; it was skipped.";
    EventTooLarge Error true "event_too_large" "An element is longer than 256 MiB; it was skipped.";
    TruncatedInput Error false "truncated_input"
        "The input ends early; every whole element before the cut was kept.";
    DamagedCompression Error false "damaged_compression"
        "The compressed input ends early or is corrupt; what could be unpacked was kept.";
    ChecksumMismatch Warning false "checksum_mismatch"
        "The checksum of the compressed input does not match its content.";
    TrailingData Warning false "trailing_data"
        "Bytes follow the end of the document or of the compressed stream; they were ignored.";
    EmptyTrace Warning false "empty_trace" "The event list is empty.";
    RepeatedEventList Warning false "repeated_event_list"
        "`traceEvents` occurs more than once; all lists were read.";
    MixedFormats Warning false "mixed_formats"
        "The file holds both `traceEvents` and MLLM blobs; the trace events were read, the blobs \
         kept as metadata.";
    TopLevelValue Warning false "top_level_value"
        "A top-level key has a value of an unexpected type or is not valid JSON; its text was \
         kept.";
    MissingComma Warning false "missing_comma" "A comma between two elements is missing.";
    ExtraComma Warning false "extra_comma" "There is more than one comma between two elements.";
    UnknownPhase Warning false "unknown_phase"
        "An element has a `ph` nobody knows; it was kept as a row.";
    NoName Warning false "no_name" "An event that should have a name has none; its name is NULL.";
    NameType Warning false "name_type" "A name is not text; its JSON text was taken as the name.";
    CategoryType Warning false "category_type"
        "A category is not text; it is NULL and the value is kept in `extra`.";
    ArgsType Warning false "args_type" "`args` is not an object; its JSON text was kept in `args`.";
    MissingDuration Warning false "missing_duration"
        "A complete event (`X`) has no usable `dur`; its duration is NULL.";
    NegativeDuration Warning false "negative_duration"
        "A duration is negative; it was kept, and counts as zero length for nesting.";
    EndOverflow Warning false "end_overflow"
        "`ts` + `dur`, or the time from a begin to its end, does not fit 64-bit nanoseconds; the \
         duration is NULL.";
    TimeRounded Info false "time_rounded"
        "A time has digits below the nanosecond; it was rounded to the nearest, ties to even.";
    TimeNotSet Warning false "time_not_set"
        "Work starts at 0 (or at minus `baseTimeNanoseconds`) and all other work is more than a \
         day away, so its time was not set; the row was kept, and counts neither for the start \
         nor for the end of the trace.";
    NoNamedStep Warning false "no_named_step"
        "`--steps-from` matches the name of no range; the trace keeps the steps that it marks.";
    InvalidUtf8 Warning false "invalid_utf8"
        "Text is not valid UTF-8; U+FFFD stands for each invalid part.";
    BadEscape Warning false "bad_escape"
        "A backslash in a text starts no JSON escape; it was taken as itself.";
    LoneSurrogate Warning false "lone_surrogate"
        "A \\u escape holds half of a surrogate pair; U+FFFD stands in its place.";
    ControlCharacter Warning false "control_character"
        "Text holds raw control characters, which JSON does not allow; they were kept.";
    NonJsonValue Warning false "non_json_value"
        "A value is not JSON (NaN, Infinity, N/A, 0x1f, 007, a bare word or nothing); `args` \
         keeps its text in quotes, typed columns are NULL.";
    DuplicateKey Warning false "duplicate_key"
        "A key occurs twice in one element; the last one counts.";
    StringCut Warning false "string_cut"
        "A name or category is longer than 1 MiB, the name or labels of a process or thread \
         longer than 16 KiB, or the path of a module longer than 4 KiB or 512 levels; it was cut \
         there.";
    ArgsCut Warning false "args_cut"
        "The args of an event are longer than 64 MiB; they were replaced by their size.";
    UnmatchedBegin Warning false "unmatched_begin"
        "A begin event (`B` or `b`) has no end; its duration is NULL and it encloses all that \
         follows on its track.";
    UnmatchedEnd Warning false "unmatched_end"
        "An end event (`E` or `e`) has no begin; its row was kept.";
    NameMismatch Warning false "begin_end_name_mismatch"
        "The name of an end event is not that of the begin event that it closes by stack order.";
    AsyncNoId Warning false "async_no_id" "An async event has no id and cannot be paired.";
    PartialOverlap Info false "partial_overlap"
        "An event overlaps an earlier one on its track without nesting; both were kept, \
         `overlaps` marks it.";
    DuplicateCorrelation Warning false "duplicate_correlation"
        "Several launches share a correlation; each device row takes the latest one that starts \
         before it.";
    UnlinkedDevice Info false "unlinked_device_activity"
        "A device activity has no launch in the trace (`kernels.link_reason` says why).";
    FlowHalf Info false "flow_half" "A flow element has no partner with its id.";
    FlowNoId Info false "flow_no_id" "A flow element has no id and cannot be paired.";
    FlowUnbound Info false "flow_unbound"
        "A flow element touches no event on its track at its time.";
    CounterValue Warning false "counter_value"
        "A counter value is not a number; its value is NULL.";
    MemoryValue Warning false "memory_value"
        "A memory event lacks a usable `Bytes` (a whole number below 2^53); its bytes are NULL.";
    MetadataValue Warning false "metadata_value"
        "A metadata element names a process or thread without a text; it was not applied.";
    IdValue Warning false "id_value"
        "A numeric argument is not a 64-bit integer; its typed column is NULL, `args` keeps it.";
    LaunchShape Warning false "launch_shape"
        "A grid or block is not a list of three numbers; what is missing is NULL.";
    BlobNoStart Error true "blob_no_start"
        "A blob has no start time (or 0, a free without an alloc); it was skipped.";
    BlobEnd Warning false "blob_end_before_start"
        "A blob ends before it starts; its duration is NULL.";
    BlobValue Warning false "blob_value"
        "A blob lacks a field or has one that cannot be used (another type, a negative size, \
         sizes beyond 64 bits in all); the column is NULL.";
    BlobRepeatedUuid Warning false "blob_repeated_uuid" "A memory blob's uuid occurs twice.";
    Comments Warning false "comments"
        "A perf.json holds comments, which JSON does not allow; they were read as blanks.";
    BlobInitTime Warning false "blob_init_time"
        "`init_time` is missing or later than the first start; times are relative to the earliest \
         start, or negative.";
    SnapshotAddress Error true "snapshot_address"
        "An entry of a memory snapshot has an address that is not a number, negative or beyond 64 \
         bits; it was skipped.";
    SnapshotValue Warning false "snapshot_value"
        "An entry of a memory snapshot has a value that cannot be used (another type, a negative \
         size, a time beyond 64 bits); the column is NULL.";
    SnapshotSegment Warning false "snapshot_segment"
        "A segment of a memory snapshot has no blocks, holds items that are not blocks, or its \
         blocks do not fill it exactly; they were kept as written.";
    UnknownAction Warning false "unknown_action"
        "An entry of a memory snapshot has no action or an unknown one; it was kept as a row.";
    MissingFree Warning false "missing_free"
        "An address was allocated again without a free in between; the earlier allocation counts \
         as freed there.";
    ColumnType Warning false "column_type"
        "A column of a database has a value of another type than the profiler writes; it is NULL \
         in its typed column.";
    UnreadTable Warning false "unread_table"
        "A table of a database is virtual, has no rowid, or has a definition that cannot be read; its \
         rows are not read.";
    SharedDevice Warning false "shared_device"
        "Two planes have the name of one device, or several processes of an export use the same \
         device number and no table states its GPU; their work counts as that of one device.";
    MissingReference Warning false "missing_reference"
        "A record refers to a name, thread, device or call that the input does not have; the value \
         is NULL.";
    BadRecord Error true "bad_record"
        "An element of a flight recorder dump, execution trace, memory timeline or file of stacks \
         does not have the form that its format prescribes; it was skipped.";
    RecordValue Warning false "record_value"
        "An element of a flight recorder dump, execution trace, memory timeline or file of stacks \
         has a value that cannot be used (another type, beyond 64 bits); the column is NULL.";
    LiveBytes Warning false "live_bytes"
        "On a device, the bytes live before the history, plus allocations, less frees, are not \
         the bytes of its active blocks; totals of the history may be wrong.";
    BadMessage Error true "bad_message"
        "The protobuf message of an element cannot be read (a length beyond its end, a varint of \
         more than 64 bits, a wrong wire type); the element was skipped.";
    UnreadMessage Warning false "unread_message"
        "A protobuf message that is not an element cannot be read, or is of no use (a name, a \
         track, a clock); it was left out.";
    UnknownField Info false "unknown_field"
        "Elements have protobuf fields that are not read; `detail` lists their numbers.";
    MissingEntry Warning false "missing_entry"
        "An element refers to a name or text by a number that the trace does not define; the \
         value is NULL or names the number.";
    AggregateEvent Info true "aggregate_event"
        "An XPlane event states a number of occurrences in place of a time; it was skipped.";
    KernelDetails Warning false "kernel_details"
        "The details of a kernel or copy hold a number that cannot be right (more than 1,024 \
         registers a thread, or beyond 64 bits); its column is NULL.";
    LostState Error true "lost_state"
        "A packet needs names and defaults of its sequence that were lost or never written; it \
         was skipped.";
    PacketsLost Warning false "packets_lost"
        "The recorder lost packets before this one; events are missing from the trace.";
    UnknownClock Error true "unknown_clock"
        "No clock snapshot relates the clock of a packet to the clock of the trace; the packet \
         was skipped.";
    ClockBack Warning false "clock_runs_back"
        "A clock of a clock snapshot runs backwards; times were converted with the snapshot \
         nearest before them.";
    SchedulerPacket Info true "scheduler_packet"
        "A packet holds events of the kernel (ftrace), which are not read; `detail` counts the \
         kinds.";
    AndroidPacket Info true "android_packet"
        "A packet holds data of Android, which is not read; `detail` counts the kinds.";
    OtherPacket Info true "other_packet"
        "A packet holds data of another source that is not read; `detail` counts the kinds.";
}

/// Maps the faults of text that was decoded or made compact to issue codes.
pub(crate) fn codes_of(odd: Oddities) -> impl Iterator<Item = Code> {
    [
        (odd.invalid_utf8, Code::InvalidUtf8),
        (odd.bad_escape, Code::BadEscape),
        (odd.lone_surrogate, Code::LoneSurrogate),
        (odd.control, Code::ControlCharacter),
        (odd.non_json, Code::NonJsonValue),
    ]
    .into_iter()
    .filter_map(|(met, code)| met.then_some(code))
}

/// The count of one kind of issue, which becomes a row of `ingest_issues`.
#[derive(Debug, Clone, Default)]
pub struct IssueCount {
    /// Number of occurrences.
    pub count: u64,
    /// The first element with the issue, as a position in the event list, if the issue concerns
    /// elements.
    pub first_event_id: Option<u64>,
    /// Byte offset of the first occurrence in the decompressed text.
    pub first_byte_offset: Option<u64>,
    /// The text at that offset, shortened.
    pub example: Option<String>,
    /// Additional figures, for example how many bytes were lost.
    pub detail: Option<String>,
}

/// Counted issues. The result of merging does not depend on the order: the earliest place in the
/// input is kept.
#[derive(Debug, Clone, Default)]
pub struct Issues {
    counts: BTreeMap<Code, IssueCount>,
}

const EXAMPLE_BYTES: usize = 160;

impl Issues {
    /// Counts one issue of an element.
    pub fn add(
        &mut self,
        code: Code,
        event_id: Option<u64>,
        byte_offset: Option<u64>,
        example: &[u8],
    ) {
        self.add_many(code, 1, event_id, byte_offset, example);
    }

    /// Counts several issues of one kind. The place is that of the first one.
    pub fn add_many(
        &mut self,
        code: Code,
        n: u64,
        event_id: Option<u64>,
        byte_offset: Option<u64>,
        example: &[u8],
    ) {
        let issue = self.counts.entry(code).or_default();
        let earlier = match (byte_offset, issue.first_byte_offset) {
            (Some(new), Some(old)) => new < old,
            (Some(_), None) => true,
            (None, _) => issue.count == 0,
        };
        issue.count += n;
        if earlier {
            issue.first_event_id = event_id;
            issue.first_byte_offset = byte_offset;
            issue.example = (!example.is_empty()).then(|| shorten(example));
        }
    }

    /// Sets the detail text of an issue.
    pub fn detail(&mut self, code: Code, detail: String) {
        self.counts.entry(code).or_default().detail = Some(detail);
    }

    /// Adds `base` to all event ids, so that they count from the start of the event list.
    pub fn rebase(&mut self, base: u64) {
        for issue in self.counts.values_mut() {
            issue.first_event_id = issue.first_event_id.map(|id| id + base);
        }
    }

    /// Removes all byte offsets, for inputs whose places are not offsets in their bytes.
    pub(crate) fn forget_offsets(&mut self) {
        self.counts.values_mut().for_each(|issue| issue.first_byte_offset = None);
    }

    /// Replaces each byte offset by the one that a function returns for it.
    pub(crate) fn move_places(
        &mut self,
        mut place: impl FnMut(u64) -> crate::error::Result<Option<u64>>,
    ) -> crate::error::Result<()> {
        for issue in self.counts.values_mut() {
            if let Some(at) = issue.first_byte_offset {
                issue.first_byte_offset = place(at)?;
            }
        }
        Ok(())
    }

    /// Adds the counts of another part of the same input.
    pub fn merge(&mut self, other: Issues) {
        for (code, new) in other.counts {
            let mine = self.counts.entry(code).or_default();
            let earlier = mine.count == 0
                || match (new.first_byte_offset, mine.first_byte_offset) {
                    (Some(new), Some(mine)) => new < mine,
                    (new, mine) => new.is_some() && mine.is_none(),
                };
            let count = mine.count + new.count;
            let detail = mine.detail.take().or_else(|| new.detail.clone());
            if earlier {
                *mine = new;
            }
            mine.count = count;
            mine.detail = detail;
        }
    }

    /// Iterates over all issues, in the order of their codes.
    pub fn iter(&self) -> impl Iterator<Item = (Code, &IssueCount)> {
        self.counts.iter().map(|(c, i)| (*c, i))
    }

    /// Returns how often an issue occurred.
    pub fn count(&self, code: Code) -> u64 {
        self.counts.get(&code).map_or(0, |i| i.count)
    }

    /// Returns the number of elements that have no row.
    pub fn skipped(&self) -> u64 {
        self.iter().filter(|(c, _)| c.skips()).map(|(_, i)| i.count).sum()
    }

    /// Whether any issue is worse than an info.
    pub fn has_warnings(&self) -> bool {
        self.counts.keys().any(|c| c.severity() > Severity::Info)
    }

    /// Formats every issue that is worse than an info as `count × code`.
    pub fn summary(&self) -> String {
        let parts: Vec<_> = self
            .iter()
            .filter(|(c, _)| c.severity() > Severity::Info)
            .map(|(c, i)| format!("{} × {}", i.count, c.as_str()))
            .collect();
        parts.join(", ")
    }
}

fn shorten(text: &[u8]) -> String {
    let cut = &text[..text.len().min(EXAMPLE_BYTES)];
    let mut s = String::from_utf8_lossy(cut).replace(|c: char| c.is_control(), " ");
    if cut.len() < text.len() {
        s.push('…');
    }
    s
}
