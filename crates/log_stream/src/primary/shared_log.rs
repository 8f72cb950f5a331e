//! Shared reading of the log: all streams at its end read it once.
//!
//! ```text
//!                          tail (cached: the last 4 MiB that were read)
//!   ───────────┬─────────┬─────┬────┬──┬─▶ end
//!      ▲       ▲         ▲                ▲
//!      │       │         └ a stream whose position is in a chunk shares the chunk
//!      │       └ a stream that has caught up continues here, and drops its own reader
//!      └ a stream far from the end has its own reader
//! ```
//!
//! The tail grows in the active file. A closed file may be in object storage, where reads are slow: each stream reads
//! it with its own reader and delays no other.
//!
//! A chunk contains whole events, checked once. The first stream that needs newly durable events reads them; the others
//! find them in the tail.

use paceline_binlog::Result;
use paceline_binlog::event::RawEvent;
use paceline_binlog::log::{Log, LogReader};
use paceline_types::LogPosition;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Number of bytes read at a time; more if one event is longer.
const CHUNK_BYTES: usize = 256 * 1024;
/// Maximum size of the tail in bytes. The last chunk is kept in any case.
const TAIL_BYTES_MAX: usize = 4 << 20;
/// Maximum number of chunks in the tail.
const TAIL_CHUNKS_MAX: usize = 1024;

#[derive(Clone, Copy, Debug)]
struct EventPlace {
    start: LogPosition,
    offset: u32,
}

/// Whole, consecutive events of the log, across files.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Start of the read: the first event's start, or the end of the previous file.
    from: LogPosition,
    /// End of the last event.
    end: LogPosition,
    bytes: Vec<u8>,
    events: Vec<EventPlace>,
}

impl Chunk {
    /// Returns the end of the last event.
    pub fn end(&self) -> LogPosition {
        self.end
    }

    /// Returns the events from a position on, each with its start and end.
    pub fn events_from(
        &self,
        position: LogPosition,
    ) -> impl Iterator<Item = (LogPosition, LogPosition, RawEvent<'_>)> + '_ {
        let first = self.events.partition_point(|event| event.start < position);
        (first..self.events.len()).filter_map(move |at| {
            let place = self.events[at];
            let until = self
                .events
                .get(at + 1)
                .map_or(self.bytes.len(), |next| next.offset as usize);
            let bytes = &self.bytes[place.offset as usize..until];
            // Its checksum was checked when the chunk was read.
            let event = RawEvent::trusted(bytes)?;
            Some((place.start, place.start.advanced_by(bytes.len() as u64), event))
        })
    }

    /// Reads the next chunk. Returns `None` if there are no events before the limit.
    fn read(reader: &mut LogReader, limit: LogPosition) -> Result<Option<Self>> {
        reader.set_limit(limit);
        let from = reader.position();
        let mut bytes = Vec::new();
        let mut events = Vec::new();
        while bytes.len() < CHUNK_BYTES {
            let Some(logged) = reader.next_event()? else {
                break;
            };
            events.push(EventPlace {
                start: logged.start,
                offset: bytes.len() as u32,
            });
            bytes.extend_from_slice(logged.event.bytes());
        }
        bytes.shrink_to_fit();
        Ok((!events.is_empty()).then(|| Chunk {
            from,
            end: reader.position(),
            bytes,
            events,
        }))
    }
}

#[derive(Debug, Default)]
struct Tail {
    reader: Option<LogReader>,
    chunks: VecDeque<Arc<Chunk>>,
    bytes: usize,
}

impl Tail {
    fn end(&self) -> Option<LogPosition> {
        self.chunks.back().map(|chunk| chunk.end)
    }

    fn find(&self, position: LogPosition) -> Option<Arc<Chunk>> {
        let at = self.chunks.partition_point(|chunk| chunk.end <= position);
        let chunk = self.chunks.get(at)?;
        // A replica may have requested a position where no event starts. Reading from there detects that.
        let starts_there = chunk.from == position
            || chunk
                .events
                .binary_search_by_key(&position, |event| event.start)
                .is_ok();
        starts_there.then(|| chunk.clone())
    }

    fn extend(&mut self, limit: LogPosition) -> Result<Option<Arc<Chunk>>> {
        let Some(reader) = &mut self.reader else {
            return Ok(None);
        };
        let read = match Chunk::read(reader, limit) {
            Ok(Some(chunk)) => Arc::new(chunk),
            Ok(None) => return Ok(None),
            Err(error) => {
                *self = Tail::default();
                return Err(error);
            }
        };
        self.bytes += read.bytes.len();
        self.chunks.push_back(read.clone());
        while self.chunks.len() > 1 && (self.bytes > TAIL_BYTES_MAX || self.chunks.len() > TAIL_CHUNKS_MAX) {
            let gone = self.chunks.pop_front();
            self.bytes -= gone.map_or(0, |chunk| chunk.bytes.len());
        }
        Ok(Some(read))
    }

    /// Restarts the tail at a later position.
    fn restart(&mut self, reader: LogReader) {
        *self = Tail {
            reader: Some(reader),
            ..Tail::default()
        };
    }
}

/// Shared reader of the log; see the module comment.
#[derive(Debug)]
pub(super) struct SharedLog {
    log: Log,
    tail: Mutex<Tail>,
}

/// Position of a stream.
#[derive(Debug)]
pub(super) struct Cursor {
    position: LogPosition,
    /// Its own reader, while it is not at the tail.
    own: Option<LogReader>,
}

impl Cursor {
    /// Creates a cursor at a position where an event starts.
    pub fn at(position: LogPosition) -> Self {
        Cursor { position, own: None }
    }

    /// Returns the start of the next event, or the end of the previous file.
    pub fn position(&self) -> LogPosition {
        self.position
    }
}

impl SharedLog {
    pub fn new(log: Log) -> Self {
        SharedLog {
            log,
            tail: Mutex::default(),
        }
    }

    /// Returns the log itself.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the next events of a stream, up to `limit`, and moves the cursor after them. Returns `None` if there are
    /// none.
    ///
    /// # Errors
    /// The errors of reading the log.
    pub fn next(&self, cursor: &mut Cursor, limit: LogPosition) -> Result<Option<Arc<Chunk>>> {
        if cursor.position >= limit {
            return Ok(None);
        }
        let chunk = match self.shared(cursor.position, limit)? {
            Some(chunk) => {
                cursor.own = None;
                Some(chunk)
            }
            None => tokio::task::block_in_place(|| self.own(cursor, limit))?,
        };
        if let Some(chunk) = &chunk {
            cursor.position = chunk.end;
        }
        Ok(chunk)
    }

    /// Reads from the tail, if it contains the position or can be restarted there.
    fn shared(&self, position: LogPosition, limit: LogPosition) -> Result<Option<Arc<Chunk>>> {
        let mut tail = self.tail.lock();
        if let Some(chunk) = tail.find(position) {
            return Ok(Some(chunk));
        }
        match tail.end() {
            Some(end) if end > position => return Ok(None),
            _ if position.ordinal() != limit.ordinal() => return Ok(None),
            Some(end) if end == position => return tail.extend(limit),
            _ => {}
        }
        if limit.offset() - position.offset() > CHUNK_BYTES as u64 {
            return Ok(None);
        }
        tail.restart(self.log.reader(position, limit)?);
        tail.extend(limit)
    }

    fn own(&self, cursor: &mut Cursor, limit: LogPosition) -> Result<Option<Arc<Chunk>>> {
        let reader = match &mut cursor.own {
            Some(reader) => reader,
            None => cursor.own.insert(self.log.reader(cursor.position, limit)?),
        };
        Ok(Chunk::read(reader, limit)?.map(Arc::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_binlog::group::{CommitGroup, EventGroupBuffer, GroupOptions, GroupSize};
    use paceline_binlog::log::{LogConfig, OpenRequest};
    use paceline_simulated_disk::SimulatedDisk;
    use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};

    fn log() -> Log {
        let config = LogConfig::new("/log", "bin", ServerId(1));
        Log::open(Arc::new(SimulatedDisk::new()), config, OpenRequest::new(1))
            .unwrap()
            .0
    }

    fn write(log: &Log, count: u64) {
        for _ in 0..count {
            let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
            buffer.commit(1);
            let sequence = log
                .state()
                .next_sequence(DomainId(0))
                .unwrap_or(SequenceNumber(1));
            let start = log.reserve(4096).unwrap();
            let mut group = CommitGroup::new();
            group.begin(start, GroupSize::Single);
            group.add(&mut buffer, Gtid::new(DomainId(0), ServerId(1), sequence));
            log.append(&group).unwrap();
            log.sync().unwrap();
        }
    }

    fn drain(shared: &SharedLog, cursor: &mut Cursor) -> Vec<LogPosition> {
        let mut starts = Vec::new();
        let limit = shared.log.durable();
        loop {
            let from = cursor.position();
            let Some(chunk) = shared.next(cursor, limit).unwrap() else {
                return starts;
            };
            starts.extend(chunk.events_from(from).map(|(start, _, _)| start));
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn closed_files_are_read_without_the_tail() {
        let log = log();
        let shared = SharedLog::new(log.clone());
        write(&log, 10);
        let mut cursor = Cursor::at(LogPosition::new(log.durable().ordinal(), 4));
        drain(&shared, &mut cursor);
        let end = cursor.position();
        assert_eq!(shared.tail.lock().end(), Some(end));
        // The stream read nothing while this was written.
        write(&log, 20);
        log.rotate(2).unwrap();
        write(&log, 1);
        let limit = log.durable();
        shared.next(&mut cursor, limit).unwrap().unwrap();
        assert!(cursor.own.is_some());
        assert_eq!(shared.tail.lock().end(), Some(end));
        drain(&shared, &mut cursor);
        write(&log, 1);
        drain(&shared, &mut cursor);
        assert!(cursor.own.is_none());
        assert_eq!(shared.tail.lock().end(), Some(log.durable()));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn streams_share_the_tail_after_catching_up() {
        let log = log();
        let beginning = LogPosition::new(log.durable().ordinal(), 4);
        let shared = SharedLog::new(log.clone());
        write(&log, 10);
        let (mut first, mut second) = (Cursor::at(beginning), Cursor::at(beginning));
        let all = drain(&shared, &mut first);
        assert!(all.len() >= 20 && all.is_sorted());
        assert_eq!(drain(&shared, &mut second), all);
        write(&log, 1);
        let limit = log.durable();
        let from = first.position();
        let one = shared.next(&mut first, limit).unwrap().unwrap();
        let same = shared.next(&mut second, limit).unwrap().unwrap();
        assert!(Arc::ptr_eq(&one, &same), "what was just written is read once");
        assert_eq!(one.events_from(from).count(), 2);
        // Across files; and a stream that starts at the beginning after all that.
        log.rotate(2).unwrap();
        write(&log, 3);
        log.rotate(3).unwrap();
        write(&log, 30);
        let rest = drain(&shared, &mut first);
        assert_eq!(drain(&shared, &mut second), rest);
        let mut third = Cursor::at(beginning);
        let everything = drain(&shared, &mut third);
        assert!(everything.is_sorted() && everything.ends_with(&rest) && everything.starts_with(&all));
        assert!(third.own.is_none() || third.position() == first.position());
        write(&log, 1);
        let limit = log.durable();
        let one = shared.next(&mut third, limit).unwrap().unwrap();
        assert!(Arc::ptr_eq(
            &one,
            &shared.next(&mut first, limit).unwrap().unwrap()
        ));
        assert!(third.own.is_none());
        // No event starts there, although the position is in the tail.
        let inside = LogPosition::from_u64(one.from.as_u64() + 1);
        assert!(shared.next(&mut Cursor::at(inside), limit).is_err());
    }
}
