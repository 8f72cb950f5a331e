//! The compressed protocol: from the end of the login to the end of the connection, all bytes are sent in zlib frames.
//!
//! ```text
//!   ┌──────────────┬──────────┬───────────────────┬─────────────────────┐
//!   │ length (3)   │ seq (1)  │ plain length (3)  │ zlib stream         │   plain length = 0: the content is not compressed
//!   └──────────────┴──────────┴───────────────────┴─────────────────────┘
//! ```
//!
//! Frames are independent of packets: a frame may contain several packets, or a part of one. The sequence numbers of
//! frames start at 0 with each command, and the answer continues from the command's last frame. In a semi-synchronous
//! stream both sides send without a request, and their frames cross ([`CompressedStream::let_frames_cross`]).

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Length of a frame's header, in bytes.
const HEADER: usize = 7;
/// Shorter content is sent uncompressed, as in MariaDB.
const COMPRESSED_MIN: usize = 50;
/// Maximum uncompressed length of a frame, so that compressing one does not occupy a worker for long.
const PIECE_MAX: usize = 64 * 1024;
/// Minimum buffer length for a read.
const READ_MIN: usize = 16 * 1024;
/// Buffers with a larger capacity are freed when they are empty.
const IDLE_BUFFER_MAX: usize = 256 * 1024;

/// A stream with compression in both directions, over another one.
#[derive(Debug)]
pub struct CompressedStream<S> {
    below: S,
    /// Sequence number of the next frame, in either direction.
    sequence: u8,
    /// Whether received frames may have any number, and do not change that of the next frame.
    frames_cross: bool,
    /// Bytes that were received and not yet decompressed.
    received: Vec<u8>,
    plain: ByteQueue,
    /// Bytes that were compressed and not yet sent.
    framed: ByteQueue,
}

/// A buffer that is consumed from the front.
#[derive(Debug, Default)]
struct ByteQueue {
    bytes: Vec<u8>,
    at: usize,
}

impl ByteQueue {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    fn advance(&mut self, count: usize) {
        self.at += count;
        if self.at == self.bytes.len() {
            self.at = 0;
            match self.bytes.capacity() > IDLE_BUFFER_MAX {
                true => self.bytes = Vec::new(),
                false => self.bytes.clear(),
            }
        }
    }
}

impl<S> CompressedStream<S> {
    /// Compresses a stream from now on. `early` was already received, and is compressed.
    pub fn new(below: S, early: Vec<u8>) -> CompressedStream<S> {
        CompressedStream {
            below,
            sequence: 0,
            frames_cross: false,
            received: early,
            plain: ByteQueue::default(),
            framed: ByteQueue::default(),
        }
    }

    /// Sets the sequence number of the next frame that is sent.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Lets each direction have sequence numbers of its own from now on.
    pub fn let_frames_cross(&mut self) {
        self.frames_cross = true;
    }

    /// Returns the underlying stream.
    pub fn below(&self) -> &S {
        &self.below
    }

    /// Decompresses the next frame if it has arrived completely. Returns whether it has.
    fn take_frame(&mut self) -> io::Result<bool> {
        let Some(head) = self.received.first_chunk::<HEADER>() else {
            return Ok(false);
        };
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize;
        let (length, sequence, plain_length) = (number(&head[..3]), head[3], number(&head[4..]));
        if !self.frames_cross && sequence != 0 && sequence != self.sequence {
            return Err(malformed("frames are out of order"));
        }
        let Some(content) = self.received.get(HEADER..HEADER + length) else {
            return Ok(false);
        };
        match plain_length {
            0 => self.plain.bytes.extend_from_slice(content),
            _ => inflate(content, plain_length, &mut self.plain.bytes)?,
        }
        if !self.frames_cross {
            self.sequence = sequence.wrapping_add(1);
        }
        self.received.drain(..HEADER + length);
        if self.received.is_empty() && self.received.capacity() > IDLE_BUFFER_MAX {
            self.received = Vec::new();
        }
        Ok(true)
    }

    fn frame(&mut self, piece: &[u8]) {
        let out = &mut self.framed.bytes;
        let head = out.len();
        out.extend_from_slice(&[0; HEADER]);
        let plain_length = match piece.len() < COMPRESSED_MIN || !deflate(piece, out) {
            true => {
                out.truncate(head + HEADER);
                out.extend_from_slice(piece);
                0
            }
            false => piece.len(),
        };
        let length = out.len() - head - HEADER;
        out[head..head + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
        out[head + 3] = self.sequence;
        out[head + 4..head + HEADER].copy_from_slice(&(plain_length as u32).to_le_bytes()[..3]);
        self.sequence = self.sequence.wrapping_add(1);
    }
}

impl<S: AsyncWrite + Unpin> CompressedStream<S> {
    fn poll_write_framed(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.framed.rest().is_empty() {
            let count = ready!(Pin::new(&mut self.below).poll_write(context, self.framed.rest()))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.framed.advance(count);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CompressedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let plain = this.plain.rest();
            if !plain.is_empty() {
                let count = plain.len().min(buffer.remaining());
                buffer.put_slice(&plain[..count]);
                this.plain.advance(count);
                return Poll::Ready(Ok(()));
            }
            if this.take_frame()? {
                continue;
            }
            let had = this.received.len();
            this.received.resize(had + READ_MIN.max(had), 0);
            let mut free = ReadBuf::new(&mut this.received[had..]);
            let polled = Pin::new(&mut this.below).poll_read(context, &mut free);
            let count = match &polled {
                Poll::Ready(Ok(())) => free.filled().len(),
                _ => 0,
            };
            this.received.truncate(had + count);
            ready!(polled)?;
            if count == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CompressedStream<S> {
    /// Accepted bytes may stay in the buffer until the stream is flushed.
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_write_framed(context))?;
        let piece = &bytes[..bytes.len().min(PIECE_MAX)];
        this.frame(piece);
        // The next call or the flush writes what the stream below does not accept now.
        if let Poll::Ready(Err(error)) = this.poll_write_framed(context) {
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(piece.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_write_framed(context))?;
        Pin::new(&mut this.below).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(context))?;
        Pin::new(&mut self.get_mut().below).poll_shutdown(context)
    }
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Appends the content of a zlib stream, whose length must be exactly `plain_length`.
fn inflate(content: &[u8], plain_length: usize, out: &mut Vec<u8>) -> io::Result<()> {
    let mut plain = vec![0; plain_length];
    let mut zlib = Decompress::new(true);
    let status = zlib
        .decompress(content, &mut plain, FlushDecompress::Finish)
        .map_err(|error| malformed(&error.to_string()))?;
    if status != Status::StreamEnd || zlib.total_out() != plain_length as u64 {
        return Err(malformed("a frame is not as long as it says"));
    }
    out.append(&mut plain);
    Ok(())
}

/// Appends `piece` as a zlib stream. Returns false if this is not shorter, or fails.
fn deflate(piece: &[u8], out: &mut Vec<u8>) -> bool {
    let begin = out.len();
    let mut buffer = vec![0; piece.len()];
    let mut zlib = Compress::new(Compression::default(), true);
    let done = zlib.compress(piece, &mut buffer, FlushCompress::Finish);
    if !matches!(done, Ok(Status::StreamEnd)) {
        return false;
    }
    buffer.truncate(zlib.total_out() as usize);
    out.append(&mut buffer);
    out.len() - begin < piece.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;

    fn pair() -> (CompressedStream<UnixStream>, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        (CompressedStream::new(near, vec![]), far)
    }

    async fn send(stream: &mut CompressedStream<UnixStream>, bytes: &[u8]) -> io::Result<()> {
        stream.write_all(bytes).await?;
        stream.flush().await
    }

    async fn receive(stream: &mut CompressedStream<UnixStream>, length: usize) -> io::Result<Vec<u8>> {
        let mut all = vec![0; length];
        stream.read_exact(&mut all).await?;
        Ok(all)
    }

    #[tokio::test]
    async fn sent_bytes_arrive() {
        let (mut near, far) = pair();
        let mut far = CompressedStream::new(far, vec![]);
        // Short, compressible over several frames, and incompressible.
        let noise: Vec<u8> = (0..200_000u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        for message in [b"\x01\0\0\0\x0e".to_vec(), b"row ".repeat(100_000), noise] {
            let sent = message.clone();
            let sending = tokio::spawn(async move {
                send(&mut far, &sent).await.unwrap();
                far
            });
            assert!(receive(&mut near, message.len()).await.unwrap() == message);
            far = sending.await.unwrap();
        }
    }

    /// A ping as MariaDB's client sends it, and MariaDB's answer.
    #[tokio::test]
    async fn short_packets_are_sent_uncompressed() {
        let (mut stream, mut client) = pair();
        client.write_all(b"\x05\0\0\0\0\0\0\x01\0\0\0\x0e").await.unwrap();
        assert_eq!(receive(&mut stream, 5).await.unwrap(), b"\x01\0\0\0\x0e");
        let ok = b"\x07\0\0\x01\0\0\0\x02\0\0\0";
        send(&mut stream, ok).await.unwrap();
        let mut answer = [0; 18];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"\x0b\0\0\x01\0\0\0\x07\0\0\x01\0\0\0\x02\0\0\0");
    }

    #[tokio::test]
    async fn malformed_frames_are_refused() {
        let mut long = vec![];
        assert!(deflate(&[b'x'; 10_000], &mut long));
        let frame = |plain_length: u32, content: &[u8]| {
            let mut frame = (content.len() as u32).to_le_bytes()[..3].to_vec();
            frame.push(0);
            frame.extend_from_slice(&plain_length.to_le_bytes()[..3]);
            frame.extend_from_slice(content);
            frame
        };
        for wrong in [
            b"\x05\0\0\x04\0\0\0\x01\0\0\0\x0e".to_vec(),
            frame(100, &long),
            frame(10_001, &long),
            frame(10_000, &long[..long.len() - 1]),
            frame(5, b"no zlib"),
        ] {
            let (mut stream, mut client) = pair();
            client.write_all(&wrong).await.unwrap();
            let error = receive(&mut stream, 1).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{wrong:?}");
        }
        let (mut stream, mut client) = pair();
        client.write_all(&frame(10_000, &long)).await.unwrap();
        assert_eq!(receive(&mut stream, 10_000).await.unwrap(), [b'x'; 10_000]);
    }
}
