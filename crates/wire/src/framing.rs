//! Packets: how payloads are cut out of a stream of bytes and put into one.
//!
//! ```text
//!   ┌──────────────┬──────────┬───────────────┐
//!   │ length (3)   │ seq (1)  │ payload       │   length = 0xFFFFFF: the payload goes on in the next packet
//!   └──────────────┴──────────┴───────────────┘
//! ```
//!
//! The sequence number starts at 0 with each command and counts the packets of both directions. [`PacketReader`] keeps one buffer for a
//! connection's life and hands out slices of it; [`PacketWriter`] collects everything that answers a command and gives it to the
//! socket at once.

use crate::error::{WireError, WireResult};
use crate::socket::Socket;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;

/// The longest payload of one packet; one of exactly this length is followed by another.
pub const PAYLOAD_MAX: usize = 0xFF_FFFF;
/// Bytes of a packet's head.
pub const HEADER: usize = 4;
/// What a reader's buffer starts with and shrinks back to.
const READ_BUFFER: usize = 16 * 1024;
/// It grows with what is collected: thousands of idle connections have sent little.
const WRITE_BUFFER: usize = 1024;
/// A buffer larger than this is given back when it is idle.
const IDLE_BUFFER_MAX: usize = 256 * 1024;

/// Cuts payloads out of what a socket delivers.
#[derive(Debug)]
pub struct PacketReader {
    buffer: Vec<u8>,
    /// Bytes received and not yet consumed: `buffer[start..end]`.
    start: usize,
    end: usize,
    sequence: u8,
    payload_max: usize,
    /// Numbers are taken as they come.
    any_sequence: bool,
    /// Where the payload read last stands.
    payload: Range<usize>,
}

impl PacketReader {
    /// A reader that refuses payloads longer than `payload_max` bytes.
    pub fn new(payload_max: usize) -> Self {
        PacketReader {
            buffer: vec![0; READ_BUFFER],
            start: 0,
            end: 0,
            sequence: 0,
            payload_max,
            any_sequence: false,
            payload: 0..0,
        }
    }

    /// Changes the longest payload accepted, in bytes (`max_allowed_packet`).
    pub fn set_payload_max(&mut self, bytes: usize) {
        self.payload_max = bytes;
    }

    /// From now on packets may have any number: where both ends send without being asked, as in semi-synchronous replication.
    pub fn accept_any_sequence(&mut self) {
        self.any_sequence = true;
    }

    /// The sequence number that the next packet must have, and that an answer starts with.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number that the next packet must have: 0 before a command, the writer's next one in a dialogue.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Bytes that were received and not yet asked for: more than none means that the client pipelines.
    pub fn buffered(&self) -> usize {
        self.end - self.start
    }

    /// Takes what was received and not yet asked for: it is for whoever reads the socket from now on, not packets.
    pub fn take_buffered(&mut self) -> Vec<u8> {
        let taken = self.buffer[self.start..self.end].to_vec();
        self.payload = 0..0;
        self.start = 0;
        self.end = 0;
        taken
    }

    /// Reads one payload and returns it; the slice is valid until the next call.
    ///
    /// # Errors
    /// As [`advance`](PacketReader::advance).
    pub async fn read<'a>(&'a mut self, socket: &mut Socket) -> WireResult<&'a [u8]> {
        self.advance(socket).await?;
        Ok(self.payload())
    }

    /// The payload read last.
    pub fn payload(&self) -> &[u8] {
        &self.buffer[self.payload.clone()]
    }

    /// Reads one payload, to be looked at by [`payload`](PacketReader::payload).
    ///
    /// # Errors
    /// [`WireError::Closed`] when the stream ends, [`WireError::OutOfOrder`], [`WireError::TooLarge`].
    pub async fn advance(&mut self, socket: &mut Socket) -> WireResult<()> {
        std::future::poll_fn(|context| self.poll_advance(context, socket)).await
    }

    /// Polls [`advance`](PacketReader::advance), for those who send at the same time. What has arrived is kept between two polls.
    pub fn poll_advance(&mut self, context: &mut Context<'_>, socket: &mut Socket) -> Poll<WireResult<()>> {
        self.advance_by(|buffer| socket.poll_receive(context, buffer))
    }

    /// The same of what has arrived, without asking the runtime: see [`Socket::receive_arrived`]. Nobody is woken where it is pending.
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
            self.make_room();
            let count = std::task::ready!(receive(&mut self.buffer[self.end..]))?;
            if count == 0 {
                return Poll::Ready(Err(WireError::Closed));
            }
            self.end += count;
        }
    }

    /// Gives back the buffer of a connection that will hardly send any more, but for `bytes` of it.
    pub fn shrink(&mut self, bytes: usize) {
        if self.start == self.end {
            self.payload = 0..0;
            self.start = 0;
            self.end = 0;
            self.buffer = vec![0; bytes];
        }
    }

    /// Takes bytes from elsewhere than a socket (tests, fuzzing).
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.truncate(self.end);
        self.buffer.extend_from_slice(bytes);
        self.end = self.buffer.len();
    }

    /// The next payload, if it is there completely.
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

    /// The payload length of the packet whose head is at `offset`, if the head is there. Checks its sequence number, counted from the
    /// packet that is read next.
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

    /// A payload in several packets: once the last one is there their heads are taken out of the buffer.
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

    /// Makes room for the next read: moves what is left to the front, grows for a packet that is on its way (never ahead of
    /// what has arrived by more than its double), shrinks after a large one.
    fn make_room(&mut self) {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.buffer.len() > IDLE_BUFFER_MAX {
                self.buffer = vec![0; READ_BUFFER];
            }
        }
        if self.start > 0 && self.end - self.start < self.start {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            let room = (self.buffer.len() * 2).max(READ_BUFFER);
            self.buffer.resize(room, 0);
        }
    }
}

/// Collects packets and sends them.
///
/// A packet is written between [`begin`](PacketWriter::begin) and [`end`](PacketWriter::end); what is written there goes to
/// [`payload`](PacketWriter::payload) directly, without a copy.
#[derive(Debug, Default)]
pub struct PacketWriter {
    out: Vec<u8>,
    /// Where the open packet's head stands.
    head: usize,
    sequence: u8,
    /// A flush has begun and not come to its end: the other end may have a part of a packet, and would take what comes next for the rest.
    torn: bool,
}

impl PacketWriter {
    /// An empty writer.
    pub fn new() -> Self {
        PacketWriter {
            out: Vec::with_capacity(WRITE_BUFFER),
            head: 0,
            sequence: 0,
            torn: false,
        }
    }

    /// The number that the next packet gets.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the number that the next packet gets: the reader's next one, when an answer begins.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Opens a packet and gives the buffer to write its payload to.
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.head = self.out.len();
        self.out.extend_from_slice(&[0; HEADER]);
        &mut self.out
    }

    /// The buffer of the packet that is open. Only append to it.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Closes the packet: fills in length and sequence number, splits what is longer than one packet can be.
    #[inline]
    pub fn end(&mut self) {
        let length = self.out.len() - self.head - HEADER;
        if length < PAYLOAD_MAX {
            self.fill_head(self.head, length);
        } else {
            self.split(length);
        }
    }

    /// Drops what was written since [`begin`](PacketWriter::begin).
    pub fn abandon(&mut self) {
        self.out.truncate(self.head);
    }

    /// Writes one whole packet.
    pub fn packet(&mut self, payload: &[u8]) {
        self.begin().extend_from_slice(payload);
        self.end();
    }

    /// Appends packets that were framed before, `count` of them, for sequence numbers that start where this writer stands.
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

    /// Puts heads into a payload of 16 MiB or more; one of an exact multiple ends with an empty packet.
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

    /// Bytes collected and not yet sent.
    pub fn pending(&self) -> usize {
        self.out.len()
    }

    /// A mark of what was collected so far, for [`rewind`](PacketWriter::rewind).
    pub fn mark(&self) -> WriterMark {
        WriterMark {
            length: self.out.len(),
            sequence: self.sequence,
        }
    }

    /// Takes back what was collected since `mark`, if none of it was sent.
    pub fn rewind(&mut self, mark: WriterMark) {
        self.out.truncate(mark.length);
        self.sequence = mark.sequence;
    }

    /// The bytes collected (tests, and callers that send them themselves).
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Forgets what was collected: it was sent.
    pub fn clear(&mut self) {
        if self.out.capacity() > IDLE_BUFFER_MAX {
            self.out = Vec::with_capacity(WRITE_BUFFER);
        } else {
            self.out.clear();
        }
    }

    /// Gives back the buffer of a connection that will not be written to for a while.
    pub fn shrink(&mut self) {
        if self.out.is_empty() {
            self.out = Vec::new();
        }
    }

    /// Whether a flush has failed, or was dropped before its end: nothing can be sent any more.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// To be called before [`bytes`](PacketWriter::bytes) are sent, by who sends them itself; [`end_flush`](PacketWriter::end_flush) when
    /// all of them are.
    ///
    /// # Errors
    /// A broken pipe if an earlier flush has not come to its end.
    pub fn begin_flush(&mut self) -> WireResult<()> {
        if self.torn {
            self.clear();
            return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
        }
        self.torn = true;
        Ok(())
    }

    /// All of it was sent.
    pub fn end_flush(&mut self) {
        self.torn = false;
        self.clear();
    }

    /// Sends everything collected.
    ///
    /// # Errors
    /// Those of the socket, and those of [`begin_flush`](PacketWriter::begin_flush).
    pub async fn flush(&mut self, socket: &mut Socket) -> WireResult<()> {
        if self.out.is_empty() && !self.torn {
            return Ok(());
        }
        self.begin_flush()?;
        socket.send(&self.out).await?;
        self.end_flush();
        Ok(())
    }

    /// Sends everything collected, however long that takes, as long as something of it is taken within `patience`.
    ///
    /// # Errors
    /// [`WireError::WriteTimeout`] if nothing was: told after twice that at the latest. As [`flush`](PacketWriter::flush).
    pub async fn flush_within(&mut self, socket: &mut Socket, patience: Duration) -> WireResult<()> {
        if self.out.is_empty() && !self.torn {
            return Ok(());
        }
        self.begin_flush()?;
        let out = &self.out;
        let sent = AtomicUsize::new(0);
        send_within(patience, &sent, |context| {
            poll_send_all(context, socket, out, &sent)
        })
        .await?;
        self.end_flush();
        Ok(())
    }
}

/// Polls until all of `out` is on its way; `sent` counts how many of its bytes were taken.
pub fn poll_send_all(
    context: &mut Context<'_>,
    socket: &mut Socket,
    out: &[u8],
    sent: &AtomicUsize,
) -> Poll<WireResult<()>> {
    loop {
        let left = &out[sent.load(Ordering::Relaxed)..];
        if left.is_empty() {
            return socket.poll_flush(context).map_err(WireError::from);
        }
        match std::task::ready!(socket.poll_send(context, left)) {
            Ok(0) => return Poll::Ready(Err(WireError::Closed)),
            Ok(count) => {
                sent.fetch_add(count, Ordering::Relaxed);
            }
            Err(error) => return Poll::Ready(Err(error.into())),
        }
    }
}

/// Waits until what sends has ended, for as long as `sent` grows within `patience`.
///
/// # Errors
/// What it ends with; [`WireError::WriteTimeout`].
pub async fn send_within(
    patience: Duration,
    sent: &AtomicUsize,
    sending: impl FnMut(&mut Context<'_>) -> Poll<WireResult<()>>,
) -> WireResult<()> {
    let mut sending = std::pin::pin!(std::future::poll_fn(sending));
    // Most of what is sent is taken by the socket at once: a timer is only needed for what is not.
    let at_once = std::future::poll_fn(|context| Poll::Ready(sending.as_mut().poll(context))).await;
    if let Poll::Ready(done) = at_once {
        return done;
    }
    loop {
        let before = sent.load(Ordering::Relaxed);
        match timeout(patience, sending.as_mut()).await {
            Ok(done) => return done,
            Err(_) if sent.load(Ordering::Relaxed) > before => {}
            Err(_) => return Err(WireError::WriteTimeout),
        }
    }
}

/// A place in a [`PacketWriter`]'s output.
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
    fn payloads_around_sixteen_mebibytes() {
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
    fn what_has_arrived_is_read_without_the_runtime_and_beside_it() {
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
                // The runtime learns of bytes that are gone, and waits for the next ones all the same.
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
    fn who_reads_slowly_gets_all_and_who_does_not_is_given_up() {
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
                    // All together takes much longer than the writer's patience.
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
            // Nobody reads any more.
            writer.packet(&vec![7; 4 << 20]);
            let sent = writer.flush_within(&mut near, PATIENCE).await;
            assert!(matches!(sent, Err(WireError::WriteTimeout)), "{sent:?}");
            // It reads again: what it has is the beginning of a packet, and nothing may follow.
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
    fn a_flush_that_was_dropped_is_not_repeated() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let (near, _far) = tokio::net::UnixStream::pair().unwrap();
            let mut near = Socket::unix(near);
            let mut writer = PacketWriter::new();
            writer.packet(&vec![7; 4 << 20]);
            let dropped = timeout(Duration::from_millis(50), writer.flush(&mut near)).await;
            assert!(dropped.is_err() && writer.is_torn());
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
    fn rewinding_takes_back_packets_and_numbers() {
        let mut writer = PacketWriter::new();
        writer.packet(b"kept");
        let mark = writer.mark();
        writer.packet(b"dropped");
        writer.rewind(mark);
        writer.begin().extend_from_slice(b"never closed");
        writer.abandon();
        writer.packet(b"next");
        assert_eq!(writer.bytes(), b"\x04\0\0\0kept\x04\0\0\x01next");
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_packets(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..700), 0..300),
            chunk in 1usize..2000,
        ) {
            round_trip(&payloads, chunk);
        }
    }
}
