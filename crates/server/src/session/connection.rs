//! A session's end of the wire: the socket with its buffers, and how results leave.

use crate::variables::{SessionValues, Variable};
use paceline_wire::socket::Socket;
use paceline_wire::tls::ServerTls;
use paceline_wire::{Capabilities, PacketReader, PacketWriter, WireError, WireResult};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Notify;

/// What is collected of a result before it is sent, in bytes.
pub const FLUSH_AT: usize = 128 * 1024;

/// The head of the packet that asks for a file.
const LOCAL_INFILE: u8 = 0xFB;

/// A connected client.
#[derive(Debug)]
pub struct Connection {
    /// The socket.
    pub socket: Socket,
    /// Cuts its packets out.
    pub reader: PacketReader,
    /// Collects the answer.
    pub writer: PacketWriter,
    /// What both ends agreed on.
    pub capabilities: Capabilities,
    /// `net_write_timeout`.
    pub write_timeout: Duration,
    /// What it was encrypted with, if it is encrypted.
    pub tls: Option<ServerTls>,
    /// KILL: what the client does not take at once is waited for no longer.
    killed: Arc<Notify>,
}

impl Connection {
    /// A connection that has not logged in. Packets are limited to `payload_max` bytes until it has. `killed` ends its waits for the client to read.
    pub fn new(socket: Socket, payload_max: usize, killed: Arc<Notify>) -> Self {
        Connection {
            socket,
            reader: PacketReader::new(payload_max),
            writer: PacketWriter::new(),
            capabilities: Capabilities::NONE,
            write_timeout: Duration::from_secs(60),
            tls: None,
            killed,
        }
    }

    /// Takes over what it heeds of the session's variables.
    pub fn heed(&mut self, values: &SessionValues) {
        self.write_timeout = Duration::from_secs(values.get(Variable::NetWriteTimeout).as_u64());
    }

    /// The client has asked for TLS: what it sends from now on is encrypted.
    ///
    /// # Errors
    /// A handshake that fails. Nothing can be told the client any more then.
    pub async fn encrypt(&mut self, tls: ServerTls) -> WireResult<()> {
        let early = self.reader.take_buffered();
        self.socket = tls.accept(self.socket.take(), early).await?;
        self.tls = Some(tls);
        Ok(())
    }

    /// Receives the next packet, as the reader's payload.
    ///
    /// # Errors
    /// As [`PacketReader::advance`].
    pub async fn receive(&mut self) -> WireResult<()> {
        self.reader.advance(&mut self.socket).await
    }

    /// The same of what has arrived, without waiting: see [`PacketReader::advance_arrived`].
    pub fn receive_arrived(&mut self) -> Poll<WireResult<()>> {
        self.reader.advance_arrived(&mut self.socket)
    }

    /// Sends what was collected.
    ///
    /// # Errors
    /// [`WireError::WriteTimeout`] if the client takes nothing of it for `net_write_timeout`, [`WireError::Closed`] if the session is killed
    /// meanwhile. After an error nothing is sent any more, and every flush fails.
    pub async fn flush(&mut self) -> WireResult<()> {
        tokio::select! {
            biased;
            sent = self.writer.flush_within(&mut self.socket, self.write_timeout) => sent,
            () = self.killed.notified() => Err(WireError::Closed),
        }
    }

    /// The same in the middle of a statement, which is synchronous: blocks this thread, and tells the runtime so.
    pub fn flush_blocking(&mut self) -> WireResult<()> {
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(self.flush()))
    }

    /// Closes the sending side, unless something stands before that which the client does not take.
    pub async fn finish(&mut self) {
        if !self.writer.is_torn() {
            let _ = tokio::time::timeout(self.write_timeout, self.socket.finish()).await;
        }
    }

    /// Asks the client for a file (LOAD DATA LOCAL INFILE); [`Self::receive_piece`] gets it.
    pub async fn request_file(&mut self, name: &[u8]) -> WireResult<()> {
        let out = self.writer.begin();
        out.push(LOCAL_INFILE);
        out.extend_from_slice(name);
        self.writer.end();
        self.flush().await?;
        self.reader.set_sequence(self.writer.sequence());
        Ok(())
    }

    /// Receives a piece of the file as the reader's payload; an empty one is the last.
    pub async fn receive_piece(&mut self) -> WireResult<()> {
        self.reader.advance(&mut self.socket).await?;
        self.writer.set_sequence(self.reader.sequence());
        Ok(())
    }

    /// Reads the answer to a packet of this server's in a dialogue (the handshake).
    pub async fn read_answer(&mut self) -> WireResult<&[u8]> {
        self.reader.set_sequence(self.writer.sequence());
        self.reader.advance(&mut self.socket).await?;
        self.writer.set_sequence(self.reader.sequence());
        Ok(self.reader.payload())
    }
}
