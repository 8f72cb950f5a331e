//! A session's connection: the socket with its buffers, and the sending of results.

use crate::variables::{SessionValues, Variable};
use paceline_wire::socket::Socket;
use paceline_wire::tls::ServerTls;
use paceline_wire::{Capabilities, PacketReader, PacketWriter, WireError, WireResult};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Notify;

/// Number of collected bytes of a result at which they are sent.
pub const FLUSH_AT: usize = 128 * 1024;

/// First byte of the packet that requests a file.
const LOCAL_INFILE: u8 = 0xFB;

/// A connected client.
#[derive(Debug)]
pub struct Connection {
    /// The socket.
    pub socket: Socket,
    /// Reads packets from the socket.
    pub reader: PacketReader,
    /// Buffer for the reply.
    pub writer: PacketWriter,
    /// Capabilities that both sides support.
    pub capabilities: Capabilities,
    /// `net_write_timeout`.
    pub write_timeout: Duration,
    /// Parameters of the encryption, if it is encrypted.
    pub tls: Option<ServerTls>,
    /// Number of bytes sent to the client.
    bytes_sent: u64,
    /// Notified by KILL, to end waits for the client to read.
    killed: Arc<Notify>,
}

impl Connection {
    /// Creates a connection that has not logged in. Until then packets are limited to `payload_max` bytes. `killed`
    /// ends waits for the client to read.
    pub fn new(socket: Socket, payload_max: usize, killed: Arc<Notify>) -> Self {
        Connection {
            socket,
            reader: PacketReader::new(payload_max),
            writer: PacketWriter::new(),
            capabilities: Capabilities::NONE,
            write_timeout: Duration::from_secs(60),
            tls: None,
            bytes_sent: 0,
            killed,
        }
    }

    /// Applies the session variables that affect the connection.
    pub fn heed(&mut self, values: &SessionValues) {
        self.write_timeout = Duration::from_secs(values.get(Variable::NetWriteTimeout).as_u64());
    }

    /// Returns a connection with the socket and the collected bytes of this one, which cannot be used until
    /// [`Self::take_back`].
    pub fn lend(&mut self) -> Connection {
        Connection {
            socket: self.socket.take(),
            reader: PacketReader::new(0),
            writer: std::mem::take(&mut self.writer),
            capabilities: self.capabilities,
            write_timeout: self.write_timeout,
            tls: None,
            bytes_sent: self.bytes_sent,
            killed: self.killed.clone(),
        }
    }

    /// Continues with what [`Self::lend`] returned.
    pub fn take_back(&mut self, lent: Connection) {
        self.socket = lent.socket;
        self.writer = lent.writer;
        self.bytes_sent = lent.bytes_sent;
    }

    /// Starts TLS at the client's request.
    ///
    /// # Errors
    /// If the handshake fails. Then nothing can be sent to the client any more.
    pub async fn encrypt(&mut self, tls: ServerTls) -> WireResult<()> {
        let early = self.reader.take_buffered();
        self.socket = self.socket.take().accept_tls(&tls, early).await?;
        self.tls = Some(tls);
        Ok(())
    }

    /// Starts compression after the login, if the client has requested it.
    pub fn compress(&mut self) {
        let early = self.reader.take_buffered();
        self.socket.compress(early);
    }

    /// Receives the next packet, as the reader's payload.
    ///
    /// # Errors
    /// The errors of [`PacketReader::advance`].
    pub async fn receive(&mut self) -> WireResult<()> {
        self.reader.advance(&mut self.socket).await
    }

    /// Receives the next packet if it has already arrived, without waiting: see [`PacketReader::advance_arrived`].
    pub fn receive_arrived(&mut self) -> Poll<WireResult<()>> {
        self.reader.advance_arrived(&mut self.socket)
    }

    /// Sends the collected bytes.
    ///
    /// # Errors
    /// [`WireError::WriteTimeout`] if the client accepts nothing for `net_write_timeout`; [`WireError::Closed`] if the
    /// session is killed meanwhile. After an error nothing more is sent, and every flush fails.
    pub async fn flush(&mut self) -> WireResult<()> {
        self.bytes_sent = self.bytes_written();
        tokio::select! {
            biased;
            sent = self.writer.flush_within(&mut self.socket, self.write_timeout) => sent,
            () = self.killed.notified() => Err(WireError::Closed),
        }
    }

    /// Returns the number of bytes for the client: sent and collected.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_sent + self.writer.pending() as u64
    }

    /// Sends the collected bytes within a statement, which is synchronous: blocks this thread and announces that to the
    /// runtime.
    pub fn flush_blocking(&mut self) -> WireResult<()> {
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(self.flush()))
    }

    /// Closes the sending side, unless the client has not accepted earlier data.
    pub async fn finish(&mut self) {
        if !self.writer.is_broken() {
            let _ = tokio::time::timeout(self.write_timeout, self.socket.finish()).await;
        }
    }

    /// Requests a file from the client (LOAD DATA LOCAL INFILE); [`Self::receive_piece`] receives it.
    pub async fn request_file(&mut self, name: &[u8]) -> WireResult<()> {
        let out = self.writer.begin();
        out.push(LOCAL_INFILE);
        out.extend_from_slice(name);
        self.writer.end();
        self.flush().await?;
        self.reader.set_sequence(self.writer.sequence());
        Ok(())
    }

    /// Receives a piece of the file as the reader's payload. The last piece is empty.
    pub async fn receive_piece(&mut self) -> WireResult<()> {
        self.reader.advance(&mut self.socket).await?;
        self.writer.set_sequence(self.reader.sequence());
        Ok(())
    }

    /// Reads the reply to a packet of this server during the handshake.
    pub async fn read_answer(&mut self) -> WireResult<&[u8]> {
        self.reader.set_sequence(self.writer.sequence());
        self.reader.advance(&mut self.socket).await?;
        self.writer.set_sequence(self.reader.sequence());
        Ok(self.reader.payload())
    }
}
