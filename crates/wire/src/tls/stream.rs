//! An encrypted socket: rustls over one of the plain ones.

use super::certificate::Certificate;
use super::suites::{suite_name, version_name};
use crate::socket::Socket;
use crate::socket_stream::SocketStream;
use rustls::CommonState;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsStream;

/// Properties of an encrypted connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSession {
    /// `Ssl_version`.
    pub version: &'static str,
    /// `Ssl_cipher`.
    pub cipher: &'static str,
    /// The certificate that the peer has shown, if it has. A server has checked that of a client.
    pub peer: Option<Certificate>,
}

impl TlsSession {
    fn of(state: &CommonState) -> TlsSession {
        TlsSession {
            version: state.protocol_version().map_or("", version_name),
            cipher: state
                .negotiated_cipher_suite()
                .map_or("", |suite| suite_name(suite.suite())),
            peer: state
                .peer_certificates()
                .and_then(|chain| Certificate::read(chain.first()?)),
        }
    }
}

/// An encrypted socket.
#[derive(Debug)]
pub struct TlsSocket {
    stream: TlsStream<SocketStream>,
    session: TlsSession,
}

impl TlsSocket {
    pub(crate) fn new(stream: TlsStream<SocketStream>) -> TlsSocket {
        let session = TlsSession::of(stream.get_ref().1);
        TlsSocket { stream, session }
    }

    /// Returns the properties of the connection.
    pub fn session(&self) -> &TlsSession {
        &self.session
    }

    pub(crate) fn below(&self) -> &Socket {
        self.stream.get_ref().0.socket()
    }

    pub(crate) fn poll_receive(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        match std::task::ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
            Ok(()) => Poll::Ready(Ok(buffer.filled().len())),
            // Many clients close without a notification. Whether a command is complete is known from its packets.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(0)),
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    pub(crate) fn poll_send(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    pub(crate) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    pub(crate) fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
