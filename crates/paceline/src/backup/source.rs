//! The connection to the server that is backed up. It reads the server's stream ([`paceline_server::backup`]), checks
//! each piece, and checks at the end that all pieces were received.

use super::error::{Error, Result};
use crate::connection::{Connection, ServerError, SilenceLimit};
use crate::tls::TlsOptions;
use paceline_binlog::event::MAGIC;
use paceline_object_storage::Bytes;
use paceline_server::backup::{EndRow, PROTOCOL, RowKind, ServerRow};
use paceline_server::options::client_section;
use paceline_types::error_code::{ER_NOT_SUPPORTED_YET, ER_PARSE_ERROR, ErrorCode};
use paceline_wire::bytes::Cursor;
use paceline_wire::client::ConnectOptions;
use paceline_wire::response::decode_error;
use paceline_wire::{Capabilities, WireError};
use std::path::PathBuf;

/// Address of the server, and the login.
#[derive(clap::Args, Debug, Clone)]
pub struct Access {
    /// Server to back up: HOST, HOST:PORT, [IPV6]:PORT or the path of its UNIX socket.
    #[arg(long, value_name = "ADDRESS")]
    pub from: String,
    /// Account with the privileges RELOAD, REPLICATION SLAVE and SELECT; by default root.
    #[arg(long)]
    pub user: Option<String>,
    /// Password of the account; by default from PACELINE_PASSWORD or MYSQL_PWD in the environment.
    #[arg(long)]
    pub password: Option<String>,
    /// Option file in the format of my.cnf. User, password and TLS options that are not given on the command line are
    /// read from its section [client].
    #[arg(long, value_name = "FILE")]
    pub defaults_file: Option<PathBuf>,
    /// Time limit for a silent server.
    #[command(flatten)]
    pub silence_limit: SilenceLimit,
    /// TLS options.
    #[command(flatten)]
    pub tls: TlsOptions,
}

impl Access {
    fn connect_options(&self) -> Result<ConnectOptions> {
        let file = match &self.defaults_file {
            Some(path) => client_section(path).map_err(|error| Error::Usage(error.to_string()))?,
            None => Vec::new(),
        };
        let in_file = |name: &str| {
            let mut values = file.iter().filter(|(option, _)| option == name);
            values.next_back().and_then(|(_, value)| value.clone())
        };
        let environment = |name: &str| std::env::var(name).ok();
        let mut tls = self.tls.clone();
        for (name, value) in file.iter().rev() {
            tls.complete(name, value.as_deref());
        }
        Ok(ConnectOptions {
            user: self
                .user
                .clone()
                .or_else(|| in_file("user"))
                .unwrap_or_else(|| "root".into()),
            password: self
                .password
                .clone()
                .or_else(|| in_file("password"))
                .or_else(|| environment("PACELINE_PASSWORD"))
                .or_else(|| environment("MYSQL_PWD"))
                .unwrap_or_default(),
            tls: tls.client().map_err(|error| Error::Usage(error.to_string()))?,
            idle_timeout: self.silence_limit.limit(),
            ..ConnectOptions::default()
        })
    }
}

/// A connection to the server that is backed up.
pub struct Source {
    connection: Connection,
    received: StreamCheck,
}

/// Message for a server that does not know the statement.
const NO_STREAM: &str = "it does not support BACKUP SERVER: it is not a Paceline, or an earlier version. Use mariadb-backup to copy a MariaDB, or \
                         `paceline join` to create a replica of one";
/// Errors with which servers answer an unknown statement.
const UNKNOWN: [ErrorCode; 2] = [ER_PARSE_ERROR, ER_NOT_SUPPORTED_YET];

/// The received part of a stream.
#[derive(Debug, Default)]
struct StreamCheck {
    /// Announced numbers of table files and of their bytes.
    tables: Option<(u64, u64)>,
    files: u64,
    bytes: u64,
    /// The current file, with the offset of its next piece.
    open: Option<(RowKind, String, u64)>,
    /// Start of the log in its first file, and end of what was received in the current file.
    log_from: u64,
    log_reached: u64,
}

impl StreamCheck {
    fn begin(row: &ServerRow) -> Self {
        // A log that starts at the first event of a file includes the file's magic.
        let log_from = match row.log_from.offset() {
            offset if offset <= MAGIC.len() as u64 => 0,
            offset => offset,
        };
        StreamCheck {
            tables: row.tables.as_ref().map(|tables| (tables.files, tables.bytes)),
            log_from,
            log_reached: row.log_from.offset(),
            ..StreamCheck::default()
        }
    }

    /// Checks a piece: it must continue the current file or start another one.
    fn take(&mut self, kind: RowKind, piece: &FilePiece) -> std::result::Result<(), String> {
        let length = piece.content.len() as u64;
        let due = match &self.open {
            Some((RowKind::Log, ..)) if kind == RowKind::Table => {
                return Err("a table file follows the log".into());
            }
            Some((open, name, next)) if *open == kind && *name == piece.name => *next,
            Some((RowKind::Log, ..)) => 0,
            // The log may start at the end of a file. Then its first piece is the start of the next file.
            None | Some(_) if kind == RowKind::Log && piece.offset > 0 => self.log_from,
            None | Some(_) if kind == RowKind::Log => 0,
            None | Some(_) => {
                self.files += 1;
                0
            }
        };
        if due != piece.offset {
            return Err(format!(
                "'{}' continues at {}, not at {due}",
                piece.name, piece.offset
            ));
        }
        match kind {
            RowKind::Log => self.log_reached = piece.offset + length,
            _ => self.bytes += length,
        }
        self.open = Some((kind, piece.name.clone(), piece.offset + length));
        Ok(())
    }

    /// Checks that everything that the server has announced was received.
    fn end(&self, end: &EndRow) -> std::result::Result<(), String> {
        if let Some((files, bytes)) = self.tables
            && (self.files, self.bytes) != (files, bytes)
        {
            return Err(format!(
                "received {} table files of {} bytes instead of {files} of {bytes}",
                self.files, self.bytes
            ));
        }
        match self.log_reached == end.log_end.offset() {
            true => Ok(()),
            false => Err(format!(
                "the log ends at {} instead of {}",
                self.log_reached, end.log_end
            )),
        }
    }
}

/// An item of the stream.
#[derive(Debug)]
pub enum StreamItem {
    /// A piece of a table file.
    Table(FilePiece),
    /// A piece of a log file.
    Log(FilePiece),
    /// The end of the stream.
    End(EndRow),
}

/// A piece of a file, with a correct checksum.
#[derive(Debug)]
pub struct FilePiece {
    /// Name of the file.
    pub name: String,
    /// Offset in the file.
    pub offset: u64,
    pub content: Bytes,
}

impl Source {
    /// Connects to the server.
    ///
    /// # Errors
    /// [`Error::Server`].
    pub async fn connect(access: &Access) -> Result<Self> {
        Self::connect_with(&access.from, &access.connect_options()?).await
    }

    /// Connects with explicit options.
    ///
    /// # Errors
    /// [`Error::Server`].
    pub async fn connect_with(address: &str, options: &ConnectOptions) -> Result<Self> {
        Ok(Source {
            connection: Connection::open(&address.parse()?, options).await?,
            received: StreamCheck::default(),
        })
    }

    /// Requests the stream of a full backup.
    ///
    /// # Errors
    /// [`Error::Server`], [`Error::OtherVersion`] or [`Error::Stream`].
    pub async fn full(&mut self) -> Result<ServerRow> {
        self.begin("BACKUP SERVER").await
    }

    /// Requests the stream of an increment. `next` is from the preceding manifest.
    ///
    /// # Errors
    /// [`Error::Server`], [`Error::OtherVersion`] or [`Error::Stream`].
    pub async fn since(&mut self, next: &str) -> Result<ServerRow> {
        let next = next.replace('\\', "\\\\").replace('\'', "''");
        self.begin(&format!("BACKUP BINARY LOGS FROM '{next}'")).await
    }

    async fn begin(&mut self, statement: &str) -> Result<ServerRow> {
        let mut command = vec![3];
        command.extend_from_slice(statement.as_bytes());
        self.sent(command).await?;
        let count = match self.connection.client.receive().await {
            Ok(payload) if payload.first() == Some(&0xFF) => {
                let error = decode_error(payload);
                return Err(match &error {
                    // The server does not know the statement.
                    WireError::Server { code, .. }
                        if UNKNOWN.iter().any(|unknown| unknown.number() == *code) =>
                    {
                        self.other_version(NO_STREAM.to_owned())
                    }
                    _ => self.problem(error),
                });
            }
            Ok(payload) => Cursor::new(payload, "column count")
                .lenenc_int()
                .unwrap_or_default(),
            Err(error) => return Err(self.problem(error)),
        };
        if count != 5 {
            return Err(self.damaged("it is not a backup"));
        }
        let definitions = match self
            .connection
            .client
            .capabilities()
            .has(Capabilities::DEPRECATE_EOF)
        {
            true => count,
            false => count + 1,
        };
        for _ in 0..definitions {
            self.packet().await?;
        }
        match self.row().await? {
            Some((RowKind::Server, _, content)) => {
                let row: ServerRow =
                    serde_json::from_slice(&content).map_err(|error| self.damaged(error.to_string()))?;
                if row.protocol != PROTOCOL {
                    return Err(self.other_version(format!(
                        "it sends backups in format {}, and this program reads format {PROTOCOL}: their versions differ",
                        row.protocol
                    )));
                }
                self.received = StreamCheck::begin(&row);
                Ok(row)
            }
            _ => Err(self.damaged("its first row does not describe the server")),
        }
    }

    fn other_version(&self, problem: String) -> Error {
        Error::OtherVersion {
            address: self.connection.address().to_string(),
            problem,
        }
    }

    async fn sent(&mut self, command: Vec<u8>) -> Result<()> {
        let sent = self.connection.client.send(&command).await;
        sent.map_err(|error| self.problem(error))
    }

    fn problem(&self, problem: impl ToString) -> Error {
        self.connection.problem(problem).into()
    }

    fn damaged(&self, problem: impl Into<String>) -> Error {
        Error::Stream {
            address: self.connection.address().to_string(),
            problem: problem.into(),
        }
    }

    /// Returns the next packet unless it is an error.
    async fn packet(&mut self) -> Result<&[u8]> {
        let address = self.connection.address().to_string();
        let problem = |error: WireError| ServerError::of_connection(address, &error);
        match self.connection.client.receive().await {
            Ok(payload) if payload.first() == Some(&0xFF) => Err(problem(decode_error(payload)).into()),
            Ok(payload) => Ok(payload),
            Err(error) => Err(problem(error).into()),
        }
    }

    /// Returns the next row: its kind, the file name and offset if present, and its content; `None` at the end of the
    /// result.
    async fn row(&mut self) -> Result<Option<(RowKind, Option<(String, u64)>, Bytes)>> {
        let payload = self.packet().await?;
        if payload.first() == Some(&0xFE) {
            return Ok(None);
        }
        let row = decode_row(payload);
        row.map(Some).map_err(|problem| self.damaged(problem))
    }

    /// Returns the next item of the stream.
    ///
    /// # Errors
    /// [`Error::Server`] if the connection or the server fails; [`Error::Stream`] if a piece is damaged or the stream
    /// ends before its last row.
    pub async fn next(&mut self) -> Result<StreamItem> {
        match self.row().await? {
            Some((kind @ (RowKind::Table | RowKind::Log), Some((name, offset)), content)) => {
                let piece = FilePiece {
                    name,
                    offset,
                    content,
                };
                let taken = self.received.take(kind, &piece);
                taken.map_err(|problem| self.damaged(problem))?;
                Ok(match kind {
                    RowKind::Table => StreamItem::Table(piece),
                    _ => StreamItem::Log(piece),
                })
            }
            Some((RowKind::End, _, content)) => {
                let end: EndRow =
                    serde_json::from_slice(&content).map_err(|error| self.damaged(error.to_string()))?;
                self.received.end(&end).map_err(|problem| self.damaged(problem))?;
                match self.row().await? {
                    None => Ok(StreamItem::End(end)),
                    Some(_) => Err(self.damaged("a row follows its last row")),
                }
            }
            Some(_) => Err(self.damaged("a row is in the wrong place")),
            None => Err(self.damaged("it ends too early")),
        }
    }
}

type Row = (RowKind, Option<(String, u64)>, Bytes);

fn decode_row(payload: &[u8]) -> std::result::Result<Row, String> {
    let mut cursor = Cursor::new(payload, "row");
    let mut values = Vec::with_capacity(5);
    for _ in 0..5 {
        values.push(cursor.text_value().map_err(|error| error.to_string())?);
    }
    let [kind, name, offset, checksum, content] = values[..] else {
        return Err("a row is incomplete".into());
    };
    let kind = kind
        .and_then(RowKind::of_name)
        .ok_or("a row of an unknown kind")?;
    let content = content.ok_or("a row without content")?;
    let number = |value: Option<&[u8]>| -> Option<u64> { std::str::from_utf8(value?).ok()?.parse().ok() };
    let place = match name {
        None => None,
        Some(name) => {
            let name = String::from_utf8_lossy(name).into_owned();
            let offset = number(offset).ok_or("a piece without an offset")?;
            let checksum = number(checksum).ok_or("a piece without a checksum")?;
            if u64::from(crc32fast::hash(content)) != checksum {
                return Err(format!(
                    "the checksum of '{name}' at offset {offset} is wrong: it was changed on the way"
                ));
            }
            Some((name, offset))
        }
    };
    Ok((kind, place, Bytes::copy_from_slice(content)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_server::backup::TablesRow;
    use paceline_types::LogPosition;
    use paceline_wire::bytes::put_lenenc_bytes;

    fn row(kind: &[u8], name: &[u8], offset: &[u8], checksum: &[u8], content: &[u8]) -> Vec<u8> {
        let mut payload = Vec::new();
        for value in [kind, name, offset, checksum, content] {
            put_lenenc_bytes(&mut payload, value);
        }
        payload
    }

    #[test]
    fn pieces_must_follow_each_other_and_match_the_announced_totals() {
        let announced = ServerRow {
            protocol: PROTOCOL,
            version: String::new(),
            server_id: 1,
            hostname: String::new(),
            log_bin: "binlog".into(),
            tables: Some(TablesRow {
                position: LogPosition::new(3, 700),
                gtid_position: String::new(),
                files: 2,
                bytes: 5,
            }),
            log_from: LogPosition::new(3, 0),
            log_bytes: 9,
        };
        let piece = |name: &str, offset, content: &'static str| FilePiece {
            name: name.into(),
            offset,
            content: Bytes::from_static(content.as_bytes()),
        };
        let end = |offset| EndRow {
            log_end: LogPosition::new(4, offset),
            gtid_position: String::new(),
            next: String::new(),
        };
        use RowKind::{Log, Table};
        let mut received = StreamCheck::begin(&announced);
        received.take(Table, &piece("a", 0, "xy")).unwrap();
        received.take(Table, &piece("a", 2, "z")).unwrap();
        assert!(received.take(Table, &piece("a", 4, "z")).is_err());
        assert!(received.take(Table, &piece("b", 1, "z")).is_err());
        let mut received = StreamCheck::begin(&announced);
        for (kind, piece) in [
            (Table, piece("a", 0, "xyz")),
            (Table, piece("b", 0, "zz")),
            (Log, piece("binlog.000003", 0, "1234")),
            (Log, piece("binlog.000003", 4, "56")),
            (Log, piece("binlog.000004", 0, "789")),
        ] {
            received.take(kind, &piece).unwrap();
        }
        assert!(received.take(Table, &piece("c", 0, "")).is_err());
        let increment = ServerRow {
            tables: None,
            log_from: LogPosition::new(3, 700),
            ..announced.clone()
        };
        for (offset, goes_on) in [(700, true), (0, true), (4, false), (701, false)] {
            let taken = StreamCheck::begin(&increment).take(Log, &piece("binlog.000003", offset, "1"));
            assert_eq!(taken.is_ok(), goes_on, "{offset}");
        }
        assert!(received.end(&end(3)).is_ok());
        assert!(received.end(&end(4)).is_err());
        received.files = 1;
        assert!(received.end(&end(3)).is_err());
    }

    #[test]
    fn a_change_of_any_byte_of_a_piece_is_detected() {
        let checksum = crc32fast::hash(b"content").to_string();
        let good = row(
            b"table",
            b"rocksdb/1.sst",
            b"256",
            checksum.as_bytes(),
            b"content",
        );
        let (kind, place, content) = decode_row(&good).unwrap();
        assert_eq!(kind, RowKind::Table);
        assert_eq!(place.unwrap(), ("rocksdb/1.sst".to_owned(), 256));
        assert_eq!(content, "content");
        for (at, byte) in good.iter().enumerate() {
            let mut bad = good.clone();
            bad[at] = byte ^ 1;
            // Name and offset are checked against the preceding piece.
            if let Ok((kind, place, content)) = decode_row(&bad) {
                let (name, offset) = place.unwrap();
                assert!(kind == RowKind::Table && content == "content");
                assert!(name != "rocksdb/1.sst" || offset != 256, "byte {at}");
            }
        }
        assert!(decode_row(&good[..good.len() - 1]).is_err());
    }
}
