//! A replica's stream: sends the log, receives acknowledgements.
//!
//! ```text
//!   fake Rotate ─▶ Format_description ─▶ [Gtid_list] ─▶ events … ─▶ Rotate ─▶ fake Rotate ─▶ Format_description ─▶ …
//!                                                          │
//!                                             at the end:  └─▶ wait for more, with heartbeats
//! ```
//!
//! One task per replica. It sends nothing beyond the durable position; in a cluster, to readers that are no members,
//! nothing beyond the acknowledged one. While it sends or waits it also reads:
//! acknowledgements, a closed connection, COM_QUIT. An idle stream has no buffers and wakes up only for new events and
//! its heartbeats.

use super::Primary;
use super::artificial_event::{ArtificialEvents, FormatChange, format_description, strip_checksum};
use super::compatible::{make_begin, make_dummy};
use super::filter::{NextAction, Verdict};
use super::refusal::{Places, Refusal};
use super::replica_registry::RunningStream;
use super::request::{Acknowledges, AtEnd, Capability, DumpRequest, ReaderKind};
use super::semi_sync::Member;
use super::shared_log::{Chunk, Cursor};
use super::start::{HeadList, Start, Surroundings};
use paceline_binlog::GtidPosition;
use paceline_binlog::event::{ChecksumAlgorithm, EventType, GtidListEvent, HEADER_LENGTH, RawEvent};
use paceline_txn::{Interrupt, LogLease, SendLimit};
use paceline_types::{LogPosition, ServerId};
use paceline_wire::command::Command;
use paceline_wire::framing::{poll_send_all, send_within};
use paceline_wire::socket::Socket;
use paceline_wire::{PacketReader, PacketWriter, WireError};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// Number of collected bytes at which they are sent.
const FLUSH_AT: usize = 128 * 1024;
/// First byte of a semi-sync header, and of an acknowledgement.
const SEMI_SYNC_MAGIC: u8 = 0xEF;
/// Time at the end of the log after which the buffers are freed.
const IDLE_AFTER: Duration = Duration::from_secs(1);
/// Size of an idle connection's read buffer in bytes: an acknowledgement fits.
const IDLE_READ_BYTES: usize = 256;
/// Maximum length of a plausible event in bytes (MariaDB's limit of max_allowed_packet).
const EVENT_LENGTH_MAX: u32 = 1 << 30;

/// States of a stream in the process list.
pub mod stage {
    /// Events are being sent.
    pub const SENDING: &str = "Sending binlog event to slave";
    /// All events have been sent.
    pub const WAITING: &str = "Master has sent all binlog to slave; waiting for more updates";
}

/// A session's connection, lent to the stream.
#[derive(Debug)]
pub struct Link<'a> {
    /// The socket.
    pub socket: &'a mut Socket,
    /// Reads packets from the socket.
    pub reader: &'a mut PacketReader,
    /// Buffer for packets to send.
    pub writer: &'a mut PacketWriter,
    /// Maximum time in which the replica accepts no data (`net_write_timeout`).
    pub write_timeout: Duration,
}

/// Session in which a stream runs.
pub struct Host<'a> {
    /// Id of the connection.
    pub connection: u32,
    /// Ends the stream.
    pub interrupt: &'a Interrupt,
    /// Sets the state in the process list.
    pub show: &'a (dyn Fn(&'static str) + Sync),
    /// Called before anything is sent, when the reader's position has been found in the log.
    pub accepted: &'a (dyn Fn() + Sync),
    /// Id of this server.
    pub server_id: ServerId,
    /// GTID position up to which this server has replicated itself (`gtid_slave_pos`).
    pub replicated: GtidPosition,
}

/// Whether an event asks a semi-sync replica to acknowledge it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asks {
    Yes,
    No,
}

/// End of a stream.
#[derive(Debug)]
pub enum StreamEnd {
    /// Everything requested has been sent, or the session was killed: EOF is sent to the reader.
    AtEnd,
    /// The reason is sent to the replica.
    Refused(Refusal),
    /// The connection is closed.
    Gone(WireError),
}

impl From<Refusal> for StreamEnd {
    fn from(refusal: Refusal) -> Self {
        StreamEnd::Refused(refusal)
    }
}

impl From<WireError> for StreamEnd {
    fn from(error: WireError) -> Self {
        StreamEnd::Gone(error)
    }
}

type Step<T = ()> = Result<T, StreamEnd>;

/// A running stream.
pub(super) struct Stream<'a> {
    primary: &'a Primary,
    /// How far the log may be sent to this reader.
    limit: Arc<SendLimit>,
    link: Link<'a>,
    host: Host<'a>,
    request: &'a DumpRequest,
    running: RunningStream,
    made_up: ArtificialEvents,
    /// Checksum algorithm of the events from the first Format_description on.
    checksum: ChecksumAlgorithm,
    cursor: Cursor,
    /// Name of the current file.
    file: String,
    lease: LogLease,
    member: Option<Member>,
    /// End of the last event that was considered.
    last_event: LogPosition,
    /// End of the last event that was sent or left out, and its time in seconds since 1970.
    passed: (LogPosition, u32),
    /// End of the last event that the replica knows of. Events after it have been skipped.
    announced_end: LogPosition,
}

impl Primary {
    /// Serves a replica until it disconnects, its session is told to end, or it has received everything it requested.
    pub async fn serve(&self, link: Link<'_>, request: &DumpRequest, host: Host<'_>) -> StreamEnd {
        let running = self
            .replicas
            .begin_stream(host.connection, request.server_id, request.group_records);
        let interrupt = host.interrupt;
        let limit = self.limit_of(request);
        // Take the lease before any position is searched, so that the files still exist when they are read.
        let lease = self
            .served
            .lease(LogPosition::ZERO, format!("connection {}", host.connection));
        let around = Surroundings {
            log: self.shared.log(),
            server_id: host.server_id,
            replicated: &host.replicated,
            limit: limit.position(),
        };
        let start = match tokio::task::block_in_place(|| Start::find(&around, request)) {
            Ok(start) => start,
            Err(refusal) => return StreamEnd::Refused(refusal),
        };
        let stream = Stream {
            primary: self,
            limit,
            made_up: ArtificialEvents {
                server_id: host.server_id,
            },
            checksum: match (request.kind, request.checksum) {
                (ReaderKind::Replica, Some(ChecksumAlgorithm::None)) => ChecksumAlgorithm::None,
                _ => ChecksumAlgorithm::Crc32,
            },
            cursor: Cursor::at(start.file),
            file: String::new(),
            member: None,
            last_event: start.file,
            passed: (start.from, 0),
            announced_end: start.file,
            link,
            host,
            request,
            running,
            lease,
        };
        // Ending a session shuts down the read side of its socket, which looks like a disconnect.
        match stream.run(start).await {
            Ok(()) => StreamEnd::AtEnd,
            Err(StreamEnd::Gone(WireError::Closed)) if interrupt.raised().is_some() => StreamEnd::AtEnd,
            Err(ended) => ended,
        }
    }
}

impl Stream<'_> {
    async fn run(mut self, mut start: Start) -> Step {
        (self.host.accepted)();
        (self.host.show)(stage::SENDING);
        self.lease.advance(start.file);
        if self.request.acknowledges == Acknowledges::Yes {
            let semi_sync = &self.primary.semi_sync;
            self.link.socket.let_frames_cross();
            self.member = Some(semi_sync.join(self.host.connection, self.request.server_id, start.from));
        }
        self.begin(&start).await?;
        if start.filter.is_over() {
            let list = start.filter.list(NextAction::End);
            self.send_list(&list, start.from);
            return self.flush().await;
        }
        loop {
            self.check_stop_request()?;
            let from = self.cursor.position();
            let limit = self.limit.position();
            match self.primary.shared.next(&mut self.cursor, limit) {
                Err(error) => return Err(self.unreadable(error).into()),
                Ok(Some(chunk)) => {
                    if self.send_chunk(&chunk, from, &mut start).await? == NextAction::End {
                        return self.flush().await;
                    }
                    // At the end of the log nothing may stay in the buffer.
                    if self.cursor.position() >= self.limit.position() {
                        self.flush().await?;
                    }
                }
                Ok(None) if self.request.at_end == AtEnd::Stop => return self.flush().await,
                Ok(None) => {
                    self.flush().await?;
                    self.wait().await?;
                }
            }
        }
    }

    /// Sends the head of the first file and the information on the start.
    async fn begin(&mut self, start: &Start) -> Step {
        self.enter_file(start.file)?;
        let first_checksum = self.request.checksum.unwrap_or(ChecksumAlgorithm::None);
        let rotate = self
            .made_up
            .rotate(&self.file, start.announced_offset, first_checksum);
        self.send(&rotate);
        if self.cursor.position() >= self.limit.position() {
            // The log has continued in this file while the previous one is still being closed.
            self.flush().await?;
            self.wait().await?;
        }
        let limit = self.limit.position();
        let chunk = self
            .primary
            .shared
            .next(&mut self.cursor, limit)
            .map_err(|error| self.unreadable(error))?
            .ok_or_else(|| {
                Refusal::Other("Failed to find format descriptor event in start of binlog".into())
            })?;
        let mut events = chunk.events_from(start.file);
        let Some((_, format_end, format)) = events.next() else {
            return Err(
                Refusal::Other("Corrupt Format_description event found or out-of-memory".into()).into(),
            );
        };
        if self.request.checksum.is_none() {
            let places = self.places(start.file, format_end);
            // MariaDB announces the file first, and then refuses to send it.
            self.flush().await?;
            let refused = Refusal::ChecksumsUnknown;
            return Err(Refusal::Other(format!("{refused}{places}")).into());
        }
        self.send_format(format.bytes(), start.format);
        let is_mid_file = start.state.is_some() || start.announced_offset != 4;
        if !is_mid_file {
            self.cursor = Cursor::at(format_end);
            self.announced_end = format_end;
            return Ok(());
        }
        if start.head == HeadList::Sent
            && let Some((_, _, list)) =
                events.find(|(_, _, event)| event.event_type() == EventType::GTID_LIST)
        {
            self.send_logged(list.bytes(), Asks::No);
        }
        if let Some(state) = &start.state
            && self.request.kind == ReaderKind::Replica
            && self.request.capability >= Capability::GTID
        {
            let list = GtidListEvent::of_state(state);
            self.send_list(&list, start.from);
        }
        self.cursor = Cursor::at(start.from);
        self.announced_end = start.from;
        Ok(())
    }

    /// Sends those events of a chunk that the replica receives.
    async fn send_chunk(
        &mut self,
        chunk: &Arc<Chunk>,
        from: LogPosition,
        start: &mut Start,
    ) -> Step<NextAction> {
        let asked_at = match &self.member {
            Some(member) => member.asked_at(self.last_event, chunk.end()),
            None => None,
        };
        for (begins, ends, event) in chunk.events_from(from) {
            if event.event_type() == EventType::FORMAT_DESCRIPTION && begins.offset() == 4 {
                self.enter_file(begins)?;
                let rotate = self.made_up.rotate(&self.file, 4, self.checksum);
                self.send(&rotate);
                self.send_format(event.bytes(), start.filter.format_change());
                self.announced_end = ends;
                continue;
            }
            let log = self.primary.shared.log();
            let (verdict, then) = start.filter.take(&event, || log.state())?;
            self.passed = (ends, event.header().timestamp);
            let is_asked = asked_at == Some(ends);
            self.send_event(&event, verdict, if is_asked { Asks::Yes } else { Asks::No })?;
            if verdict != Verdict::LeaveOut {
                self.announced_end = ends;
            }
            if then != NextAction::Continue {
                let list = start.filter.list(then);
                self.send_list(&list, ends);
            }
            if is_asked {
                if verdict == Verdict::LeaveOut {
                    // By its own request the replica has this transaction; but it may not have those sent before.
                    self.ask_by_list(ends)?;
                }
                self.flush().await?;
                // The same for the numbers of frames.
                self.link.socket.set_frame_sequence(1);
            }
            if then == NextAction::End {
                return Ok(NextAction::End);
            }
            if self.link.writer.pending() >= FLUSH_AT {
                self.flush().await?;
                self.check_stop_request()?;
            }
        }
        self.last_event = chunk.end();
        Ok(NextAction::Continue)
    }

    /// Announces the end of the log to the replica if the last events there were skipped: then it knows that it has
    /// everything (`MASTER_POS_WAIT()`).
    async fn announce_end(&mut self) -> Step {
        let end = self.cursor.position();
        if self.request.heartbeat.is_none() || self.announced_end >= end {
            return Ok(());
        }
        self.announced_end = end;
        let heartbeat = self.made_up.heartbeat(&self.file, end.offset(), self.checksum);
        self.send(&heartbeat);
        self.flush().await
    }

    /// Waits at the end of the log.
    async fn wait(&mut self) -> Step {
        (self.host.show)(stage::WAITING);
        self.announce_end().await?;
        let began = Instant::now();
        let mut heartbeat_at = self
            .request
            .heartbeat
            .and_then(|period| began.checked_add(period));
        let mut idle_at = Some(began + IDLE_AFTER);
        let mut more = pin!(self.limit.past(self.cursor.position()));
        let running = self.running.replaced.clone();
        loop {
            let wake_at = [heartbeat_at, idle_at].into_iter().flatten().min();
            tokio::select! {
                biased;
                () = &mut more => break,
                heard = listen(&mut self.link, self.member.as_ref(), self.primary) => heard?,
                () = running.wait() => {}
                () = sleep_until(wake_at) => {}
            }
            self.check_stop_request()?;
            let now = Instant::now();
            if idle_at.is_some_and(|at| at <= now) {
                idle_at = None;
                self.link.writer.shrink();
                self.link.reader.shrink(IDLE_READ_BYTES);
            }
            if heartbeat_at.is_some_and(|at| at <= now) {
                let offset = self.cursor.position().offset();
                let heartbeat = self.made_up.heartbeat(&self.file, offset, self.checksum);
                self.send(&heartbeat);
                self.flush().await?;
                heartbeat_at = self.request.heartbeat.and_then(|period| now.checked_add(period));
                if idle_at.is_none() {
                    self.link.writer.shrink();
                }
            }
        }
        (self.host.show)(stage::SENDING);
        Ok(())
    }

    /// Continues the stream in another file.
    fn enter_file(&mut self, position: LogPosition) -> Step {
        let gone = |_| Refusal::Other("could not find next log".to_owned());
        self.file = self.primary.served.log.coordinates(position).map_err(gone)?.0;
        self.lease.advance(position);
        Ok(())
    }

    fn check_stop_request(&self) -> Step {
        if self.running.replaced.is_set() {
            let places = self.places(self.cursor.position(), self.cursor.position());
            return Err(Refusal::SameServerId(places).into());
        }
        match self.host.interrupt.raised() {
            // The replica sees EOF and retries later.
            Some(_) => Err(StreamEnd::AtEnd),
            None => Ok(()),
        }
    }

    fn send_event(&mut self, event: &RawEvent<'_>, verdict: Verdict, asks: Asks) -> Step {
        let changed = |change: fn(&mut [u8]) -> bool, problem: &str| {
            let mut bytes = event.bytes().to_vec();
            match change(&mut bytes) {
                true => Ok(bytes),
                false => Err(Refusal::Other(problem.to_owned())),
            }
        };
        match verdict {
            Verdict::LeaveOut => return Ok(()),
            Verdict::Send => self.send_logged(event.bytes(), asks),
            Verdict::SendDummy => {
                let bytes = changed(
                    make_dummy,
                    "Failed to replace row annotate event with dummy: too small event.",
                )?;
                self.send_logged(&bytes, asks);
            }
            Verdict::SendBegin => {
                let bytes = changed(
                    make_begin,
                    "Failed to replace GTID event with backwards-compatible event: currupt event.",
                )?;
                self.send_logged(&bytes, asks);
            }
        }
        Ok(())
    }

    fn send_format(&mut self, event: &[u8], change: FormatChange) {
        let mut event = event.to_vec();
        format_description(&mut event, change, self.checksum);
        self.send(&event);
    }

    /// Asks for an acknowledgement at a position where no event is sent to the replica.
    fn ask_by_list(&mut self, at: LogPosition) -> Step {
        let state = self.primary.shared.log().state_at(at);
        let state = state.map_err(|error| self.unreadable(error))?;
        let list = GtidListEvent::of_state(&state);
        let event = self.made_up.gtid_list(&list, at.offset(), self.checksum);
        self.send_asking(&event, Asks::Yes);
        Ok(())
    }

    fn send_list(&mut self, list: &GtidListEvent, at: LogPosition) {
        let event = self.made_up.gtid_list(list, at.offset(), self.checksum);
        self.send(&event);
    }

    /// Sends an event of the log, which ends with a checksum, with or without the checksum.
    fn send_logged(&mut self, event: &[u8], asks: Asks) {
        self.send_changed(event, asks, self.checksum);
    }

    /// Sends an event unchanged.
    fn send(&mut self, event: &[u8]) {
        self.send_asking(event, Asks::No);
    }

    fn send_asking(&mut self, event: &[u8], asks: Asks) {
        self.send_changed(event, asks, ChecksumAlgorithm::Crc32);
    }

    fn send_changed(&mut self, event: &[u8], asks: Asks, checksum: ChecksumAlgorithm) {
        let out = self.link.writer.begin();
        out.push(0);
        if self.member.is_some() {
            out.push(SEMI_SYNC_MAGIC);
            out.push(u8::from(asks == Asks::Yes));
        }
        let at = out.len();
        out.extend_from_slice(event);
        if checksum == ChecksumAlgorithm::None {
            strip_checksum(out, at);
        }
        self.link.writer.end();
        if asks == Asks::Yes {
            // Acknowledgements and events cross on the connection: MariaDB restarts the packet numbers after each event
            // that asks for one.
            self.link.writer.set_sequence(1);
        }
    }

    /// Writes the buffer to the socket and reads meanwhile.
    async fn flush(&mut self) -> Step {
        let (passed, timestamp) = self.passed;
        if self.link.writer.pending() == 0 {
            self.running.progress.note(passed, timestamp);
            return Ok(());
        }
        let limit = self.link.write_timeout;
        self.link.writer.begin_flush()?;
        let (link, member, primary) = (&mut self.link, self.member.as_ref(), self.primary);
        let sent = AtomicUsize::new(0);
        send_within(limit, &sent, |context| {
            if let Poll::Ready(heard) = poll_listen(context, link, member, primary) {
                heard?;
            }
            poll_send_all(context, link.socket, link.writer.bytes(), &sent)
        })
        .await?;
        self.link.writer.end_flush();
        self.running.progress.note(passed, timestamp);
        Ok(())
    }

    fn places(&self, event: LogPosition, byte: LogPosition) -> Places {
        let (file, offset) = &self.request.asked;
        let base = file.rsplit('/').next().unwrap_or(file).to_owned();
        Places {
            first: (base, *offset),
            last: (self.file.clone(), event.offset(), byte.offset()),
        }
    }

    /// Returns MariaDB's message for a position where no event can be read.
    fn unreadable(&self, error: paceline_binlog::Error) -> Refusal {
        let at = self.cursor.position();
        tracing::error!("a replica's stream ends: {error}");
        let problem = match &error {
            paceline_binlog::Error::Purged | paceline_binlog::Error::MissingFile(_) => {
                return Refusal::Other("could not find next log".into());
            }
            paceline_binlog::Error::Io { .. } => "I/O error reading log event",
            _ => self.describe_position(at),
        };
        let header = at.advanced_by(HEADER_LENGTH as u64);
        Refusal::Unreadable {
            problem,
            places: self.places(at, header),
        }
    }

    /// Examines the position that a replica requested as the start of an event, with MariaDB's checks.
    fn describe_position(&self, at: LogPosition) -> &'static str {
        let length = self.primary.length_at(at);
        match length {
            Some(length) if length < HEADER_LENGTH as u32 => "bogus data in log event",
            Some(length) if length > EVENT_LENGTH_MAX => {
                "log event entry exceeded max_allowed_packet; Increase max_allowed_packet on master"
            }
            Some(length) if at.offset() + u64::from(length) > self.limit.position().offset() => {
                "binlog truncated in the middle of event; consider out of disk space on master"
            }
            _ => "event read from binlog did not pass crc check",
        }
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Reads the replica's packets. Returns when it disconnects.
async fn listen(link: &mut Link<'_>, member: Option<&Member>, primary: &Primary) -> Result<(), WireError> {
    std::future::poll_fn(|context| poll_listen(context, link, member, primary)).await
}

/// Handles all packets that have arrived. Ready only when the replica disconnects.
fn poll_listen(
    context: &mut Context<'_>,
    link: &mut Link<'_>,
    member: Option<&Member>,
    primary: &Primary,
) -> Poll<Result<(), WireError>> {
    loop {
        // Each of the replica's packets starts a new sequence.
        link.reader.set_sequence(0);
        std::task::ready!(link.reader.poll_advance(context, link.socket))?;
        let payload = link.reader.payload();
        if let (Some(member), Some((&SEMI_SYNC_MAGIC, acknowledgement))) = (member, payload.split_first()) {
            match acknowledged(acknowledgement, primary) {
                Some(position) => member.acknowledged(position),
                None => tracing::error!("a semi-sync acknowledgement names no place in the log"),
            }
        } else if matches!(Command::parse(payload), Ok(Command::Quit)) {
            return Poll::Ready(Err(WireError::Closed));
        } else {
            tracing::debug!(
                "a replica sent {} bytes that are not an acknowledgement",
                payload.len()
            );
        }
    }
}

/// Decodes the position in an acknowledgement: offset (8), file name.
fn acknowledged(payload: &[u8], primary: &Primary) -> Option<LogPosition> {
    let (offset, name) = payload.split_first_chunk::<8>()?;
    let name = name.split(|byte| *byte == 0).next()?;
    let position = primary
        .shared
        .log()
        .position_of(std::str::from_utf8(name).ok()?, u64::from_le_bytes(*offset))
        .ok()?;
    (position <= primary.served.sendable()).then_some(position)
}
