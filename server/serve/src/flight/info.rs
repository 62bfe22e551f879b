//! What the server can do (`GetSqlInfo`), and the types of columns (`GetXdbcTypeInfo`).

use std::time::Duration;

use arrow_flight::sql::metadata::{
    SqlInfoData, SqlInfoDataBuilder, XdbcTypeInfo, XdbcTypeInfoData, XdbcTypeInfoDataBuilder,
};
use arrow_flight::sql::{Nullable, Searchable, SqlInfo, XdbcDataType};
use tonic::Status;

use super::status;

/// `SqlSupportedTransaction`: none.
const NO_TRANSACTION: i32 = 0;
/// `SqlSupportedCaseSensitivity`: names without quotes are lower-cased, so case does not matter.
const CASE_INSENSITIVE: i32 = 1;
/// `SqlSupportedCaseSensitivity`: the name as it is written. The protocol has no value for it.
const CASE_UNKNOWN: i32 = 0;
/// `SqlNullOrdering`: NULL sorts above all values.
const NULLS_HIGH: i32 = 0;
/// The version of Arrow that the server is built with.
const ARROW_VERSION: &str = "59.3";

/// The answers of `GetSqlInfo`.
pub fn sql_info(timeout: Duration, max_statement_bytes: usize) -> Result<SqlInfoData, Status> {
    let milliseconds = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    let mut info = SqlInfoDataBuilder::new();
    info.append(SqlInfo::FlightSqlServerName, "tracesql");
    info.append(SqlInfo::FlightSqlServerVersion, env!("CARGO_PKG_VERSION"));
    info.append(SqlInfo::FlightSqlServerArrowVersion, ARROW_VERSION);
    info.append(SqlInfo::FlightSqlServerReadOnly, true);
    info.append(SqlInfo::FlightSqlServerSql, true);
    info.append(SqlInfo::FlightSqlServerSubstrait, false);
    info.append(SqlInfo::FlightSqlServerTransaction, NO_TRANSACTION);
    info.append(SqlInfo::FlightSqlServerCancel, true);
    info.append(SqlInfo::FlightSqlServerBulkIngestion, false);
    info.append(SqlInfo::FlightSqlServerIngestTransactionsSupported, false);
    info.append(SqlInfo::FlightSqlServerStatementTimeout, milliseconds);
    info.append(SqlInfo::FlightSqlServerTransactionTimeout, 0);
    info.append(SqlInfo::SqlDdlCatalog, false);
    info.append(SqlInfo::SqlDdlSchema, false);
    info.append(SqlInfo::SqlDdlTable, false);
    info.append(SqlInfo::SqlIdentifierCase, CASE_INSENSITIVE);
    info.append(SqlInfo::SqlIdentifierQuoteChar, "\"");
    info.append(SqlInfo::SqlQuotedIdentifierCase, CASE_UNKNOWN);
    info.append(SqlInfo::SqlAllTablesAreSelectable, true);
    info.append(SqlInfo::SqlNullOrdering, NULLS_HIGH);
    info.append(SqlInfo::SqlSearchStringEscape, "\\");
    info.append(SqlInfo::SqlExtraNameCharacters, "");
    info.append(SqlInfo::SqlSupportsColumnAliasing, true);
    info.append(SqlInfo::SqlNullPlusNullIsNull, true);
    info.append(SqlInfo::SqlSupportsTableCorrelationNames, true);
    info.append(SqlInfo::SqlSupportsDifferentTableCorrelationNames, false);
    info.append(SqlInfo::SqlSupportsExpressionsInOrderBy, true);
    info.append(SqlInfo::SqlSupportsOrderByUnrelated, true);
    info.append(SqlInfo::SqlSupportsLikeEscapeClause, true);
    info.append(SqlInfo::SqlSupportsNonNullableColumns, true);
    info.append(SqlInfo::SqlSupportsIntegrityEnhancementFacility, false);
    info.append(SqlInfo::SqlSchemaTerm, "schema");
    info.append(SqlInfo::SqlProcedureTerm, "function");
    info.append(SqlInfo::SqlCatalogTerm, "catalog");
    info.append(SqlInfo::SqlCatalogAtStart, true);
    info.append(SqlInfo::SqlSelectForUpdateSupported, false);
    info.append(SqlInfo::SqlStoredProceduresSupported, false);
    info.append(SqlInfo::SqlCorrelatedSubqueriesSupported, true);
    info.append(
        SqlInfo::SqlMaxStatementLength,
        i64::try_from(max_statement_bytes).unwrap_or(i64::MAX),
    );
    info.append(SqlInfo::SqlTransactionsSupported, false);
    info.append(SqlInfo::SqlDataDefinitionCausesTransactionCommit, false);
    info.append(SqlInfo::SqlDataDefinitionsInTransactionsIgnored, false);
    info.append(SqlInfo::SqlBatchUpdatesSupported, false);
    info.append(SqlInfo::SqlSavepointsSupported, false);
    info.append(SqlInfo::SqlNamedParametersSupported, true);
    info.append(SqlInfo::SqlLocatorsUpdateCopy, false);
    info.append(SqlInfo::SqlStoredFunctionsUsingCallSyntaxSupported, false);
    info.build().map_err(status::of_flight)
}

/// The types that columns of results have.
pub fn types() -> Result<XdbcTypeInfoData, Status> {
    let mut types = XdbcTypeInfoDataBuilder::new();
    let number = |name: &str, data_type, bits| XdbcTypeInfo {
        type_name: name.to_owned(),
        data_type,
        sql_data_type: data_type,
        column_size: Some(bits),
        nullable: Nullable::NullabilityNullable,
        searchable: Searchable::Basic,
        unsigned_attribute: Some(false),
        auto_increment: Some(false),
        local_type_name: Some(name.to_owned()),
        num_prec_radix: Some(2),
        ..XdbcTypeInfo::default()
    };
    let other = |name: &str, data_type, quotes: Option<&str>| XdbcTypeInfo {
        type_name: name.to_owned(),
        data_type,
        sql_data_type: data_type,
        literal_prefix: quotes.map(str::to_owned),
        literal_suffix: quotes.map(str::to_owned),
        nullable: Nullable::NullabilityNullable,
        case_sensitive: quotes.is_some(),
        searchable: Searchable::Full,
        local_type_name: Some(name.to_owned()),
        ..XdbcTypeInfo::default()
    };
    types.append(number("BIGINT", XdbcDataType::XdbcBigint, 64));
    types.append(number("INTEGER", XdbcDataType::XdbcInteger, 32));
    types.append(number("DOUBLE", XdbcDataType::XdbcDouble, 64));
    types.append(other("VARCHAR", XdbcDataType::XdbcVarchar, Some("'")));
    types.append(other("BOOLEAN", XdbcDataType::XdbcBit, None));
    types.append(other("BYTEA", XdbcDataType::XdbcVarbinary, Some("'")));
    types.append(other("TIMESTAMP", XdbcDataType::XdbcTimestamp, Some("'")));
    types.build().map_err(status::of_flight)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use arrow_flight::sql::SqlInfo;

    use super::{sql_info, types};

    #[test]
    fn clients_learn_that_the_server_is_read_only_and_can_cancel() {
        let info = sql_info(Duration::from_secs(60), 1_000).expect("info");
        let wanted = [SqlInfo::FlightSqlServerReadOnly, SqlInfo::FlightSqlServerCancel];
        let rows = info.record_batch(wanted.map(|name| name as u32)).expect("rows");
        assert_eq!(rows.num_rows(), 2);
        assert!(types().expect("types").record_batch(None).expect("rows").num_rows() >= 5);
    }
}
