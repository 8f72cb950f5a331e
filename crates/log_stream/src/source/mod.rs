//! The dialogue with a primary before the first event, and the packets of the stream.
//!
//! ```text
//!   connect, log in
//!   clock and server id                     SELECT UNIX_TIMESTAMP(), SHOW VARIABLES LIKE 'SERVER_ID'
//!   capabilities of this replica            @master_heartbeat_period, @master_binlog_checksum, @mariadb_slave_capability=4
//!   start                                   @slave_connect_state …             (GTID)
//!                                           binlog_gtid_pos(file, offset)      (file and position: the GTIDs there)
//!   COM_REGISTER_SLAVE, COM_BINLOG_DUMP ──▶ events, one per payload, after a byte 0
//! ```
//! The questions, their order and the reactions to errors are those of MariaDB's `get_master_version_and_clock`, so any
//! primary that serves MariaDB's replicas can serve this one.
//!
//! - [`Source`]: the connection and its packets. [`assemble`]: from events to whole event groups. `mysql`: translation
//!   of MySQL's events to MariaDB's.
//! - [`definition`], [`password`], [`options`], [`filter`]: settings of a connection. [`error`]: its errors.

pub mod assemble;
pub mod definition;
pub mod error;
pub mod filter;
mod mysql;
pub mod options;
pub mod password;

use self::definition::Definition;
use self::error::{
    CR_CONN_HOST_ERROR, CR_SERVER_LOST, CR_SSL_CONNECTION_ERROR, CR_UNKNOWN_HOST, SourceError,
};
use self::options::{Compression, MarkedForSkip, ReplicaOptions};
use crate::primary::request::GroupRecords;
use paceline_binlog::event::ChecksumAlgorithm;
use paceline_binlog::mysql::MySqlGtidSet;
use paceline_binlog::{GtidPosition, SourcePosition};
use paceline_program_version as program_version;
use paceline_types::ServerId;
use paceline_types::error_code::{
    ER_MASTER_FATAL_ERROR_READING_BINLOG, ER_NET_PACKET_TOO_LARGE, ER_SLAVE_FATAL_ERROR,
};
use paceline_wire::WireError;
use paceline_wire::capability::Capabilities;
use paceline_wire::client::{Client, ConnectOptions};
use std::io::ErrorKind;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum number of bytes that an event adds to its statement: event headers, and the session's settings in a Query
/// event (MariaDB's `MAX_LOG_EVENT_HEADER`, which MariaDB also adds to `slave_max_allowed_packet`).
const EVENT_HEADERS_BYTES_MAX: usize = 1024;

/// Kind of server that the primary is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceKind {
    /// MariaDB 10 or later, or Paceline. Its transactions have usable GTIDs.
    MariaDb,
    /// MySQL, or a server that reports its version. Transactions get GTIDs here, and events are translated.
    MySql,
    /// A MariaDB without GTIDs. Transactions get GTIDs here.
    Other,
}

/// Position from which a primary should send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartAt {
    /// After these GTIDs.
    Gtids(GtidPosition),
    /// Everything that is not in this set of MySQL GTIDs.
    MySqlGtids(MySqlGtidSet),
    /// A position in its log; an empty file name means its first file.
    Place(SourcePosition),
}

/// Whether a server accepts writes and is therefore a primary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writable {
    /// It accepts writes.
    Yes,
    /// `read_only` is on.
    No,
}

/// Connection to a primary, before or after the request for its log.
pub struct Source {
    client: Client,
    /// Server id of the primary.
    pub server_id: ServerId,
    /// Kind of server.
    pub kind: SourceKind,
    /// Checksum algorithm of the events until the first Format_description announces it.
    pub checksum: ChecksumAlgorithm,
    /// The primary's clock minus the local clock, in seconds.
    pub clock_difference_seconds: i64,
    /// Whether packets have a semi-sync header.
    pub semi_sync: bool,
}

/// An event packet of the stream.
pub struct SentEvent<'a> {
    /// The event, with its checksum if it has one.
    pub bytes: &'a [u8],
    /// Semi-sync: the primary waits for an acknowledgement of this event.
    pub wants_acknowledgement: bool,
}

const COM_PING: u8 = 14;
const COM_BINLOG_DUMP: u8 = 18;
const COM_REGISTER_SLAVE: u8 = 21;
const COM_BINLOG_DUMP_GTID: u8 = 30;
/// Flag BINLOG_THROUGH_GTID.
const DUMP_FLAG_GTIDS: u16 = 4;
/// Flag BINLOG_SEND_ANNOTATE_ROWS_EVENT.
const DUMP_FLAG_ANNOTATE: u16 = 2;
/// First byte of a semi-sync header, and of an acknowledgement.
const SEMI_SYNC_MAGIC: u8 = 0xEF;

/// Quotes a value for a statement.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn now_seconds() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

impl Source {
    /// Connects, logs in, and determines the kind of the primary.
    pub async fn connect(definition: &Definition, options: &ReplicaOptions) -> Result<Self, SourceError> {
        let (host, port) = (&definition.host, definition.port);
        let address = match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        };
        let login = ConnectOptions {
            user: definition.user.clone(),
            password: definition.password()?.to_owned(),
            attributes: vec![("program_name".to_owned(), "paceline".to_owned())],
            capabilities: match options.compression {
                Compression::IfOffered => Capabilities::COMPRESS,
                Compression::Off => Capabilities::default(),
            },
            tls: definition
                .tls
                .client()
                .map_err(|error| connect_error(error, definition, options))?,
            // Applies from here on. An event that takes longer is accepted as long as data arrives.
            idle_timeout: Some(options.net_timeout),
            ..ConnectOptions::default()
        };
        let client = Client::connect_tcp(&address, &login)
            .await
            .map_err(|error| connect_error(error, definition, options))?;
        let version = client.greeting().server_version.clone();
        let mut source = Source {
            client,
            server_id: ServerId(0),
            kind: kind_of(&version),
            checksum: ChecksumAlgorithm::None,
            clock_difference_seconds: 0,
            semi_sync: false,
        };
        source.introduce(definition, options).await?;
        Ok(source)
    }

    async fn introduce(
        &mut self,
        definition: &Definition,
        options: &ReplicaOptions,
    ) -> Result<(), SourceError> {
        if let Some(time) = self.value("SELECT UNIX_TIMESTAMP()").await? {
            let time: f64 = time.parse().unwrap_or_default();
            self.clock_difference_seconds = time as i64 - now_seconds();
        }
        let rows = self.rows("SHOW VARIABLES LIKE 'SERVER_ID'").await?;
        let server_id = rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().nth(1).flatten());
        self.server_id = ServerId(server_id.and_then(|id| id.parse().ok()).unwrap_or(0));
        if self.server_id == options.server_id && !options.replicate_same_server_id {
            return Err(SourceError::fatal_with(
                ER_SLAVE_FATAL_ERROR,
                &"The slave I/O thread stops because master and slave have equal MariaDB server ids; these ids must be different for \
                  replication to work (or the --replicate-same-server-id option must be used on slave but this does not always make \
                  sense; please check the manual before using it).",
            ));
        }
        let heartbeat = definition.heartbeat_period(options.net_timeout).as_nanos();
        // MySQL has renamed the variables that replicas set. Its older versions have MariaDB's names.
        let renamed = |name: &str, value: &str| match self.kind {
            SourceKind::MySql => format!("SET @master_{name}= {value}, @source_{name}= {value}"),
            SourceKind::MariaDb | SourceKind::Other => format!("SET @master_{name}= {value}"),
        };
        let heartbeat = renamed("heartbeat_period", &heartbeat.to_string());
        let checksum = renamed("binlog_checksum", "@@global.binlog_checksum");
        self.set_variable(&heartbeat).await?;
        self.set_variable(&checksum).await?;
        self.checksum = match self.value("SELECT @master_binlog_checksum").await? {
            Some(name) if name.eq_ignore_ascii_case("CRC32") => ChecksumAlgorithm::Crc32,
            _ => ChecksumAlgorithm::None,
        };
        if self.kind == SourceKind::MySql {
            return Ok(());
        }
        if options.marked_for_skip == MarkedForSkip::FilterOnPrimary {
            self.set_variable("SET skip_replication=1").await?;
        }
        if options.group_records == GroupRecords::Sent {
            self.set_variable("SET @paceline_group_records=1").await?;
        }
        if let Some(reader) = definition.reader {
            self.set_variable(&format!(
                "SET @paceline_cluster_member={}, @paceline_cluster_epoch={}, @paceline_log_format={}",
                reader.member,
                reader.epoch,
                program_version::present().log_format
            ))
            .await?;
        }
        self.set_variable("SET @mariadb_slave_capability=4").await
    }

    /// Tells the primary where to start. For a start by file and position, returns the GTID position there, if the
    /// primary knows it.
    pub async fn set_start(
        &mut self,
        start: &StartAt,
        until: Option<&GtidPosition>,
        options: &ReplicaOptions,
    ) -> Result<Option<GtidPosition>, SourceError> {
        match start {
            StartAt::Gtids(position) => {
                self.value("SELECT @@GLOBAL.gtid_domain_id").await?;
                self.set_variable(&format!("SET @slave_connect_state='{position}'"))
                    .await?;
                let flag = |on: bool| u8::from(on);
                self.set_variable(&format!(
                    "SET @slave_gtid_strict_mode={}",
                    flag(options.gtid_strict_mode)
                ))
                .await?;
                self.set_variable(&format!(
                    "SET @slave_gtid_ignore_duplicates={}",
                    flag(options.gtid_ignore_duplicates)
                ))
                .await?;
                if let Some(until) = until {
                    self.set_variable(&format!("SET @slave_until_gtid='{until}'"))
                        .await?;
                }
                Ok(None)
            }
            StartAt::Place(place) if self.kind == SourceKind::MariaDb => {
                let query = format!("SELECT binlog_gtid_pos({},{})", quoted(&place.file), place.offset);
                let answer = match self.value(&query).await {
                    Ok(answer) => answer,
                    // A primary without this function has no GTIDs.
                    Err(SourceError::Fatal { .. }) => None,
                    Err(lost) => return Err(lost),
                };
                Ok(answer.and_then(|text| text.parse().ok()))
            }
            StartAt::MySqlGtids(_) if until.is_some() => Err(SourceError::fatal_with(
                ER_SLAVE_FATAL_ERROR,
                &"START SLAVE UNTIL needs MASTER_LOG_FILE and MASTER_LOG_POS: the primary is MySQL, which knows no GTIDs of MariaDB's kind",
            )),
            StartAt::MySqlGtids(_) | StartAt::Place(_) => Ok(None),
        }
    }

    /// Registers and requests the log. After this only events arrive.
    pub async fn start_dump(&mut self, start: &StartAt, options: &ReplicaOptions) -> Result<(), SourceError> {
        let server_id = options.server_id.0;
        let mut register = vec![COM_REGISTER_SLAVE];
        register.extend_from_slice(&server_id.to_le_bytes());
        for text in [
            &options.report_host,
            &options.report_user,
            &options.report_password,
        ] {
            let bytes = &text.as_bytes()[..text.len().min(255)];
            register.push(bytes.len() as u8);
            register.extend_from_slice(bytes);
        }
        register.extend_from_slice(&options.report_port.to_le_bytes());
        register.extend_from_slice(&[0; 8]);
        let registered = self.client.command(&register);
        in_time(
            options.net_timeout,
            registered,
            "Master command COM_REGISTER_SLAVE failed",
        )
        .await?;
        if options.semi_sync && self.kind == SourceKind::MariaDb {
            let answer = self
                .rows("SHOW VARIABLES LIKE 'rpl_semi_sync_master_enabled'")
                .await?;
            self.semi_sync = !answer.is_empty();
            match self.semi_sync {
                true => {
                    self.set_variable("SET @rpl_semi_sync_slave= 1").await?;
                    // Acknowledgements and events cross on the connection.
                    self.client.accept_any_sequence();
                }
                false => tracing::warn!(
                    "Master server does not support semi-sync, fallback to asynchronous replication"
                ),
            }
        }
        // An event after the byte that begins every packet of the stream, and a semi-sync header.
        let packet_max = options.packet_max.saturating_add(EVENT_HEADERS_BYTES_MAX + 3);
        self.client.set_payload_max(packet_max);
        let (file, offset) = match start {
            StartAt::Gtids(_) => ("", 4),
            StartAt::MySqlGtids(known) => {
                let dump = dump_of_gtids(server_id, known)?;
                let sent = self.client.send(&dump);
                return in_time(options.net_timeout, sent, "Failed on request_dump()").await;
            }
            StartAt::Place(place) => (&*place.file, place.offset.max(4)),
        };
        let offset = u32::try_from(offset).map_err(|_| {
            let reason = "Client requested master to start replication from a position beyond 4 GiB";
            fatal_1236(1236, reason)
        })?;
        let mut dump = vec![COM_BINLOG_DUMP];
        dump.extend_from_slice(&offset.to_le_bytes());
        let flags = match self.kind {
            SourceKind::MariaDb | SourceKind::Other => DUMP_FLAG_ANNOTATE,
            // MySQL sends annotations if they are logged. The flag has another meaning there.
            SourceKind::MySql => 0,
        };
        dump.extend_from_slice(&flags.to_le_bytes());
        dump.extend_from_slice(&server_id.to_le_bytes());
        dump.extend_from_slice(file.as_bytes());
        let sent = self.client.send(&dump);
        in_time(options.net_timeout, sent, "Failed on request_dump()").await
    }

    /// Returns the GTIDs of everything before the primary's oldest file; empty if its log is complete.
    ///
    /// # Errors
    /// If the primary does not answer the query.
    pub async fn oldest_position(&mut self) -> Result<GtidPosition, SourceError> {
        let files = self.rows("SHOW BINARY LOGS").await?;
        let oldest = files
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next().flatten());
        let Some(file) = oldest else {
            return Ok(GtidPosition::new());
        };
        let query = format!("SELECT binlog_gtid_pos({},4)", quoted(&file));
        let position = self.value(&query).await?.unwrap_or_default();
        position.parse().map_err(|_| {
            SourceError::lost(
                CR_SERVER_LOST,
                format!("{query}: '{position}' is no GTID position"),
            )
        })
    }

    /// Returns whether the server accepts writes from all accounts, and is therefore a primary.
    ///
    /// # Errors
    /// If the server does not answer the query.
    pub async fn writable(&mut self) -> Result<Writable, SourceError> {
        let read_only = self.value("SELECT @@global.read_only").await?;
        Ok(match read_only.as_deref() {
            Some("0" | "OFF") => Writable::Yes,
            _ => Writable::No,
        })
    }

    /// Waits for the next event, as long as some data arrives within `slave_net_timeout`.
    pub async fn next_event(&mut self) -> Result<SentEvent<'_>, SourceError> {
        let semi_sync = self.semi_sync;
        let payload = self.client.receive().await.map_err(lost)?;
        sent_event(payload, semi_sync)
    }

    /// Returns the next event, if it has already arrived.
    pub fn next_buffered(&mut self) -> Result<Option<SentEvent<'_>>, SourceError> {
        let semi_sync = self.semi_sync;
        match self.client.receive_buffered().map_err(lost)? {
            Some(payload) => sent_event(payload, semi_sync).map(Some),
            None => Ok(None),
        }
    }

    /// Acknowledges for semi-sync that everything up to this position is durable in this server's log.
    pub async fn acknowledge(&mut self, place: &SourcePosition) -> Result<(), SourceError> {
        let mut reply = vec![SEMI_SYNC_MAGIC];
        reply.extend_from_slice(&place.offset.to_le_bytes());
        reply.extend_from_slice(place.file.as_bytes());
        reply.push(0);
        self.client
            .send(&reply)
            .await
            .map_err(|error| SourceError::of_wire(error, "semi-sync acknowledgement"))
    }

    /// Pings the primary while there is nothing to request.
    pub async fn ping(&mut self) -> Result<(), SourceError> {
        let pinged = self.client.command(&[COM_PING]).await;
        pinged
            .map(|_| ())
            .map_err(|error| SourceError::of_wire(error, "ping"))
    }

    async fn rows(&mut self, query: &str) -> Result<Vec<Vec<Option<String>>>, SourceError> {
        in_time(QUESTION_TIMEOUT, self.client.rows(query), query).await
    }

    /// Returns the first value of a result.
    async fn value(&mut self, query: &str) -> Result<Option<String>, SourceError> {
        let rows = self.rows(query).await?;
        Ok(rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next().flatten()))
    }

    /// Executes a SET statement. It does not matter if the primary does not know the variable.
    async fn set_variable(&mut self, statement: &str) -> Result<(), SourceError> {
        match self.rows(statement).await {
            Err(SourceError::Fatal { number: 1193, .. }) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Encodes COM_BINLOG_DUMP_GTID, which requests everything that is not in the set.
fn dump_of_gtids(server_id: u32, known: &MySqlGtidSet) -> Result<Vec<u8>, SourceError> {
    let known = known.encode();
    let length = u32::try_from(known.len())
        .map_err(|_| SourceError::fatal_with(ER_SLAVE_FATAL_ERROR, &"the set of GTIDs is too long"))?;
    let mut dump = vec![COM_BINLOG_DUMP_GTID];
    dump.extend_from_slice(&DUMP_FLAG_GTIDS.to_le_bytes());
    dump.extend_from_slice(&server_id.to_le_bytes());
    // No file name, and offset 4.
    dump.extend_from_slice(&0u32.to_le_bytes());
    dump.extend_from_slice(&4u64.to_le_bytes());
    dump.extend_from_slice(&length.to_le_bytes());
    dump.extend_from_slice(&known);
    Ok(dump)
}

fn lost(error: WireError) -> SourceError {
    if matches!(error, WireError::TooLarge) {
        return SourceError::fatal(
            ER_NET_PACKET_TOO_LARGE.number(),
            "Got a packet bigger than 'slave_max_allowed_packet' bytes",
        );
    }
    let reason = match error {
        WireError::ReadTimeout(_) => "no event and no heartbeat within slave_net_timeout".to_owned(),
        error => error.to_string(),
    };
    SourceError::lost(
        CR_SERVER_LOST,
        format!("Lost connection to server during query ({reason})"),
    )
}

/// Decodes a packet of the stream.
fn sent_event(payload: &[u8], semi_sync: bool) -> Result<SentEvent<'_>, SourceError> {
    match payload.split_first() {
        Some((0, event)) => {
            let (bytes, wants_acknowledgement) = match event {
                [SEMI_SYNC_MAGIC, flag, bytes @ ..] if semi_sync => (bytes, *flag != 0),
                bytes => (bytes, false),
            };
            Ok(SentEvent {
                bytes,
                wants_acknowledgement,
            })
        }
        Some((0xFF, _)) => Err(match paceline_wire::response::decode_error(payload) {
            WireError::Server { code, message, .. } if code == 1236 => fatal_1236(code, &message),
            WireError::Server { code, message, .. } => SourceError::lost(code, message),
            error => SourceError::lost(CR_SERVER_LOST, error.to_string()),
        }),
        // The primary is shutting down.
        Some((0xFE, rest)) if rest.len() < 8 => Err(SourceError::lost(
            CR_SERVER_LOST,
            "Lost connection to server during query",
        )),
        _ => Err(SourceError::lost(
            CR_SERVER_LOST,
            "the primary sends something that is not an event",
        )),
    }
}

/// Maximum time for the answer to a query.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(60);

async fn in_time<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, WireError>>,
    doing: &str,
) -> Result<T, SourceError> {
    match tokio::time::timeout(limit, answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(SourceError::of_wire(error, doing)),
        Err(_) => Err(SourceError::lost(
            CR_SERVER_LOST,
            format!("{doing}: no answer in time"),
        )),
    }
}

fn fatal_1236(number: u16, message: &str) -> SourceError {
    SourceError::fatal(
        number,
        ER_MASTER_FATAL_ERROR_READING_BINLOG.message(&[&number, &message]),
    )
}

/// Returns the error for a primary that cannot be reached or rejects the login, with MariaDB's text. The connection is
/// retried in any case.
fn connect_error(error: WireError, definition: &Definition, options: &ReplicaOptions) -> SourceError {
    let Definition { user, host, port, .. } = definition;
    let (number, reason) = match error {
        WireError::Server { code, message, .. } => (code, message),
        error @ WireError::Tls(_) => (CR_SSL_CONNECTION_ERROR, error.to_string()),
        WireError::Io(error) if error.kind() == ErrorKind::ConnectionRefused => (
            CR_CONN_HOST_ERROR,
            format!("Can't connect to server on '{host}' (111 \"Connection refused\")"),
        ),
        WireError::Io(error) if error.raw_os_error().is_none() => {
            (CR_UNKNOWN_HOST, format!("Unknown server host '{host}' ({error})"))
        }
        WireError::Io(error) => (
            CR_CONN_HOST_ERROR,
            format!("Can't connect to server on '{host}' ({error})"),
        ),
        WireError::ReadTimeout(_) => (
            CR_CONN_HOST_ERROR,
            format!("Can't connect to server on '{host}' (timed out)"),
        ),
        error => (
            CR_SERVER_LOST,
            format!("Lost connection to server at 'handshake: {error}'"),
        ),
    };
    let (retry, maximum) = (definition.connect_retry_seconds, options.retry_count);
    SourceError::lost(
        number,
        format!(
            "error connecting to master '{user}@{host}:{port}' - retry-time: {retry}  maximum-retries: {maximum}  message: {reason}"
        ),
    )
}

/// Determines the kind of server from its version string.
fn kind_of(version: &str) -> SourceKind {
    let own = version.strip_prefix("5.5.5-").unwrap_or(version);
    let major: u32 = own
        .split('.')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0);
    match own.contains("MariaDB") {
        true if major >= 10 => SourceKind::MariaDb,
        true => SourceKind::Other,
        false => SourceKind::MySql,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_servers_are_distinguished() {
        assert_eq!(kind_of("5.5.5-10.11.6-MariaDB-log"), SourceKind::MariaDb);
        assert_eq!(kind_of("11.8.2-MariaDB"), SourceKind::MariaDb);
        assert_eq!(kind_of("10.11.19-MariaDB-paceline-0.1.0"), SourceKind::MariaDb);
        assert_eq!(kind_of("5.5.68-MariaDB"), SourceKind::Other);
        assert_eq!(kind_of("8.0.36"), SourceKind::MySql);
        assert_eq!(kind_of("8.4.5-5-debug"), SourceKind::MySql);
        assert_eq!(kind_of("9.7.0"), SourceKind::MySql);
    }
}
