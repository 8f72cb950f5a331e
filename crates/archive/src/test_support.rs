//! For tests: an archive's log in a directory of its own, and event groups to write to it.

use crate::context::ArchiveContext;
use crate::disk::ArchiveDisk;
use crate::log_start::LogStart;
use crate::options::{Account, SemiSync};
use paceline_binlog::event::{
    ChecksumAlgorithm, EventFlags, EventStamp, GtidEvent, GtidFlags, QueryEvent, RawEvent, XidEvent,
    encode_event,
};
use paceline_binlog::group::{CommitGroup, GroupSize};
use paceline_binlog::log::{LogConfig, OpenRequest, SyncMode};
use paceline_binlog::{EventGroup, Log};
use paceline_log_stream::source::definition::TlsSettings;
use paceline_txn::{LeaseRegistry, SendLimit};
use paceline_types::{Gtid, LogPosition, ServerId};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;

/// Returns an event group with this GTID and a statement.
pub fn group(gtid: &str, statement: &[u8]) -> EventGroup {
    let gtid: Gtid = gtid.parse().unwrap();
    let stamp = EventStamp {
        timestamp: 1,
        server_id: gtid.server_id,
        flags: EventFlags::NONE,
    };
    let (mut first, mut query, mut last) = (Vec::new(), Vec::new(), Vec::new());
    encode_event(
        &mut first,
        &stamp,
        4,
        &GtidEvent::new(gtid, GtidFlags::TRANSACTIONAL),
    );
    encode_event(&mut query, &stamp, 4, &QueryEvent::new(b"d", statement));
    encode_event(&mut last, &stamp, 4, &XidEvent { xid: 1 });
    let events = [&first, &query, &last];
    let raw = events.map(|bytes| RawEvent::new(bytes, ChecksumAlgorithm::Crc32).unwrap());
    EventGroup::from_events(LogPosition::ZERO, raw).unwrap()
}

/// Opens the log `archive` in a directory.
pub fn open_log(disk: ArchiveDisk, directory: &Path) -> Log {
    let config = LogConfig {
        prepare_step: 8192,
        sync_mode: SyncMode::Deferred,
        ..LogConfig::new(directory, "archive", ServerId(9))
    };
    Log::open(Arc::new(disk), config, OpenRequest::new(1)).unwrap().0
}

/// Appends one event group.
pub fn append(log: &Log, group: EventGroup) {
    let mut commit = CommitGroup::new();
    let start = log.reserve(group.bytes().len() as u64).unwrap();
    commit.begin(start, GroupSize::Single);
    commit.add_received(group).unwrap();
    log.append(&commit).unwrap();
    log.sync().unwrap();
}

/// Continues the log in a new file, as the writer does.
pub fn rotate(log: &Log) {
    let position = log.rotate(1).unwrap();
    log.write_checkpoint(position, 1).unwrap();
}

/// Appends `files` files with one group each, and leaves an empty active one.
pub fn fill(log: &Log, files: u64) {
    for number in 1..=files {
        append(
            log,
            group(&format!("0-1-{number}"), format!("insert {number}").as_bytes()),
        );
        rotate(log);
    }
}

/// Returns the context of an archive with this log.
pub fn context(log: Log, directory: &Path) -> ArchiveContext {
    ArchiveContext {
        server_id: ServerId(9),
        datadir: directory.to_owned(),
        account: Account::default(),
        source_tls: TlsSettings::default(),
        semi_sync: SemiSync::Acknowledge,
        leases: LeaseRegistry::default(),
        sendable: Arc::new(SendLimit::new(log.durable())),
        writer: Mutex::new(None),
        log_start: LogStart::passed(),
        acknowledged: None,
        stop: watch::Sender::new(false),
        log,
    }
}

/// Runs a future on a runtime whose threads may block.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}
