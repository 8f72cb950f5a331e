//! A stream socket, TCP or UNIX, and the handle by which others can end it.
//!
//! A session sleeps in a read most of its life. To wake it (`KILL`, shutdown, `wait_timeout`) its socket's reading side is shut
//! down, which makes that read return 0: nothing has to be checked, locked or registered per statement for this.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// A connected stream socket.
#[derive(Debug)]
pub enum Socket {
    /// Over TCP, with Nagle's algorithm switched off.
    Tcp(TcpStream),
    /// Over a UNIX socket.
    Unix(UnixStream),
}

/// A duplicate of a socket's descriptor that can end the reading of it from elsewhere.
#[derive(Debug)]
pub struct SocketHandle(OwnedFd);

impl SocketHandle {
    /// Lets the pending and every later read return "end of stream"; what is written still arrives.
    pub fn stop_reading(&self) {
        // Fails if the peer has gone already, which ends the reading as well.
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Read);
    }

    /// Ends both directions: also a write that the peer does not take ends.
    pub fn close(&self) {
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Both);
    }
}

impl Socket {
    /// Takes over a TCP stream.
    pub fn tcp(stream: TcpStream) -> io::Result<Socket> {
        stream.set_nodelay(true)?;
        Ok(Socket::Tcp(stream))
    }

    /// Takes over a UNIX stream.
    pub fn unix(stream: UnixStream) -> Socket {
        Socket::Unix(stream)
    }

    /// The peer's address, where it has one.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        match self {
            Socket::Tcp(stream) => stream.peer_addr().ok(),
            Socket::Unix(_) => None,
        }
    }

    /// The handle that can end this socket's reading.
    pub fn handle(&self) -> io::Result<SocketHandle> {
        Ok(SocketHandle(match self {
            Socket::Tcp(stream) => stream.as_fd().try_clone_to_owned()?,
            Socket::Unix(stream) => stream.as_fd().try_clone_to_owned()?,
        }))
    }

    /// Writes all of `bytes`.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.write_all(bytes).await,
            Socket::Unix(stream) => stream.write_all(bytes).await,
        }
    }

    /// One read into `buffer`; 0 is the end of the stream. A future of its own rather than tokio's `read`, because a read that does
    /// not fill the buffer must not be followed by another one that only finds that there is nothing.
    pub async fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        std::future::poll_fn(|context| self.poll_receive(context, buffer)).await
    }

    /// Polls [`receive`](Socket::receive).
    pub fn poll_receive(&mut self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        let polled = match self {
            Socket::Tcp(stream) => Pin::new(stream).poll_read(context, &mut buffer),
            Socket::Unix(stream) => Pin::new(stream).poll_read(context, &mut buffer),
        };
        polled.map_ok(|()| buffer.filled().len())
    }

    /// Says goodbye: flushes and closes the writing side.
    pub async fn finish(&mut self) {
        let _ = match self {
            Socket::Tcp(stream) => Pin::new(stream).shutdown().await,
            Socket::Unix(stream) => Pin::new(stream).shutdown().await,
        };
    }

    /// Polls a write, for those who drive the socket by hand.
    pub fn poll_send(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Socket::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }
}
