//! Commits wait for the copy, and nothing is visible before.

use super::*;
use paceline_binlog::event::{TableId, TableMapEvent};
use paceline_binlog::log::OpenRequest;
use paceline_binlog::{Log, LogConfig, LoggedTable, RealDisk};
use paceline_storage::{IndexId, Storage, StorageConfig};
use paceline_txn::{Interrupt, LockMode, LockWait, ManagerParts, RowChange, TransactionOptions};
use paceline_types::ServerId;

const KEY: [u8; 5] = [0, 0, 4, 0, 1];

struct Server {
    manager: Arc<TransactionManager>,
    copy: Arc<LogCopy>,
    table: LoggedTable,
    _directory: tempfile::TempDir,
}

fn server() -> Server {
    let directory = tempfile::tempdir().unwrap();
    let storage = Arc::new(Storage::open(&StorageConfig::new(directory.path().join("tables"))).unwrap());
    let logs = directory.path().join("log");
    std::fs::create_dir_all(&logs).unwrap();
    let config = LogConfig::new(logs, "bin", ServerId(1));
    let (log, recovery) = Log::open(Arc::new(RealDisk), config, OpenRequest::new(1)).unwrap();
    let copy = LogCopy::new(log.written());
    let mut parts = ManagerParts::new(log, recovery.state, storage);
    parts.acknowledger = Box::new(CopyAcknowledger(copy.clone()));
    let table = LoggedTable::new(&TableMapEvent {
        table_id: TableId(18),
        flags: TableMapEvent::FLAG_BIT_LENGTH_EXACT,
        database: b"d",
        table: b"t",
        column_types: &[3],
        metadata: &[],
        nullable: &[0],
        optional_metadata: &[],
    });
    assert_eq!(IndexId::of_key(&KEY), Some(IndexId::new(1024)));
    Server {
        manager: Arc::new(TransactionManager::open(parts)),
        copy,
        table,
        _directory: directory,
    }
}

async fn insert(server: &Server) {
    let session = server.manager.session(Interrupt::new());
    let mut transaction = server.manager.begin(&session, TransactionOptions::default());
    let after = [0xFE, 7, 0, 0, 0];
    transaction.begin_statement(Some("INSERT"), 1).unwrap();
    transaction.begin_writing().unwrap();
    transaction
        .lock(&KEY, LockMode::Exclusive, LockWait::Default)
        .unwrap();
    transaction.write_set_mut().unwrap().put(&KEY, &after);
    transaction
        .log_row(&server.table, RowChange::Insert { after: &after })
        .unwrap();
    transaction.end_statement().unwrap();
    transaction.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_returns_when_it_is_in_the_copy_and_is_visible_only_then() {
    let server = Arc::new(server());
    let copier = tokio::spawn({
        let (manager, copy) = (server.manager.clone(), server.copy.clone());
        async move { copy_log(&manager, &copy).await }
    });
    server.copy.hold_back();
    let start = server.manager.positions().published;
    let commit = tokio::spawn({
        let server = server.clone();
        async move { insert(&server).await }
    });
    server.manager.sendable_past(start).await;
    assert!(!commit.is_finished());
    assert!(server.manager.snapshot().get(&KEY).unwrap().is_none());
    server.copy.release();
    commit.await.unwrap();
    assert!(server.copy.events() >= 3);
    assert!(server.copy.end() >= server.manager.positions().published);
    assert!(server.manager.snapshot().get(&KEY).unwrap().is_some());
    copier.abort();
}
