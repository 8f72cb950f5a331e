//! An encrypted stream: rustls over another stream.

use super::certificate::Certificate;
use super::prefixed_stream::PrefixedStream;
use super::suites::{suite_name, version_name};
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

/// A stream with encryption in both directions, over another one.
#[derive(Debug)]
pub struct EncryptedStream<S> {
    stream: TlsStream<PrefixedStream<S>>,
    session: TlsSession,
}

impl<S> EncryptedStream<S> {
    pub(super) fn new(stream: TlsStream<PrefixedStream<S>>) -> EncryptedStream<S> {
        let session = TlsSession::of(stream.get_ref().1);
        EncryptedStream { stream, session }
    }

    /// Returns the properties of the connection.
    pub fn session(&self) -> &TlsSession {
        &self.session
    }

    /// Returns the underlying stream.
    pub fn below(&self) -> &S {
        self.stream.get_ref().0.below()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for EncryptedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match std::task::ready!(Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)) {
            // Many clients close without a notification. Whether a command is complete is known from its packets.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            done => Poll::Ready(done),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for EncryptedStream<S> {
    /// Accepted bytes may stay in the buffer until the stream is flushed.
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
