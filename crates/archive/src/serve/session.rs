//! The session of a client: login, commands, and the stream to a replica.

use super::answer::Answer;
use super::variables::SessionState;
use crate::archive::{Archive, version};
use crate::clients::ClientHandle;
use crate::member::{LogMember, Tenure};
use paceline_binlog::GtidPosition;
use paceline_cluster_host::messages::USER as CLUSTER_USER;
use paceline_log_stream::primary::{
    DumpRequest, Host, Link, MarkedEvents, Registration, RegistrationState, StreamEnd,
};
use paceline_syntax::Error;
use paceline_txn::InterruptReason;
use paceline_types::error_code::*;
use paceline_wire::authentication::{NATIVE_PASSWORD, NativePassword, Scramble};
use paceline_wire::command::Command;
use paceline_wire::handshake::{Greeting, HandshakeResponse, encode_authentication_switch, is_tls_request};
use paceline_wire::response::{OkKind, OkPacket, Status, write_eof, write_error};
use paceline_wire::socket::Socket;
use paceline_wire::tls::proof::proof;
use paceline_wire::{Capabilities, PacketReader, PacketWriter, WireError, WireResult};
use std::sync::Arc;
use std::time::Duration;

/// Maximum packet length before login, in bytes.
const LOGIN_PACKET_MAX: usize = 1 << 16;
/// Maximum packet length after login, in bytes: statements here are short.
const PACKET_MAX: usize = 1 << 20;
/// Time limit for the login.
const LOGIN_SECONDS_MAX: Duration = Duration::from_secs(10);
/// Time after which a client that does not read what it is sent is disconnected.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// utf8mb4_general_ci.
const COLLATION: u8 = 45;
/// Answer to clients of a server whose tables are not open yet. Its number, 1047 with SQLSTATE 08S01, is what a node of
/// Galera answers that is not ready: drivers and proxies try another server, or the same one later.
const CLOSED_SERVER: &str = "This server opens its tables when its cluster has acknowledged all of its log";

/// State of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Commands,
    Closing,
}

/// A client's session.
pub struct Session {
    pub(super) archive: Arc<Archive>,
    pub(super) client: Arc<ClientHandle>,
    pub(super) state: SessionState,
    socket: Socket,
    reader: PacketReader,
    writer: PacketWriter,
    capabilities: Capabilities,
    phase: Phase,
}

/// Refuses a client with error 1040: too many connections.
pub async fn refuse(mut socket: Socket) {
    let mut writer = PacketWriter::new();
    let code = ER_CON_COUNT_ERROR;
    write_error(&mut writer, code.number(), code.sqlstate(), &code.message(&[]));
    let _ = tokio::time::timeout(WRITE_TIMEOUT, writer.flush(&mut socket)).await;
}

impl Session {
    /// Creates the session of a client that has just connected.
    pub fn new(archive: Arc<Archive>, client: Arc<ClientHandle>, socket: Socket) -> Self {
        Session {
            archive,
            client,
            state: SessionState::default(),
            socket,
            reader: PacketReader::new(LOGIN_PACKET_MAX),
            writer: PacketWriter::new(),
            capabilities: Capabilities::NONE,
            phase: Phase::Closing,
        }
    }

    /// Runs the session to its end.
    pub async fn run(mut self) {
        let served = match tokio::time::timeout(LOGIN_SECONDS_MAX, self.login()).await {
            Ok(Ok(())) => self.serve().await,
            Ok(Err(error)) => Err(error),
            Err(_) => Ok(()),
        };
        if let Err(error) = served {
            self.say_goodbye(&error).await;
        }
        self.socket.finish().await;
        self.archive.primary.replicas().forget(self.client.id);
        self.archive.sessions.remove(self.client.id);
    }

    async fn say_goodbye(&mut self, error: &WireError) {
        let code = match (error, self.client.interrupt.raised()) {
            // In its login a client may have sent a packet that was not read, so the number of an answer is unknown.
            (WireError::Closed, _) if self.phase != Phase::Commands => return,
            (WireError::Closed, Some(InterruptReason::Shutdown)) => ER_SERVER_SHUTDOWN,
            (WireError::Closed, Some(InterruptReason::Connection)) => ER_CONNECTION_KILLED,
            _ => match error.code() {
                Some((number, _)) => ErrorCode::from_number(number),
                None => return,
            },
        };
        self.writer.clear();
        self.writer.set_sequence(self.reader.sequence().max(1));
        self.write_error(&Error::new(code, &[]));
        let _ = self.flush().await;
    }

    async fn login(&mut self) -> WireResult<()> {
        let scramble = Scramble::random();
        let tls = self.archive.tls.clone();
        let offered = match tls {
            Some(_) => Capabilities::SERVER | Capabilities::SSL,
            None => Capabilities::SERVER,
        };
        let greeting = Greeting {
            server_version: format!("5.5.5-{}", version()),
            connection_id: self.client.id,
            scramble,
            capabilities: offered,
            collation: COLLATION,
            status: Status::AUTOCOMMIT.0,
            plugin: NATIVE_PASSWORD.into(),
        };
        greeting.encode(self.writer.begin());
        self.writer.end();
        self.flush().await?;
        let answer = self.read_answer().await?;
        if let Some(tls) = tls.filter(|_| is_tls_request(answer)) {
            let early = self.reader.take_buffered();
            self.socket = self.socket.take().accept_tls(&tls, early).await?;
            self.read_answer().await?;
        }
        let login = HandshakeResponse::decode(self.reader.payload())?;
        self.capabilities = login.capabilities & Capabilities::SERVER;
        self.authenticate(login, scramble).await?;
        if self.phase == Phase::Commands && self.capabilities.has(Capabilities::COMPRESS) {
            let early = self.reader.take_buffered();
            self.socket.compress(early);
        }
        Ok(())
    }

    async fn authenticate(&mut self, login: HandshakeResponse, scramble: Scramble) -> WireResult<()> {
        let mut answer = login.answer;
        if login
            .plugin
            .as_deref()
            .is_some_and(|plugin| plugin != NATIVE_PASSWORD)
        {
            encode_authentication_switch(self.writer.begin(), NATIVE_PASSWORD, &scramble);
            self.writer.end();
            self.flush().await?;
            answer = self.read_answer().await?.to_vec();
        }
        let mut accounts = self.archive.clients.iter();
        let is_readable = !self.socket.is_confidential();
        let account = accounts.find(|account| {
            let is_right = NativePassword::of(&account.password).verify(&scramble, &answer);
            // Members use TLS. An answer to a scramble that others can read lets them try out secrets.
            let is_protected = account.user != CLUSTER_USER || !is_readable;
            login.user == account.user && is_right && is_protected
        });
        if let Some(account) = account {
            let proof = self.proof(&account.password, &scramble);
            self.state.user = login.user;
            let _ = self.client.user.set(self.state.user.clone());
            self.phase = Phase::Commands;
            self.reader.set_payload_max(PACKET_MAX);
            let ok = OkPacket {
                status: Status::AUTOCOMMIT,
                info: &proof,
                ..OkPacket::default()
            };
            ok.write(&mut self.writer, OkKind::Command, self.capabilities);
        } else if self.archive.is_closed_server && login.user != CLUSTER_USER {
            self.phase = Phase::Closing;
            let code = ER_UNKNOWN_COM_ERROR;
            write_error(&mut self.writer, code.number(), code.sqlstate(), CLOSED_SERVER);
        } else {
            let using = if answer.is_empty() { "NO" } else { "YES" };
            let error = Error::new(ER_ACCESS_DENIED_ERROR, &[&login.user, &self.client.host, &using]);
            tracing::warn!("connection {}: {error}", self.client.id);
            self.phase = Phase::Closing;
            self.write_error(&error);
        }
        self.flush().await
    }

    /// Returns a proof for an encrypted client that the owner of this certificate knows the password.
    fn proof(&self, password: &str, scramble: &Scramble) -> String {
        match (self.socket.tls(), &self.archive.tls, NativePassword::of(password)) {
            (Some(_), Some(tls), NativePassword::Hash(kept)) => proof(&kept, scramble, tls.certificate()),
            _ => String::new(),
        }
    }

    async fn serve(&mut self) -> WireResult<()> {
        while self.phase == Phase::Commands {
            *self.client.activity.lock() = ("Sleep", "");
            self.reader.set_sequence(0);
            self.reader.advance(&mut self.socket).await?;
            if self.client.interrupt.raised().is_some() {
                return Err(WireError::Closed);
            }
            self.writer.set_sequence(self.reader.sequence());
            self.command().await?;
            self.flush().await?;
        }
        Ok(())
    }

    async fn command(&mut self) -> WireResult<()> {
        let command = match Command::parse(self.reader.payload()) {
            Ok(command) => command,
            Err(error) => {
                let code = ER_MALFORMED_PACKET;
                tracing::debug!("connection {}: {error}", self.client.id);
                self.write_error(&Error::new(code, &[]));
                return Ok(());
            }
        };
        match command {
            Command::Quit => self.phase = Phase::Closing,
            Command::Ping | Command::InitDb(_) | Command::SetOption(_) => self.write_ok(),
            Command::ResetConnection => {
                self.state.reset();
                self.write_ok();
            }
            Command::Query(text) => {
                let text = text.to_vec();
                *self.client.activity.lock() = ("Query", "executing");
                match self.execute(&text).await {
                    Ok(answer) => answer.write(&mut self.writer, self.capabilities),
                    Err(error) => self.write_error(&error),
                }
            }
            Command::RegisterReplica(payload) => {
                let (host, server_id) = (self.client.host.clone(), self.archive.context.server_id);
                match Registration::parse(payload, &host, server_id) {
                    Ok(registration) => {
                        self.archive
                            .primary
                            .replicas()
                            .register(self.client.id, registration);
                        self.write_ok();
                    }
                    Err(problem) => self.write_error(&Error::with_message(ER_UNKNOWN_ERROR, problem)),
                }
            }
            Command::BinlogDump(_) => self.binlog_dump().await?,
            Command::Shutdown => {
                self.write_ok();
                self.archive.context.request_stop();
            }
            _ => self.write_error(&Error::new(ER_UNKNOWN_COM_ERROR, &[])),
        }
        Ok(())
    }

    /// COM_BINLOG_DUMP. The connection ends with the stream, as in MariaDB.
    async fn binlog_dump(&mut self) -> WireResult<()> {
        self.phase = Phase::Closing;
        *self.client.activity.lock() = ("Binlog Dump", "");
        let request = match self.dump_request() {
            Ok(request) => request,
            Err(error) => {
                self.write_error(&error);
                return Ok(());
            }
        };
        let (archive, client) = (self.archive.clone(), self.client.clone());
        let member = archive.member.clone();
        let is_of_member = self.state.user == CLUSTER_USER;
        let is_refused = |member: &Arc<LogMember>| match request.member {
            Some(reader) => !(is_of_member && member.admit(reader, client.id, &client.interrupt)),
            // An archive sends them the acknowledged part. A server that starts has other things to do.
            None => member.tenure() == Tenure::UntilAcknowledged,
        };
        if member.as_ref().is_some_and(is_refused) {
            let refused = "this member of the cluster is not the primary of that epoch";
            self.write_error(&Error::with_message(
                ER_MASTER_FATAL_ERROR_READING_BINLOG,
                refused,
            ));
            return Ok(());
        }
        let show = |state: &'static str| *client.activity.lock() = ("Binlog Dump", state);
        let accepted = || {
            if let (Some(member), Some(_)) = (&member, request.member) {
                member.accept(client.id);
            }
        };
        let host = Host {
            connection: self.client.id,
            interrupt: &client.interrupt,
            show: &show,
            accepted: &accepted,
            server_id: archive.context.server_id,
            // Everything the archive has is in its log: no position has moved beyond it.
            replicated: GtidPosition::new(),
        };
        let link = Link {
            socket: &mut self.socket,
            reader: &mut self.reader,
            writer: &mut self.writer,
            write_timeout: WRITE_TIMEOUT,
        };
        let served = archive.primary.serve(link, &request, host).await;
        if let (Some(member), Some(_)) = (&member, request.member) {
            member.release(client.id);
        }
        match served {
            StreamEnd::AtEnd => {
                write_eof(&mut self.writer, 0, Status::AUTOCOMMIT);
                Ok(())
            }
            StreamEnd::Refused(refusal) => {
                tracing::warn!(
                    "connection {}: the replica with server id {} is not served: {refusal}",
                    self.client.id,
                    request.server_id
                );
                self.write_error(&Error::with_message(refusal.code(), refusal.to_string()));
                Ok(())
            }
            StreamEnd::Gone(error) => Err(error),
        }
    }

    fn dump_request(&self) -> Result<DumpRequest, Error> {
        let Ok(Command::BinlogDump(dump)) = Command::parse(self.reader.payload()) else {
            return Err(Error::new(ER_UNKNOWN_ERROR, &[]));
        };
        let registered = match self.archive.primary.replicas().registration(self.client.id) {
            Some(registration) => RegistrationState::As(registration.server_id),
            None => RegistrationState::No,
        };
        let marked = match self.state.skips_marked {
            true => MarkedEvents::Omitted,
            false => MarkedEvents::Sent,
        };
        let variables = &self.state.user_variables;
        let lookup = |name: &str| variables.get(name);
        let request = DumpRequest::read(&dump, &lookup, registered, marked)
            .map_err(|refusal| Error::with_message(refusal.code(), refusal.to_string()))?;
        tracing::info!("serving server {} from {}", request.server_id, request.start);
        Ok(request)
    }

    fn write_ok(&mut self) {
        Answer::Ok { affected_rows: 0 }.write(&mut self.writer, self.capabilities);
    }

    fn write_error(&mut self, error: &Error) {
        write_error(
            &mut self.writer,
            error.code().number(),
            error.sqlstate(),
            error.message(),
        );
    }

    async fn flush(&mut self) -> WireResult<()> {
        self.writer.flush_within(&mut self.socket, WRITE_TIMEOUT).await
    }

    /// Reads the client's answer during the login.
    async fn read_answer(&mut self) -> WireResult<&[u8]> {
        self.reader.set_sequence(self.writer.sequence());
        self.reader.advance(&mut self.socket).await?;
        self.writer.set_sequence(self.reader.sequence());
        Ok(self.reader.payload())
    }
}
