//! A stream after bytes that were received from it before: a client may send the beginning of a TLS handshake together
//! with its request for it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream whose first bytes were received from it before.
#[derive(Debug)]
pub(super) struct PrefixedStream<S> {
    early: Vec<u8>,
    stream: S,
}

impl<S> PrefixedStream<S> {
    /// Wraps a stream from which `early` was already received.
    pub(super) fn new(stream: S, early: Vec<u8>) -> PrefixedStream<S> {
        PrefixedStream { early, stream }
    }

    /// Returns the stream.
    pub(super) fn below(&self) -> &S {
        &self.stream
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PrefixedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.early.is_empty() {
            let count = this.early.len().min(buffer.remaining());
            buffer.put_slice(&this.early[..count]);
            this.early.drain(..count);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PrefixedStream<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn bytes_that_came_before_are_read_first() {
        let (near, mut far) = tokio::io::duplex(64);
        let mut stream = PrefixedStream::new(near, b"early".to_vec());
        far.write_all(b"late").await.unwrap();
        let mut bytes = [0; 3];
        assert_eq!(stream.read(&mut bytes).await.unwrap(), 3);
        assert_eq!(&bytes, b"ear");
        assert_eq!(stream.read(&mut bytes).await.unwrap(), 2);
        assert_eq!(&bytes[..2], b"ly");
        drop(far);
        let mut rest = vec![];
        stream.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"late");
    }
}
