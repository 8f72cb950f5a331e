//! Measures the costs of the commit path: `cargo run --release -p paceline-binlog --example measure_log [DIRECTORY]`.
//!
//! In the server, each session encodes its events and the commit leader places them. Appends and syncs go to the disk
//! of the directory.

use paceline_binlog::event::{TableId, TableMapEvent};
use paceline_binlog::group::{
    CommitGroup, EventGroupBuffer, GroupOptions, GroupSize, LoggedTable, StatementOptions,
};
use paceline_binlog::log::{Log, LogConfig, OpenRequest, RealDisk};
use paceline_types::{DomainId, Gtid, LogPosition, SequenceNumber, ServerId};
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // sysbench's table: id INT, k INT, c CHAR(120), pad CHAR(60).
    let table = LoggedTable::new(&TableMapEvent {
        table_id: TableId(18),
        flags: TableMapEvent::FLAG_BIT_LENGTH_EXACT,
        database: b"sbtest",
        table: b"sbtest1",
        column_types: &[3, 3, 254, 254],
        metadata: &[254, 120, 254, 60],
        nullable: &[0],
        optional_metadata: &[],
    });
    let row = vec![7u8; 190];
    let annotation = b"UPDATE sbtest1 SET c='00000000-11111111-22222222-33333333-44444444-55555555-66666666-77777777-88888888-99999999' WHERE id=50000";
    let options = GroupOptions::new(ServerId(1));
    let mut buffer = EventGroupBuffer::new(options);
    let encode = |buffer: &mut EventGroupBuffer| {
        buffer.reset(options);
        let annotation = Some(&annotation[..]);
        buffer.begin_statement(&StatementOptions {
            timestamp: 1,
            annotation,
            ..StatementOptions::default()
        });
        buffer.update_row(&table, &row, &row);
        buffer.commit(1);
    };
    time("encode a one-row update", 1_000_000, |_| encode(&mut buffer));
    println!("  {} bytes in {} events", buffer.len(), buffer.event_count());

    let mut group = CommitGroup::new();
    let gtid = |number| Gtid::new(DomainId(0), ServerId(1), SequenceNumber(number));
    time("place it in a group", 1_000_000, |number| {
        if number % 32 == 0 {
            group.begin(LogPosition::new(1, 4 + number), GroupSize::Several);
        }
        black_box(group.add(&mut buffer, gtid(number)));
    });

    let directory = std::env::args()
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from)
        .join("paceline-measure");
    std::fs::create_dir_all(&directory)?;
    for group_size in [1u64, 8, 32] {
        for background in [true, false] {
            measure_commits(&directory, group_size, background, &mut |buffer| encode(buffer))?;
        }
    }
    measure_reading(&directory, &table, &row)?;
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}

fn time(what: &str, count: u64, mut work: impl FnMut(u64)) {
    let start = Instant::now();
    (0..count).for_each(&mut work);
    println!(
        "{what}: {:.0} ns",
        start.elapsed().as_nanos() as f64 / count as f64
    );
}

fn fresh(directory: &PathBuf) -> Result<Log, Box<dyn std::error::Error>> {
    std::fs::remove_dir_all(directory)?;
    std::fs::create_dir_all(directory)?;
    Ok(Log::open(
        Arc::new(RealDisk),
        LogConfig::new(directory, "bin", ServerId(1)),
        OpenRequest::new(0),
    )?
    .0)
}

/// Commits for some seconds, with or without a background thread that prepares space.
fn measure_commits(
    directory: &PathBuf,
    group_size: u64,
    background: bool,
    encode: &mut dyn FnMut(&mut EventGroupBuffer),
) -> Result<(), Box<dyn std::error::Error>> {
    let log = fresh(directory)?;
    let stop = Arc::new(AtomicBool::new(false));
    let preparer = std::thread::spawn({
        let (log, stop) = (log.clone(), Arc::clone(&stop));
        move || {
            while !stop.load(Ordering::Relaxed) {
                if background && log.wants_preparation() {
                    log.prepare_ahead().expect("there is room");
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    });
    let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
    encode(&mut buffer);
    let mut group = CommitGroup::new();
    let mut times = Vec::new();
    let start = Instant::now();
    let mut number = 0;
    while start.elapsed() < Duration::from_secs(4) {
        let begin = Instant::now();
        let place = log.reserve(group_size * (buffer.len() + CommitGroup::GTID_EVENT_LENGTH_MAX))?;
        group.begin(
            place,
            if group_size > 1 {
                GroupSize::Several
            } else {
                GroupSize::Single
            },
        );
        for _ in 0..group_size {
            number += 1;
            group.add(
                &mut buffer,
                Gtid::new(DomainId(0), ServerId(1), SequenceNumber(number)),
            );
        }
        log.append(&group)?;
        log.sync()?;
        times.push(begin.elapsed());
    }
    stop.store(true, Ordering::Relaxed);
    preparer.join().expect("it does not panic");
    let end = log.written().offset();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "groups of {group_size}, room prepared {}: {} commits/s, {} MB written; group median {:?}, 99 % {:?}, 99.9 % {:?}, max {:?}",
        if background {
            "in the background"
        } else {
            "when needed"
        },
        number / 4,
        end >> 20,
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0),
    );
    Ok(())
}

fn measure_reading(
    directory: &PathBuf,
    table: &LoggedTable,
    row: &[u8],
) -> Result<(), Box<dyn std::error::Error>> {
    let log = fresh(directory)?;
    let options = GroupOptions::new(ServerId(1));
    let mut buffer = EventGroupBuffer::new(options);
    let mut group = CommitGroup::new();
    let count = 200_000;
    for number in 1..=count {
        buffer.reset(options);
        buffer.begin_statement(&StatementOptions::default());
        buffer.update_row(table, row, row);
        buffer.commit(1);
        group.begin(
            log.reserve(buffer.len() + CommitGroup::GTID_EVENT_LENGTH_MAX)?,
            GroupSize::Single,
        );
        group.add(
            &mut buffer,
            Gtid::new(DomainId(0), ServerId(1), SequenceNumber(number)),
        );
        log.append(&group)?;
        if number == 1 {
            log.set_sync_mode(paceline_binlog::log::SyncMode::Deferred)?;
        }
        if number == 1 {
            log.sync()?;
        }
    }
    let start = Instant::now();
    let mut reader = log.reader(LogPosition::ZERO, log.written())?;
    let mut groups = 0;
    while let Some(group) = reader.next_group()? {
        for event in group.decoded(reader.format()) {
            black_box(event?);
        }
        groups += 1;
    }
    assert_eq!(groups, count);
    println!(
        "read and decode one-row updates: {:.0} a second",
        count as f64 / start.elapsed().as_secs_f64()
    );
    Ok(())
}
