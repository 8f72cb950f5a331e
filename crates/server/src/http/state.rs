//! State that all requests share.

use super::kill::RequestLimit;
use crate::server::Server;
use arc_swap::ArcSwap;
use std::sync::Arc;

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

/// The server's paths.
pub(super) struct ServerSite {
    pub(super) phase: ArcSwap<Phase>,
    /// Requests to kill.
    pub(super) kills: RequestLimit,
}
