//! A socket as a stream of tokio, for libraries that read and write such streams: TLS and HTTP.

use crate::socket::Socket;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A socket as a stream of tokio, with the bytes that were received from it before: a client may send the beginning of
/// a TLS handshake together with its request for it.
#[derive(Debug)]
pub struct SocketStream {
    early: Vec<u8>,
    socket: Socket,
}

impl SocketStream {
    /// Wraps a socket from which `early` was already received.
    pub fn new(socket: Socket, early: Vec<u8>) -> SocketStream {
        SocketStream { early, socket }
    }

    /// Returns the socket.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }
}

impl AsyncRead for SocketStream {
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
        let count = std::task::ready!(this.socket.poll_receive(context, buffer.initialize_unfilled()))?;
        buffer.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SocketStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().socket.poll_send(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().socket.poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().socket.poll_finish(context)
    }
}
