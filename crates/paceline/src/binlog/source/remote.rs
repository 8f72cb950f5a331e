//! A server's log, requested as by `mariadb-binlog --read-from-remote-server`.
//!
//! ```text
//!   SET @master_binlog_checksum, @mariadb_slave_capability [, @slave_connect_state]
//!   COM_BINLOG_DUMP ──▶ Rotate (artificial: file name), Format_description, events, Rotate (artificial: next file name) …
//! ```
//! Without `--to-last-log`, reading ends at the artificial Rotate to another file. Offsets are counted as by
//! `mariadb-binlog`: artificial events have no position in a file and do not advance the offset.

use super::{Checksums, EventSource, LoggedEvent};
use crate::binlog::error::{Error, Result};
use crate::binlog::server::ServerOptions;
use crate::connection::ServerError;
use paceline_binlog::GtidPosition;
use paceline_binlog::event::{
    ChecksumAlgorithm, Event, EventFlags, EventHeader, EventType, FormatDescription, MAGIC, RawEvent,
};
use paceline_wire::WireError;
use paceline_wire::client::Client;
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

const COM_BINLOG_DUMP: u8 = 18;
/// BINLOG_DUMP_NON_BLOCK: the server reports the end of the log instead of waiting.
const DUMP_NON_BLOCK: u16 = 1;
/// BINLOG_SEND_ANNOTATE_ROWS_EVENT.
const DUMP_ANNOTATE: u16 = 2;
/// Maximum length of a packet in the stream.
const PAYLOAD_MAX: usize = (1 << 30) + (1 << 20);

/// A request.
#[derive(Clone, Debug)]
pub struct RemoteStart<'a> {
    /// Name of the file; empty for the first one.
    pub file: &'a str,
    /// Offset in the file.
    pub offset: Option<u64>,
    /// GTIDs after which to start, independent of file and offset.
    pub gtids: Option<&'a GtidPosition>,
    /// How far to read.
    pub extent: Extent,
    /// Whether annotations are sent with rows.
    pub annotations: bool,
}

/// How far a log is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// To the end of the named file.
    OneFile,
    /// `--to-last-log`: to the end of the last file.
    ToLastLog,
    /// `--stop-never`: waits for more. The server gets this id as the replica's server id.
    StopNever(u32),
}

/// The log of a server.
pub struct RemoteLog {
    runtime: Runtime,
    client: Client,
    address: String,
    name: PathBuf,
    file: Vec<u8>,
    extent: Extent,
    offset: u64,
    buffer: Vec<u8>,
    format: FormatDescription,
    checksums: Checksums,
}

impl RemoteLog {
    /// Connects and requests the log.
    ///
    /// # Errors
    /// [`Error::Server`].
    pub fn open(server: &ServerOptions, start: &RemoteStart<'_>, checksums: Checksums) -> Result<Self> {
        let (runtime, client) = server.connect()?;
        let mut log = RemoteLog {
            runtime,
            client,
            address: server.address(),
            name: PathBuf::from(start.file),
            file: start.file.as_bytes().to_vec(),
            extent: match (start.extent, start.file) {
                (Extent::OneFile, "") => Extent::ToLastLog,
                (extent, _) => extent,
            },
            offset: start.offset.unwrap_or(MAGIC.len() as u64),
            buffer: Vec::new(),
            // The artificial Rotate before the first format has no checksum.
            format: FormatDescription {
                checksum: ChecksumAlgorithm::None,
                ..FormatDescription::new("", 0)
            },
            checksums,
        };
        log.client.set_payload_max(PAYLOAD_MAX);
        log.ask(start)?;
        Ok(log)
    }

    fn problem(&self, error: WireError) -> Error {
        let mut shown = ServerError::of_connection(&self.address, &error);
        if let WireError::Server { message, .. } = error {
            shown.problem = message;
        }
        Error::Server(shown)
    }

    fn ask(&mut self, start: &RemoteStart<'_>) -> Result<()> {
        let mut questions = vec![
            "SET @master_binlog_checksum='NONE'".to_owned(),
            "SET @mariadb_slave_capability=4".to_owned(),
        ];
        if let Some(position) = start.gtids {
            questions.push(format!("SET @slave_connect_state='{position}'"));
        }
        for question in questions {
            let answer = self.runtime.block_on(self.client.rows(&question));
            answer.map_err(|error| self.problem(error))?;
        }
        let offset = u32::try_from(self.offset).map_err(|_| Error::Option {
            option: "--start-position",
            value: self.offset.to_string(),
            problem: "is too large: the offset in a server's file must be below 4 GiB",
        })?;
        let (mut flags, mut server_id) = (DUMP_NON_BLOCK, 0);
        if let Extent::StopNever(id) = start.extent {
            (flags, server_id) = (0, id);
        }
        if start.annotations {
            flags |= DUMP_ANNOTATE;
        }
        let mut command = vec![COM_BINLOG_DUMP];
        command.extend_from_slice(&offset.to_le_bytes());
        command.extend_from_slice(&flags.to_le_bytes());
        command.extend_from_slice(&server_id.to_le_bytes());
        command.extend_from_slice(start.file.as_bytes());
        let sent = self.runtime.block_on(self.client.send(&command));
        sent.map_err(|error| self.problem(error))
    }

    /// Receives the next event into the buffer; `None` at the end of the log.
    fn receive(&mut self) -> Result<Option<EventHeader>> {
        loop {
            let received = match self.client.receive_buffered() {
                Ok(None) => self.runtime.block_on(self.client.receive()).map(|payload| {
                    self.buffer.clear();
                    self.buffer.extend_from_slice(payload);
                }),
                Ok(Some(payload)) => {
                    self.buffer.clear();
                    self.buffer.extend_from_slice(payload);
                    Ok(())
                }
                Err(error) => Err(error),
            };
            received.map_err(|error| self.problem(error))?;
            match self.buffer.first() {
                Some(0) => {}
                Some(0xFE) if self.buffer.len() < 9 => return Ok(None),
                Some(0xFF) => return Err(self.problem(paceline_wire::response::decode_error(&self.buffer))),
                _ => return Err(self.problem(WireError::Malformed("binlog stream"))),
            }
            self.buffer.drain(..1);
            let header = EventHeader::decode(&self.buffer)
                .filter(|header| header.length as usize == self.buffer.len())
                .ok_or_else(|| self.damage("it is not an event"))?;
            if header.event_type != EventType::HEARTBEAT {
                return Ok(Some(header));
            }
        }
    }

    /// Returns an error about an event from the server.
    pub fn damage(&self, problem: impl ToString) -> Error {
        Error::Event {
            file: self.name.clone(),
            offset: self.offset,
            problem: problem.to_string(),
        }
    }

    /// Returns the file that the Rotate in the buffer names.
    fn named(&self) -> Result<Vec<u8>> {
        let event = self.event(self.offset)?;
        match event.decode().map_err(|error| self.damage(error))? {
            Event::Rotate(rotate) => Ok(rotate.file_name.to_vec()),
            _ => Err(self.damage("it is not a Rotate event")),
        }
    }

    fn event(&self, offset: u64) -> Result<LoggedEvent<'_>> {
        let event = LoggedEvent::new(offset, &self.buffer, &self.format, self.checksums);
        event.map_err(|error| self.damage(error))
    }
}

impl EventSource for RemoteLog {
    fn next_event(&mut self) -> Result<Option<LoggedEvent<'_>>> {
        loop {
            let Some(header) = self.receive()? else {
                return Ok(None);
            };
            let offset = self.offset;
            let is_artificial = header.timestamp == 0 || header.flags.contains(EventFlags::ARTIFICIAL);
            match header.event_type {
                EventType::ROTATE if is_artificial => {
                    let named = self.named()?;
                    self.name = PathBuf::from(String::from_utf8_lossy(&named).into_owned());
                    if self.extent == Extent::OneFile {
                        if !self.file.is_empty() && named != self.file {
                            return Ok(None);
                        }
                        continue;
                    }
                }
                EventType::FORMAT_DESCRIPTION => {
                    let body = RawEvent::trusted(&self.buffer)
                        .ok_or_else(|| self.damage("it is too short"))?
                        .body();
                    self.format = FormatDescription::decode(body).map_err(|error| self.damage(error))?;
                    // A Format_description elsewhere is sent only so that the following events can be decoded.
                    if offset == MAGIC.len() as u64 {
                        self.offset += u64::from(header.length);
                    }
                }
                _ => self.offset += u64::from(header.length),
            }
            return self.event(offset).map(Some);
        }
    }

    fn name(&self) -> &Path {
        &self.name
    }
}
