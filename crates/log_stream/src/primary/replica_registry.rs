//! Registry of this server's replicas: registrations by COM_REGISTER_SLAVE (`SHOW SLAVE HOSTS`), and running streams.

use paceline_types::ServerId;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

#[derive(Debug, Default)]
struct RegistryEntries {
    registered: BTreeMap<u32, Registration>,
    streams: BTreeMap<u32, (ServerId, Arc<ReplacementSignal>)>,
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

    /// Begins a stream. A stream with the same server id is told to end: it is left over from the replica's previous
    /// connection.
    pub(super) fn begin_stream(self: &Arc<Self>, connection: u32, server_id: ServerId) -> RunningStream {
        let replaced = Arc::new(ReplacementSignal::default());
        let mut entries = self.entries.lock();
        if server_id != ServerId(0) {
            let same = entries.streams.values().filter(|(id, _)| *id == server_id);
            same.for_each(|(_, other)| other.notify());
        }
        entries.streams.insert(connection, (server_id, replaced.clone()));
        RunningStream {
            replicas: self.clone(),
            connection,
            replaced,
        }
    }
}

/// A running stream. Dropping it removes it from the registry.
#[derive(Debug)]
pub(super) struct RunningStream {
    replicas: Arc<ReplicaRegistry>,
    connection: u32,
    pub replaced: Arc<ReplacementSignal>,
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
        let first = replicas.begin_stream(1, ServerId(5));
        let tool = replicas.begin_stream(2, ServerId(0));
        let other = replicas.begin_stream(3, ServerId(0));
        assert!(!tool.replaced.is_set() && !other.replaced.is_set());
        let second = replicas.begin_stream(4, ServerId(5));
        assert!(first.replaced.is_set() && !second.replaced.is_set());
        drop((first, tool, other));
        assert_eq!(replicas.stream_count(), 1);
    }
}
