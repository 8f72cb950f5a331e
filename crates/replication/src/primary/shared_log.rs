//! The log as streams read it: once for all who stand at its end.
//!
//! ```text
//!                          tail (kept: the last 4 MiB that were read)
//!   ───────────┬─────────┬─────┬────┬──┬─▶ end
//!      ▲       ▲         ▲                ▲
//!      │       │         └ a stream that finds its place in a chunk shares it
//!      │       └ one that comes from behind goes on here, and gives its reader back
//!      └ one that is far behind reads for itself
//! ```
//!
//! The tail grows in the file that is written. One that is closed may be in object storage, where a read takes its time: each reads it for itself, and holds
//! nobody up.
//!
//! A chunk holds whole events, checked once. Whoever first needs what has become durable reads it; the others find it.

use paceline_binlog::Result;
use paceline_binlog::event::RawEvent;
use paceline_binlog::log::{Log, LogReader};
use paceline_types::LogPosition;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// How much is read at a time, in bytes; more where one event is longer.
const CHUNK_BYTES: usize = 256 * 1024;
/// How much of the tail is kept, in bytes. The last chunk is kept in any case.
const TAIL_BYTES_MAX: usize = 4 << 20;
/// How many chunks are kept.
const TAIL_CHUNKS_MAX: usize = 1024;

#[derive(Clone, Copy, Debug)]
struct EventPlace {
    start: LogPosition,
    offset: u32,
}

/// Whole events that follow each other in the log, across files.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Where reading began: the first event's start, or the end of the file before.
    from: LogPosition,
    /// Where the last event ends.
    end: LogPosition,
    bytes: Vec<u8>,
    events: Vec<EventPlace>,
}

impl Chunk {
    /// Where the last event ends.
    pub fn end(&self) -> LogPosition {
        self.end
    }

    /// The events from a place on, with where each starts and ends.
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
            // Checked when it was read.
            let event = RawEvent::trusted(bytes)?;
            Some((place.start, place.start.advanced_by(bytes.len() as u64), event))
        })
    }

    /// Reads on. `None` if there is nothing up to the limit.
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
        // A replica may have asked for a place where no event starts; that is found out by reading there.
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

    /// Begins anew at a place further on.
    fn restart(&mut self, reader: LogReader) {
        *self = Tail {
            reader: Some(reader),
            ..Tail::default()
        };
    }
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct SharedLog {
    log: Log,
    tail: Mutex<Tail>,
}

/// Where a stream is.
#[derive(Debug)]
pub(super) struct Cursor {
    position: LogPosition,
    /// Its own reader, while it is behind.
    own: Option<LogReader>,
}

impl Cursor {
    /// At a place where an event starts.
    pub fn at(position: LogPosition) -> Self {
        Cursor { position, own: None }
    }

    /// Where the next event starts, or the end of the file before.
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

    /// The log itself.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The next events of a stream, none of them past `limit`. The cursor moves behind them. `None` if there are none.
    ///
    /// # Errors
    /// Those of reading.
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

    /// From the tail, if the place is in it or it can be made to begin there.
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
    use paceline_binlog::log::{LogConfig, OpenRequest, SimulatedDisk};
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
    async fn closed_files_are_read_beside_the_tail() {
        let log = log();
        let shared = SharedLog::new(log.clone());
        write(&log, 10);
        let mut cursor = Cursor::at(LogPosition::new(log.durable().ordinal(), 4));
        drain(&shared, &mut cursor);
        let end = cursor.position();
        assert_eq!(shared.tail.lock().end(), Some(end));
        // It was away while this was written.
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
    async fn streams_share_the_tail_and_come_to_it_from_behind() {
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
        // Across files, and one that starts at the beginning after all that.
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
        // No event starts there, although the place is in the tail.
        let inside = LogPosition::from_u64(one.from.as_u64() + 1);
        assert!(shared.next(&mut Cursor::at(inside), limit).is_err());
    }
}
