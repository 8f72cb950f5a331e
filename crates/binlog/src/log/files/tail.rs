//! Reading a file to its end, and deciding what a bad place in it means. [`crate::log`] has the rules.

use crate::disk::DiskFile;
use crate::epoch::{EpochHistory, EpochMark, EpochStart};
use crate::error::{Error, Result};
use crate::event::{
    BinlogCheckpointEvent, CommitId, EventFlags, EventType, FormatDescription, GtidEvent, IgnorableEvent,
    MAGIC, RawEvent,
};
use crate::gtid::LOCAL_DOMAIN;
use crate::log::files::event_stream::{EventStream, ScanStep};
use crate::log::files::grouping::{EventRole, Grouping};
use crate::log::files::gtid_index::GtidIndexBuilder;
use crate::log::files::head::{FileHead, Origin, read_format};
use crate::replica_state::{PositionChange, RecordScope, ReplicaRecord, ReplicaState};
use crate::sync_mode::SyncMode;
use paceline_types::{Gtid, LogPosition};
use std::sync::Arc;

/// How a file ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::log) enum TailState {
    /// With a Stop event.
    Stop,
    /// With a Rotate event.
    Rotate,
    /// With neither.
    None,
}

/// Why reading ended where it did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadEnd {
    EndOfFile,
    /// Bytes that are not an event; normally zeros.
    BadEvent,
}

/// Result of reading a file to its end.
#[derive(Debug)]
pub(in crate::log) struct Tail {
    /// End of the last whole event group, or of the last event outside of a group.
    pub end: u64,
    /// GTID index and GTID state up to `end`.
    pub builder: GtidIndexBuilder,
    /// State of the replica at `end`.
    pub replica: ReplicaState,
    /// Epochs that began before `end`.
    pub epochs: EpochHistory,
    /// Name of the file in the last Binlog_checkpoint.
    pub checkpoint: Option<String>,
    pub ending: TailState,
    /// Offset up to which everything was durable, as later events prove.
    pub durable: u64,
    /// Number of bytes from `end` to the last byte that is not zero.
    pub garbage: u64,
    /// Timestamp of the last event, in seconds since 1970.
    pub timestamp: u32,
    /// Number of event groups.
    pub groups: u64,
    /// End of the large transaction whose file this was at first; `None` if the file was begun by the log.
    pub large_end: Option<u64>,
}

impl Tail {
    /// Returns whether the file contains a large transaction and nothing was written after it.
    pub fn is_one_large_group(&self) -> bool {
        self.groups == 1 && self.large_end == Some(self.end)
    }
}

/// Reads a file that may end with a torn write.
///
/// # Errors
/// [`Error::Gap`] if a bad place had been durable.
pub(in crate::log) fn read_tail(file: &Arc<dyn DiskFile>, name: &str, head: &FileHead) -> Result<Tail> {
    let length = file.length().map_err(|source| Error::Io {
        operation: "examine",
        path: name.into(),
        source,
    })?;
    let mut stream = EventStream::new(Arc::clone(file), name.to_owned(), MAGIC.len() as u64, length);
    let (format, _) = read_format(&mut stream)?;
    let mut scan = Scan {
        format,
        ordinal: head.ordinal,
        origin: head.origin,
        grouping: Grouping::Outside,
        group_start: 0,
        mode: head.sync_mode,
        tail: Tail {
            end: stream.position(),
            builder: GtidIndexBuilder::new(head.state.clone(), head.length),
            replica: head.replica.clone(),
            epochs: head.epochs.clone(),
            checkpoint: None,
            ending: TailState::None,
            durable: head.length,
            garbage: 0,
            timestamp: 0,
            groups: 0,
            large_end: None,
        },
        open_gtid: None,
        open_moves: Vec::new(),
        standalone: false,
    };
    let (bad, problem, read_end) = loop {
        match stream.advance()? {
            ScanStep::Event { start, length } => {
                let event = stream.event(start, length)?;
                scan.take(start, &event).map_err(|error| Error::Damaged {
                    file: name.to_owned(),
                    offset: start,
                    problem: error.to_string(),
                })?;
            }
            ScanStep::Limit => break (stream.position(), "it ends", ReadEnd::EndOfFile),
            ScanStep::Bad(problem) => break (stream.position(), problem, ReadEnd::BadEvent),
        }
    };
    if scan.tail.ending != TailState::None {
        // The event that ends a file was synced, and nothing is written after it.
        if let Some(nonzero) = stream.first_nonzero(bad)? {
            return Err(stream.damaged(nonzero, "there is something after the event that ends the file"));
        }
        return Ok(scan.tail);
    }
    // A large transaction's file was complete and durable, with space after it, before it became part of the log. If
    // it ends early with nothing after that, it was cut on purpose, as a restore to a point before that
    // transaction does.
    if bad < scan.tail.durable && read_end == ReadEnd::BadEvent {
        return Err(Error::Gap {
            file: name.to_owned(),
            offset: bad,
            witness: "the record in the file's head".to_owned(),
            found_at: head.length,
        });
    }
    scan.tail.garbage = stream
        .last_nonzero(scan.tail.end)?
        .map_or(0, |last| last + 1 - scan.tail.end);
    if scan.tail.garbage > 0 {
        tracing::warn!("binary log file '{name}' has a torn write at offset {bad}: {problem}");
        refuse_gap(&mut stream, &scan, bad)?;
    }
    Ok(scan.tail)
}

/// Examines every valid event after the bad place: was it written after the bad place was durable?
fn refuse_gap(stream: &mut EventStream, scan: &Scan, bad: u64) -> Result<()> {
    let mut from = bad + 1;
    while let Some(found_at) = stream.first_event_from(from)? {
        let ScanStep::Event { start, length } = stream.advance()? else {
            break;
        };
        let event = stream.event(start, length)?;
        if let Some(witness) = scan.witness(&event, start, bad) {
            return Err(Error::Gap {
                file: stream.name().to_owned(),
                offset: bad,
                witness,
                found_at,
            });
        }
        from = start + length as u64;
    }
    Ok(())
}

/// State of reading a file.
#[derive(Debug)]
struct Scan {
    format: FormatDescription,
    ordinal: u32,
    origin: Origin,
    grouping: Grouping,
    /// Start of the open group.
    group_start: u64,
    open_gtid: Option<Gtid>,
    /// Changes of the replica's state that take effect when the open or the next group is complete.
    open_moves: Vec<ReplicaRecord>,
    /// Whether the open group is one statement.
    standalone: bool,
    mode: SyncMode,
    tail: Tail,
}

impl Scan {
    /// Takes the next valid event.
    fn take(&mut self, start: u64, event: &RawEvent<'_>) -> Result<()> {
        if self.tail.ending != TailState::None {
            return Err(Error::Malformed {
                event: event.event_type().name(),
                problem: "it is after the file's end",
            });
        }
        let end = start + event.bytes().len() as u64;
        match self.grouping.observe(event)? {
            EventRole::Begins => {
                let gtid = GtidEvent::decode(event.body(), event.header().server_id)?;
                self.group_start = start;
                self.open_gtid = Some(gtid.gtid);
                self.standalone = self.grouping == Grouping::Standalone;
                if event.header().flags.contains(EventFlags::REPLICATED) {
                    self.open_moves
                        .push(ReplicaRecord::of_gtids(PositionChange::To(vec![gtid.gtid])));
                }
                if self.mode == SyncMode::EachGroup {
                    self.tail.durable = self.tail.durable.max(self.write_start(gtid.commit_id, start));
                }
            }
            EventRole::Inside => {}
            EventRole::Ends => {
                self.tail.groups += 1;
                if let Some(gtid) = self.open_gtid.take() {
                    if self.standalone {
                        self.take_epoch(gtid, event);
                    }
                    self.tail.builder.record(gtid, self.group_start);
                }
                for record in self.open_moves.drain(..) {
                    self.tail.replica.apply(&record);
                }
                self.tail.end = end;
                self.tail.timestamp = event.header().timestamp;
            }
            EventRole::Control => {
                self.take_control(start, event)?;
                self.tail.end = end;
                self.tail.timestamp = event.header().timestamp;
            }
        }
        Ok(())
    }

    /// Takes the statement of a standalone group, before the group counts.
    fn take_epoch(&mut self, gtid: Gtid, event: &RawEvent<'_>) {
        let mark = EpochMark::of_event(event.event_type(), event.body());
        if let Some(EpochMark { epoch, primary }) = mark.filter(|_| gtid.domain_id != LOCAL_DOMAIN) {
            self.tail.epochs.push(EpochStart {
                epoch,
                primary,
                index: self.tail.builder.state().log_index(),
            });
        }
    }

    fn take_control(&mut self, start: u64, event: &RawEvent<'_>) -> Result<()> {
        match event.event_type() {
            EventType::STOP => self.tail.ending = TailState::Stop,
            EventType::ROTATE => self.tail.ending = TailState::Rotate,
            EventType::BINLOG_CHECKPOINT => {
                let checkpoint = BinlogCheckpointEvent::decode(event.body())?;
                self.tail.checkpoint = Some(String::from_utf8_lossy(checkpoint.file_name).into_owned());
                self.tail.durable = self.tail.durable.max(start);
            }
            EventType::IGNORABLE => match IgnorableEvent::decode(event.body())? {
                IgnorableEvent::Durable { durable, sync_mode } => {
                    if durable.ordinal() == self.ordinal {
                        self.tail.durable = self.tail.durable.max(durable.offset());
                        // Only the record in the head of a large transaction's file states a position after itself.
                        if durable.offset() > start {
                            self.tail.large_end = Some(durable.offset());
                        }
                    }
                    self.mode = sync_mode;
                }
                IgnorableEvent::Replica(record) => {
                    let record = ReplicaRecord::decode(record)?;
                    match record.scope {
                        RecordScope::Alone => self.tail.replica.apply(&record),
                        RecordScope::WithNextGroup => self.open_moves.push(record),
                    }
                }
                IgnorableEvent::FileHead { .. }
                | IgnorableEvent::Epochs(_)
                | IgnorableEvent::Padding(_)
                | IgnorableEvent::RowEvent { .. }
                | IgnorableEvent::Text
                | IgnorableEvent::Other(_) => {}
            },
            EventType::FORMAT_DESCRIPTION => {
                let again = FormatDescription::decode(event.body())?;
                if again.checksum != self.format.checksum {
                    return Err(Error::Malformed {
                        event: "Format_desc",
                        problem: "the file changes its checksums",
                    });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns where the write began that contains the Gtid event at `start`.
    fn write_start(&self, commit_id: Option<CommitId>, start: u64) -> u64 {
        let Some(write) = commit_id.map(CommitId::start) else {
            return start;
        };
        // Our commit ids are in this file, before the event. Other servers have assigned all others.
        if write.ordinal() == self.ordinal && write.offset() <= start {
            write.offset()
        } else {
            start
        }
    }

    /// Returns the evidence in a valid event after a bad place: something if it was written when the bad place was
    /// durable.
    fn witness(&self, event: &RawEvent<'_>, start: u64, bad: u64) -> Option<String> {
        if self.origin != Origin::Ours {
            // Any event counts: it was written after a place that must have been intact.
            return Some(format!("a {} event", event.event_type()));
        }
        match event.event_type() {
            EventType::GTID if self.mode == SyncMode::EachGroup => {
                let gtid = GtidEvent::decode(event.body(), event.header().server_id).ok()?;
                let behind = self.write_start(gtid.commit_id, start) > bad;
                behind.then(|| format!("transaction {}", gtid.gtid))
            }
            EventType::STOP | EventType::ROTATE | EventType::BINLOG_CHECKPOINT => {
                Some(format!("a {} event", event.event_type()))
            }
            EventType::IGNORABLE => match IgnorableEvent::decode(event.body()).ok()? {
                IgnorableEvent::Durable { durable, .. } if durable > LogPosition::new(self.ordinal, bad) => {
                    Some("a record of what was durable".to_owned())
                }
                _ => None,
            },
            _ => None,
        }
    }
}
