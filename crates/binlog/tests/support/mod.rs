//! Shared parts of the tests of the log.
#![allow(dead_code, missing_docs)]

pub mod watched_disk;

use paceline_binlog::event::{TableId, TableMapEvent};
use paceline_binlog::group::{
    CommitGroup, EventGroupBuffer, GroupOptions, GroupSize, LoggedTable, StatementOptions,
};
use paceline_binlog::log::{Disk, Log, LogConfig, OpenRequest, RealDisk, Recovery};
use paceline_binlog::{Error, Result};
use paceline_types::{DomainId, Gtid, LogPosition, SequenceNumber, ServerId};
use std::path::Path;
use std::sync::Arc;

pub const NOW: u32 = 1_800_000_000;

pub fn gtid(domain: u32, server: u32, sequence: u64) -> Gtid {
    Gtid::new(DomainId(domain), ServerId(server), SequenceNumber(sequence))
}

pub fn config(directory: &Path) -> LogConfig {
    LogConfig {
        prepare_step: 64 * 1024,
        ..LogConfig::new(directory, "bin", ServerId(1))
    }
}

pub fn open(directory: &Path) -> Result<(Log, Recovery)> {
    open_on(Arc::new(RealDisk), config(directory))
}

pub fn open_on(disk: Arc<dyn Disk>, config: LogConfig) -> Result<(Log, Recovery)> {
    Log::open(disk, config, OpenRequest::new(NOW))
}

/// A table `test.t (a INT NOT NULL)`.
pub fn table() -> LoggedTable {
    LoggedTable::new(&TableMapEvent {
        table_id: TableId(18),
        flags: TableMapEvent::FLAG_BIT_LENGTH_EXACT,
        database: b"test",
        table: b"t",
        column_types: &[3],
        metadata: &[],
        nullable: &[0],
        optional_metadata: &[],
    })
}

/// Returns a transaction that inserts `rows` rows.
pub fn transaction(rows: usize) -> EventGroupBuffer {
    let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
    let annotation = Some(&b"INSERT INTO t VALUES (...)"[..]);
    buffer.begin_statement(&StatementOptions {
        timestamp: NOW,
        annotation,
        ..StatementOptions::default()
    });
    for row in 0..rows as u32 {
        let [a, b, c, d] = row.to_le_bytes();
        buffer.write_row(&table(), &[0xFE, a, b, c, d]);
    }
    buffer.commit(1);
    buffer
}

/// Appends a commit group without syncing it. Returns the start and the end of each transaction.
pub fn append(log: &Log, transactions: &[(Gtid, usize)]) -> Result<Vec<(LogPosition, LogPosition)>> {
    let mut buffers: Vec<EventGroupBuffer> =
        transactions.iter().map(|(_, rows)| transaction(*rows)).collect();
    let length: u64 = buffers
        .iter()
        .map(|buffer| buffer.len() + CommitGroup::GTID_EVENT_LENGTH_MAX)
        .sum();
    let start = log.reserve(length)?;
    let mut group = CommitGroup::new();
    group.begin(
        start,
        if buffers.len() > 1 {
            GroupSize::Several
        } else {
            GroupSize::Single
        },
    );
    let mut places = Vec::new();
    for (buffer, (gtid, _)) in buffers.iter_mut().zip(transactions) {
        let placed = group.add(buffer, *gtid);
        places.push((placed.start, placed.end));
    }
    assert_eq!(log.append(&group)?, places.last().unwrap().1);
    Ok(places)
}

/// Appends and syncs a commit group.
pub fn commit(log: &Log, transactions: &[(Gtid, usize)]) -> Result<Vec<(LogPosition, LogPosition)>> {
    let places = append(log, transactions)?;
    log.sync()?;
    Ok(places)
}

/// Returns the GTIDs of everything from `from` to the end of the log.
pub fn gtids_from(log: &Log, from: LogPosition) -> Result<Vec<Gtid>> {
    let mut reader = log.reader(from, log.written())?;
    let mut gtids = Vec::new();
    while let Some(group) = reader.next_group()? {
        gtids.push(group.gtid());
    }
    Ok(gtids)
}

pub fn all_gtids(log: &Log) -> Result<Vec<Gtid>> {
    gtids_from(log, LogPosition::ZERO)
}

/// Returns the output of `mariadb-binlog` for a file, with checksums verified. Panics if it reports a problem.
pub fn mariadb_binlog(path: &Path) -> String {
    let output = std::process::Command::new("mariadb-binlog")
        .args(["--no-defaults", "-vv", "--verify-binlog-checksum"])
        .arg(path)
        .output()
        .expect("mariadb-binlog is installed (package mariadb-client)");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}\n{text}");
    text
}

pub fn is_no_space(error: &Error) -> bool {
    matches!(error, Error::NoSpace { .. })
}

/// Returns a complete transaction of `rows` rows whose events are in a file of their own. It has rolled back rows in
/// the file and rows in memory.
pub fn large_transaction(log: &Log, rows: u32) -> Result<EventGroupBuffer> {
    let mut buffer = EventGroupBuffer::new(GroupOptions {
        row_event_size_max: 256,
        ..GroupOptions::new(ServerId(1))
    });
    let statement = StatementOptions {
        timestamp: NOW,
        ..StatementOptions::default()
    };
    let insert = |buffer: &mut EventGroupBuffer, row: u32| {
        let [a, b, c, d] = row.to_le_bytes();
        buffer.write_row(&table(), &[0xFE, a, b, c, d]);
    };
    buffer.begin_statement(&statement);
    for row in 0..rows / 4 {
        insert(&mut buffer, row);
    }
    let mark = buffer.mark();
    buffer.spill_to(log.begin_large_group()?)?;
    for row in 0..300 {
        insert(&mut buffer, 1_000_000 + row);
        if row % 50 == 0 {
            buffer.spill()?;
        }
    }
    buffer.roll_back_to(mark);
    buffer.begin_statement(&statement);
    for row in rows / 4..rows {
        insert(&mut buffer, row);
        if row % 40 == 0 {
            buffer.spill()?;
        }
        if row == rows / 2 {
            let mark = buffer.mark();
            buffer.begin_statement(&statement);
            insert(&mut buffer, 2_000_000);
            buffer.roll_back_to(mark);
            buffer.begin_statement(&statement);
        }
    }
    buffer.commit(1);
    buffer.seal()?;
    Ok(buffer)
}

/// Commits a large transaction.
pub fn commit_large(log: &Log, id: Gtid, rows: u32) -> Result<(LogPosition, LogPosition)> {
    let mut buffer = large_transaction(log, rows)?;
    let placed = log
        .reserve_large_commit(&buffer, None, NOW)?
        .commit(&mut buffer, id)?;
    Ok((placed.start, placed.end))
}
