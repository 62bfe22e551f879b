//! Arrow Flight SQL.

use std::sync::Arc;

use tokio::net::TcpListener;
use tracesql::{Error, Result};

use crate::Server;

/// Serves clients of Flight SQL until the server stops.
pub async fn serve(_server: Arc<Server>, _listener: TcpListener) -> Result<()> {
    Err(Error::Usage("this program has no Flight SQL server".into()))
}
