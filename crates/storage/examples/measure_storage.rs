//! Times the most frequent operations of the server: `cargo run --release -p paceline-storage --example
//! measure_storage [rows]`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use paceline_storage::{Direction, IndexId, KeyRange, Storage, StorageConfig, WriteSet};
use paceline_types::LogPosition;

fn key(number: u32) -> [u8; 8] {
    let mut key = [0; 8];
    key[..4].copy_from_slice(&IndexId::new(1024).to_be_bytes());
    key[4..].copy_from_slice(&number.to_be_bytes());
    key
}

fn scatter(n: u64, rows: u64) -> u32 {
    (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33).rem_euclid(rows) as u32
}

fn report(what: &str, operations: u64, start: Instant) {
    println!(
        "{what:<48} {:8.3} µs",
        start.elapsed().as_secs_f64() * 1e6 / operations as f64
    );
}

fn main() {
    let rows: u64 = std::env::args()
        .nth(1)
        .map_or(1_000_000, |rows| rows.parse().expect("a number of rows"));
    let directory = tempfile::tempdir().expect("a temporary directory");
    let storage = Storage::open(&StorageConfig::new(directory.path())).expect("opens");
    let row: Vec<u8> = (0..200u32).map(|at| (at * 7) as u8).collect();
    let mut clock = 0u64;
    let mut next = || {
        clock += 300;
        LogPosition::new(1 + (clock >> 36) as u32, clock & ((1 << 36) - 1))
    };

    let start = Instant::now();
    for base in (0..rows).step_by(1000) {
        let mut set = WriteSet::new();
        for number in base..(base + 1000).min(rows) {
            set.put(&key(number as u32), &row);
        }
        let version = next();
        storage
            .apply(&[Arc::new(set.assign_version(version))], version)
            .expect("applies");
    }
    report("insert, 1,000 rows a transaction, per row", rows, start);

    let start = Instant::now();
    let updates = 200_000;
    for n in 0..updates {
        let mut set = WriteSet::new();
        set.put(&key(scatter(n, rows)), &row);
        let version = next();
        storage
            .apply(&[Arc::new(set.assign_version(version))], version)
            .expect("applies");
        black_box(storage.snapshot());
    }
    report("update, 1 row a transaction, with a snapshot", updates, start);

    let start = Instant::now();
    for n in 0..updates {
        let mut set = WriteSet::new();
        set.mark();
        set.put(&key(scatter(n, rows)), &row);
        black_box(set.assign_version(next()));
    }
    report("write set of 1 row", updates, start);

    let gets = 500_000;
    for place in ["memtable", "tables"] {
        let snapshot = storage.snapshot();
        let start = Instant::now();
        for n in 0..gets {
            black_box(
                snapshot
                    .get(&key(scatter(n, rows)))
                    .expect("readable")
                    .expect("there")
                    .payload(),
            );
        }
        report(&format!("get from {place}"), gets, start);
        let start = Instant::now();
        for n in 0..gets / 10 {
            let from = scatter(n, rows - 100);
            let mut cursor = snapshot.scan(KeyRange::new(key(from), key(from + 100)), Direction::Forward);
            let mut seen = 0;
            while let Some(entry) = cursor.next().expect("readable") {
                black_box(entry);
                seen += 1;
            }
            assert_eq!(seen, 100);
        }
        report(&format!("scan of 100 rows from {place}"), gets / 10, start);
        if place == "memtable" {
            let start = Instant::now();
            storage.flush().expect("flushes");
            report("flush of it all", 1, start);
        }
    }
    println!("{:?}", storage.statistics());
}
