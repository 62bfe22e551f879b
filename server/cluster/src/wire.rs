//! What travels with a task: the queries, and the trace over which they run.

/// What all tasks of some queries have in common.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Payload {
    /// The version of the program that made the task.
    #[prost(string, tag = "1")]
    pub program_version: String,
    /// The version of the tables of a store that this program reads.
    #[prost(uint32, tag = "2")]
    pub schema_version: u32,
    /// A hash of all views and rules.
    #[prost(string, tag = "3")]
    pub library: String,
    /// The queries over each trace.
    #[prost(message, repeated, tag = "4")]
    pub queries: Vec<Query>,
    /// Settings that are not at their defaults.
    #[prost(message, repeated, tag = "5")]
    pub settings: Vec<Setting>,
    /// Files of the user's folders with views.
    #[prost(message, repeated, tag = "6")]
    pub sql: Vec<File>,
    /// Files of the user's folders with rules.
    #[prost(message, repeated, tag = "7")]
    pub rules: Vec<File>,
}

/// A query over one trace.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Query {
    /// The number under which its rows are returned.
    #[prost(uint32, tag = "1")]
    pub number: u32,
    /// The text of the query.
    #[prost(string, tag = "2")]
    pub sql: String,
}

/// A changed setting.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Setting {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A file of a folder.
#[derive(Clone, PartialEq, prost::Message)]
pub struct File {
    /// The position of the folder among the folders that the user named.
    #[prost(uint32, tag = "1")]
    pub folder: u32,
    /// The path inside the folder.
    #[prost(string, tag = "2")]
    pub path: String,
    /// Its content.
    #[prost(bytes = "vec", tag = "3")]
    pub content: Vec<u8>,
}

/// The trace of a task.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TraceTask {
    /// The manifest of the trace, as JSON.
    #[prost(string, tag = "1")]
    pub manifest: String,
    /// The folder of its files: a path, or a URL with a slash at its end.
    #[prost(string, tag = "2")]
    pub files: String,
    /// The URL of the store; empty for a folder.
    #[prost(string, tag = "3")]
    pub remote_store: String,
    /// Rows of relations that depend on other traces.
    #[prost(message, repeated, tag = "4")]
    pub relations: Vec<Relation>,
}

/// A relation whose rows are given.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Relation {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its rows, as an Arrow IPC stream.
    #[prost(bytes = "vec", tag = "2")]
    pub rows: Vec<u8>,
}
