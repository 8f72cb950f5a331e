//! A stream socket, TCP or UNIX, in clear or encrypted, and the handle by which others can end it.
//!
//! A session sleeps in a read most of its life. To wake it (`KILL`, shutdown, `wait_timeout`) its socket's reading side is shut
//! down, which makes that read return 0: nothing has to be checked, locked or registered per statement for this.

use crate::tls::TlsSession;
use crate::tls::stream::TlsSocket;
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
    /// Encrypted, over one of the others.
    Tls(Box<TlsSocket>),
    /// Somebody else has it: a handshake that is under way, or that has failed.
    Taken,
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

fn taken() -> io::Error {
    io::ErrorKind::NotConnected.into()
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

    /// Takes it from its place, to be given back encrypted.
    pub fn take(&mut self) -> Socket {
        std::mem::replace(self, Socket::Taken)
    }

    /// The peer's address, where it has one.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        match self {
            Socket::Tcp(stream) => stream.peer_addr().ok(),
            Socket::Unix(_) | Socket::Taken => None,
            Socket::Tls(tls) => tls.below().peer_address(),
        }
    }

    /// What the encryption is, if it is encrypted.
    pub fn tls(&self) -> Option<&TlsSession> {
        match self {
            Socket::Tcp(_) | Socket::Unix(_) | Socket::Taken => None,
            Socket::Tls(tls) => Some(tls.session()),
        }
    }

    /// Whether nobody but the two ends can read what goes over it.
    pub fn keeps_secrets(&self) -> bool {
        match self {
            Socket::Tcp(_) | Socket::Taken => false,
            Socket::Unix(_) | Socket::Tls(_) => true,
        }
    }

    /// The handle that can end this socket's reading.
    pub fn handle(&self) -> io::Result<SocketHandle> {
        Ok(SocketHandle(match self {
            Socket::Tcp(stream) => stream.as_fd().try_clone_to_owned()?,
            Socket::Unix(stream) => stream.as_fd().try_clone_to_owned()?,
            Socket::Tls(tls) => return tls.below().handle(),
            Socket::Taken => return Err(taken()),
        }))
    }

    /// Writes all of `bytes`.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.write_all(bytes).await,
            Socket::Unix(stream) => stream.write_all(bytes).await,
            Socket::Tls(_) => self.send_encrypted(bytes).await,
            Socket::Taken => Err(taken()),
        }
    }

    /// Out of line, so that it costs the others nothing.
    async fn send_encrypted(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = std::future::poll_fn(|context| self.poll_send(context, bytes)).await?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[count..];
        }
        std::future::poll_fn(|context| self.poll_flush(context)).await
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
            Socket::Tls(tls) => return tls.poll_receive(context, buffer.initialize_unfilled()),
            Socket::Taken => return Poll::Ready(Err(taken())),
        };
        polled.map_ok(|()| buffer.filled().len())
    }

    /// What has arrived, without asking the runtime, which may not have looked yet: one read into `buffer`, as
    /// [`receive`](Socket::receive) does it; pending where there is nothing, and nobody is woken then. An encrypted socket never has anything for this.
    pub fn receive_arrived(&mut self, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        use rustix::net::{RecvFlags, recv};
        let received = match self {
            Socket::Tcp(stream) => recv(&*stream, buffer, RecvFlags::DONTWAIT),
            Socket::Unix(stream) => recv(&*stream, buffer, RecvFlags::DONTWAIT),
            Socket::Tls(_) => return Poll::Pending,
            Socket::Taken => return Poll::Ready(Err(taken())),
        };
        match received {
            Ok((count, _)) => Poll::Ready(Ok(count)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    /// Says goodbye: flushes and closes the writing side.
    pub async fn finish(&mut self) {
        let _ = std::future::poll_fn(|context| self.poll_finish(context)).await;
    }

    /// Polls [`finish`](Socket::finish).
    pub fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Socket::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Unix(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Tls(tls) => tls.poll_finish(context),
            Socket::Taken => Poll::Ready(Ok(())),
        }
    }

    /// Polls a write, for those who drive the socket by hand. What an encrypted socket has taken may still wait in it: see
    /// [`poll_flush`](Socket::poll_flush).
    pub fn poll_send(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Socket::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Tls(tls) => tls.poll_send(context, bytes),
            Socket::Taken => Poll::Ready(Err(taken())),
        }
    }

    /// Polls until all that was taken is on its way: after the last [`poll_send`](Socket::poll_send).
    pub fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Socket::Tcp(_) | Socket::Unix(_) | Socket::Taken => Poll::Ready(Ok(())),
            Socket::Tls(tls) => tls.poll_flush(context),
        }
    }
}
