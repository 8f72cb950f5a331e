//! The acceptor's side: a listener for members, the login, and the reading of messages.

use super::reported_reasons::ReportedReasons;
use super::{
    CONNECTIONS_MAX, LOGIN_MAX, LOGINS_MAX, LocalMember, MessageLinks, PeerLogin, REPORT_STATEMENT,
    SILENCE_MAX, START_STATEMENT, USER,
};
use crate::handle::ClusterHandle;
use crate::message_codec::{CodecError, Hello, PACKET_BYTES_MAX, Packet};
use paceline_cluster::MemberId;
use paceline_program_version as program_version;
use paceline_wire::authentication::{NATIVE_PASSWORD, NativePassword, Scramble};
use paceline_wire::handshake::{Greeting, HandshakeResponse, encode_authentication_switch, is_tls_request};
use paceline_wire::response::{OkKind, OkPacket, Status, write_error};
use paceline_wire::socket::Socket;
use paceline_wire::tls::ServerTls;
use paceline_wire::{Capabilities, PacketReader, PacketWriter, WireError, WireResult};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// utf8mb4_general_ci.
const COLLATION: u8 = 45;
/// Command COM_QUERY.
const COM_QUERY: u8 = 3;
/// Maximum packet length of the login, in bytes.
const LOGIN_BYTES_MAX: usize = 1 << 14;
/// Maximum number of members whose connections are numbered.
const PEERS_MAX: usize = 1024;

/// Reason why messages of a member are no longer read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum IncomingError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Codec(#[from] CodecError),
    #[error("the first packet is no hello")]
    NoHello,
    #[error("the sender belongs to the cluster {0}")]
    OtherCluster(String),
    #[error("the sender looks for {0}, which this is not")]
    OtherMember(MemberId),
    #[error("no sign of life for {} seconds", SILENCE_MAX.as_secs())]
    Silent,
}

/// The newest connection of each member. Connections are numbered; an older one that ends says nothing.
#[derive(Default)]
pub struct PeerConnections {
    /// Links whose dialers are told.
    links: Option<Arc<MessageLinks>>,
    opened: AtomicU64,
    newest: Mutex<HashMap<MemberId, u64>>,
}

impl PeerConnections {
    fn open(&self, member: MemberId) -> u64 {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let mut newest = self.newest.lock();
        if !newest.contains_key(&member) && newest.len() >= PEERS_MAX {
            newest.clear();
        }
        newest.insert(member, number);
        drop(newest);
        if let Some(links) = &self.links {
            links.arrived(member);
        }
        number
    }

    fn is_newest(&self, member: MemberId, number: u64) -> bool {
        self.newest.lock().get(&member) == Some(&number)
    }
}

/// Reads the messages of a member that has logged in and whose [`START_STATEMENT`] was answered with OK, until the
/// connection ends. Then tells that the member's process is gone, unless it has a newer connection.
///
/// # Errors
/// The reason of the end; [`WireError::Closed`] if the member has closed the connection.
pub async fn serve_messages(
    handle: &ClusterHandle,
    local: &LocalMember,
    connections: &PeerConnections,
    socket: &mut Socket,
    reader: &mut PacketReader,
) -> Result<(), IncomingError> {
    reader.set_payload_max(PACKET_BYTES_MAX);
    let hello = match receive(socket, reader).await? {
        Packet::Hello(hello) => hello,
        Packet::Message(_) | Packet::Idle => return Err(IncomingError::NoHello),
    };
    let Hello { cluster, from, to } = hello;
    if cluster != local.cluster {
        return Err(IncomingError::OtherCluster(cluster));
    }
    if to != local.id || from == local.id {
        return Err(IncomingError::OtherMember(to));
    }
    let number = connections.open(from);
    let ended = loop {
        match receive(socket, reader).await {
            Ok(Packet::Message(message)) => handle.message(from, message),
            Ok(Packet::Idle) => {}
            Ok(Packet::Hello(_)) => break Err(IncomingError::NoHello),
            Err(error) => break Err(error),
        }
    };
    if connections.is_newest(from, number) {
        handle.disconnected(from);
    }
    ended
}

async fn receive(socket: &mut Socket, reader: &mut PacketReader) -> Result<Packet, IncomingError> {
    reader.set_sequence(0);
    match timeout(SILENCE_MAX, reader.advance(socket)).await {
        Ok(advanced) => advanced?,
        Err(_) => return Err(IncomingError::Silent),
    }
    Ok(Packet::decode(reader.payload())?)
}

/// Listener for messages of members.
pub struct MessageListener {
    listener: TcpListener,
    context: Arc<Context>,
}

struct Context {
    handle: ClusterHandle,
    local: LocalMember,
    password: NativePassword,
    tls: ServerTls,
    connections: PeerConnections,
    places: Arc<Semaphore>,
    logins: LoginPlaces,
    reported: ReportedReasons,
}

/// Places for connections that have not logged in, counted by address: strangers from one address leave places for
/// members at others.
#[derive(Debug, Default)]
struct LoginPlaces {
    taken: Mutex<HashMap<IpAddr, usize>>,
}

/// A place of a connection that logs in.
struct LoginPlace<'a> {
    places: &'a LoginPlaces,
    address: IpAddr,
}

impl LoginPlaces {
    /// Takes a place for a connection from this address, if there is one.
    fn take(&self, address: IpAddr) -> Option<LoginPlace<'_>> {
        let mut taken = self.taken.lock();
        let count = taken.entry(address).or_default();
        if *count >= LOGINS_MAX {
            return None;
        }
        *count += 1;
        Some(LoginPlace {
            places: self,
            address,
        })
    }
}

impl Drop for LoginPlace<'_> {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        if let Some(count) = taken.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

impl MessageListener {
    /// Creates a listener on this socket. Members must know the secret. The links learn which members have connected.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub fn new(
        listener: TcpListener,
        handle: ClusterHandle,
        local: LocalMember,
        login: &PeerLogin,
        links: Arc<MessageLinks>,
    ) -> WireResult<Self> {
        let context = Context {
            handle,
            local,
            password: NativePassword::of(&login.secret),
            tls: ServerTls::of_cluster(&login.key)?,
            connections: PeerConnections {
                links: Some(links),
                ..PeerConnections::default()
            },
            places: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            logins: LoginPlaces::default(),
            reported: ReportedReasons::default(),
        };
        Ok(MessageListener {
            listener,
            context: Arc::new(context),
        })
    }

    /// Accepts connections for ever.
    pub async fn run(self) {
        let mut tasks = JoinSet::new();
        loop {
            while tasks.try_join_next().is_some() {}
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    // Without a place, the connection is closed.
                    if let Ok(place) = Arc::clone(&self.context.places).try_acquire_owned() {
                        let context = Arc::clone(&self.context);
                        tasks.spawn(async move {
                            context.serve(stream, address).await;
                            drop(place);
                        });
                    }
                }
                Err(error) => {
                    tracing::warn!("a connection of a member cannot be accepted: {error}");
                    sleep(LOGIN_MAX / 10).await;
                }
            }
        }
    }
}

impl Context {
    async fn serve(&self, stream: TcpStream, address: SocketAddr) {
        // A socket that is dropped is closed.
        let Some(place) = self.logins.take(address.ip()) else {
            return;
        };
        let ended = async {
            let mut socket = Socket::tcp(stream).map_err(WireError::from)?;
            let mut reader = PacketReader::new(LOGIN_BYTES_MAX);
            let login = timeout(LOGIN_MAX, self.log_in(&mut socket, &mut reader)).await;
            match login.unwrap_or(Err(WireError::ReadTimeout(LOGIN_MAX)))? {
                Purpose::Report => return Ok(()),
                Purpose::Messages => drop(place),
            }
            let (handle, local) = (&self.handle, &self.local);
            serve_messages(handle, local, &self.connections, &mut socket, &mut reader).await
        };
        match ended.await {
            Ok(()) | Err(IncomingError::Wire(WireError::Closed | WireError::Io(_))) => {}
            Err(error) => {
                let is_new = self
                    .reported
                    .is_new(address.ip(), error.to_string(), Instant::now());
                if is_new {
                    tracing::warn!("messages from {address} are no longer read: {error}");
                }
            }
        }
    }

    async fn log_in(&self, socket: &mut Socket, reader: &mut PacketReader) -> WireResult<Purpose> {
        let mut writer = PacketWriter::new();
        let scramble = Scramble::random();
        let offered = Capabilities::SERVER | Capabilities::SSL;
        let greeting = Greeting {
            server_version: format!("5.5.5-10.11.0-paceline-cluster-{}", program_version::number()),
            connection_id: 1,
            scramble,
            capabilities: offered,
            collation: COLLATION,
            status: Status::AUTOCOMMIT.0,
            plugin: NATIVE_PASSWORD.into(),
        };
        greeting.encode(writer.begin());
        writer.end();
        let answer = exchange(socket, reader, &mut writer).await?;
        if !is_tls_request(&answer) {
            return Err(WireError::Malformed("login of a member without TLS"));
        }
        let early = reader.take_buffered();
        *socket = socket.take().accept_tls(&self.tls, early).await?;
        reader.advance(socket).await?;
        writer.set_sequence(reader.sequence());
        let login = HandshakeResponse::decode(reader.payload())?;
        let capabilities = login.capabilities & offered;
        let mut proved = login.answer;
        if login
            .plugin
            .as_deref()
            .is_some_and(|plugin| plugin != NATIVE_PASSWORD)
        {
            encode_authentication_switch(writer.begin(), NATIVE_PASSWORD, &scramble);
            writer.end();
            proved = exchange(socket, reader, &mut writer).await?;
        }
        if login.user != USER || !self.password.verify(&scramble, &proved) {
            write_error(
                &mut writer,
                1045,
                "28000",
                "Access denied: not a member with the cluster's secret",
            );
            writer.flush(socket).await?;
            return Err(WireError::Malformed("login of a member"));
        }
        let ok = |info| OkPacket {
            status: Status::AUTOCOMMIT,
            info,
            ..OkPacket::default()
        };
        ok("").write(&mut writer, OkKind::Command, capabilities);
        writer.flush(socket).await?;
        reader.set_sequence(0);
        reader.advance(socket).await?;
        writer.set_sequence(reader.sequence());
        let (info, purpose) = match statement(reader.payload()) {
            Ok(Purpose::Report) => (self.handle.report().encode(), Purpose::Report),
            Ok(Purpose::Messages) => (String::new(), Purpose::Messages),
            Err(refusal) => {
                let (code, sql_state) = refusal.code();
                write_error(&mut writer, code, sql_state, &refusal.to_string());
                writer.flush(socket).await?;
                return Err(WireError::Malformed("statement of a member"));
            }
        };
        ok(&info).write(&mut writer, OkKind::Command, capabilities);
        writer.flush(socket).await?;
        Ok(purpose)
    }
}

/// Purpose of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    Messages,
    /// It was answered with the member's state, and ends.
    Report,
}

/// Reason why the statement of a member that has logged in is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
enum Refusal {
    #[error("This port is for messages between members of a cluster")]
    Unknown,
    #[error(
        "The member that is asked (version {own}) knows messages of format {known}, the one that asks sends format {format}: \
         upgrade the older one",
        own = program_version::number(),
        known = program_version::present().message_format
    )]
    Format { format: u32 },
}

impl Refusal {
    /// Returns the error number and the SQLSTATE.
    fn code(&self) -> (u16, &'static str) {
        match self {
            Refusal::Unknown => (1064, "42000"),
            Refusal::Format { .. } => (1105, "HY000"),
        }
    }
}

/// Reads the statement in a packet.
fn statement(packet: &[u8]) -> Result<Purpose, Refusal> {
    let [COM_QUERY, text @ ..] = packet else {
        return Err(Refusal::Unknown);
    };
    if text.eq_ignore_ascii_case(REPORT_STATEMENT.as_bytes()) {
        return Ok(Purpose::Report);
    }
    let (start, format) = text
        .split_at_checked(START_STATEMENT.len())
        .ok_or(Refusal::Unknown)?;
    if !start.eq_ignore_ascii_case(START_STATEMENT.as_bytes()) {
        return Err(Refusal::Unknown);
    }
    let format = std::str::from_utf8(format)
        .ok()
        .and_then(|text| text.parse().ok());
    match format {
        Some(format) if format == u32::from(program_version::present().message_format) => {
            Ok(Purpose::Messages)
        }
        Some(format) => Err(Refusal::Format { format }),
        None => Err(Refusal::Unknown),
    }
}

/// Sends what is in the writer and returns the answer.
async fn exchange(
    socket: &mut Socket,
    reader: &mut PacketReader,
    writer: &mut PacketWriter,
) -> WireResult<Vec<u8>> {
    writer.flush(socket).await?;
    reader.set_sequence(writer.sequence());
    reader.advance(socket).await?;
    writer.set_sequence(reader.sequence());
    Ok(reader.payload().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_few_places_for_logins() {
        let places = LoginPlaces::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let taken: Vec<_> = (0..LOGINS_MAX).map(|_| places.take(one).unwrap()).collect();
        assert!(places.take(one).is_none());
        assert!(places.take(other).is_some());
        drop(taken);
        assert!(places.take(one).is_some());
        assert!(places.taken.lock().is_empty());
    }

    #[test]
    fn a_member_of_another_format_is_told_so() {
        let of = |text: &str| statement(&[b"\x03", text.as_bytes()].concat());
        assert_eq!(of("start cluster messages format 1"), Ok(Purpose::Messages));
        assert_eq!(of("SHOW CLUSTER MEMBER"), Ok(Purpose::Report));
        for unknown in [
            "START CLUSTER MESSAGES",
            "START CLUSTER MESSAGES FORMAT",
            "START CLUSTER MESSAGES FORMAT x",
            "SELECT 1",
        ] {
            assert_eq!(of(unknown), Err(Refusal::Unknown), "{unknown}");
        }
        let refused = of("START CLUSTER MESSAGES FORMAT 2").unwrap_err();
        assert_eq!(refused, Refusal::Format { format: 2 });
        assert!(
            refused
                .to_string()
                .contains("format 1, the one that asks sends format 2"),
            "{refused}"
        );
    }

    #[test]
    fn only_the_newest_connection_of_a_member_counts() {
        let connections = PeerConnections::default();
        let (first, other) = (connections.open(MemberId(1)), connections.open(MemberId(2)));
        let second = connections.open(MemberId(1));
        assert!(!connections.is_newest(MemberId(1), first));
        assert!(connections.is_newest(MemberId(1), second));
        assert!(connections.is_newest(MemberId(2), other));
    }
}
