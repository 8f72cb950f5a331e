//! Servers around this one: primaries that it follows, replicas and archives that read its log.
//!
//! A primary does not know what a replica has applied. It knows what it has sent, and that is what its page shows: the
//! lag of a reader is the part of the log that was not sent yet, in bytes, and the time since the last event that was.

use crate::registry::now_micros;
use crate::server::Server;
use paceline_binlog::log::LogFile;
use paceline_log_stream::primary::StreamStatus;
use paceline_replication::connection::ConnectionStatus;
use paceline_types::LogPosition;
use serde_json::{Value, json};

fn now_seconds() -> u64 {
    u64::try_from(now_micros() / 1_000_000).unwrap_or(0)
}

/// Returns the number of bytes of the log between two positions.
fn distance(files: &[LogFile], from: LogPosition, to: LogPosition) -> u64 {
    let between = files
        .iter()
        .filter(|file| (from.ordinal()..to.ordinal()).contains(&file.ordinal));
    let whole: u64 = between.map(|file| file.length).sum();
    (whole + to.offset()).saturating_sub(from.offset())
}

/// Returns the readers of the log that have registered or identified themselves: replicas and archives.
pub(super) fn readers(server: &Server) -> Vec<Value> {
    let transactions = &server.transactions;
    let streams = server.primary.replicas().streams();
    let end = transactions.sendable();
    let files = transactions.log().files();
    let reader = |stream: &StreamStatus| {
        let session = server.sessions.get(stream.connection);
        let host = stream
            .registration
            .as_ref()
            .map(|registration| registration.host.clone())
            .or_else(|| session.map(|session| session.activity().host))
            .unwrap_or_default();
        let is_behind = stream.sent < end;
        let lag_bytes = match is_behind {
            true => distance(&files, stream.sent, end),
            false => 0,
        };
        let lag_seconds = match (is_behind, stream.timestamp_seconds) {
            (false, _) => Some(0),
            (true, 0) => None,
            (true, sent_at) => Some(now_seconds().saturating_sub(u64::from(sent_at))),
        };
        let position = match is_behind {
            false => Ok(transactions.gtid_state()),
            true => tokio::task::block_in_place(|| transactions.gtid_state_at(stream.sent)),
        };
        json!({
            "kind": if stream.is_archive { "archive" } else { "replica" },
            "server_id": stream.server_id.0,
            "host": host,
            "port": stream.registration.as_ref().map_or(0, |registration| registration.port),
            "lag_bytes": lag_bytes,
            "lag_seconds": lag_seconds,
            "gtid_position": position.ok().map(|state| state.position().to_string()),
        })
    };
    // A tool that reads files has no server id.
    let servers = streams.iter().filter(|stream| stream.server_id.0 != 0);
    servers.map(reader).collect()
}

/// Returns a connection to a primary; `None` if it has none.
pub(super) fn connection(status: &ConnectionStatus) -> Option<Value> {
    if status.definition.host.is_empty() {
        return None;
    }
    Some(json!({
        "name": &*status.name,
        "host": status.definition.host.as_str(),
        "port": status.definition.port,
        "receiver": status.receiver.state.name(),
        "applier": status.applier_runs,
        "seconds_behind": status.seconds_behind(now_seconds()),
        "lag_bytes": status.applier.queued_bytes,
        "lag_transactions": status.applier.pending_transactions,
        "held_back_by": status.held_back_by(),
        "gtid_position": status.receiver.gtid_position.to_string(),
        "error": status.apply_error().map(|error| &error.text),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_is_counted_across_files() {
        let file = |ordinal, length| LogFile {
            name: format!("binlog.{ordinal:06}"),
            ordinal,
            length,
            modified: std::time::UNIX_EPOCH,
        };
        let files = [file(1, 1000), file(2, 500), file(3, 70)];
        let between = |from: (u32, u64), to: (u32, u64)| {
            distance(
                &files,
                LogPosition::new(from.0, from.1),
                LogPosition::new(to.0, to.1),
            )
        };
        assert_eq!(between((3, 10), (3, 70)), 60);
        assert_eq!(between((1, 900), (3, 70)), 100 + 500 + 70);
        assert_eq!(between((3, 70), (3, 70)), 0);
    }
}
