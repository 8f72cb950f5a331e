//! Registry of this server's replicas: registrations by COM_REGISTER_SLAVE (`SHOW SLAVE HOSTS`), and running streams.

use super::request::GroupRecords;
use paceline_types::{LogPosition, ServerId};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use tokio::sync::Notify;

/// Data that a replica has registered with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registration {
    /// Server id of the replica.
    pub server_id: ServerId,
    /// `report_host`, or the host that it connected from.
    pub host: String,
    /// `report_user`.
    pub user: String,
    /// `report_password`.
    pub password: String,
    /// `report_port`.
    pub port: u16,
    /// Server id of its primary: this server.
    pub source_id: ServerId,
}

/// Maximum lengths of the texts in bytes.
const HOST_LENGTH_MAX: usize = 255 * 3;
const USER_LENGTH_MAX: usize = 128 * 3;
const PASSWORD_LENGTH_MAX: usize = 32 * 3;

impl Registration {
    /// Decodes COM_REGISTER_SLAVE: server id (4), host, user and password (with a length byte each), port (2), rank
    /// (4), the id of the primary (4). `host` and `server_id` replace missing values.
    ///
    /// # Errors
    /// The text of error 1105 if the packet is malformed.
    pub fn parse(payload: &[u8], host: &str, server_id: ServerId) -> Result<Self, &'static str> {
        const WRONG: &str = "Wrong parameters to function register_slave";
        let (id, mut rest) = payload.split_first_chunk::<4>().ok_or(WRONG)?;
        let mut text = |limit: usize, message: &'static str| {
            let (length, behind) = rest.split_first().ok_or(message)?;
            let length = usize::from(*length);
            if length > behind.len() || length > limit {
                return Err(message);
            }
            let (text, behind) = behind.split_at(length);
            rest = behind;
            Ok(String::from_utf8_lossy(text).into_owned())
        };
        let report_host = text(
            HOST_LENGTH_MAX,
            "Failed to register slave: too long 'report-host'",
        )?;
        let user = text(
            USER_LENGTH_MAX,
            "Failed to register slave: too long 'report-user'",
        )?;
        let password = text(
            PASSWORD_LENGTH_MAX,
            "Failed to register slave; too long 'report-password'",
        )?;
        let numbers = rest.first_chunk::<10>().ok_or(WRONG)?;
        let source = u32::from_le_bytes([numbers[6], numbers[7], numbers[8], numbers[9]]);
        Ok(Registration {
            server_id: ServerId(u32::from_le_bytes(*id)),
            host: match report_host.is_empty() {
                true => host.to_owned(),
                false => report_host,
            },
            user,
            password,
            port: u16::from_le_bytes([numbers[0], numbers[1]]),
            source_id: match source {
                0 => server_id,
                id => ServerId(id),
            },
        })
    }
}

/// Signal to a stream to end because another replica has connected with the same server id.
#[derive(Debug, Default)]
pub(super) struct ReplacementSignal {
    flag: AtomicBool,
    wakeup: Notify,
}

impl ReplacementSignal {
    fn notify(&self) {
        self.flag.store(true, Ordering::Release);
        self.wakeup.notify_one();
    }

    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    pub async fn wait(&self) {
        while !self.is_set() {
            self.wakeup.notified().await;
        }
    }
}

/// Progress of a stream: the position up to which the log was written to the reader's connection.
#[derive(Debug, Default)]
pub(super) struct StreamProgress {
    /// A [`LogPosition`].
    sent: AtomicU64,
    /// Time of the event before it, in seconds since 1970.
    timestamp_seconds: AtomicU32,
}

impl StreamProgress {
    pub fn note(&self, sent: LogPosition, timestamp_seconds: u32) {
        self.sent.store(sent.as_u64(), Ordering::Relaxed);
        self.timestamp_seconds.store(timestamp_seconds, Ordering::Relaxed);
    }
}

/// State of a running stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamStatus {
    /// Id of the connection.
    pub connection: u32,
    /// Server id of the reader; 0 for a tool.
    pub server_id: ServerId,
    /// Registration of the reader, if there is one.
    pub registration: Option<Registration>,
    /// Whether it is an archive.
    pub is_archive: bool,
    /// Position up to which the log has been sent.
    pub sent: LogPosition,
    /// Time of the last event before it, in seconds since 1970; 0 if none was sent.
    pub timestamp_seconds: u32,
}

#[derive(Debug)]
struct StreamEntry {
    server_id: ServerId,
    records: GroupRecords,
    replaced: Arc<ReplacementSignal>,
    progress: Arc<StreamProgress>,
}

#[derive(Debug, Default)]
struct RegistryEntries {
    registered: BTreeMap<u32, Registration>,
    streams: BTreeMap<u32, StreamEntry>,
}

/// All replicas, by connection id.
#[derive(Debug, Default)]
pub struct ReplicaRegistry {
    entries: Mutex<RegistryEntries>,
}

impl ReplicaRegistry {
    /// Registers a session as a replica. A session may register repeatedly.
    pub fn register(&self, connection: u32, registration: Registration) {
        self.entries.lock().registered.insert(connection, registration);
    }

    /// Removes a session that has ended.
    pub fn forget(&self, connection: u32) {
        self.entries.lock().registered.remove(&connection);
    }

    /// Returns a session's registration.
    pub fn registration(&self, connection: u32) -> Option<Registration> {
        self.entries.lock().registered.get(&connection).cloned()
    }

    /// Returns all registrations.
    pub fn list(&self) -> Vec<Registration> {
        self.entries.lock().registered.values().cloned().collect()
    }

    /// Returns the number of running streams.
    pub fn stream_count(&self) -> usize {
        self.entries.lock().streams.len()
    }

    /// Returns the state of all running streams.
    pub fn streams(&self) -> Vec<StreamStatus> {
        let entries = self.entries.lock();
        let status = |(connection, stream): (&u32, &StreamEntry)| StreamStatus {
            connection: *connection,
            server_id: stream.server_id,
            registration: entries.registered.get(connection).cloned(),
            is_archive: stream.records == GroupRecords::Sent,
            sent: LogPosition::from_u64(stream.progress.sent.load(Ordering::Relaxed)),
            timestamp_seconds: stream.progress.timestamp_seconds.load(Ordering::Relaxed),
        };
        entries.streams.iter().map(status).collect()
    }

    /// Begins a stream. A stream with the same server id is told to end: it is left over from the replica's previous
    /// connection.
    pub(super) fn begin_stream(
        self: &Arc<Self>,
        connection: u32,
        server_id: ServerId,
        records: GroupRecords,
    ) -> RunningStream {
        let replaced = Arc::new(ReplacementSignal::default());
        let progress = Arc::new(StreamProgress::default());
        let mut entries = self.entries.lock();
        if server_id != ServerId(0) {
            let streams = entries.streams.values();
            let same = streams.filter(|stream| stream.server_id == server_id);
            same.for_each(|other| other.replaced.notify());
        }
        let entry = StreamEntry {
            server_id,
            records,
            replaced: replaced.clone(),
            progress: progress.clone(),
        };
        entries.streams.insert(connection, entry);
        RunningStream {
            replicas: self.clone(),
            connection,
            replaced,
            progress,
        }
    }
}

/// A running stream. Dropping it removes it from the registry.
#[derive(Debug)]
pub(super) struct RunningStream {
    replicas: Arc<ReplicaRegistry>,
    connection: u32,
    pub replaced: Arc<ReplacementSignal>,
    pub progress: Arc<StreamProgress>,
}

impl Drop for RunningStream {
    fn drop(&mut self) {
        self.replicas.entries.lock().streams.remove(&self.connection);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_names_host_port_and_source() {
        let mut payload = 7u32.to_le_bytes().to_vec();
        for text in ["replica.example", "me", ""] {
            payload.push(text.len() as u8);
            payload.extend_from_slice(text.as_bytes());
        }
        payload.extend_from_slice(&3307u16.to_le_bytes());
        payload.extend_from_slice(&[0; 8]);
        let parsed = Registration::parse(&payload, "10.0.0.1", ServerId(1)).unwrap();
        assert_eq!(
            (parsed.host.as_str(), parsed.port, parsed.source_id),
            ("replica.example", 3307, ServerId(1))
        );
        for cut in 0..payload.len() {
            assert!(Registration::parse(&payload[..cut], "", ServerId(1)).is_err());
        }
    }

    #[test]
    fn a_replica_that_reconnects_ends_its_old_stream() {
        let replicas = Arc::new(ReplicaRegistry::default());
        let begin = |connection, id| replicas.begin_stream(connection, ServerId(id), GroupRecords::LeftOut);
        let first = begin(1, 5);
        let tool = begin(2, 0);
        let other = begin(3, 0);
        assert!(!tool.replaced.is_set() && !other.replaced.is_set());
        let second = begin(4, 5);
        assert!(first.replaced.is_set() && !second.replaced.is_set());
        drop((first, tool, other));
        assert_eq!(replicas.stream_count(), 1);
    }

    #[test]
    fn streams_say_how_far_they_are() {
        let replicas = Arc::new(ReplicaRegistry::default());
        let stream = replicas.begin_stream(1, ServerId(5), GroupRecords::Sent);
        stream.progress.note(LogPosition::new(2, 100), 1_000);
        let [shown] = &replicas.streams()[..] else {
            panic!("one stream");
        };
        assert_eq!(
            (shown.sent, shown.timestamp_seconds),
            (LogPosition::new(2, 100), 1_000)
        );
        assert!(shown.is_archive && shown.registration.is_none());
        drop(stream);
        assert!(replicas.streams().is_empty());
    }
}
