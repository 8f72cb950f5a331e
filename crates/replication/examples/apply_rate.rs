//! Measures how fast a replica applies transactions: `cargo run --release -p paceline-replication --example apply_rate
//! [transactions] [rows] [workers…]`. The load is sysbench's update_non_index: one row by its primary key, rows of 200
//! bytes, in commit groups of 32, as 32 clients write them.

#[path = "../tests/support/mod.rs"]
mod support;

use paceline_replication::apply::{ApplierOptions, ApplierState};
use paceline_replication::received::ReceivedItem;
use paceline_txn::{Config, Interrupt, SyncBinlog};
use paceline_types::{LogPosition, Value};
use std::time::{Duration, Instant};
use support::{TestServer, change, image};

const TABLE: &str = "CREATE TABLE sbtest1 (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL DEFAULT 0, \
                     c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', KEY k_1 (k))";

fn row(id: u64, n: u64) -> Vec<Value> {
    let digits = format!("{n:011}-").repeat(10);
    vec![
        Value::Int(id as i64),
        Value::Int((id * 7 % 10_007) as i64),
        Value::Text(digits[..119].into()),
        Value::Text(digits[..59].into()),
    ]
}

/// Creates a primary with the load in its log. Returns it and the position where the load begins.
fn prepare(directory: &std::path::Path, transactions: u64, rows: u64) -> (TestServer, LogPosition) {
    let config = Config {
        sync_binlog: SyncBinlog::Background,
        max_binlog_size: 8 << 30,
        ..Config::default()
    };
    let primary = TestServer::open(directory, 1, config);
    primary.ddl("CREATE DATABASE test");
    primary.ddl(TABLE);
    for first in (0..rows).step_by(1000) {
        primary.insert("sbtest1", (first..(first + 1000).min(rows)).map(|id| row(id, id)));
    }
    let start = primary.manager.positions().published;
    let table = primary.table("sbtest1");
    let mut versions: Vec<u64> = (0..rows).collect();
    let stream = paceline_txn::CommitStream::new();
    let mut number = 0;
    while number < transactions {
        let session = primary.manager.session(Interrupt::new());
        let mut batch = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..32.min(transactions - number) {
            let id = loop {
                let id = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % rows;
                number += 1;
                if seen.insert(id) {
                    break id;
                }
            };
            let mut transaction = Box::new(primary.begin(&session, 0));
            transaction
                .begin_statement(Some("UPDATE sbtest1 SET c=? WHERE id=?"), 1_700_000_000)
                .expect("begins");
            let before = image(&table, &row(id, versions[id as usize]));
            versions[id as usize] = number + rows;
            let after = image(&table, &row(id, versions[id as usize]));
            change(&table, &mut transaction, Some(&before), Some(&after));
            batch.push(transaction);
        }
        let done = std::sync::Arc::new(Done::default());
        primary
            .manager
            .commit_batch(&stream, batch, Default::default(), done.clone());
        while !done.0.load(std::sync::atomic::Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
    (primary, start)
}

#[derive(Default)]
struct Done(std::sync::atomic::AtomicBool);

impl paceline_txn::BatchObserver for Done {
    fn placed(&self) {}

    fn ended(&self, result: paceline_txn::Result<paceline_types::Version>) {
        result.expect("committed");
        self.0.store(true, std::sync::atomic::Ordering::Release);
    }
}

fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("a name").split(' ').collect();
    let ticks = |field: usize| fields[field].parse::<f64>().expect("ticks");
    (ticks(11) + ticks(12)) / 100.0
}

fn main() {
    let arguments: Vec<u64> = std::env::args()
        .skip(1)
        .map(|argument| argument.parse().expect("a number"))
        .collect();
    let transactions = arguments.first().copied().unwrap_or(200_000);
    let rows = arguments.get(1).copied().unwrap_or(100_000);
    let workers = match arguments.get(2..) {
        Some(workers @ [_, ..]) => workers.to_vec(),
        _ => vec![0, 1, 2, 4, 8],
    };
    let base = tempfile::tempdir().expect("a directory");
    let (primary, start) = prepare(&base.path().join("primary"), transactions, rows);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    for (durable, sync_binlog) in [(true, SyncBinlog::EveryGroup), (false, SyncBinlog::Background)] {
        for workers in &workers {
            let directory = base.path().join(format!("replica-{durable}-{workers}"));
            let config = Config {
                sync_binlog,
                ..Config::default()
            };
            let replica = TestServer::open(&directory, 2, config);
            let options = ApplierOptions {
                workers: *workers as usize,
                ..ApplierOptions::default()
            };
            let all = primary.received(primary.start);
            let (load, setup): (Vec<ReceivedItem>, Vec<ReceivedItem>) = all
                .into_iter()
                .partition(|one| matches!(one, ReceivedItem::Group(group) if group.group.end() > start));
            let applier = replica.applier(options);
            let (elapsed, cpu, rounds) = runtime.block_on(async {
                let wait = async || {
                    while applier.status().state == ApplierState::Applying {
                        tokio::time::sleep(Duration::from_micros(500)).await;
                    }
                    assert!(applier.status().error.is_none(), "{:?}", applier.status().error);
                };
                for one in setup {
                    applier.push(one).await.expect("taken");
                }
                wait().await;
                let (rounds, cpu, begin) = (applier.status().rounds, cpu_seconds(), Instant::now());
                for one in load {
                    applier.push(one).await.expect("taken");
                }
                wait().await;
                let status = applier.status();
                (begin.elapsed(), cpu_seconds() - cpu, status.rounds - rounds)
            });
            println!(
                "durable {durable:<5} {workers} workers: {:>8.0} rows/s, {:.1} µs of CPU each, {:.0} transactions a round",
                transactions as f64 / elapsed.as_secs_f64(),
                cpu * 1e6 / transactions as f64,
                transactions as f64 / rounds as f64,
            );
            runtime.block_on(applier.stop());
            drop((applier, replica));
            std::fs::remove_dir_all(&directory).expect("removed");
        }
    }
}
