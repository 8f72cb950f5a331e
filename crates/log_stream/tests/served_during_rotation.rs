//! A replica that connects while the log switches to a new file: the file exists, but may not be sent before the
//! previous one is closed.

use paceline_binlog::event::{ChecksumAlgorithm, EventType};
use paceline_binlog::group::{CommitGroup, EventGroupBuffer, GroupOptions, GroupSize};
use paceline_binlog::log::{Log, LogConfig, OpenRequest};
use paceline_log_stream::primary::request::GroupRecords;
use paceline_log_stream::primary::request::{Acknowledges, Annotations, AtEnd, Capability, GtidStart};
use paceline_log_stream::primary::request::{DumpRequest, MarkedEvents, ReaderKind, StartAt};
use paceline_log_stream::primary::{Host, Link, Primary, ServedLog, StreamEnd};
use paceline_simulated_disk::SimulatedDisk;
use paceline_txn::{Interrupt, InterruptReason, LeaseRegistry, SendLimit};
use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};
use paceline_wire::socket::Socket;
use paceline_wire::{PacketReader, PacketWriter};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;

const PATIENCE: Duration = Duration::from_secs(20);

/// Returns a log with one transaction.
fn log() -> Log {
    let config = LogConfig::new("/log", "bin", ServerId(1));
    let (log, _) = Log::open(Arc::new(SimulatedDisk::new()), config, OpenRequest::new(1)).unwrap();
    let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
    buffer.commit(1);
    let start = log.reserve(4096).unwrap();
    let mut group = CommitGroup::new();
    group.begin(start, GroupSize::Single);
    group.add(
        &mut buffer,
        Gtid::new(DomainId(0), ServerId(1), SequenceNumber(1)),
    );
    log.append(&group).unwrap();
    log.sync().unwrap();
    log
}

fn everything_behind(position: &str) -> DumpRequest {
    DumpRequest {
        server_id: ServerId(2),
        start: StartAt::Gtid(GtidStart {
            position: position.parse().unwrap(),
            ..GtidStart::default()
        }),
        asked: (String::new(), 4),
        kind: ReaderKind::Replica,
        at_end: AtEnd::Wait,
        capability: Capability::GTID,
        checksum: Some(ChecksumAlgorithm::Crc32),
        heartbeat: None,
        annotations: Annotations::Wanted,
        marked: MarkedEvents::Sent,
        group_records: GroupRecords::LeftOut,
        acknowledges: Acknowledges::No,
        member: None,
    }
}

/// Returns the type of the next event, or `None` if none arrives.
async fn next(reader: &mut PacketReader, socket: &mut Socket, patience: Duration) -> Option<u8> {
    let packet = tokio::time::timeout(patience, reader.read(socket)).await.ok()?;
    Some(packet.unwrap()[1 + 4])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_connects_during_a_rotation_waits_for_it() {
    let log = log();
    let sendable = Arc::new(SendLimit::new(log.durable()));
    let primary = Primary::of_archive(ServedLog {
        log: log.clone(),
        sendable: sendable.clone(),
        leases: LeaseRegistry::default(),
    });
    // The new file is in the list. For streams the old one is not closed yet.
    log.rotate(2).unwrap();
    let (near, far) = UnixStream::pair().unwrap();
    let interrupt = Interrupt::new();
    let ends = interrupt.clone();
    let serving = tokio::spawn(async move {
        let mut socket = Socket::unix(near);
        let (mut reader, mut writer) = (PacketReader::new(1 << 20), PacketWriter::new());
        let link = Link {
            socket: &mut socket,
            reader: &mut reader,
            writer: &mut writer,
            write_timeout: PATIENCE,
        };
        let host = Host {
            connection: 1,
            interrupt: &interrupt,
            show: &|_| {},
            accepted: &|| {},
            server_id: ServerId(1),
            replicated: Default::default(),
        };
        let request = everything_behind("0-1-1");
        primary.serve(link, &request, host).await
    });
    let (mut reader, mut socket) = (PacketReader::new(1 << 20), Socket::unix(far));
    let rotate = next(&mut reader, &mut socket, PATIENCE).await;
    assert_eq!(rotate, Some(EventType::ROTATE.0));
    assert_eq!(
        next(&mut reader, &mut socket, Duration::from_millis(100)).await,
        None
    );
    assert!(!serving.is_finished());
    sendable.advance(log.durable());
    let format = next(&mut reader, &mut socket, PATIENCE).await;
    assert_eq!(format, Some(EventType::FORMAT_DESCRIPTION.0));
    ends.raise(InterruptReason::Connection);
    drop(socket);
    let ended = serving.await.unwrap();
    assert!(
        matches!(ended, StreamEnd::AtEnd | StreamEnd::Gone(_)),
        "{ended:?}"
    );
}
