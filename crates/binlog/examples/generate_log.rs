//! Writes a log of many small transactions, as input for programs that read logs:
//! `cargo run --release -p paceline-binlog --example generate_log DIRECTORY MEGABYTES`.
//!
//! Files have 1 GiB. Each transaction inserts one row of 600 bytes, in domains 0, 1 and 2 in turn. Nothing is durable
//! before the program ends.

use paceline_binlog::event::{TableId, TableMapEvent};
use paceline_binlog::group::{
    CommitGroup, EventGroupBuffer, GroupOptions, GroupSize, LoggedTable, StatementOptions,
};
use paceline_binlog::log::{Log, LogConfig, OpenRequest, RealDisk, SyncMode};
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};
use std::path::PathBuf;
use std::sync::Arc;

const FILE_BYTES: u64 = 1 << 30;
const GROUP: u64 = 100;
const DOMAINS: u64 = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(megabytes)) = (arguments.next(), arguments.next()) else {
        return Err("DIRECTORY MEGABYTES".into());
    };
    let bytes = megabytes.parse::<u64>()? << 20;
    let table = LoggedTable::new(&TableMapEvent {
        table_id: TableId(18),
        flags: TableMapEvent::FLAG_BIT_LENGTH_EXACT,
        database: b"d",
        table: b"t",
        column_types: &[3, 252],
        metadata: &[2],
        nullable: &[0],
        optional_metadata: &[],
    });
    std::fs::create_dir_all(&directory)?;
    let config = LogConfig::new(PathBuf::from(directory), "bin", ServerId(1));
    let (log, _) = Log::open(Arc::new(RealDisk), config, OpenRequest::new(0))?;
    log.set_sync_mode(SyncMode::Deferred)?;
    let options = GroupOptions::new(ServerId(1));
    let mut buffer = EventGroupBuffer::new(options);
    let mut group = CommitGroup::new();
    let (mut number, mut written): (u64, u64) = (0, 0);
    while written < bytes {
        let mut row = vec![0; 607];
        row[1..5].copy_from_slice(&(number as u32).to_le_bytes());
        row[5..7].copy_from_slice(&600u16.to_le_bytes());
        row[7..].fill(b'a' + (number % 26) as u8);
        buffer.reset(options);
        buffer.begin_statement(&StatementOptions {
            timestamp: (number / 1000) as u32,
            annotation: Some(b"insert into d.t values (?, ?)"),
            ..StatementOptions::default()
        });
        buffer.write_row(&table, &row);
        buffer.commit(number);
        let room = GROUP * (buffer.len() + CommitGroup::GTID_EVENT_LENGTH_MAX);
        group.begin(log.reserve(room)?, GroupSize::Several);
        for _ in 0..GROUP {
            let domain = DomainId((number % DOMAINS) as u32);
            number += 1;
            group.add(
                &mut buffer,
                Gtid::new(domain, ServerId(1), SequenceNumber(number)),
            );
        }
        let before = log.written();
        log.append(&group)?;
        written += log.written().offset() - before.offset();
        if log.written().offset() > FILE_BYTES {
            log.rotate(0)?;
        }
    }
    log.close(0)?;
    println!("{number} transactions, {} MB", written >> 20);
    Ok(())
}
