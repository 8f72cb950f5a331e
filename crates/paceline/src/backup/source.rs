//! The server that is backed up: its stream ([`paceline_server::backup`]), each piece checked as it comes.

use super::error::{Error, Result};
use crate::tls::TlsOptions;
use paceline_object_storage::Bytes;
use paceline_server::backup::{EndRow, PROTOCOL, RowKind, ServerRow};
use paceline_server::options::client_section;
use paceline_wire::Capabilities;
use paceline_wire::bytes::Cursor;
use paceline_wire::client::{Client, ConnectOptions};
use paceline_wire::response::decode_error;
use std::path::{Path, PathBuf};

/// Which server, and as whom.
#[derive(clap::Args, Debug, Clone)]
pub struct Access {
    /// The server: HOST, HOST:PORT or the path of its UNIX socket.
    #[arg(long, value_name = "ADDRESS")]
    pub from: String,
    /// Who connects: an account with the privileges RELOAD, REPLICATION SLAVE and SELECT.
    #[arg(long)]
    pub user: Option<String>,
    /// The password; else PACELINE_PASSWORD or MYSQL_PWD in the environment.
    #[arg(long)]
    pub password: Option<String>,
    /// A file in my.cnf's format: its section [client] gives user, password and TLS where the command line does not.
    #[arg(long, value_name = "FILE")]
    pub defaults_file: Option<PathBuf>,
    /// TLS.
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
            ..ConnectOptions::default()
        })
    }
}

/// A connection to the server.
pub struct Source {
    address: String,
    client: Client,
}

/// What a stream brings.
#[derive(Debug)]
pub enum Piece {
    /// Of a table file.
    Table(FilePiece),
    /// Of a file of the log.
    Log(FilePiece),
    /// Nothing follows.
    End(EndRow),
}

/// A part of a file. Its checksum was right.
#[derive(Debug)]
pub struct FilePiece {
    /// The file.
    pub name: String,
    /// Where in the file it belongs.
    pub offset: u64,
    /// Its content.
    pub content: Bytes,
}

impl Source {
    /// Connects.
    ///
    /// # Errors
    /// [`Error::Server`].
    pub async fn connect(access: &Access) -> Result<Self> {
        let options = access.connect_options()?;
        let address = access.from.clone();
        let connected = match address.contains('/') {
            true => Client::connect_unix(Path::new(&address), &options).await,
            false if address.contains(':') => Client::connect_tcp(&address, &options).await,
            false => Client::connect_tcp(&format!("{address}:3306"), &options).await,
        };
        match connected {
            Ok(client) => Ok(Source { address, client }),
            Err(error) => Err(Error::Server {
                address,
                problem: error.to_string(),
            }),
        }
    }

    /// Begins the stream of a full backup.
    ///
    /// # Errors
    /// What the server says.
    pub async fn full(&mut self) -> Result<ServerRow> {
        self.begin("BACKUP SERVER").await
    }

    /// Begins the stream of what has come since a backup that ended with `next`.
    ///
    /// # Errors
    /// What the server says.
    pub async fn since(&mut self, next: &str) -> Result<ServerRow> {
        let next = next.replace('\\', "\\\\").replace('\'', "''");
        self.begin(&format!("BACKUP BINARY LOGS FROM '{next}'")).await
    }

    async fn begin(&mut self, statement: &str) -> Result<ServerRow> {
        let mut command = vec![3];
        command.extend_from_slice(statement.as_bytes());
        self.sent(command).await?;
        let count = {
            let payload = self.packet().await?;
            Cursor::new(payload, "column count")
                .lenenc_int()
                .unwrap_or_default()
        };
        if count != 5 {
            return Err(self.damaged("it is no backup"));
        }
        let definitions = match self.client.capabilities().has(Capabilities::DEPRECATE_EOF) {
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
                match row.protocol {
                    PROTOCOL => Ok(row),
                    other => Err(self.damaged(format!("its format {other} is of another version"))),
                }
            }
            _ => Err(self.damaged("it does not begin with its server")),
        }
    }

    async fn sent(&mut self, command: Vec<u8>) -> Result<()> {
        let sent = self.client.send(&command).await;
        sent.map_err(|error| self.problem(error))
    }

    fn problem(&self, problem: impl ToString) -> Error {
        Error::Server {
            address: self.address.clone(),
            problem: problem.to_string(),
        }
    }

    fn damaged(&self, problem: impl Into<String>) -> Error {
        Error::Stream {
            address: self.address.clone(),
            problem: problem.into(),
        }
    }

    /// The next packet, if it is no error.
    async fn packet(&mut self) -> Result<&[u8]> {
        let address = &self.address;
        let problem = |problem: paceline_wire::WireError| Error::Server {
            address: address.clone(),
            problem: problem.to_string(),
        };
        let payload = self.client.receive().await.map_err(problem)?;
        match payload.first() {
            Some(0xFF) => Err(problem(decode_error(payload))),
            _ => Ok(payload),
        }
    }

    /// The next row: its kind, its place if it has one, its content; `None` at the end of the result.
    async fn row(&mut self) -> Result<Option<(RowKind, Option<(String, u64)>, Bytes)>> {
        let payload = self.packet().await?;
        if payload.first() == Some(&0xFE) {
            return Ok(None);
        }
        let row = decode_row(payload);
        row.map(Some).map_err(|problem| self.damaged(problem))
    }

    /// The next piece.
    ///
    /// # Errors
    /// [`Error::Server`] if the connection or the server failed, [`Error::Stream`] if a piece is not what was sent, or the stream ends
    /// before its last row.
    pub async fn next(&mut self) -> Result<Piece> {
        match self.row().await? {
            Some((RowKind::Table, Some((name, offset)), content)) => Ok(Piece::Table(FilePiece {
                name,
                offset,
                content,
            })),
            Some((RowKind::Log, Some((name, offset)), content)) => Ok(Piece::Log(FilePiece {
                name,
                offset,
                content,
            })),
            Some((RowKind::End, _, content)) => {
                let end =
                    serde_json::from_slice(&content).map_err(|error| self.damaged(error.to_string()))?;
                match self.row().await? {
                    None => Ok(Piece::End(end)),
                    Some(_) => Err(self.damaged("something follows its end")),
                }
            }
            Some(_) => Err(self.damaged("a row is out of place")),
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
                    "the checksum of '{name}' at offset {offset} is wrong: the connection has changed it"
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
    use paceline_wire::bytes::put_lenenc_bytes;

    fn row(kind: &[u8], name: &[u8], offset: &[u8], checksum: &[u8], content: &[u8]) -> Vec<u8> {
        let mut payload = Vec::new();
        for value in [kind, name, offset, checksum, content] {
            put_lenenc_bytes(&mut payload, value);
        }
        payload
    }

    #[test]
    fn pieces_are_checked() {
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
            // The offset and the name are checked against what came before.
            if let Ok((kind, place, content)) = decode_row(&bad) {
                let (name, offset) = place.unwrap();
                assert!(kind == RowKind::Table && content == "content");
                assert!(name != "rocksdb/1.sst" || offset != 256, "byte {at}");
            }
        }
        assert!(decode_row(&good[..good.len() - 1]).is_err());
    }
}
