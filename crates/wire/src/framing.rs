//! Packets: splitting a stream of bytes into payloads, and writing payloads into a stream.
//!
//! ```text
//!   ┌──────────────┬──────────┬───────────────┐
//!   │ length (3)   │ seq (1)  │ payload       │   length = 0xFFFFFF: the payload continues in the next packet
//!   └──────────────┴──────────┴───────────────┘
//! ```
//!
//! The sequence number starts at 0 with each command and counts the packets of both directions. [`PacketReader`]
//! keeps one buffer for the lifetime of a connection and returns slices of it. [`PacketWriter`] collects all packets
//! that answer a command and passes them to the socket in one write.

use crate::buffered::CountedCapacity;
use crate::error::{WireError, WireResult};
use crate::socket::Socket;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::time::timeout;

/// Maximum length of a packet's payload, in bytes. A packet of exactly this length is followed by another one.
pub const PAYLOAD_MAX: usize = 0xFF_FFFF;
/// Length of a packet's header, in bytes.
pub const HEADER: usize = 4;
/// Initial length of a reader's buffer, and its length after it shrinks.
const READ_BUFFER: usize = 16 * 1024;
/// Initial capacity of a writer's buffer. It is small because thousands of idle connections have sent little.
const WRITE_BUFFER: usize = 1024;
/// A larger buffer is freed when it is idle.
const IDLE_BUFFER_MAX: usize = 256 * 1024;

/// Splits the bytes from a socket into payloads.
#[derive(Debug)]
pub struct PacketReader {
    buffer: Vec<u8>,
    /// Start of the bytes that were received and not yet consumed: `buffer[start..end]`.
    start: usize,
    end: usize,
    sequence: u8,
    payload_max: usize,
    /// Whether any sequence number is accepted.
    any_sequence: bool,
    /// Range of the last payload in the buffer.
    payload: Range<usize>,
    counted: CountedCapacity,
}

impl PacketReader {
    /// Creates a reader that refuses payloads longer than `payload_max` bytes.
    pub fn new(payload_max: usize) -> Self {
        PacketReader {
            buffer: vec![0; READ_BUFFER],
            start: 0,
            end: 0,
            sequence: 0,
            payload_max,
            any_sequence: false,
            payload: 0..0,
            counted: CountedCapacity::default(),
        }
    }

    /// Sets the maximum length of a payload, in bytes (`max_allowed_packet`).
    pub fn set_payload_max(&mut self, bytes: usize) {
        self.payload_max = bytes;
    }

    /// Accepts any sequence number from now on, for dialogues in which both sides send without a request, as in
    /// semi-synchronous replication.
    pub fn accept_any_sequence(&mut self) {
        self.any_sequence = true;
    }

    /// Returns the sequence number of the next packet, with which an answer starts.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number of the next packet: 0 before a command, the writer's next one in a dialogue.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Returns the number of bytes that were received and not yet consumed. If it is not zero, the client pipelines.
    pub fn buffered(&self) -> usize {
        self.end - self.start
    }

    /// Takes the bytes that were received and not yet consumed. They are not packets, but belong to the next reader
    /// of the socket.
    pub fn take_buffered(&mut self) -> Vec<u8> {
        let taken = self.buffer[self.start..self.end].to_vec();
        self.payload = 0..0;
        self.start = 0;
        self.end = 0;
        taken
    }

    /// Returns the bytes that were received and not yet consumed.
    pub fn unread(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Drops bytes that are not packets from the beginning of the unread ones.
    pub fn skip(&mut self, count: usize) {
        assert!(count <= self.buffered(), "only received bytes are skipped");
        self.consume(self.start + count);
    }

    /// Receives more bytes, which [`unread`](PacketReader::unread) then returns.
    ///
    /// # Errors
    /// [`WireError::Closed`] when the stream ends.
    pub async fn receive_more(&mut self, socket: &mut Socket) -> WireResult<()> {
        self.make_room()?;
        match socket.receive(&mut self.buffer[self.end..]).await? {
            0 => Err(WireError::Closed),
            count => {
                self.end += count;
                Ok(())
            }
        }
    }

    /// Reads one payload and returns it. The slice is valid until the next call.
    ///
    /// # Errors
    /// As for [`advance`](PacketReader::advance).
    pub async fn read<'a>(&'a mut self, socket: &mut Socket) -> WireResult<&'a [u8]> {
        self.advance(socket).await?;
        Ok(self.payload())
    }

    /// Returns the last payload.
    pub fn payload(&self) -> &[u8] {
        &self.buffer[self.payload.clone()]
    }

    /// Reads one payload, which [`payload`](PacketReader::payload) then returns.
    ///
    /// # Errors
    /// [`WireError::Closed`] when the stream ends, [`WireError::OutOfOrder`], [`WireError::TooLarge`].
    pub async fn advance(&mut self, socket: &mut Socket) -> WireResult<()> {
        std::future::poll_fn(|context| self.poll_advance(context, socket)).await
    }

    /// Polls [`advance`](PacketReader::advance), for tasks that send at the same time. Bytes that have arrived are
    /// kept between two polls.
    pub fn poll_advance(&mut self, context: &mut Context<'_>, socket: &mut Socket) -> Poll<WireResult<()>> {
        self.advance_by(|buffer| socket.poll_receive(context, buffer))
    }

    /// Reads one payload from bytes that have arrived, without the runtime: see [`Socket::receive_arrived`]. If it is
    /// pending, no task is woken later.
    pub fn advance_arrived(&mut self, socket: &mut Socket) -> Poll<WireResult<()>> {
        self.advance_by(|buffer| socket.receive_arrived(buffer))
    }

    fn advance_by(
        &mut self,
        mut receive: impl FnMut(&mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<WireResult<()>> {
        loop {
            if let Some(payload) = self.parse()? {
                self.payload = payload;
                return Poll::Ready(Ok(()));
            }
            self.make_room()?;
            let count = std::task::ready!(receive(&mut self.buffer[self.end..]))?;
            if count == 0 {
                return Poll::Ready(Err(WireError::Closed));
            }
            self.end += count;
        }
    }

    /// Replaces the buffer of a connection that will hardly send any more by one of `bytes` bytes, if it holds no
    /// unread bytes.
    pub fn shrink(&mut self, bytes: usize) {
        if self.start == self.end {
            self.payload = 0..0;
            self.start = 0;
            self.end = 0;
            self.replace_buffer(bytes);
        }
    }

    /// Frees the buffer, which holds nothing, and allocates another one.
    fn replace_buffer(&mut self, bytes: usize) {
        self.buffer = vec![0; bytes];
        self.counted.set(bytes);
    }

    /// Adds bytes from another source than a socket (tests, fuzzing).
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.truncate(self.end);
        self.buffer.extend_from_slice(bytes);
        self.end = self.buffer.len();
    }

    /// Returns the next payload, if it is completely in the buffer.
    pub fn next_buffered(&mut self) -> WireResult<Option<&[u8]>> {
        Ok(self.parse()?.map(|payload| &self.buffer[payload]))
    }

    /// Finds a complete payload in the buffer and consumes it.
    fn parse(&mut self) -> WireResult<Option<Range<usize>>> {
        let Some(length) = self.packet_at(self.start)? else {
            return Ok(None);
        };
        let payload = self.start + HEADER..self.start + HEADER + length;
        if length < PAYLOAD_MAX {
            if payload.end > self.end {
                return Ok(None);
            }
            self.sequence = self.sequence.wrapping_add(1);
            self.consume(payload.end);
            return Ok(Some(payload));
        }
        self.parse_split()
    }

    /// Returns the payload length of the packet whose header is at `offset`, if the header is complete. Checks that
    /// the packet has the next sequence number.
    fn packet_at(&self, offset: usize) -> WireResult<Option<usize>> {
        self.check_head(offset, self.sequence)
    }

    fn check_head(&self, offset: usize, sequence: u8) -> WireResult<Option<usize>> {
        if self.end < offset + HEADER {
            return Ok(None);
        }
        let head = &self.buffer[offset..offset + HEADER];
        let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
        if head[3] != sequence && !self.any_sequence {
            return Err(WireError::OutOfOrder);
        }
        if length > self.payload_max {
            return Err(WireError::TooLarge);
        }
        Ok(Some(length))
    }

    /// Finds a payload in several packets. When the last one is complete, their headers are removed from the buffer.
    fn parse_split(&mut self) -> WireResult<Option<Range<usize>>> {
        let mut packets = vec![];
        let mut offset = self.start;
        let mut sequence = self.sequence;
        let mut total = 0;
        loop {
            let Some(length) = self.check_head(offset, sequence)? else {
                return Ok(None);
            };
            total += length;
            if total > self.payload_max {
                return Err(WireError::TooLarge);
            }
            if offset + HEADER + length > self.end {
                return Ok(None);
            }
            packets.push(offset + HEADER..offset + HEADER + length);
            offset += HEADER + length;
            sequence = sequence.wrapping_add(1);
            if length < PAYLOAD_MAX {
                break;
            }
        }
        let begin = self.start + HEADER;
        let mut to = begin;
        for packet in packets {
            let length = packet.len();
            self.buffer.copy_within(packet, to);
            to += length;
        }
        self.sequence = sequence;
        self.consume(offset);
        Ok(Some(begin..to))
    }

    fn consume(&mut self, to: usize) {
        self.start = to;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Makes space for the next read. Moves unread bytes to the front, grows for a packet that is being received (to
    /// at most twice the bytes that have arrived), and shrinks after a large one.
    ///
    /// # Errors
    /// [`WireError::OutOfMemory`] if the buffers of all connections have their limit.
    fn make_room(&mut self) -> WireResult<()> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.buffer.len() > IDLE_BUFFER_MAX {
                self.replace_buffer(READ_BUFFER);
            }
        }
        if self.start > 0 && self.end - self.start < self.start {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            let room = (self.buffer.len() * 2).max(READ_BUFFER);
            if !self.counted.may_be(room) {
                return Err(WireError::OutOfMemory);
            }
            self.buffer.resize(room, 0);
            self.counted.set(room);
        }
        Ok(())
    }
}

/// Collects packets and sends them.
///
/// A packet is written between [`begin`](PacketWriter::begin) and [`end`](PacketWriter::end), directly into
/// [`payload`](PacketWriter::payload) and without a copy.
#[derive(Debug, Default)]
pub struct PacketWriter {
    out: Vec<u8>,
    /// Offset of the open packet's header.
    head: usize,
    sequence: u8,
    /// A flush has begun and not ended: the peer may have received a part of a packet, and would take any later bytes
    /// for its rest.
    broken: bool,
    counted: CountedCapacity,
}

impl PacketWriter {
    /// Creates an empty writer.
    pub fn new() -> Self {
        PacketWriter {
            out: Vec::with_capacity(WRITE_BUFFER),
            head: 0,
            sequence: 0,
            broken: false,
            counted: CountedCapacity::default(),
        }
    }

    /// Returns the sequence number of the next packet.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number of the next packet: the reader's next one, when an answer begins.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Begins a packet and returns the buffer for its payload.
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.head = self.out.len();
        self.out.extend_from_slice(&[0; HEADER]);
        &mut self.out
    }

    /// Returns the buffer of the open packet. Callers may only append to it.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Ends the packet: fills in the length and the sequence number, and splits a payload that is too long for one
    /// packet.
    #[inline]
    pub fn end(&mut self) {
        let length = self.out.len() - self.head - HEADER;
        if length < PAYLOAD_MAX {
            self.fill_head(self.head, length);
        } else {
            self.split(length);
        }
    }

    /// Writes a complete packet.
    pub fn packet(&mut self, payload: &[u8]) {
        self.begin().extend_from_slice(payload);
        self.end();
    }

    /// Appends `count` complete packets whose sequence numbers start at this writer's next one.
    pub fn framed(&mut self, packets: &[u8], count: usize) {
        self.out.extend_from_slice(packets);
        self.sequence = self.sequence.wrapping_add(count as u8);
    }

    fn fill_head(&mut self, head: usize, length: usize) {
        let bytes = (length as u32).to_le_bytes();
        self.out[head..head + 3].copy_from_slice(&bytes[..3]);
        self.out[head + 3] = self.sequence;
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Inserts headers into a payload of 16 MiB or more. If its length is an exact multiple, an empty packet ends it.
    fn split(&mut self, length: usize) {
        let pieces = length / PAYLOAD_MAX + 1;
        let begin = self.head + HEADER;
        self.out.resize(self.out.len() + (pieces - 1) * HEADER, 0);
        for piece in (1..pieces).rev() {
            let from = begin + piece * PAYLOAD_MAX;
            let size = (length - piece * PAYLOAD_MAX).min(PAYLOAD_MAX);
            self.out.copy_within(from..from + size, from + piece * HEADER);
        }
        for piece in 0..pieces {
            let size = (length - piece * PAYLOAD_MAX).min(PAYLOAD_MAX);
            self.fill_head(self.head + piece * (PAYLOAD_MAX + HEADER), size);
        }
    }

    /// Returns the number of bytes that were collected and not yet sent.
    pub fn pending(&self) -> usize {
        self.out.len()
    }

    /// Returns a mark of the current end, for [`rewind`](PacketWriter::rewind).
    pub fn mark(&self) -> WriterMark {
        WriterMark {
            length: self.out.len(),
            sequence: self.sequence,
        }
    }

    /// Discards what was collected since `mark`. None of it may have been sent.
    pub fn rewind(&mut self, mark: WriterMark) {
        self.out.truncate(mark.length);
        self.sequence = mark.sequence;
    }

    /// Returns the collected bytes (for tests, and callers that send them themselves).
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Discards the collected bytes, which have been sent.
    pub fn clear(&mut self) {
        if self.out.capacity() > IDLE_BUFFER_MAX {
            self.out = Vec::with_capacity(WRITE_BUFFER);
        } else {
            self.out.clear();
        }
        self.counted.set(self.out.capacity());
    }

    /// Frees the buffer of a connection on which nothing will be written for a while.
    pub fn shrink(&mut self) {
        if self.out.is_empty() {
            self.out = Vec::new();
            self.counted.set(0);
        }
    }

    /// Returns whether a flush has failed or was dropped before its end. Nothing can be sent any more.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Begins a flush by a caller that sends [`bytes`](PacketWriter::bytes) itself. The caller calls
    /// [`end_flush`](PacketWriter::end_flush) when all of them are sent.
    ///
    /// # Errors
    /// A broken pipe if an earlier flush has not ended.
    pub fn begin_flush(&mut self) -> WireResult<()> {
        if self.broken {
            self.clear();
            return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
        }
        self.broken = true;
        self.counted.set(self.out.capacity());
        Ok(())
    }

    /// Ends a flush: all bytes were sent.
    pub fn end_flush(&mut self) {
        self.broken = false;
        self.clear();
    }

    /// Sends everything that was collected.
    ///
    /// # Errors
    /// Those of the socket, and those of [`begin_flush`](PacketWriter::begin_flush).
    pub async fn flush(&mut self, socket: &mut Socket) -> WireResult<()> {
        if self.out.is_empty() && !self.broken {
            return Ok(());
        }
        self.begin_flush()?;
        socket.send(&self.out).await?;
        self.end_flush();
        Ok(())
    }

    /// Sends everything that was collected, however long that takes, as long as the peer accepts some bytes within each
    /// `idle_timeout`.
    ///
    /// # Errors
    /// [`WireError::WriteTimeout`] if it accepts none; detected after at most twice that time. Those of
    /// [`flush`](PacketWriter::flush).
    pub async fn flush_within(&mut self, socket: &mut Socket, idle_timeout: Duration) -> WireResult<()> {
        if self.out.is_empty() && !self.broken {
            return Ok(());
        }
        self.begin_flush()?;
        let out = &self.out;
        let sent = AtomicUsize::new(0);
        send_within(idle_timeout, &sent, |context| {
            poll_send_all(context, socket, out, &sent)
        })
        .await?;
        self.end_flush();
        Ok(())
    }
}

/// Polls until all of `out` has been passed to the operating system; `sent` counts the accepted bytes.
pub fn poll_send_all(
    context: &mut Context<'_>,
    socket: &mut Socket,
    out: &[u8],
    sent: &AtomicUsize,
) -> Poll<WireResult<()>> {
    loop {
        let left = &out[sent.load(Ordering::Relaxed)..];
        if left.is_empty() {
            return Pin::new(socket).poll_flush(context).map_err(WireError::from);
        }
        match std::task::ready!(Pin::new(&mut *socket).poll_write(context, left)) {
            Ok(0) => return Poll::Ready(Err(WireError::Closed)),
            Ok(count) => {
                sent.fetch_add(count, Ordering::Relaxed);
            }
            Err(error) => return Poll::Ready(Err(error.into())),
        }
    }
}

/// Waits for the end of `sending`, as long as `sent` grows within each `idle_timeout`.
///
/// # Errors
/// Those of `sending`; [`WireError::WriteTimeout`].
pub async fn send_within(
    idle_timeout: Duration,
    sent: &AtomicUsize,
    sending: impl FnMut(&mut Context<'_>) -> Poll<WireResult<()>>,
) -> WireResult<()> {
    let mut sending = std::pin::pin!(std::future::poll_fn(sending));
    // The socket accepts most messages at once, so only the others get a timer.
    let at_once = std::future::poll_fn(|context| Poll::Ready(sending.as_mut().poll(context))).await;
    if let Poll::Ready(done) = at_once {
        return done;
    }
    loop {
        let before = sent.load(Ordering::Relaxed);
        match timeout(idle_timeout, sending.as_mut()).await {
            Ok(done) => return done,
            Err(_) if sent.load(Ordering::Relaxed) > before => {}
            Err(_) => return Err(WireError::WriteTimeout),
        }
    }
}

/// A place in the output of a [`PacketWriter`].
#[derive(Debug, Clone, Copy)]
pub struct WriterMark {
    length: usize,
    sequence: u8,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(payloads: &[Vec<u8>], chunk: usize) {
        let mut writer = PacketWriter::new();
        for payload in payloads {
            writer.packet(payload);
        }
        let mut reader = PacketReader::new(usize::MAX);
        let mut got = vec![];
        for piece in writer.bytes().chunks(chunk) {
            reader.feed(piece);
            while let Some(payload) = reader.next_buffered().unwrap() {
                got.push(payload.to_vec());
            }
        }
        assert_eq!(got.len(), payloads.len());
        assert!(got == payloads);
        assert_eq!(reader.sequence(), writer.sequence());
        assert_eq!(reader.buffered(), 0);
    }

    #[test]
    fn payloads_around_16_mib_are_split_and_joined() {
        for length in [
            PAYLOAD_MAX - 1,
            PAYLOAD_MAX,
            PAYLOAD_MAX + 1,
            2 * PAYLOAD_MAX,
            2 * PAYLOAD_MAX + 5,
        ] {
            let payload: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            round_trip(&[vec![1, 2, 3], payload, vec![], vec![9]], 1 << 20);
        }
    }

    #[test]
    fn arrived_bytes_are_read_with_and_without_the_runtime() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let (near, far) = tokio::net::UnixStream::pair().unwrap();
            let (mut near, mut far) = (Socket::unix(near), Socket::unix(far));
            let mut reader = PacketReader::new(100);
            for _ in 0..3 {
                reader.set_sequence(0);
                assert!(reader.advance_arrived(&mut near).is_pending());
                far.send(&[3, 0, 0, 0, 1]).await.unwrap();
                assert!(reader.advance_arrived(&mut near).is_pending());
                far.send(&[2, 3]).await.unwrap();
                assert!(matches!(reader.advance_arrived(&mut near), Poll::Ready(Ok(()))));
                assert_eq!(reader.payload(), [1, 2, 3]);
                // The runtime is told of bytes that were already read, and must still wait for the next ones.
                reader.set_sequence(0);
                let waits = timeout(Duration::from_millis(5), reader.advance(&mut near)).await;
                assert!(waits.is_err());
                let (received, sent) = tokio::join!(reader.advance(&mut near), far.send(&[1, 0, 0, 0, 9]));
                received.unwrap();
                sent.unwrap();
                assert_eq!(reader.payload(), [9]);
            }
            drop(far);
            let closed = reader.advance_arrived(&mut near);
            assert!(
                matches!(closed, Poll::Ready(Err(WireError::Closed))),
                "{closed:?}"
            );
        });
    }

    #[test]
    fn a_slow_reader_gets_everything_and_a_stopped_one_times_out() {
        const PATIENCE: Duration = Duration::from_millis(400);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let (near, far) = tokio::net::UnixStream::pair().unwrap();
            let (mut near, mut far) = (Socket::unix(near), Socket::unix(far));
            let mut writer = PacketWriter::new();
            writer.packet(&vec![7; 4 << 20]);
            let length = writer.pending();
            let reading = async {
                let mut buffer = vec![0; 256 << 10];
                let mut left = length;
                while left > 0 {
                    // In total this takes much longer than the writer's idle timeout.
                    tokio::time::sleep(PATIENCE / 5).await;
                    let read = std::future::poll_fn(|context| far.poll_receive(context, &mut buffer)).await;
                    left -= read.unwrap();
                }
            };
            let began = std::time::Instant::now();
            let (sent, ()) = tokio::join!(writer.flush_within(&mut near, PATIENCE), reading);
            sent.unwrap();
            assert!(began.elapsed() > 2 * PATIENCE, "the reader was slow");
            assert_eq!(writer.pending(), 0);
            // The peer reads nothing any more.
            writer.packet(&vec![7; 4 << 20]);
            let sent = writer.flush_within(&mut near, PATIENCE).await;
            assert!(matches!(sent, Err(WireError::WriteTimeout)), "{sent:?}");
            // The peer reads again: it has the beginning of a packet, so nothing else may follow.
            writer.clear();
            writer.packet(b"an error");
            for _ in 0..2 {
                let sent = writer.flush_within(&mut near, PATIENCE).await;
                assert!(matches!(sent, Err(WireError::Io(_))), "{sent:?}");
            }
            assert_eq!(writer.pending(), 0);
            drop(near);
            let (mut buffer, mut rest) = (vec![0; 256 << 10], 0);
            loop {
                match far.receive(&mut buffer).await.unwrap() {
                    0 => break,
                    count => {
                        let head = HEADER.saturating_sub(rest).min(count);
                        assert!(buffer[head..count].iter().all(|byte| *byte == 7));
                        rest += count;
                    }
                }
            }
            assert!(rest < 4 << 20);
        });
    }

    #[test]
    fn after_a_dropped_flush_nothing_is_sent() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let (near, _far) = tokio::net::UnixStream::pair().unwrap();
            let mut near = Socket::unix(near);
            let mut writer = PacketWriter::new();
            writer.packet(&vec![7; 4 << 20]);
            let dropped = timeout(Duration::from_millis(50), writer.flush(&mut near)).await;
            assert!(dropped.is_err() && writer.is_broken());
            assert!(matches!(writer.flush(&mut near).await, Err(WireError::Io(_))));
        });
    }

    #[test]
    fn a_packet_out_of_order_is_refused() {
        let mut reader = PacketReader::new(1000);
        reader.feed(&[1, 0, 0, 1, 7]);
        assert!(matches!(reader.next_buffered(), Err(WireError::OutOfOrder)));
    }

    #[test]
    fn a_packet_past_the_limit_is_refused_by_its_head() {
        let mut reader = PacketReader::new(1000);
        reader.feed(&[0xE9, 3, 0, 0]);
        assert!(matches!(reader.next_buffered(), Err(WireError::TooLarge)));
        let mut reader = PacketReader::new(PAYLOAD_MAX + 10);
        reader.feed(&[0xFF, 0xFF, 0xFF, 0]);
        reader.feed(&vec![0; PAYLOAD_MAX]);
        assert!(reader.next_buffered().unwrap().is_none());
        reader.feed(&[11, 0, 0, 1]);
        assert!(matches!(reader.next_buffered(), Err(WireError::TooLarge)));
    }

    #[test]
    fn rewinding_restores_packets_and_sequence_numbers() {
        let mut writer = PacketWriter::new();
        writer.packet(b"kept");
        let mark = writer.mark();
        writer.packet(b"dropped");
        writer.rewind(mark);
        writer.packet(b"next");
        assert_eq!(writer.bytes(), b"\x04\0\0\0kept\x04\0\0\x01next");
    }

    proptest! {
        #[test]
        fn packets_do_not_depend_on_how_the_stream_is_chunked(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..700), 0..300),
            chunk in 1usize..2000,
        ) {
            round_trip(&payloads, chunk);
        }
    }
}
