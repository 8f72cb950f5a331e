//! Compares the wait strategies of the commit path: one-row updates committed by many sessions, in every mode,
//! with real files.
//!
//!     cargo run --release -p paceline-txn --example commit_waits -- [DIRECTORY] [SECONDS] [ROUNDS] [MODE…]
//!
//! Sessions are tasks of a tokio runtime with WORKERS (2) workers, as in the server. Each does what a
//! single-row UPDATE does in this crate: lock, read, write, log, commit. All modes take turns in each round;
//! the printed table has the medians, as docs/decisions/ quotes them. With SYNC_USEC the log's syncs take that
//! long instead of the disk's time: for a machine whose disk is shared.

use paceline_binlog::event::{TableId, TableMapEvent};
use paceline_binlog::log::{DiskFile, OpenRequest};
use paceline_binlog::{Disk, Log, LogConfig, LoggedTable, RealDisk};
use paceline_storage::{IndexId, Storage, StorageConfig};
use paceline_txn::{
    Config, HistogramSnapshot, Interrupt, LeaderMode, LockMode, LockRelease, LockWait, ManagerParts,
    RowChange, Session, SyncBinlog, TransactionManager, TransactionOptions,
};
use paceline_types::ServerId;
use std::collections::BTreeMap;
use std::io;
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

/// Returns the image of a row with a BIGINT and a VARBINARY(200).
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
    let disk: Arc<dyn Disk> = match std::env::var("SYNC_USEC") {
        Ok(text) => Arc::new(SteadyDisk {
            files: RealDisk,
            sync: Duration::from_micros(text.parse().unwrap()),
        }),
        Err(_) => Arc::new(RealDisk),
    };
    let (log, recovery) = Log::open(disk, config, OpenRequest::new(now)).unwrap();
    TransactionManager::open(ManagerParts::new(log, recovery.state, storage))
}

/// Real files whose sync takes a fixed time.
#[derive(Debug)]
struct SteadyDisk {
    files: RealDisk,
    sync: Duration,
}

#[derive(Debug)]
struct SteadyFile {
    file: Arc<dyn DiskFile>,
    sync: Duration,
}

impl SteadyDisk {
    fn wrap(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(SteadyFile {
            file,
            sync: self.sync,
        })
    }
}

impl Disk for SteadyDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.wrap(self.files.create(path)?))
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.wrap(self.files.open(path)?))
    }
    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        self.files.modified(path)
    }
    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.files.list(directory)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.files.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files.remove(path)
    }
    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.files.sync_directory(directory)
    }
}

impl DiskFile for SteadyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }
    fn write_at(&self, pieces: &[io::IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.file.write_at(pieces, offset)
    }
    fn extend_with_zeros(&self, offset: u64, length: u64) -> io::Result<()> {
        self.file.extend_with_zeros(offset, length)
    }
    fn sync(&self) -> io::Result<()> {
        // The kernel adds about 55 µs to a short sleep.
        std::thread::sleep(self.sync.saturating_sub(Duration::from_micros(55)));
        Ok(())
    }
    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_length(length)
    }
    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }
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
    transaction
        .begin_statement(Some("UPDATE sbtest1 SET c=? WHERE id=?"), 1)
        .unwrap();
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
    let seconds: f64 = arguments.get(1).map_or(1.0, |text| text.parse().unwrap());
    let rounds: usize = arguments.get(2).map_or(3, |text| text.parse().unwrap());
    let only: Vec<&str> = arguments.iter().skip(3).map(String::as_str).collect();
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
    let mut results: BTreeMap<(usize, usize), Vec<[f64; 5]>> = BTreeMap::new();
    for _ in 0..rounds {
        for (mode, (name, leader_mode, lock_release, sync_binlog)) in modes.into_iter().enumerate() {
            if !only.is_empty() && !only.contains(&name) {
                continue;
            }
            let config = Config {
                leader_mode,
                lock_release,
                sync_binlog,
                ..Config::default()
            };
            manager.set_config(config).unwrap();
            for clients in CLIENTS {
                let before = manager.status();
                let rate = run(&load, workers, clients, Duration::from_secs_f64(seconds));
                let after = manager.status();
                let mean = |before: &HistogramSnapshot, after: &HistogramSnapshot| {
                    (after.sum - before.sum) as f64 / (after.count() - before.count()).max(1) as f64
                };
                results.entry((mode, clients)).or_default().push([
                    rate,
                    mean(&before.group_size, &after.group_size),
                    mean(&before.sync_usec, &after.sync_usec),
                    mean(&before.publish_usec, &after.publish_usec),
                    mean(&before.commit_usec, &after.commit_usec),
                ]);
            }
        }
    }
    println!("| mode | clients | commits/s | per group | sync µs | publish µs | commit µs |");
    println!("|---|---|---|---|---|---|---|");
    for ((mode, clients), rounds) in results {
        let median = |column: usize| {
            let mut values: Vec<f64> = rounds.iter().map(|round| round[column]).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let [rate, group, sync, publish, commit] = [0, 1, 2, 3, 4].map(median);
        let name = modes[mode].0;
        println!("| {name} | {clients} | {rate:.0} | {group:.1} | {sync:.0} | {publish:.0} | {commit:.0} |");
    }
    manager.close().unwrap();
}
