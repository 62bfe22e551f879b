/// The errors of the program that formats of stacks can have.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Query(String),
    #[error("{0}")]
    Sql(#[from] datafusion::common::DataFusionError),
    #[error("cannot write {0}: {1}")]
    Output(String, std::io::Error),
}
