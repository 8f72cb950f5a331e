//! Events of real logs, as samples: of files that a MariaDB wrote for the tests of the log, and of a log of our own.

use paceline_binlog::event::{
    EventFlags, EventHeader, EventStamp, HEADER_LENGTH, IgnorableEvent, MAGIC, TableId, TableMapEvent,
    encode_event,
};
use paceline_binlog::group::{
    CommitGroup, EventGroupBuffer, GroupOptions, GroupSize, LoggedTable, StatementOptions,
};
use paceline_binlog::log::{LogConfig, OpenRequest, SyncMode};
use paceline_binlog::{Log, Result};
use paceline_simulated_disk::SimulatedDisk;
use paceline_types::{DomainId, Gtid, LogPosition, SequenceNumber, ServerId};
use std::path::Path;
use std::sync::Arc;

/// Log files of MariaDB 10.11.
const MARIADB_FILES: [&[u8]; 3] = [
    include_bytes!("../../../crates/binlog/tests/samples/mariadb.000001"),
    include_bytes!("../../../crates/binlog/tests/samples/mariadb.000002"),
    include_bytes!("../../../crates/binlog/tests/samples/mariadb.000003"),
];
/// Time stamp of our own events.
const NOW: u32 = 1_800_000_000;

/// Returns the events, in the order of the files.
///
/// # Panics
/// If a log of our own cannot be written.
pub fn events() -> Vec<Vec<u8>> {
    let own = own_files().expect("a log can be written");
    let files = MARIADB_FILES.into_iter().chain(own.iter().map(Vec::as_slice));
    files.flat_map(events_of).chain(durable_records()).collect()
}

fn events_of(file: &[u8]) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    let mut at = MAGIC.len();
    while let Some(header) = file.get(at..).and_then(EventHeader::decode) {
        let length = header.length as usize;
        if length < HEADER_LENGTH || at + length > file.len() {
            break;
        }
        events.push(file[at..at + length].to_vec());
        at += length;
    }
    events
}

/// Returns records of how far the log was durable.
fn durable_records() -> impl Iterator<Item = Vec<u8>> {
    let stamp = EventStamp {
        timestamp: 1,
        server_id: ServerId(1),
        flags: EventFlags::IGNORABLE,
    };
    [0, 300, 1000, 1 << 30].into_iter().map(move |offset| {
        let mut event = Vec::new();
        let record = IgnorableEvent::Durable {
            durable: LogPosition::new(1, offset),
            sync_mode: SyncMode::Deferred,
        };
        encode_event(&mut event, &stamp, 0, &record);
        event
    })
}

/// Writes a log of small transactions and a large one, in two files.
fn own_files() -> Result<Vec<Vec<u8>>> {
    let disk = SimulatedDisk::new();
    let config = LogConfig {
        prepare_step: 64 << 10,
        ..LogConfig::new("/log", "bin", ServerId(1))
    };
    let (log, _) = Log::open(Arc::new(disk.clone()), config, OpenRequest::new(NOW))?;
    let gtid = |sequence| Gtid::new(DomainId(0), ServerId(1), SequenceNumber(sequence));
    for sequence in 1..20 {
        commit(&log, gtid(sequence), sequence as u32 % 3 + 1)?;
    }
    commit_large(&log, gtid(20), 300)?;
    commit(&log, gtid(21), 1)?;
    log.rotate(NOW)?;
    let names = ["/log/bin.000001", "/log/bin.000002"];
    Ok(names
        .iter()
        .filter_map(|name| disk.content(Path::new(name)))
        .collect())
}

/// A table `test.t (a INT NOT NULL)`.
fn table() -> LoggedTable {
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

fn insert(buffer: &mut EventGroupBuffer, row: u32) {
    let [a, b, c, d] = row.to_le_bytes();
    buffer.write_row(&table(), &[0xFE, a, b, c, d]);
}

fn commit(log: &Log, gtid: Gtid, rows: u32) -> Result<()> {
    let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
    buffer.begin_statement(&StatementOptions {
        timestamp: NOW,
        annotation: Some(b"INSERT INTO t VALUES (...)"),
        ..StatementOptions::default()
    });
    (0..rows).for_each(|row| insert(&mut buffer, row));
    buffer.commit(1);
    let mut group = CommitGroup::new();
    let start = log.reserve(buffer.len() + CommitGroup::GTID_EVENT_LENGTH_MAX)?;
    group.begin(start, GroupSize::Single);
    group.add(&mut buffer, gtid);
    log.append(&group)?;
    log.sync()?;
    Ok(())
}

/// Commits a transaction whose events are a file of their own.
fn commit_large(log: &Log, gtid: Gtid, rows: u32) -> Result<()> {
    let mut buffer = EventGroupBuffer::new(GroupOptions {
        row_event_size_max: 256,
        ..GroupOptions::new(ServerId(1))
    });
    buffer.begin_statement(&StatementOptions {
        timestamp: NOW,
        ..StatementOptions::default()
    });
    buffer.spill_to(log.begin_large_group()?)?;
    for row in 0..rows {
        insert(&mut buffer, row);
        if row % 40 == 0 {
            buffer.spill()?;
        }
    }
    buffer.commit(1);
    buffer.seal()?;
    log.reserve_large_commit(&buffer, None, NOW)?
        .commit(&mut buffer, gtid)?;
    Ok(())
}
