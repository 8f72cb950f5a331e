//! How the commit path should wait: commits of one-row updates by many sessions, in every mode, with real files.
//!
//!     cargo run --release -p paceline-txn --example commit_waits -- [DIRECTORY] [SECONDS] [MODE…]
//!
//! Sessions are tasks of a tokio runtime with two workers, as in the server. Each does what a single-row UPDATE does to this
//! crate: lock, read, write, log, commit. Prints a table for docs/decisions/.

use paceline_binlog::event::{TableId, TableMapEvent};
use paceline_binlog::log::OpenRequest;
use paceline_binlog::{Log, LogConfig, LoggedTable, RealDisk};
use paceline_storage::{IndexId, Storage, StorageConfig};
use paceline_txn::{
    Config, Interrupt, LeaderMode, LockMode, LockRelease, LockWait, ManagerParts, RowChange, Session,
    SyncBinlog, TransactionManager, TransactionOptions,
};
use paceline_types::ServerId;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

const ROWS: u64 = 100_000;
const VALUE_BYTES: usize = 200;
const CLIENTS: [usize; 6] = [1, 8, 32, 128, 512, 1024];

fn key(row: u64) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&IndexId::new(1024).to_be_bytes());
    key[4..].copy_from_slice(&row.to_be_bytes());
    key
}

/// A BIGINT and a VARBINARY(200).
fn image(row: u64, value: u8) -> Vec<u8> {
    let mut image = vec![0xFC];
    image.extend_from_slice(&row.to_le_bytes());
    image.push(VALUE_BYTES as u8);
    image.resize(image.len() + VALUE_BYTES, value);
    image
}

fn logged_table() -> LoggedTable {
    LoggedTable::new(&TableMapEvent {
        table_id: TableId(18),
        flags: TableMapEvent::FLAG_BIT_LENGTH_EXACT,
        database: b"sbtest",
        table: b"sbtest1",
        column_types: &[8, 15],
        metadata: &[200, 0],
        nullable: &[0],
        optional_metadata: &[],
    })
}

fn open(directory: &Path) -> TransactionManager {
    let storage = Arc::new(Storage::open(&StorageConfig::new(directory.join("tables"))).unwrap());
    let log_directory = directory.join("log");
    std::fs::create_dir_all(&log_directory).unwrap();
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs() as u32;
    let config = LogConfig::new(log_directory, "bin", ServerId(1));
    let (log, recovery) = Log::open(Arc::new(RealDisk), config, OpenRequest::new(now)).unwrap();
    TransactionManager::open(ManagerParts::new(log, recovery.state, storage))
}

struct Load {
    manager: Arc<TransactionManager>,
    table: LoggedTable,
    stop: AtomicBool,
    commits: AtomicU64,
}

async fn update(load: &Load, session: &Session, row: u64, value: u8) {
    let key = key(row);
    let mut transaction = load.manager.begin(session, TransactionOptions::default());
    transaction.begin_statement(None, 1).unwrap();
    transaction.begin_writing().unwrap();
    transaction
        .lock(&key, LockMode::Exclusive, LockWait::Default)
        .unwrap();
    let before = transaction
        .get_newest(&key)
        .unwrap()
        .map(|row| row.payload().to_vec());
    let after = image(row, value);
    transaction.write_set_mut().unwrap().put(&key, &after);
    let change = match &before {
        Some(before) => RowChange::Update {
            before,
            after: &after,
        },
        None => RowChange::Insert { after: &after },
    };
    transaction.log_row(&load.table, change).unwrap();
    transaction.end_statement().unwrap();
    transaction.commit().await.unwrap();
}

fn run(load: &Arc<Load>, workers: usize, clients: usize, time: Duration) -> f64 {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .max_blocking_threads(2048)
        .enable_all()
        .build()
        .unwrap();
    load.stop.store(false, Ordering::Relaxed);
    load.commits.store(0, Ordering::Relaxed);
    let start = Instant::now();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..clients)
            .map(|client| {
                let load = load.clone();
                tokio::spawn(async move {
                    let session = load.manager.session(Interrupt::new());
                    let mut row = client as u64 * 7919;
                    while !load.stop.load(Ordering::Relaxed) {
                        row = (row
                            .wrapping_mul(6364136223846793005)
                            .wrapping_add(1442695040888963407))
                            % ROWS;
                        update(&load, &session, row, row as u8).await;
                        load.commits.fetch_add(1, Ordering::Relaxed);
                        // A real session waits for its client's next packet here.
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        tokio::time::sleep(time).await;
        load.stop.store(true, Ordering::Relaxed);
        for task in tasks {
            task.await.unwrap();
        }
    });
    load.commits.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let directory = arguments
        .first()
        .cloned()
        .unwrap_or_else(|| "target/commit_waits".into());
    let seconds: f64 = arguments.get(1).map_or(2.0, |text| text.parse().unwrap());
    let only: Vec<&str> = arguments.iter().skip(2).map(String::as_str).collect();
    let workers: usize = std::env::var("WORKERS").map_or(2, |text| text.parse().unwrap());
    let _ = std::fs::remove_dir_all(&directory);
    let manager = Arc::new(open(Path::new(&directory)));
    let load = Arc::new(Load {
        manager: manager.clone(),
        table: logged_table(),
        stop: AtomicBool::new(false),
        commits: AtomicU64::new(0),
    });
    let modes = [
        (
            "inline",
            LeaderMode::Inline,
            LockRelease::Early,
            SyncBinlog::EveryGroup,
        ),
        (
            "thread",
            LeaderMode::Thread,
            LockRelease::Early,
            SyncBinlog::EveryGroup,
        ),
        (
            "adaptive",
            LeaderMode::Adaptive,
            LockRelease::Early,
            SyncBinlog::EveryGroup,
        ),
        (
            "handoff",
            LeaderMode::Handoff,
            LockRelease::Early,
            SyncBinlog::EveryGroup,
        ),
        (
            "late",
            LeaderMode::Adaptive,
            LockRelease::AfterPublish,
            SyncBinlog::EveryGroup,
        ),
        (
            "nosync",
            LeaderMode::Adaptive,
            LockRelease::Early,
            SyncBinlog::Background,
        ),
    ];
    println!("| mode | clients | commits/s | per group | sync µs | publish µs | commit µs |");
    println!("|---|---|---|---|---|---|---|");
    for (name, leader_mode, lock_release, sync_binlog) in modes {
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        manager
            .set_config(Config {
                leader_mode,
                lock_release,
                sync_binlog,
                ..Config::default()
            })
            .unwrap();
        for clients in CLIENTS {
            let before = manager.status();
            let rate = run(&load, workers, clients, Duration::from_secs_f64(seconds));
            let after = manager.status();
            let mean = |before: &paceline_txn::HistogramSnapshot, after: &paceline_txn::HistogramSnapshot| {
                (after.sum - before.sum) as f64 / (after.count() - before.count()).max(1) as f64
            };
            println!(
                "| {name} | {clients} | {rate:.0} | {:.1} | {:.0} | {:.0} | {:.0} |",
                mean(&before.group_size, &after.group_size),
                mean(&before.sync_usec, &after.sync_usec),
                mean(&before.publish_usec, &after.publish_usec),
                mean(&before.commit_usec, &after.commit_usec),
            );
        }
    }
    manager.close().unwrap();
}
