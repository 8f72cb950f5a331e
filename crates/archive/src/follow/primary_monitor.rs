//! Checks regularly whether the followed server is still the primary.

use super::candidates::{definition, replica_options};
use crate::context::ArchiveContext;
use crate::options::{Address, Candidates};
use paceline_log_stream::source::{Source, Writable};
use std::time::Duration;

/// Interval of the checks.
const EVERY: Duration = Duration::from_secs(5);

/// Waits until `followed` does not accept writes and another candidate does. Never returns if there is only one
/// candidate.
pub async fn wait_until_replaced(context: &ArchiveContext, candidates: &Candidates, followed: &Address) {
    if candidates.0.len() < 2 {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(EVERY).await;
        if is_writable(context, followed).await != Some(Writable::No) {
            continue;
        }
        for other in candidates.0.iter().filter(|other| *other != followed) {
            if is_writable(context, other).await == Some(Writable::Yes) {
                return;
            }
        }
    }
}

/// Returns `None` for a server that does not answer: the stream itself will detect that.
async fn is_writable(context: &ArchiveContext, address: &Address) -> Option<Writable> {
    let options = replica_options(context);
    let connected = Source::connect(&definition(context, address, None), &options).await;
    connected.ok()?.writable().await.ok()
}
