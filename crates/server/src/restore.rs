//! A data directory made from copies: tables at a position of a log, and that log, possibly cut. Recovery turns it into
//! one on which a server can start.
//!
//! Differences from a restart:
//! - DDL after the tables' position finds no prebuilt data, and builds it again.
//! - The log continues above every copied version: in a new file with the next ordinal.
//! - The connections defined by `CHANGE MASTER` are removed, so that a server on a restored copy does not continue
//!   beyond the point of the restore. Everything up to that point counts as replicated (`gtid_slave_pos`), whatever
//!   server wrote it: if the server then follows any server with the same history, it fetches what comes after. A copy
//!   that joins is connected at once ([`ReplicationSource`]), in the same record of the log.

use crate::accounts::InitialAccounts;
pub use crate::recovery::EventOrigins;
use crate::startup::version;
use paceline_binlog::log::{Log, LogConfig, OpenRequest, RealDisk};
use paceline_binlog::{
    ExecutedSetChange, GtidPosition, LogOrigin, PositionChange, RecordScope, ReplicaRecord,
};
use paceline_log_stream::source::definition::Definition;
use paceline_log_stream::source::password::PasswordKey;
use paceline_storage::{Storage, StorageConfig};
use paceline_txn::{ManagerParts, TransactionManager};
use paceline_types::{LogPosition, ServerId};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Interval of progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// Contents of the directory.
#[derive(Clone, Debug)]
pub struct CopiedDirectory {
    /// The data directory.
    pub directory: PathBuf,
    /// Base name of the log's files.
    pub log_bin: String,
    /// Server id in the events of the log itself.
    pub server_id: ServerId,
    /// Servers whose events remain enabled.
    pub events: EventOrigins,
    /// Position of the tables, as recorded by the copy.
    pub tables: LogPosition,
    /// Primary that the server follows after it starts.
    pub follows: ReplicationSource,
}

/// Primary that a copy follows.
#[derive(Clone, Debug)]
pub enum ReplicationSource {
    /// No primary: the server stays at its position.
    Nobody,
    /// This primary, from the copy's position on, by the default connection.
    Primary(Box<Definition>),
}

/// Result of a restore.
#[derive(Clone, Debug)]
pub struct RestoreReport {
    /// Position of the restored data: the last GTID of each domain.
    pub position: GtidPosition,
    /// Names of the removed connections to primaries.
    pub forgotten: Vec<String>,
}

/// Replays the log and closes everything. A server that starts on the directory has nothing to replay. `report`
/// receives the progress.
///
/// # Errors
/// A message.
pub fn recover_copy(
    copied: &CopiedDirectory,
    report: &mut (dyn FnMut(LogPosition) + Send),
) -> Result<RestoreReport, String> {
    let storage = Storage::open(&StorageConfig::new(copied.directory.join("tables")))
        .map_err(|error| format!("cannot open the tables: {error}"))?;
    let storage = Arc::new(storage);
    if storage.position() != copied.tables {
        return Err(format!(
            "the tables are at {}, and not at {} as they were when they were copied",
            storage.position(),
            copied.tables
        ));
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let config = LogConfig {
        server_version: version(),
        ..LogConfig::new(&copied.directory, &copied.log_bin, copied.server_id)
    };
    let request = OpenRequest {
        engine_position: storage.position(),
        ..OpenRequest::new(now as u32)
    };
    let (log, recovery) = Log::open(Arc::new(RealDisk), config, request)
        .map_err(|error| format!("cannot open the binary log: {error}"))?;
    with_progress(&storage, report, || {
        crate::recovery::recover(
            &storage,
            &log,
            recovery.start,
            &InitialAccounts::by_socket(),
            copied.events,
        )
    })?;
    let state = recovery.state.position();
    let transactions = TransactionManager::open(ManagerParts::new(log, recovery.state, storage));
    let replica = transactions.log().replica_state();
    let mut position = replica.position.clone();
    state.iter().for_each(|gtid| position.advance(gtid));
    let forgotten: Vec<Arc<str>> = replica.definitions.keys().cloned().collect();
    let mut definitions: Vec<_> = forgotten.iter().map(|name| (name.clone(), None)).collect();
    if let ReplicationSource::Primary(definition) = &copied.follows {
        let unnamed = Arc::from("");
        definitions.retain(|(name, _)| *name != unnamed);
        let key = PasswordKey::in_directory(&copied.directory);
        let record = definition
            .to_record(&key)
            .map_err(|error| format!("cannot seal the password of the replication account: {error}"))?;
        definitions.push((unnamed, Some(record.into())));
    }
    let record = ReplicaRecord {
        scope: RecordScope::Alone,
        gtids: PositionChange::Replace(position.clone()),
        sources: replica.sources.keys().map(|name| (name.clone(), None)).collect(),
        executed: (replica.executed.keys())
            .map(|name| (name.clone(), ExecutedSetChange::Forget))
            .collect(),
        definitions,
        log_origin: match copied.follows {
            ReplicationSource::Nobody => LogOrigin::Restored,
            ReplicationSource::Primary(_) => LogOrigin::Local,
        },
    };
    transactions
        .move_replica_position(&record)
        .and_then(|()| transactions.close())
        .map_err(|error| format!("cannot write the binary log: {error}"))?;
    Ok(RestoreReport {
        position,
        forgotten: forgotten.iter().map(ToString::to_string).collect(),
    })
}

/// Runs `work` and reports the tables' position meanwhile.
fn with_progress<T>(
    storage: &Storage,
    report: &mut (dyn FnMut(LogPosition) + Send),
    work: impl FnOnce() -> T,
) -> T {
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while is_done.recv_timeout(PROGRESS_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                report(storage.position());
            }
        });
        let result = work();
        drop(done);
        result
    })
}
