//! The client's side of the protocol, which tests, tools and replication use to connect to a Paceline or a MariaDB
//! server.
//!
//! It executes one command at a time and returns results as received: text rows as bytes.

use crate::authentication::{NATIVE_PASSWORD, NativePassword, Scramble};
use crate::bytes::Cursor;
use crate::caching_sha2::{self, CACHING_SHA2_PASSWORD};
use crate::capability::Capabilities;
use crate::column::ReceivedColumn;
use crate::ed25519::{CLIENT_ED25519, Ed25519Password, Nonce};
use crate::error::{WireError, WireResult};
use crate::framing::{PacketReader, PacketWriter};
use crate::handshake::{Greeting, HandshakeResponse, decode_authentication_request};
use crate::prepared::PrepareReply;
use crate::response::{ReceivedOk, Status, decode_error};
use crate::socket::Socket;
use crate::tls::authorities::CertificateRejection;
use crate::tls::client::TrustDecision;
use crate::tls::proof::proves;
use crate::tls::{Certificate, ClientTls, TlsSession, tls_error};
use std::path::Path;
use std::time::Duration;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

/// Options of a connection.
#[derive(Debug, Clone, Default)]
pub struct ConnectOptions {
    /// Name of the user.
    pub user: String,
    /// The password in clear text; empty for none.
    pub password: String,
    /// Default database.
    pub database: Option<String>,
    /// Capabilities in addition to [`Capabilities::CLIENT`]. With [`Capabilities::COMPRESS`] the connection is
    /// compressed if the server offers it.
    pub capabilities: Capabilities,
    /// Connection attributes.
    pub attributes: Vec<(String, String)>,
    /// TLS settings. If set, nothing about the user is sent to a server that does not support TLS.
    pub tls: Option<ClientTls>,
    /// Limit for connecting, and then for each wait in which the server sends nothing or accepts nothing
    /// ([`Client::set_idle_timeout`]). `None`: no limit.
    pub idle_timeout: Option<Duration>,
}

/// One result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryResult {
    /// The statement has no result set.
    Ok(ReceivedOk),
    /// A result set.
    Rows(ResultSet),
}

/// A result set that is completely in memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultSet {
    /// Its columns.
    pub columns: Vec<ReceivedColumn>,
    /// The rows. In text results, each value's bytes; in binary results, one value that is the row's whole payload.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    /// The packet that ended the result set.
    pub end: ReceivedOk,
}

/// A prepared statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteStatement {
    /// Its id.
    pub id: u32,
    /// The number of parameters.
    pub parameters: usize,
    /// Its columns.
    pub columns: Vec<ReceivedColumn>,
}

/// An authenticated connection.
#[derive(Debug)]
pub struct Client {
    socket: Socket,
    reader: PacketReader,
    writer: PacketWriter,
    capabilities: Capabilities,
    greeting: Greeting,
    /// The server's certificate, if it is trusted only after the server has proved that it knows the password.
    unproven: Option<Certificate>,
    idle_timeout: Option<Duration>,
}

/// A text result set that is being received ([`Client::stream`]). If it is dropped before its end, the connection is
/// unusable.
#[derive(Debug)]
pub struct RowStream<'c> {
    client: &'c mut Client,
    columns: Vec<ReceivedColumn>,
}

impl RowStream<'_> {
    /// Returns the columns.
    pub fn columns(&self) -> &[ReceivedColumn] {
        &self.columns
    }

    /// Returns the next row's payload: one length-encoded string or NULL for each column ([`Cursor::text_value`]).
    /// `None` at the end.
    ///
    /// # Errors
    /// The server's error, if the statement fails.
    pub async fn next(&mut self) -> WireResult<Option<&[u8]>> {
        let payload = self.client.receive().await?;
        match payload.first() {
            Some(0xFF) => Err(decode_error(payload)),
            Some(0xFE) if payload.len() < crate::framing::PAYLOAD_MAX => Ok(None),
            _ => Ok(Some(payload)),
        }
    }
}

/// A file that is being sent ([`Client::upload`]). If it is dropped before [`finish`](Upload::finish), the connection
/// is unusable.
#[derive(Debug)]
pub struct Upload<'c> {
    client: &'c mut Client,
}

impl Upload<'_> {
    /// Sends a part of the file.
    ///
    /// # Errors
    /// If the connection breaks. The server reports its own errors only at the end.
    pub async fn send(&mut self, piece: &[u8]) -> WireResult<()> {
        // An empty packet would end the file.
        if piece.is_empty() {
            return Ok(());
        }
        self.client.writer.packet(piece);
        self.client.flush().await
    }

    /// Ends the file and returns the result of the statement.
    ///
    /// # Errors
    /// The server's error.
    pub async fn finish(self) -> WireResult<ReceivedOk> {
        let client = self.client;
        client.writer.packet(&[]);
        client.flush().await?;
        client.reader.set_sequence(client.writer.sequence());
        client.ok().await
    }
}

/// Authentication method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Native,
    CachingSha2,
    Ed25519,
}

impl Method {
    fn named(name: &str) -> Option<Method> {
        [Method::Native, Method::CachingSha2, Method::Ed25519]
            .into_iter()
            .find(|method| method.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Method::Native => NATIVE_PASSWORD,
            Method::CachingSha2 => CACHING_SHA2_PASSWORD,
            Method::Ed25519 => CLIENT_ED25519,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowFormat {
    Text,
    Binary,
}

/// Fails if connecting takes longer than `idle_timeout`.
async fn with_timeout(
    idle_timeout: Option<Duration>,
    connecting: impl Future<Output = WireResult<Client>>,
) -> WireResult<Client> {
    match idle_timeout {
        None => connecting.await,
        Some(idle_timeout) => timeout(idle_timeout, connecting)
            .await
            .unwrap_or(Err(WireError::ReadTimeout(idle_timeout))),
    }
}

impl Client {
    /// Connects over TCP to `host:port`; an IPv6 address is written in brackets.
    pub async fn connect_tcp(address: &str, options: &ConnectOptions) -> WireResult<Client> {
        with_timeout(options.idle_timeout, async {
            let socket = Socket::tcp(TcpStream::connect(address).await?)?;
            let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
            Self::log_in(socket, host.trim_matches(['[', ']']), options).await
        })
        .await
    }

    /// Logs in over a TCP stream that is connected to this host.
    pub async fn connect_stream(
        stream: TcpStream,
        host: &str,
        options: &ConnectOptions,
    ) -> WireResult<Client> {
        with_timeout(options.idle_timeout, async {
            Self::log_in(Socket::tcp(stream)?, host, options).await
        })
        .await
    }

    /// Connects over a UNIX socket.
    pub async fn connect_unix(path: &Path, options: &ConnectOptions) -> WireResult<Client> {
        with_timeout(options.idle_timeout, async {
            Self::handshake(Socket::unix(UnixStream::connect(path).await?), options).await
        })
        .await
    }

    /// Performs the handshake on a connected socket of this machine.
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
        let password = options.password.as_bytes();
        let (method, answer) = match greeting.plugin == CACHING_SHA2_PASSWORD {
            true => (
                Method::CachingSha2,
                caching_sha2::answer(&greeting.scramble, password),
            ),
            false => (Method::Native, greeting.scramble.answer(password)),
        };
        let login = HandshakeResponse {
            capabilities,
            packet_max: 1 << 30,
            collation: 45,
            user: options.user.clone(),
            answer,
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
            // Bytes after the greeting may come from an attacker; they must not be taken for encrypted ones.
            if reader.buffered() > 0 {
                return Err(WireError::OutOfOrder);
            }
            login.encode_tls_request(writer.begin());
            writer.end();
            writer.flush(&mut socket).await?;
            let (encrypted, believed) = socket.connect_tls(tls, host).await?;
            socket = encrypted;
            if let TrustDecision::IfItProves(certificate) = believed {
                if options.password.is_empty() {
                    return Err(CertificateRejection::UnknownAuthority.into());
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
            idle_timeout: options.idle_timeout,
        };
        login.encode(client.writer.begin());
        client.writer.end();
        client.authenticate(method, password).await?;
        if capabilities.has(Capabilities::COMPRESS) {
            let early = client.reader.take_buffered();
            client.socket.compress(early);
        }
        Ok(client)
    }

    /// Sends the packets in the writer, the last of which answers the greeting by `method`, and answers the server's
    /// authentication packets.
    async fn authenticate(&mut self, mut method: Method, password: &[u8]) -> WireResult<ReceivedOk> {
        let mut scramble = self.greeting.scramble;
        loop {
            self.writer.flush(&mut self.socket).await?;
            self.reader.set_sequence(self.writer.sequence());
            let mut payload = self.reader.read(&mut self.socket).await?;
            if method == Method::CachingSha2 && *payload == [1, caching_sha2::auth_status::FAST_OK] {
                payload = self.reader.read(&mut self.socket).await?;
            }
            let answer = match payload {
                [0, ..] => {
                    let ok = ReceivedOk::decode(payload, self.capabilities)?;
                    self.check_proof(&ok, method, password, &scramble)?;
                    return Ok(ok);
                }
                [0xFF, ..] => return Err(decode_error(payload)),
                [0xFE, switch @ ..] => {
                    let (plugin, data) = decode_authentication_request(switch)?;
                    method = Method::named(&plugin).ok_or(WireError::Malformed("authentication method"))?;
                    let malformed = WireError::Malformed("authentication switch");
                    if method == Method::Ed25519 {
                        Nonce::from_slice(data).ok_or(malformed)?.answer(password)
                    } else {
                        let bytes = data.first_chunk::<20>().ok_or(malformed)?;
                        scramble = Scramble::from_bytes(*bytes);
                        match method {
                            Method::CachingSha2 => caching_sha2::answer(&scramble, password),
                            _ => scramble.answer(password),
                        }
                    }
                }
                [1, caching_sha2::auth_status::FULL] if method == Method::CachingSha2 => {
                    // A password in clear text must not be sent to a server that has proved nothing.
                    if self.unproven.is_some() {
                        return Err(CertificateRejection::UnknownAuthority.into());
                    }
                    match self.socket.is_confidential() {
                        true => caching_sha2::in_clear(password),
                        false => vec![caching_sha2::REQUEST_PUBLIC_KEY],
                    }
                }
                [1, key @ ..] if method == Method::CachingSha2 && !self.socket.is_confidential() => {
                    caching_sha2::encrypted(password, &scramble, key)?
                }
                _ => return Err(WireError::Malformed("authentication")),
            };
            self.writer.set_sequence(self.reader.sequence());
            self.writer.packet(&answer);
        }
    }

    /// Checks that a server without a trusted certificate has proved that it knows the password.
    fn check_proof(
        &mut self,
        ok: &ReceivedOk,
        method: Method,
        password: &[u8],
        scramble: &Scramble,
    ) -> WireResult<()> {
        let Some(certificate) = self.unproven.take() else {
            return Ok(());
        };
        let is_proved = match (method, NativePassword::of_bytes(password)) {
            (_, NativePassword::Empty) => false,
            (Method::Ed25519, _) => {
                let kept = Ed25519Password::of(password);
                proves(&ok.info, kept.bytes(), scramble, &certificate)
            }
            (_, NativePassword::Hash(kept)) => proves(&ok.info, &kept, scramble, &certificate),
        };
        match is_proved {
            true => Ok(()),
            false => Err(CertificateRejection::UnknownAuthority.into()),
        }
    }

    /// Returns the TLS session, if the connection is encrypted.
    pub fn tls(&self) -> Option<&TlsSession> {
        self.socket.tls()
    }

    /// Returns the server's greeting.
    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    /// Returns the capabilities that both sides have agreed on.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Sends the payload of any command.
    pub async fn send(&mut self, payload: &[u8]) -> WireResult<()> {
        self.writer.set_sequence(0);
        self.socket.set_frame_sequence(0);
        self.writer.packet(payload);
        self.flush().await?;
        self.reader.set_sequence(self.writer.sequence());
        Ok(())
    }

    async fn flush(&mut self) -> WireResult<()> {
        match self.idle_timeout {
            None => self.writer.flush(&mut self.socket).await,
            Some(idle_timeout) => self.writer.flush_within(&mut self.socket, idle_timeout).await,
        }
    }

    /// Sets the limit for waits in which the server sends nothing or accepts nothing; `None`: no limit. A statement
    /// that may take longer before it answers needs a higher limit.
    pub fn set_idle_timeout(&mut self, idle_timeout: Option<Duration>) {
        self.idle_timeout = idle_timeout;
    }

    /// Sets the maximum length of an answer, in bytes.
    pub fn set_payload_max(&mut self, bytes: usize) {
        self.reader.set_payload_max(bytes);
    }

    /// Accepts any sequence number in the server's packets from now on ([`PacketReader::accept_any_sequence`]).
    pub fn accept_any_sequence(&mut self) {
        self.reader.accept_any_sequence();
        self.socket.let_frames_cross();
    }

    /// Receives one payload of the answer.
    ///
    /// # Errors
    /// [`WireError::ReadTimeout`] if nothing has arrived for the connection's limit. Detected after at most twice
    /// that time.
    pub async fn receive(&mut self) -> WireResult<&[u8]> {
        let Client { socket, reader, .. } = self;
        let Some(idle_timeout) = self.idle_timeout else {
            return reader.read(socket).await;
        };
        loop {
            let before = reader.buffered();
            match timeout(idle_timeout, reader.advance(socket)).await {
                Ok(done) => {
                    done?;
                    return Ok(reader.payload());
                }
                // A long payload is being received: the part that has arrived is kept.
                Err(_) if reader.buffered() > before => {}
                Err(_) => return Err(WireError::ReadTimeout(idle_timeout)),
            }
        }
    }

    /// Returns one payload of the answer, if it has already arrived.
    pub fn receive_buffered(&mut self) -> WireResult<Option<&[u8]>> {
        self.reader.next_buffered()
    }

    /// Executes a text of one or several statements and returns all results. The first error ends the execution.
    pub async fn query(&mut self, text: &str) -> WireResult<Vec<QueryResult>> {
        let mut payload = vec![3];
        payload.extend_from_slice(text.as_bytes());
        self.send(&payload).await?;
        self.results(RowFormat::Text).await
    }

    /// Executes one query and returns its rows one by one as they arrive, for results that do not fit into memory.
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

    /// Executes a `LOAD DATA LOCAL INFILE`. The caller sends the content through the [`Upload`], whatever file the
    /// statement names. The client must have connected with [`Capabilities::LOCAL_FILES`].
    ///
    /// # Errors
    /// The server's error, if it refuses the statement before it requests the file.
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

    /// Executes one statement and returns its rows as text; NULL is `None`.
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

    /// Sends a command whose answer is OK or ERR.
    pub async fn command(&mut self, payload: &[u8]) -> WireResult<ReceivedOk> {
        self.send(payload).await?;
        self.ok().await
    }

    async fn ok(&mut self) -> WireResult<ReceivedOk> {
        let capabilities = self.capabilities;
        let payload = self.receive().await?;
        match payload.first() {
            Some(0xFF) => Err(decode_error(payload)),
            _ => ReceivedOk::decode(payload, capabilities),
        }
    }

    /// Executes `COM_PING`.
    pub async fn ping(&mut self) -> WireResult<ReceivedOk> {
        self.command(&[14]).await
    }

    /// Executes `COM_CHANGE_USER`.
    pub async fn change_user(&mut self, options: &ConnectOptions) -> WireResult<ReceivedOk> {
        let login = HandshakeResponse {
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
        self.socket.set_frame_sequence(0);
        login.encode_change_user(self.writer.begin());
        self.writer.end();
        self.authenticate(Method::Native, options.password.as_bytes())
            .await
    }

    /// Executes `COM_STMT_PREPARE`.
    pub async fn prepare(&mut self, text: &str) -> WireResult<RemoteStatement> {
        let mut payload = vec![22];
        payload.extend_from_slice(text.as_bytes());
        self.send(&payload).await?;
        let payload = self.receive().await?;
        if payload.first() == Some(&0xFF) {
            return Err(decode_error(payload));
        }
        let head = PrepareReply::decode(payload)?;
        self.columns(usize::from(head.parameters)).await?;
        let columns = self.columns(usize::from(head.columns)).await?;
        Ok(RemoteStatement {
            id: head.statement,
            parameters: usize::from(head.parameters),
            columns,
        })
    }

    /// Receives column definitions, and the EOF after them if there are any.
    async fn columns(&mut self, count: usize) -> WireResult<Vec<ReceivedColumn>> {
        let capabilities = self.capabilities;
        let mut columns = vec![];
        for _ in 0..count {
            columns.push(ReceivedColumn::decode(self.receive().await?, capabilities)?);
        }
        if count > 0 && !capabilities.has(Capabilities::DEPRECATE_EOF) {
            self.receive().await?;
        }
        Ok(columns)
    }

    /// Executes `COM_STMT_EXECUTE` with strings as parameters; `None` is NULL. Rows are in the binary protocol.
    pub async fn execute(
        &mut self,
        statement: &RemoteStatement,
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

    /// Executes `COM_STMT_CLOSE`, which has no answer.
    pub async fn close_statement(&mut self, statement: RemoteStatement) -> WireResult<()> {
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
            Some(0) => return Ok(QueryResult::Ok(ReceivedOk::decode(payload, capabilities)?)),
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
                    let end = ReceivedOk::decode(payload, capabilities)?;
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

    /// Executes `COM_QUIT`.
    pub async fn quit(mut self) -> WireResult<()> {
        self.send(&[1]).await
    }

    /// Returns the socket, for tests that violate the protocol.
    pub fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }
}
