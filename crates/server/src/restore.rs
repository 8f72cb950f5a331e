//! A data directory made of copies: tables as they were at some place of a log, and that log, perhaps cut. Recovery makes it one that a
//! server starts on.
//!
//! What is different from a restart:
//! - DDL behind the tables' place finds nothing that was built for it, and builds it again.
//! - The log goes on above every version that was copied: in a new file with the next ordinal.
//! - What `CHANGE MASTER` has said there is forgotten: a server that is started on a restored copy does not run past the point that it was
//!   restored to. Everything up to that point counts as replicated (`gtid_slave_pos`), whoever wrote it: told to follow any server of the same
//!   history, it fetches what comes behind. A copy that joins is told so at once ([`Follows`]), in the same record of the log.

use crate::startup::version;
use paceline_binlog::log::{Log, LogConfig, OpenRequest, RealDisk};
use paceline_binlog::{ExecutedMove, GtidMove, GtidPosition, History, RecordScope, ReplicaRecord};
use paceline_replication::replica::definition::Definition;
use paceline_storage::{Storage, StorageConfig};
use paceline_txn::{ManagerParts, TransactionManager};
use paceline_types::{LogPosition, ServerId};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often it is told how far recovery is.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// What lies in the directory.
#[derive(Clone, Debug)]
pub struct Copied {
    /// The data directory.
    pub directory: PathBuf,
    /// What the names of the log's files begin with.
    pub log_bin: String,
    /// Whose id stands in the events that belong to the log itself.
    pub server_id: ServerId,
    /// What the tables hold, as who copied them knows.
    pub tables: LogPosition,
    /// Whom the server follows that is started on it.
    pub follows: Follows,
}

/// Whom a copy follows.
#[derive(Clone, Debug)]
pub enum Follows {
    /// Nobody: it stays at its point.
    Nobody,
    /// This primary, from that point on, by the connection without a name.
    Primary(Box<Definition>),
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Restored {
    /// Everything that is in it: the last GTID of each domain.
    pub position: GtidPosition,
    /// The connections to primaries that it had and has no more.
    pub forgotten: Vec<String>,
}

/// Replays the log, and closes everything: a server that starts on it has nothing to do. `tell` is told how far it is.
///
/// # Errors
/// For people.
pub fn recover_copy(copied: &Copied, tell: &mut (dyn FnMut(LogPosition) + Send)) -> Result<Restored, String> {
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
    telling(&storage, tell, || {
        crate::recovery::recover(&storage, &log, recovery.start)
    })?;
    let state = recovery.state.position();
    let transactions = TransactionManager::open(ManagerParts::new(log, recovery.state, storage));
    let replica = transactions.log().replica_state();
    let mut position = replica.position.clone();
    state.iter().for_each(|gtid| position.advance(gtid));
    let forgotten: Vec<Arc<str>> = replica.definitions.keys().cloned().collect();
    let mut definitions: Vec<_> = forgotten.iter().map(|name| (name.clone(), None)).collect();
    if let Follows::Primary(definition) = &copied.follows {
        let unnamed = Arc::from("");
        definitions.retain(|(name, _)| *name != unnamed);
        definitions.push((unnamed, Some(definition.to_record().into())));
    }
    let record = ReplicaRecord {
        scope: RecordScope::Alone,
        gtids: GtidMove::Replace(position.clone()),
        sources: replica.sources.keys().map(|name| (name.clone(), None)).collect(),
        executed: (replica.executed.keys())
            .map(|name| (name.clone(), ExecutedMove::Forget))
            .collect(),
        definitions,
        history: match copied.follows {
            Follows::Nobody => History::Copied,
            Follows::Primary(_) => History::Own,
        },
    };
    transactions
        .move_replica_position(&record)
        .and_then(|()| transactions.close())
        .map_err(|error| format!("cannot write the binary log: {error}"))?;
    Ok(Restored {
        position,
        forgotten: forgotten.iter().map(ToString::to_string).collect(),
    })
}

/// Works, and tells meanwhile where the tables are.
fn telling<T>(storage: &Storage, tell: &mut (dyn FnMut(LogPosition) + Send), work: impl FnOnce() -> T) -> T {
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while is_done.recv_timeout(TELL_EVERY) == Err(RecvTimeoutError::Timeout) {
                tell(storage.position());
            }
        });
        let result = work();
        drop(done);
        result
    })
}
