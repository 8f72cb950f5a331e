//! The conversation with a primary up to the first event, and the packets that follow.
//!
//! ```text
//!   connect, log in
//!   what time is it, who are you            SELECT UNIX_TIMESTAMP(), SHOW VARIABLES LIKE 'SERVER_ID'
//!   what I understand                       @master_heartbeat_period, @master_binlog_checksum, @mariadb_slave_capability=4
//!   from where                              @slave_connect_state …             (GTID)
//!                                           binlog_gtid_pos(file, offset)      (file and position: the GTIDs of that place)
//!   COM_REGISTER_SLAVE, COM_BINLOG_DUMP ──▶ events, one a payload, behind a byte 0
//! ```
//! The questions, their order and what follows from a refusal are those of MariaDB's `get_master_version_and_clock`, so that any primary
//! which serves MariaDB's replicas serves this one.

use super::definition::Definition;
use super::error::{
    CR_CONN_HOST_ERROR, CR_SERVER_LOST, CR_SSL_CONNECTION_ERROR, CR_UNKNOWN_HOST, SourceError,
};
use super::options::{MarkedForSkip, ReplicaOptions};
use paceline_binlog::event::ChecksumAlgorithm;
use paceline_binlog::mysql::MySqlGtidSet;
use paceline_binlog::{GtidPosition, SourcePosition};
use paceline_types::ServerId;
use paceline_types::error_code::{
    ER_MASTER_FATAL_ERROR_READING_BINLOG, ER_NET_PACKET_TOO_LARGE, ER_SLAVE_FATAL_ERROR,
};
use paceline_wire::WireError;
use paceline_wire::client::{Client, ConnectOptions};
use std::io::ErrorKind;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How much larger an event may be than the statement that it comes from: the heads of events, and what a Query event says of its session
/// (`MAX_LOG_EVENT_HEADER` of MariaDB, which adds it to `slave_max_allowed_packet` too).
const EVENT_HEADERS_BYTES_MAX: usize = 1024;

/// What kind of server the primary is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceKind {
    /// MariaDB 10 or later, or Paceline: its transactions have GTIDs that we understand.
    MariaDb,
    /// MySQL, or what goes under its version: transactions are given GTIDs here, and events become MariaDB's.
    MySql,
    /// A MariaDB without GTIDs: transactions are given GTIDs here.
    Other,
}

/// From where a primary is to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartAt {
    /// What follows on these GTIDs.
    Gtids(GtidPosition),
    /// What is not in this set of MySQL's GTIDs.
    MySqlGtids(MySqlGtidSet),
    /// A place in its log; an empty file name means its first file.
    Place(SourcePosition),
}

/// Whether a server is a primary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writable {
    /// It takes writes.
    Yes,
    /// `read_only` is on.
    No,
}

/// A primary that was asked to send its log, or is about to be.
pub struct Source {
    client: Client,
    /// Who it is.
    pub server_id: ServerId,
    /// What it is.
    pub kind: SourceKind,
    /// How events are secured until the first Format_description says it.
    pub checksum: ChecksumAlgorithm,
    /// Its clock less ours, in seconds.
    pub clock_difference_seconds: i64,
    /// Packets carry a semi-sync header.
    pub semi_sync: bool,
}

/// One packet of the stream.
pub struct SentEvent<'a> {
    /// The event, with its checksum if there are any.
    pub bytes: &'a [u8],
    /// Semi-sync: the primary waits for an answer to this one.
    pub wants_acknowledgement: bool,
}

const COM_PING: u8 = 14;
const COM_BINLOG_DUMP: u8 = 18;
const COM_REGISTER_SLAVE: u8 = 21;
const COM_BINLOG_DUMP_GTID: u8 = 30;
/// BINLOG_THROUGH_GTID.
const DUMP_FLAG_GTIDS: u16 = 4;
/// BINLOG_SEND_ANNOTATE_ROWS_EVENT.
const DUMP_FLAG_ANNOTATE: u16 = 2;
/// The first byte of a semi-sync header, and of an acknowledgement.
const SEMI_SYNC_MAGIC: u8 = 0xEF;

/// A value as it stands in a statement.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn now_seconds() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

impl Source {
    /// Connects, logs in and asks who the primary is.
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
            tls: definition
                .tls
                .client()
                .map_err(|error| connect_error(error, definition, options))?,
            // From here on: also an event that takes longer than that to come is waited for as long as something comes.
            patience: Some(options.net_timeout),
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
        // MySQL has renamed what replicas say; its older versions know the names that MariaDB has.
        let renamed = |name: &str, value: &str| match self.kind {
            SourceKind::MySql => format!("SET @master_{name}= {value}, @source_{name}= {value}"),
            SourceKind::MariaDb | SourceKind::Other => format!("SET @master_{name}= {value}"),
        };
        let heartbeat = renamed("heartbeat_period", &heartbeat.to_string());
        let checksum = renamed("binlog_checksum", "@@global.binlog_checksum");
        self.tell(&heartbeat).await?;
        self.tell(&checksum).await?;
        self.checksum = match self.value("SELECT @master_binlog_checksum").await? {
            Some(name) if name.eq_ignore_ascii_case("CRC32") => ChecksumAlgorithm::Crc32,
            _ => ChecksumAlgorithm::None,
        };
        if self.kind == SourceKind::MySql {
            return Ok(());
        }
        if options.marked_for_skip == MarkedForSkip::FilterOnPrimary {
            self.tell("SET skip_replication=1").await?;
        }
        self.tell("SET @mariadb_slave_capability=4").await
    }

    /// Tells the primary from where to send. By file and position, the answer is the GTID position of that place, if it knows one.
    pub async fn set_start(
        &mut self,
        start: &StartAt,
        until: Option<&GtidPosition>,
        options: &ReplicaOptions,
    ) -> Result<Option<GtidPosition>, SourceError> {
        match start {
            StartAt::Gtids(position) => {
                self.value("SELECT @@GLOBAL.gtid_domain_id").await?;
                self.tell(&format!("SET @slave_connect_state='{position}'"))
                    .await?;
                let flag = |on: bool| u8::from(on);
                self.tell(&format!(
                    "SET @slave_gtid_strict_mode={}",
                    flag(options.gtid_strict_mode)
                ))
                .await?;
                self.tell(&format!(
                    "SET @slave_gtid_ignore_duplicates={}",
                    flag(options.gtid_ignore_duplicates)
                ))
                .await?;
                if let Some(until) = until {
                    self.tell(&format!("SET @slave_until_gtid='{until}'")).await?;
                }
                Ok(None)
            }
            StartAt::Place(place) if self.kind == SourceKind::MariaDb => {
                let query = format!("SELECT binlog_gtid_pos({},{})", quoted(&place.file), place.offset);
                let answer = match self.value(&query).await {
                    Ok(answer) => answer,
                    // A primary that does not know the function has no GTIDs to tell of.
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

    /// Registers, and asks for the log. From here on there are only events.
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
                    self.tell("SET @rpl_semi_sync_slave= 1").await?;
                    // Acknowledgements and events cross each other.
                    self.client.accept_any_sequence();
                }
                false => tracing::warn!(
                    "Master server does not support semi-sync, fallback to asynchronous replication"
                ),
            }
        }
        // An event behind the byte that every packet of the stream begins with, and a semi-sync header.
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
            // Annotations come if they are logged; the flag means something else.
            SourceKind::MySql => 0,
        };
        dump.extend_from_slice(&flags.to_le_bytes());
        dump.extend_from_slice(&server_id.to_le_bytes());
        dump.extend_from_slice(file.as_bytes());
        let sent = self.client.send(&dump);
        in_time(options.net_timeout, sent, "Failed on request_dump()").await
    }

    /// The GTIDs of everything before its oldest file; empty where it has its log from the beginning.
    ///
    /// # Errors
    /// If it does not say.
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

    /// Whether it takes writes from everybody: whether it is the primary.
    ///
    /// # Errors
    /// If it does not say.
    pub async fn writable(&mut self) -> Result<Writable, SourceError> {
        let read_only = self.value("SELECT @@global.read_only").await?;
        Ok(match read_only.as_deref() {
            Some("0" | "OFF") => Writable::Yes,
            _ => Writable::No,
        })
    }

    /// Waits for the next event: for as long as something comes within `slave_net_timeout`.
    pub async fn next_event(&mut self) -> Result<SentEvent<'_>, SourceError> {
        let semi_sync = self.semi_sync;
        let payload = self.client.receive().await.map_err(lost)?;
        sent_event(payload, semi_sync)
    }

    /// The next event, if it has arrived already.
    pub fn next_buffered(&mut self) -> Result<Option<SentEvent<'_>>, SourceError> {
        let semi_sync = self.semi_sync;
        match self.client.receive_buffered().map_err(lost)? {
            Some(payload) => sent_event(payload, semi_sync).map(Some),
            None => Ok(None),
        }
    }

    /// Semi-sync: everything up to there is durable in our log.
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

    /// Shows the primary that we live while there is nothing to ask for.
    pub async fn ping(&mut self) -> Result<(), SourceError> {
        let pinged = self.client.command(&[COM_PING]).await;
        pinged
            .map(|_| ())
            .map_err(|error| SourceError::of_wire(error, "ping"))
    }

    async fn rows(&mut self, query: &str) -> Result<Vec<Vec<Option<String>>>, SourceError> {
        in_time(QUESTION_TIMEOUT, self.client.rows(query), query).await
    }

    /// The first value of an answer.
    async fn value(&mut self, query: &str) -> Result<Option<String>, SourceError> {
        let rows = self.rows(query).await?;
        Ok(rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next().flatten()))
    }

    /// Says something; a variable that the primary does not know is its affair.
    async fn tell(&mut self, statement: &str) -> Result<(), SourceError> {
        match self.rows(statement).await {
            Err(SourceError::Fatal { number: 1193, .. }) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// COM_BINLOG_DUMP_GTID: everything that is not known.
fn dump_of_gtids(server_id: u32, known: &MySqlGtidSet) -> Result<Vec<u8>, SourceError> {
    let known = known.encode();
    let length = u32::try_from(known.len())
        .map_err(|_| SourceError::fatal_with(ER_SLAVE_FATAL_ERROR, &"the set of GTIDs is too long"))?;
    let mut dump = vec![COM_BINLOG_DUMP_GTID];
    dump.extend_from_slice(&DUMP_FLAG_GTIDS.to_le_bytes());
    dump.extend_from_slice(&server_id.to_le_bytes());
    // No file, and its beginning.
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

/// A packet of the stream.
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
        // The primary stops.
        Some((0xFE, rest)) if rest.len() < 8 => Err(SourceError::lost(
            CR_SERVER_LOST,
            "Lost connection to server during query",
        )),
        _ => Err(SourceError::lost(
            CR_SERVER_LOST,
            "the primary sends what is no event",
        )),
    }
}

/// How long an answer to a question may take.
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

/// MariaDB's text for a primary that cannot be reached or does not let us in: tried again, whatever it is.
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

/// What a server's version text says of it.
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
    fn servers_are_told_apart() {
        assert_eq!(kind_of("5.5.5-10.11.6-MariaDB-log"), SourceKind::MariaDb);
        assert_eq!(kind_of("11.8.2-MariaDB"), SourceKind::MariaDb);
        assert_eq!(kind_of("10.11.19-MariaDB-paceline-0.1.0"), SourceKind::MariaDb);
        assert_eq!(kind_of("5.5.68-MariaDB"), SourceKind::Other);
        assert_eq!(kind_of("8.0.36"), SourceKind::MySql);
        assert_eq!(kind_of("8.4.5-5-debug"), SourceKind::MySql);
        assert_eq!(kind_of("9.7.0"), SourceKind::MySql);
    }
}
