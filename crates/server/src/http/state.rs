//! State that all requests share.

use super::access::Access;
use crate::server::Server;
use arc_swap::ArcSwap;
use paceline_wire::tls::ServerTls;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Phase of the server's life.
#[derive(Clone)]
pub(super) enum Phase {
    /// It opens its tables and reads its log.
    Starting,
    /// It accepts clients.
    Running(Arc<Server>),
    /// It is shutting down.
    Stopping,
}

/// State that all requests share.
pub(super) struct State {
    pub(super) phase: ArcSwap<Phase>,
    pub(super) access: Access,
    /// TLS until the server is running, and its `FLUSH SSL` counts; `None` where requests are plain.
    pub(super) tls: Option<ServerTls>,
    pub(super) connections: Arc<Semaphore>,
}
