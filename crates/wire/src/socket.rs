//! A stream socket: TCP or UNIX, in clear, encrypted or compressed. And a handle with which other tasks can end it.
//!
//! ```text
//!   Tcp | Unix ──▶ Tls, over a Socket ──▶ Compressed, over a Socket
//!         accept_tls, connect_tls      compress
//! ```
//!
//! A socket is also a stream of tokio, so that encryption, compression and HTTP work on it without knowing it. The
//! methods for whole messages ([`Socket::send`], [`Socket::receive`]) are for packets.
//!
//! A session spends most of its time in a read. To wake it (`KILL`, shutdown, `wait_timeout`), the reading side of
//! its socket is shut down, which makes the read return 0. So no statement has to check, lock or register anything
//! for this.

use crate::compressed::CompressedStream;
use crate::error::WireResult;
use crate::tls::client::TrustDecision;
use crate::tls::stream::EncryptedStream;
use crate::tls::{ClientTls, ServerTls, TlsSession};
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
    /// TCP, with Nagle's algorithm switched off.
    Tcp(TcpStream),
    /// UNIX.
    Unix(UnixStream),
    /// Encrypted, over one of the others.
    Tls(Box<EncryptedStream<Socket>>),
    /// Compressed, over one of the others.
    Compressed(Box<CompressedStream<Socket>>),
    /// The socket was moved elsewhere: into a handshake that is in progress, or that has failed.
    Moved,
}

/// A duplicate of a socket's descriptor, with which another task can end the socket's reads.
#[derive(Debug)]
pub struct SocketHandle(OwnedFd);

impl SocketHandle {
    /// Makes the pending read and all later ones return "end of stream". Writes still arrive.
    pub fn stop_reading(&self) {
        // Fails if the peer has already gone, which ends the reads as well.
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Read);
    }

    /// Returns whether the peer has closed the connection, even if there are still bytes to read.
    pub fn is_peer_gone(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut sockets = [PollFd::new(&self.0, PollFlags::RDHUP)];
        let polled = poll(&mut sockets, Some(&Timespec::default()));
        let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        polled.is_ok() && sockets[0].revents().intersects(gone)
    }

    /// Shuts down both directions; this also ends a write that the peer does not accept.
    pub fn close(&self) {
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Both);
    }
}

fn not_connected() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

impl Socket {
    /// Wraps a TCP stream.
    pub fn tcp(stream: TcpStream) -> io::Result<Socket> {
        stream.set_nodelay(true)?;
        Ok(Socket::Tcp(stream))
    }

    /// Wraps a UNIX stream.
    pub fn unix(stream: UnixStream) -> Socket {
        Socket::Unix(stream)
    }

    /// Moves the socket out of its place, to be replaced by an encrypted or compressed one.
    pub fn take(&mut self) -> Socket {
        std::mem::replace(self, Socket::Moved)
    }

    /// Encrypts the socket as a server whose client has requested it; `early` is what the client has sent after the
    /// request.
    ///
    /// # Errors
    /// [`WireError::Tls`](crate::WireError::Tls); the socket is lost then.
    pub async fn accept_tls(self, tls: &ServerTls, early: Vec<u8>) -> WireResult<Socket> {
        let encrypted = tls.accept(self, early).await?;
        Ok(Socket::Tls(Box::new(encrypted)))
    }

    /// Encrypts the socket as a client whose server waits for the handshake, and checks the server's certificate.
    pub(crate) async fn connect_tls(
        self,
        tls: &ClientTls,
        host: &str,
    ) -> WireResult<(Socket, TrustDecision)> {
        let (encrypted, trust) = tls.connect(self, host).await?;
        Ok((Socket::Tls(Box::new(encrypted)), trust))
    }

    /// Compresses the socket from now on. `early` was already received, and is compressed.
    pub fn compress(&mut self, early: Vec<u8>) {
        let below = self.take();
        *self = Socket::Compressed(Box::new(CompressedStream::new(below, early)));
    }

    /// Sets the sequence number of the next frame of a compressed socket. Others have no frames.
    pub fn set_frame_sequence(&mut self, sequence: u8) {
        if let Socket::Compressed(compressed) = self {
            compressed.set_sequence(sequence);
        }
    }

    /// Lets frames of a compressed socket cross, for dialogues in which both sides send without a request.
    pub fn let_frames_cross(&mut self) {
        if let Socket::Compressed(compressed) = self {
            compressed.let_frames_cross();
        }
    }

    /// Returns the address of the peer, if it has one.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        match self {
            Socket::Tcp(stream) => stream.peer_addr().ok(),
            Socket::Unix(_) | Socket::Moved => None,
            Socket::Tls(tls) => tls.below().peer_address(),
            Socket::Compressed(compressed) => compressed.below().peer_address(),
        }
    }

    /// Returns the operating system's user id of the connected process, for a UNIX socket.
    pub fn peer_user_id(&self) -> Option<u32> {
        match self {
            Socket::Unix(stream) => stream.peer_cred().ok().map(|peer| peer.uid()),
            Socket::Tcp(_) | Socket::Moved => None,
            Socket::Tls(tls) => tls.below().peer_user_id(),
            Socket::Compressed(compressed) => compressed.below().peer_user_id(),
        }
    }

    /// Returns the TLS session, if the socket is encrypted.
    pub fn tls(&self) -> Option<&TlsSession> {
        match self {
            Socket::Tcp(_) | Socket::Unix(_) | Socket::Moved => None,
            Socket::Tls(tls) => Some(tls.session()),
            Socket::Compressed(compressed) => compressed.below().tls(),
        }
    }

    /// Returns whether only the two peers can read what is sent over the socket.
    pub fn is_confidential(&self) -> bool {
        match self {
            Socket::Tcp(_) | Socket::Moved => false,
            Socket::Unix(_) | Socket::Tls(_) => true,
            Socket::Compressed(compressed) => compressed.below().is_confidential(),
        }
    }

    /// Returns a handle that can end the reads of this socket.
    pub fn handle(&self) -> io::Result<SocketHandle> {
        Ok(SocketHandle(match self {
            Socket::Tcp(stream) => stream.as_fd().try_clone_to_owned()?,
            Socket::Unix(stream) => stream.as_fd().try_clone_to_owned()?,
            Socket::Tls(tls) => return tls.below().handle(),
            Socket::Compressed(compressed) => return compressed.below().handle(),
            Socket::Moved => return Err(not_connected()),
        }))
    }

    /// Writes all of `bytes`.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.write_all(bytes).await,
            Socket::Unix(stream) => stream.write_all(bytes).await,
            Socket::Tls(_) | Socket::Compressed(_) => self.write_and_flush(bytes).await,
            Socket::Moved => Err(not_connected()),
        }
    }

    /// A separate function, so that the other kinds of sockets do not pay for it.
    async fn write_and_flush(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes).await?;
        self.flush().await
    }

    /// Performs one read into `buffer`; 0 is the end of the stream. This does not use tokio's `read`, because a read
    /// that does not fill the buffer must not be followed by another one that only finds that there is no more.
    pub async fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        std::future::poll_fn(|context| self.poll_receive(context, buffer)).await
    }

    /// Polls [`receive`](Socket::receive).
    pub fn poll_receive(&mut self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        Pin::new(self)
            .poll_read(context, &mut buffer)
            .map_ok(|()| buffer.filled().len())
    }

    /// Performs one read into `buffer` as [`receive`](Socket::receive) does, but without the runtime, which may not
    /// have noticed yet that bytes have arrived. Pending if there are none; no task is woken later. Always pending
    /// for an encrypted or compressed socket.
    pub fn receive_arrived(&mut self, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        use rustix::net::{RecvFlags, recv};
        let received = match self {
            Socket::Tcp(stream) => recv(&*stream, buffer, RecvFlags::DONTWAIT),
            Socket::Unix(stream) => recv(&*stream, buffer, RecvFlags::DONTWAIT),
            Socket::Tls(_) | Socket::Compressed(_) => return Poll::Pending,
            Socket::Moved => return Poll::Ready(Err(not_connected())),
        };
        match received {
            Ok((count, _)) => Poll::Ready(Ok(count)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    /// Returns whether [`receive_arrived`](Socket::receive_arrived) can return any bytes for this kind of socket.
    pub fn delivers_at_once(&self) -> bool {
        matches!(self, Socket::Tcp(_) | Socket::Unix(_))
    }

    /// Flushes the socket and closes the writing side.
    pub async fn finish(&mut self) {
        let _ = self.shutdown().await;
    }
}

impl AsyncRead for Socket {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Socket::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
            Socket::Tls(tls) => Pin::new(&mut **tls).poll_read(context, buffer),
            Socket::Compressed(compressed) => Pin::new(&mut **compressed).poll_read(context, buffer),
            Socket::Moved => Poll::Ready(Err(not_connected())),
        }
    }
}

impl AsyncWrite for Socket {
    /// Bytes that an encrypted or compressed socket has accepted may stay in its buffer until it is flushed.
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Tls(tls) => Pin::new(&mut **tls).poll_write(context, bytes),
            Socket::Compressed(compressed) => Pin::new(&mut **compressed).poll_write(context, bytes),
            Socket::Moved => Poll::Ready(Err(not_connected())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tcp(_) | Socket::Unix(_) | Socket::Moved => Poll::Ready(Ok(())),
            Socket::Tls(tls) => Pin::new(&mut **tls).poll_flush(context),
            Socket::Compressed(compressed) => Pin::new(&mut **compressed).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Unix(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Tls(tls) => Pin::new(&mut **tls).poll_shutdown(context),
            Socket::Compressed(compressed) => Pin::new(&mut **compressed).poll_shutdown(context),
            Socket::Moved => Poll::Ready(Ok(())),
        }
    }
}
