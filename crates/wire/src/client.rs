//! The client's end: what tests, tools and replication use to talk to a server, this one or MariaDB.
//!
//! It does what is asked, one command at a time, and gives results as they came over the wire: text rows as bytes.

use crate::authentication::{NATIVE_PASSWORD, NativePassword, Scramble};
use crate::bytes::Cursor;
use crate::caching_sha2::{self, CACHING_SHA2_PASSWORD};
use crate::capability::Capabilities;
use crate::column::ColumnReceived;
use crate::error::{WireError, WireResult};
use crate::framing::{PacketReader, PacketWriter};
use crate::handshake::{Greeting, Login, decode_authentication_switch};
use crate::prepared::PreparedReceived;
use crate::response::{OkReceived, Status, decode_error};
use crate::socket::Socket;
use crate::tls::authorities::Distrust;
use crate::tls::client::Believed;
use crate::tls::proof::proves;
use crate::tls::{Certificate, ClientTls, TlsSession, tls_error};
use std::path::Path;
use std::time::Duration;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

/// Who connects, and with what.
#[derive(Debug, Clone, Default)]
pub struct ConnectOptions {
    /// The user's name.
    pub user: String,
    /// The password in clear; empty for none.
    pub password: String,
    /// The database to use.
    pub database: Option<String>,
    /// Capabilities beside [`Capabilities::CLIENT`].
    pub capabilities: Capabilities,
    /// Connection attributes.
    pub attributes: Vec<(String, String)>,
    /// TLS. With it, a server that does not speak it is not told who we are.
    pub tls: Option<ClientTls>,
    /// How long connecting may take, and how long the server may then send nothing while it is waited for, or take nothing of what is
    /// sent ([`Client::set_patience`]); `None`: for ever.
    pub patience: Option<Duration>,
}

/// One result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryResult {
    /// The statement has no result set.
    Ok(OkReceived),
    /// A result set.
    Rows(ResultSet),
}

/// A result set, complete in memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultSet {
    /// Its columns.
    pub columns: Vec<ColumnReceived>,
    /// The rows: for text results each value's bytes, for binary results one value that is the row's whole payload.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    /// What ended it.
    pub end: OkReceived,
}

/// A prepared statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Its id.
    pub id: u32,
    /// The number of parameters.
    pub parameters: usize,
    /// Its columns.
    pub columns: Vec<ColumnReceived>,
}

/// A connection, authenticated.
#[derive(Debug)]
pub struct Client {
    socket: Socket,
    reader: PacketReader,
    writer: PacketWriter,
    capabilities: Capabilities,
    greeting: Greeting,
    /// The server's certificate, if it is to be believed only when the server proves to know the password.
    unproven: Option<Certificate>,
    patience: Option<Duration>,
}

/// A text result set that is being received ([`Client::stream`]). The connection is of no more use if it is dropped before its end.
#[derive(Debug)]
pub struct RowStream<'c> {
    client: &'c mut Client,
    columns: Vec<ColumnReceived>,
}

impl RowStream<'_> {
    /// The columns.
    pub fn columns(&self) -> &[ColumnReceived] {
        &self.columns
    }

    /// The next row's payload: one length-encoded string or NULL for each column ([`Cursor::text_value`]). `None` at the end.
    ///
    /// # Errors
    /// The server's error, if the statement ends in one.
    pub async fn next(&mut self) -> WireResult<Option<&[u8]>> {
        let payload = self.client.receive().await?;
        match payload.first() {
            Some(0xFF) => Err(decode_error(payload)),
            Some(0xFE) if payload.len() < crate::framing::PAYLOAD_MAX => Ok(None),
            _ => Ok(Some(payload)),
        }
    }
}

/// A file that is being sent ([`Client::upload`]). The connection is of no more use if it is dropped before
/// [`finish`](Upload::finish).
#[derive(Debug)]
pub struct Upload<'c> {
    client: &'c mut Client,
}

impl Upload<'_> {
    /// Sends a piece of the file.
    ///
    /// # Errors
    /// If the connection breaks. The server tells at the end what it thinks of the content.
    pub async fn send(&mut self, piece: &[u8]) -> WireResult<()> {
        // An empty packet would be the end.
        if piece.is_empty() {
            return Ok(());
        }
        self.client.writer.packet(piece);
        self.client.flush().await
    }

    /// The file ends; what the statement has done.
    ///
    /// # Errors
    /// The server's error.
    pub async fn finish(self) -> WireResult<OkReceived> {
        let client = self.client;
        client.writer.packet(&[]);
        client.flush().await?;
        client.reader.set_sequence(client.writer.sequence());
        client.ok().await
    }
}

/// How the client shows who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Native,
    CachingSha2,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Native => NATIVE_PASSWORD,
            Method::CachingSha2 => CACHING_SHA2_PASSWORD,
        }
    }

    fn answer(self, scramble: &Scramble, password: &[u8]) -> Vec<u8> {
        match self {
            Method::Native => scramble.answer(password),
            Method::CachingSha2 => caching_sha2::answer(scramble, password),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowFormat {
    Text,
    Binary,
}

/// Fails if it takes longer than that.
async fn in_time(
    patience: Option<Duration>,
    connecting: impl Future<Output = WireResult<Client>>,
) -> WireResult<Client> {
    match patience {
        None => connecting.await,
        Some(patience) => timeout(patience, connecting)
            .await
            .unwrap_or(Err(WireError::ReadTimeout(patience))),
    }
}

impl Client {
    /// Connects over TCP to `host:port`; an IPv6 address stands in brackets.
    pub async fn connect_tcp(address: &str, options: &ConnectOptions) -> WireResult<Client> {
        in_time(options.patience, async {
            let socket = Socket::tcp(TcpStream::connect(address).await?)?;
            let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
            Self::log_in(socket, host.trim_matches(['[', ']']), options).await
        })
        .await
    }

    /// Connects over a UNIX socket.
    pub async fn connect_unix(path: &Path, options: &ConnectOptions) -> WireResult<Client> {
        in_time(options.patience, async {
            Self::handshake(Socket::unix(UnixStream::connect(path).await?), options).await
        })
        .await
    }

    /// Runs the handshake over a connected socket of this machine.
    pub async fn handshake(socket: Socket, options: &ConnectOptions) -> WireResult<Client> {
        Self::log_in(socket, "localhost", options).await
    }

    async fn log_in(mut socket: Socket, host: &str, options: &ConnectOptions) -> WireResult<Client> {
        let mut reader = PacketReader::new(usize::MAX);
        let greeting = {
            let payload = reader.read(&mut socket).await?;
            if payload.first() == Some(&0xFF) {
                return Err(decode_error(payload));
            }
            Greeting::decode(payload)?
        };
        let mut wanted = Capabilities::CLIENT | options.capabilities;
        if options.database.is_some() {
            wanted = wanted | Capabilities::CONNECT_WITH_DB;
        }
        if options.tls.is_some() {
            wanted = wanted | Capabilities::SSL;
        }
        let capabilities = Capabilities(wanted.0 & greeting.capabilities.0);
        let method = match greeting.plugin == CACHING_SHA2_PASSWORD {
            true => Method::CachingSha2,
            false => Method::Native,
        };
        let login = Login {
            capabilities,
            packet_max: 1 << 30,
            collation: 45,
            user: options.user.clone(),
            answer: method.answer(&greeting.scramble, options.password.as_bytes()),
            database: options.database.clone(),
            plugin: Some(method.name().into()),
            attributes: options.attributes.clone(),
        };
        let mut writer = PacketWriter::new();
        writer.set_sequence(reader.sequence());
        let mut unproven = None;
        if let Some(tls) = &options.tls {
            if !greeting.capabilities.has(Capabilities::SSL) {
                return Err(tls_error("SSL is required, but the server does not support it"));
            }
            // What came behind the greeting came from anybody: nothing of it may pass for what is encrypted.
            if reader.buffered() > 0 {
                return Err(WireError::OutOfOrder);
            }
            login.encode_tls_request(writer.begin());
            writer.end();
            writer.flush(&mut socket).await?;
            let (encrypted, believed) = tls.connect(socket, host).await?;
            socket = encrypted;
            if let Believed::IfItProves(certificate) = believed {
                if options.password.is_empty() {
                    return Err(Distrust::UnknownAuthority.into());
                }
                unproven = Some(certificate);
            }
        }
        let mut client = Client {
            socket,
            reader,
            writer,
            capabilities,
            greeting,
            unproven,
            patience: options.patience,
        };
        login.encode(client.writer.begin());
        client.writer.end();
        client.authenticate(method, options.password.as_bytes()).await?;
        Ok(client)
    }

    /// Sends what is written, with an answer to the greeting by that method, and goes through the server's authentication packets.
    async fn authenticate(&mut self, mut method: Method, password: &[u8]) -> WireResult<OkReceived> {
        let mut scramble = self.greeting.scramble;
        loop {
            self.writer.flush(&mut self.socket).await?;
            self.reader.set_sequence(self.writer.sequence());
            let mut payload = self.reader.read(&mut self.socket).await?;
            if method == Method::CachingSha2 && *payload == [1, caching_sha2::server_says::FAST_OK] {
                payload = self.reader.read(&mut self.socket).await?;
            }
            let answer = match payload {
                [0, ..] => {
                    let ok = OkReceived::decode(payload, self.capabilities)?;
                    self.check_proof(&ok, password, &scramble)?;
                    return Ok(ok);
                }
                [0xFF, ..] => return Err(decode_error(payload)),
                [0xFE, switch @ ..] => {
                    let (plugin, next) = decode_authentication_switch(switch)?;
                    method = match plugin.as_str() {
                        NATIVE_PASSWORD => Method::Native,
                        CACHING_SHA2_PASSWORD => Method::CachingSha2,
                        _ => return Err(WireError::Malformed("authentication method")),
                    };
                    scramble = next;
                    method.answer(&scramble, password)
                }
                [1, caching_sha2::server_says::FULL] if method == Method::CachingSha2 => {
                    // A server that has not proved anything must not be told a password in clear.
                    if self.unproven.is_some() {
                        return Err(Distrust::UnknownAuthority.into());
                    }
                    match self.socket.keeps_secrets() {
                        true => caching_sha2::in_clear(password),
                        false => vec![caching_sha2::REQUEST_PUBLIC_KEY],
                    }
                }
                [1, key @ ..] if method == Method::CachingSha2 && !self.socket.keeps_secrets() => {
                    caching_sha2::encrypted(password, &scramble, key)?
                }
                _ => return Err(WireError::Malformed("authentication")),
            };
            self.writer.set_sequence(self.reader.sequence());
            self.writer.packet(&answer);
        }
    }

    /// A server that nobody vouches for has to show that it knows the password.
    fn check_proof(&mut self, ok: &OkReceived, password: &[u8], scramble: &Scramble) -> WireResult<()> {
        let Some(certificate) = self.unproven.take() else {
            return Ok(());
        };
        match NativePassword::of_bytes(password) {
            NativePassword::Hash(kept) if proves(&ok.info, &kept, scramble, &certificate) => Ok(()),
            _ => Err(Distrust::UnknownAuthority.into()),
        }
    }

    /// What the encryption is, if the connection is encrypted.
    pub fn tls(&self) -> Option<&TlsSession> {
        self.socket.tls()
    }

    /// What the server said of itself.
    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    /// What both ends agreed on.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Sends one command as it is, whatever it is.
    pub async fn send(&mut self, payload: &[u8]) -> WireResult<()> {
        self.writer.set_sequence(0);
        self.writer.packet(payload);
        self.flush().await?;
        self.reader.set_sequence(self.writer.sequence());
        Ok(())
    }

    async fn flush(&mut self) -> WireResult<()> {
        match self.patience {
            None => self.writer.flush(&mut self.socket).await,
            Some(patience) => self.writer.flush_within(&mut self.socket, patience).await,
        }
    }

    /// Changes how long the server may send nothing while it is waited for, or take nothing; `None`: for ever. A statement that may take
    /// longer before it answers needs more of it.
    pub fn set_patience(&mut self, patience: Option<Duration>) {
        self.patience = patience;
    }

    /// Changes the longest answer accepted, in bytes.
    pub fn set_payload_max(&mut self, bytes: usize) {
        self.reader.set_payload_max(bytes);
    }

    /// From now on the server's packets may have any number ([`PacketReader::accept_any_sequence`]).
    pub fn accept_any_sequence(&mut self) {
        self.reader.accept_any_sequence();
    }

    /// Reads one payload of the answer.
    ///
    /// # Errors
    /// [`WireError::ReadTimeout`] if nothing has come for the connection's patience: told after twice that at the latest.
    pub async fn receive(&mut self) -> WireResult<&[u8]> {
        let Client { socket, reader, .. } = self;
        let Some(patience) = self.patience else {
            return reader.read(socket).await;
        };
        loop {
            let before = reader.buffered();
            match timeout(patience, reader.advance(socket)).await {
                Ok(done) => {
                    done?;
                    return Ok(reader.payload());
                }
                // A long payload is on its way: what has come of it is kept.
                Err(_) if reader.buffered() > before => {}
                Err(_) => return Err(WireError::ReadTimeout(patience)),
            }
        }
    }

    /// One payload of the answer, if it has arrived already.
    pub fn receive_buffered(&mut self) -> WireResult<Option<&[u8]>> {
        self.reader.next_buffered()
    }

    /// Executes a text, which may be several statements, and gives all results. An error ends them.
    pub async fn query(&mut self, text: &str) -> WireResult<Vec<QueryResult>> {
        let mut payload = vec![3];
        payload.extend_from_slice(text.as_bytes());
        self.send(&payload).await?;
        self.results(RowFormat::Text).await
    }

    /// Executes one query and gives its rows one by one, as they arrive: for results that do not fit into memory.
    ///
    /// # Errors
    /// The server's error; [`WireError::Malformed`] if the statement has no result set.
    pub async fn stream(&mut self, text: &str) -> WireResult<RowStream<'_>> {
        let mut payload = vec![3];
        payload.extend_from_slice(text.as_bytes());
        self.send(&payload).await?;
        let payload = self.receive().await?;
        let count = match payload.first() {
            Some(0xFF) => return Err(decode_error(payload)),
            None | Some(0 | 0xFB) => return Err(WireError::Malformed("no result set")),
            Some(_) => Cursor::new(payload, "column count").lenenc_int()? as usize,
        };
        let columns = self.columns(count).await?;
        Ok(RowStream {
            client: self,
            columns,
        })
    }

    /// Executes a `LOAD DATA LOCAL INFILE`; what it reads is given to the [`Upload`], whatever file it names. The client must have
    /// connected with [`Capabilities::LOCAL_FILES`].
    ///
    /// # Errors
    /// The server's error, if it refuses the statement before it asks for the file.
    pub async fn upload(&mut self, text: &str) -> WireResult<Upload<'_>> {
        let mut payload = vec![3];
        payload.extend_from_slice(text.as_bytes());
        self.send(&payload).await?;
        let payload = self.receive().await?;
        match payload.first() {
            Some(0xFB) => {}
            Some(0xFF) => return Err(decode_error(payload)),
            _ => return Err(WireError::Malformed("a file should be asked for")),
        }
        self.writer.set_sequence(self.reader.sequence());
        Ok(Upload { client: self })
    }

    /// Executes one statement and gives its rows as text; NULL is `None`.
    pub async fn rows(&mut self, text: &str) -> WireResult<Vec<Vec<Option<String>>>> {
        match self.query(text).await?.into_iter().next() {
            Some(QueryResult::Rows(set)) => Ok(set
                .rows
                .into_iter()
                .map(|row| {
                    row.into_iter()
                        .map(|value| value.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
                        .collect()
                })
                .collect()),
            _ => Ok(vec![]),
        }
    }

    /// Sends a command that is answered by OK or ERR.
    pub async fn command(&mut self, payload: &[u8]) -> WireResult<OkReceived> {
        self.send(payload).await?;
        self.ok().await
    }

    async fn ok(&mut self) -> WireResult<OkReceived> {
        let capabilities = self.capabilities;
        let payload = self.receive().await?;
        match payload.first() {
            Some(0xFF) => Err(decode_error(payload)),
            _ => OkReceived::decode(payload, capabilities),
        }
    }

    /// `COM_PING`.
    pub async fn ping(&mut self) -> WireResult<OkReceived> {
        self.command(&[14]).await
    }

    /// `COM_CHANGE_USER`.
    pub async fn change_user(&mut self, options: &ConnectOptions) -> WireResult<OkReceived> {
        let login = Login {
            capabilities: self.capabilities,
            packet_max: 0,
            collation: 45,
            user: options.user.clone(),
            answer: self.greeting.scramble.answer(options.password.as_bytes()),
            database: options.database.clone(),
            plugin: Some(NATIVE_PASSWORD.into()),
            attributes: vec![],
        };
        self.writer.set_sequence(0);
        login.encode_change_user(self.writer.begin());
        self.writer.end();
        self.authenticate(Method::Native, options.password.as_bytes())
            .await
    }

    /// `COM_STMT_PREPARE`.
    pub async fn prepare(&mut self, text: &str) -> WireResult<Prepared> {
        let mut payload = vec![22];
        payload.extend_from_slice(text.as_bytes());
        self.send(&payload).await?;
        let payload = self.receive().await?;
        if payload.first() == Some(&0xFF) {
            return Err(decode_error(payload));
        }
        let head = PreparedReceived::decode(payload)?;
        self.columns(usize::from(head.parameters)).await?;
        let columns = self.columns(usize::from(head.columns)).await?;
        Ok(Prepared {
            id: head.statement,
            parameters: usize::from(head.parameters),
            columns,
        })
    }

    /// Column definitions, and the EOF behind them if there are any.
    async fn columns(&mut self, count: usize) -> WireResult<Vec<ColumnReceived>> {
        let capabilities = self.capabilities;
        let mut columns = vec![];
        for _ in 0..count {
            columns.push(ColumnReceived::decode(self.receive().await?, capabilities)?);
        }
        if count > 0 && !capabilities.has(Capabilities::DEPRECATE_EOF) {
            self.receive().await?;
        }
        Ok(columns)
    }

    /// `COM_STMT_EXECUTE` with strings as parameters; `None` is NULL. Rows come in the binary protocol.
    pub async fn execute(
        &mut self,
        statement: &Prepared,
        parameters: &[Option<&[u8]>],
    ) -> WireResult<Vec<QueryResult>> {
        let mut payload = vec![23];
        payload.extend_from_slice(&statement.id.to_le_bytes());
        payload.push(0);
        payload.extend_from_slice(&1u32.to_le_bytes());
        if !parameters.is_empty() {
            let mut bitmap = vec![0; parameters.len().div_ceil(8)];
            for (index, value) in parameters.iter().enumerate() {
                if value.is_none() {
                    bitmap[index / 8] |= 1 << (index % 8);
                }
            }
            payload.extend_from_slice(&bitmap);
            payload.push(1);
            for _ in parameters {
                payload.extend_from_slice(&[crate::column::field_type::VAR_STRING, 0]);
            }
            for value in parameters.iter().flatten() {
                crate::bytes::put_lenenc_bytes(&mut payload, value);
            }
        }
        self.send(&payload).await?;
        self.results(RowFormat::Binary).await
    }

    /// `COM_STMT_CLOSE`, which is not answered.
    pub async fn close_statement(&mut self, statement: Prepared) -> WireResult<()> {
        let mut payload = vec![25];
        payload.extend_from_slice(&statement.id.to_le_bytes());
        self.send(&payload).await
    }

    async fn results(&mut self, format: RowFormat) -> WireResult<Vec<QueryResult>> {
        let mut results = vec![];
        loop {
            let result = self.result(format).await?;
            let status = match &result {
                QueryResult::Ok(ok) => ok.status,
                QueryResult::Rows(set) => set.end.status,
            };
            results.push(result);
            if !status.has(Status::MORE_RESULTS) {
                return Ok(results);
            }
        }
    }

    async fn result(&mut self, format: RowFormat) -> WireResult<QueryResult> {
        let capabilities = self.capabilities;
        let payload = self.receive().await?;
        let count = match payload.first() {
            Some(0) => return Ok(QueryResult::Ok(OkReceived::decode(payload, capabilities)?)),
            Some(0xFF) => return Err(decode_error(payload)),
            _ => Cursor::new(payload, "column count").lenenc_int()? as usize,
        };
        let columns = self.columns(count).await?;
        let mut rows = vec![];
        loop {
            let payload = self.receive().await?;
            match payload.first() {
                Some(0xFF) => return Err(decode_error(payload)),
                Some(0xFE) if payload.len() < crate::framing::PAYLOAD_MAX => {
                    let end = OkReceived::decode(payload, capabilities)?;
                    return Ok(QueryResult::Rows(ResultSet { columns, rows, end }));
                }
                _ => {}
            }
            rows.push(match format {
                RowFormat::Binary => vec![Some(payload.to_vec())],
                RowFormat::Text => {
                    let mut cursor = Cursor::new(payload, "row");
                    (0..count)
                        .map(|_| Ok(cursor.text_value()?.map(<[u8]>::to_vec)))
                        .collect::<WireResult<_>>()?
                }
            });
        }
    }

    /// `COM_QUIT`.
    pub async fn quit(mut self) -> WireResult<()> {
        self.send(&[1]).await
    }

    /// The socket, for tests that misbehave.
    pub fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }
}
