//! The protocol of PostgreSQL.

use std::sync::Arc;

use tokio::net::TcpListener;
use tracesql::Result;

use crate::Server;

/// Serves clients of PostgreSQL until the server stops.
pub async fn serve(_server: Arc<Server>, _listener: TcpListener) -> Result<()> {
    Ok(())
}
