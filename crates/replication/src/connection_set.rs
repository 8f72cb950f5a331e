//! All connections of a server to primaries.
//!
//! Names are compared without case, as in MariaDB. Definitions are stored in the log's replica records, together with
//! the positions of connections without GTIDs: one `CHANGE MASTER` writes one record.

use super::connection::{Connection, PartChange, Threads};
use super::duplicates::DomainOwners;
use super::environment::Environment;
use super::received::SourcePosition;
use super::until::Until;
use paceline_binlog::mysql::MySqlGtidSet;
use paceline_binlog::{
    ExecutedSetChange, GtidPosition, GtidState, PositionChange, RecordScope, ReplicaRecord,
};
use paceline_log_stream::source::definition::{Definition, PasswordForm, UseGtid};
use paceline_log_stream::source::error::ReplicaError;
use paceline_log_stream::source::password::KEY_FILE;
use paceline_types::ServerId;
use paceline_types::error_code::*;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Connections of a server; see the module comment.
pub struct ConnectionSet {
    environment: Arc<dyn Environment>,
    connections: RwLock<BTreeMap<String, Arc<Connection>>>,
    owners: Arc<DomainOwners>,
    /// Locked by CHANGE MASTER, so that two of them never define the same connection.
    defining: tokio::sync::Mutex<()>,
}

/// Position from which a changed connection continues.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NewPlace {
    /// The same as before.
    Keep,
    /// The start of the primary's log.
    Forget,
    /// This position.
    At(SourcePosition),
    /// Everything that is not in this set of MySQL GTIDs.
    AfterGtids(MySqlGtidSet),
}

/// Warning about a position that was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionWarning {
    /// 1947 or 1948.
    pub code: ErrorCode,
    /// Text of the warning.
    pub message: String,
}

impl ConnectionSet {
    /// Creates the connections recorded in the log. None is started.
    pub fn open(environment: Arc<dyn Environment>) -> Self {
        let state = environment.transactions().log().replica_state();
        let mut connections = BTreeMap::new();
        let owners: Arc<DomainOwners> = Arc::default();
        let mut in_clear = Vec::new();
        for (name, record) in &state.definitions {
            match Definition::from_record(record, environment.password_key()) {
                Some((definition, form)) => {
                    if form == PasswordForm::Clear {
                        in_clear.push((name.clone(), definition.clone()));
                    }
                    let connection =
                        Connection::new(name.clone(), definition, environment.clone(), owners.clone());
                    connections.insert(name.to_lowercase(), connection);
                }
                None => {
                    tracing::error!("what the log says of connection '{name}' cannot be read; it is left out")
                }
            }
        }
        let replicas = ConnectionSet {
            environment,
            connections: RwLock::new(connections),
            owners,
            defining: tokio::sync::Mutex::new(()),
        };
        replicas.seal_passwords(&in_clear);
        replicas
    }

    /// Seals passwords that an earlier version wrote in plain text.
    fn seal_passwords(&self, definitions: &[(Arc<str>, Definition)]) {
        for (name, definition) in definitions {
            let log = self.environment.transactions().log();
            let file = log
                .files()
                .last()
                .map(|file| file.name.clone())
                .unwrap_or_default();
            let mut record = ReplicaRecord::of_gtids(PositionChange::None);
            let sealed = self.sealed(definition).and_then(|definition| {
                record.definitions.push((name.clone(), Some(definition.into())));
                self.write(&record)
            });
            match sealed {
                Ok(()) => tracing::warn!(
                    "connection '{name}': an earlier version wrote its password into the binary log in clear, in files up to {file}. From here on \
                     it is sealed. Change the password on the primary and here, then FLUSH BINARY LOGS and PURGE BINARY LOGS"
                ),
                Err(error) => tracing::error!(
                    "connection '{name}': its password is in the binary log in clear, and cannot be sealed: {error}"
                ),
            }
        }
    }

    fn sealed(&self, definition: &Definition) -> Result<Vec<u8>, ReplicaError> {
        let sealed = definition.to_record(self.environment.password_key());
        sealed.map_err(|error| {
            ReplicaError::with_message(
                ER_MASTER_INFO,
                format!("Cannot seal the password of the connection: {KEY_FILE}: {error}"),
            )
        })
    }

    /// Returns the connection with this name.
    ///
    /// # Errors
    /// 1617 if it does not exist.
    pub fn get(&self, name: &str) -> Result<Arc<Connection>, ReplicaError> {
        let connections = self.connections.read();
        let found = connections.get(&name.to_lowercase()).cloned();
        found.ok_or_else(|| no_connection(name))
    }

    /// Returns all connections, by name.
    pub fn all(&self) -> Vec<Arc<Connection>> {
        self.connections.read().values().cloned().collect()
    }

    /// Returns a connection whose receiver or applier is running, if there is one.
    pub fn running(&self) -> Option<Arc<Connection>> {
        self.all().into_iter().find(|connection| connection.runs())
    }

    /// Starts all connections with a primary. Called when the server has started.
    pub async fn start_all(&self) {
        for connection in self.all() {
            if connection.definition().host.is_empty() {
                continue;
            }
            let _changing = connection.changing.lock().await;
            match connection.start(Threads::Both, None).await {
                Ok(_) => tracing::info!("connection '{}' is started", connection.name()),
                Err(error) => tracing::error!("connection '{}' is not started: {error}", connection.name()),
            }
        }
    }

    /// Stops all connections. Called when the server stops.
    pub async fn stop_all(&self) {
        for connection in self.all() {
            let _changing = connection.changing.lock().await;
            connection.stop(Threads::Both).await;
        }
    }

    /// Executes `CHANGE MASTER`. `change` updates the definition and returns where the connection continues.
    ///
    /// # Errors
    /// The errors of `change`; 1198 while it is running; 1934 if another connection has the same primary.
    pub async fn change(
        &self,
        name: &str,
        change: impl FnOnce(&mut Definition) -> Result<NewPlace, ReplicaError>,
    ) -> Result<(), ReplicaError> {
        let _defining = self.defining.lock().await;
        let known = self.get(name).ok();
        let _changing = match &known {
            Some(connection) => Some(connection.changing.lock().await),
            None => None,
        };
        if let Some(connection) = known.as_ref().filter(|connection| connection.runs()) {
            return Err(must_stop(connection.name()));
        }
        let mut definition = known.as_ref().map_or_else(Definition::default, |connection| {
            (*connection.definition()).clone()
        });
        let place = change(&mut definition)?;
        let is_same_source = |other: &Arc<Connection>| {
            let other_definition = other.definition();
            !other.name().eq_ignore_ascii_case(name)
                && !definition.host.is_empty()
                && other_definition.host == definition.host
                && other_definition.port == definition.port
        };
        if let Some(other) = self.all().iter().find(|other| is_same_source(other)) {
            return Err(ReplicaError::with_message(
                ER_CONNECTION_ALREADY_EXISTS,
                format!(
                    "Connection '{name}' conflicts with existing connection '{}'",
                    other.name()
                ),
            ));
        }
        let key: Arc<str> = known
            .as_ref()
            .map_or_else(|| Arc::from(name), |connection| connection.name().clone());
        let sealed = tokio::task::block_in_place(|| self.sealed(&definition))?;
        let mut record = ReplicaRecord::of_gtids(PositionChange::None);
        record.definitions.push((key.clone(), Some(sealed.into())));
        match place {
            NewPlace::Keep => {}
            NewPlace::Forget => record.sources.push((key.clone(), None)),
            NewPlace::At(position) => {
                record.sources.push((key.clone(), Some(position)));
                // The set before this position is unknown.
                record.executed.push((key.clone(), ExecutedSetChange::Forget));
            }
            NewPlace::AfterGtids(gtids) => {
                record.sources.push((key.clone(), None));
                record
                    .executed
                    .push((key.clone(), ExecutedSetChange::Replace(gtids)));
            }
        }
        self.log(&record)?;
        match &known {
            Some(connection) => {
                connection.set_definition(definition);
                connection.forget_progress();
            }
            None => {
                let connection = Connection::new(
                    key.clone(),
                    definition,
                    self.environment.clone(),
                    self.owners.clone(),
                );
                self.connections.write().insert(key.to_lowercase(), connection);
            }
        }
        Ok(())
    }

    /// Follows a primary without a record of that in the log, and starts at once: the members of a cluster decide whom
    /// they follow.
    ///
    /// # Errors
    /// Those of START SLAVE.
    pub async fn follow(&self, name: &str, definition: Definition) -> Result<(), ReplicaError> {
        let _defining = self.defining.lock().await;
        let connection = Connection::new(
            Arc::from(name),
            definition,
            self.environment.clone(),
            self.owners.clone(),
        );
        let _changing = connection.changing.lock().await;
        self.connections
            .write()
            .insert(name.to_lowercase(), connection.clone());
        connection.start(Threads::Both, None).await.map(drop)
    }

    /// Ends and forgets a connection made by [`follow`](Self::follow). Nothing more of it reaches the log when this
    /// returns; what it has logged may be unpublished.
    pub async fn leave(&self, name: &str) {
        let _defining = self.defining.lock().await;
        let known = self.connections.write().remove(&name.to_lowercase());
        if let Some(connection) = known {
            let _changing = connection.changing.lock().await;
            connection.stop(Threads::Both).await;
        }
    }

    /// Executes `START SLAVE`.
    ///
    /// # Errors
    /// 1617, 1200
    pub async fn start(
        &self,
        name: &str,
        threads: Threads,
        until: Option<Until>,
    ) -> Result<PartChange, ReplicaError> {
        let connection = self.get(name)?;
        let _changing = connection.changing.lock().await;
        self.check_known(&connection)?;
        connection.start(threads, until).await
    }

    /// Fails if RESET SLAVE ALL has removed the connection during the wait: then no statement could stop it any more.
    fn check_known(&self, connection: &Arc<Connection>) -> Result<(), ReplicaError> {
        match self.get(connection.name()) {
            Ok(known) if Arc::ptr_eq(&known, connection) => Ok(()),
            _ => Err(no_connection(connection.name())),
        }
    }

    /// Executes `STOP SLAVE`.
    ///
    /// # Errors
    /// 1617 if it does not exist.
    pub async fn stop(&self, name: &str, threads: Threads) -> Result<PartChange, ReplicaError> {
        let connection = self.get(name)?;
        let _changing = connection.changing.lock().await;
        Ok(connection.stop(threads).await)
    }

    /// Returns the connection and the part that have this id in the process list.
    pub fn part_of_thread(&self, id: u32) -> Option<(Arc<str>, Threads)> {
        self.all().into_iter().find_map(|connection| {
            let threads = connection.status().threads;
            let mut parts = threads.into_iter().zip([Threads::Receiver, Threads::Applier]);
            let (_, part) = parts.find(|(thread, _)| thread.is_some_and(|thread| thread.id == id))?;
            Some((connection.name().clone(), part))
        })
    }

    /// Executes `RESET SLAVE`: forgets the position in the primary's log, or the whole connection. As in MariaDB, a
    /// connection uses `gtid_slave_pos` afterwards. Returns the setting before.
    ///
    /// # Errors
    /// 1617; 1198 while it is running.
    pub async fn reset(&self, name: &str, forget: Forget) -> Result<UseGtid, ReplicaError> {
        let _defining = self.defining.lock().await;
        let connection = self.get(name)?;
        let _changing = connection.changing.lock().await;
        if connection.runs() {
            return Err(must_stop(connection.name()));
        }
        let mut record = ReplicaRecord::of_source(RecordScope::Alone, connection.name().clone(), None);
        let mut definition = (*connection.definition()).clone();
        let before = std::mem::replace(&mut definition.use_gtid, UseGtid::SlavePos);
        match forget {
            Forget::Connection => {
                record.definitions.push((connection.name().clone(), None));
                record
                    .executed
                    .push((connection.name().clone(), ExecutedSetChange::Forget));
            }
            Forget::Place if before != UseGtid::SlavePos => {
                let sealed = tokio::task::block_in_place(|| self.sealed(&definition))?;
                record
                    .definitions
                    .push((connection.name().clone(), Some(sealed.into())));
            }
            Forget::Place => {}
        }
        self.log(&record)?;
        connection.forget_progress();
        match forget {
            Forget::Connection => {
                self.connections.write().remove(&connection.name().to_lowercase());
            }
            Forget::Place => connection.set_definition(definition),
        }
        Ok(before)
    }

    /// Executes `SET GLOBAL gtid_slave_pos`.
    ///
    /// # Errors
    /// 1198 while a connection is running.
    pub fn set_position(&self, position: &GtidPosition) -> Result<Vec<PositionWarning>, ReplicaError> {
        if let Some(connection) = self.running() {
            return Err(must_stop(connection.name()));
        }
        let server_id = self.environment.options("").server_id;
        let warnings = conflicts(position, &self.environment.transactions().gtid_state(), server_id);
        self.log(&ReplicaRecord::of_gtids(PositionChange::Replace(
            position.clone(),
        )))?;
        Ok(warnings)
    }

    fn log(&self, record: &ReplicaRecord) -> Result<(), ReplicaError> {
        tokio::task::block_in_place(|| self.write(record))
    }

    fn write(&self, record: &ReplicaRecord) -> Result<(), ReplicaError> {
        let transactions = self.environment.transactions();
        transactions
            .move_replica_position(record)
            .map_err(|error| ReplicaError::with_message(error.error_code(), error.to_string()))
    }
}

/// Maximum time that the server waits for connections when it stops.
pub const STOP_PATIENCE: Duration = Duration::from_secs(30);

/// Extent of `RESET SLAVE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forget {
    /// The position in the primary's log.
    Place,
    /// `ALL`: the whole connection.
    Connection,
}

/// Returns error 1617.
fn no_connection(name: &str) -> ReplicaError {
    ReplicaError::with_message(
        WARN_NO_MASTER_INFO,
        format!("There is no master connection '{name}'"),
    )
}

/// Returns error 1198.
pub fn must_stop(name: &str) -> ReplicaError {
    ReplicaError::with_message(
        ER_SLAVE_MUST_STOP,
        format!(
            "This operation cannot be performed as you have a running slave '{name}'; run STOP SLAVE '{name}' first"
        ),
    )
}

/// Returns MariaDB's warnings for a position that is before this server's log: domains whose last transaction this
/// server wrote itself.
fn conflicts(position: &GtidPosition, logged: &GtidState, server_id: ServerId) -> Vec<PositionWarning> {
    let mut warnings = Vec::new();
    for own in logged
        .position()
        .iter()
        .filter(|gtid| gtid.server_id == server_id)
    {
        let warning = match position.get(own.domain_id) {
            Some(given) if own.sequence > given.sequence => PositionWarning {
                code: ER_MASTER_GTID_POS_CONFLICTS_WITH_BINLOG,
                message: ER_MASTER_GTID_POS_CONFLICTS_WITH_BINLOG.message(&[
                    &given.domain_id,
                    &given.server_id,
                    &given.sequence,
                    &own.domain_id,
                    &own.server_id,
                    &own.sequence,
                ]),
            },
            Some(_) => continue,
            None => PositionWarning {
                code: ER_MASTER_GTID_POS_MISSING_DOMAIN,
                message: ER_MASTER_GTID_POS_MISSING_DOMAIN.message(&[
                    &own.domain_id,
                    &own.domain_id,
                    &own.server_id,
                    &own.sequence,
                ]),
            },
        };
        warnings.push(warning);
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::{Applier, KeptPosition};
    use paceline_binlog::log::{OpenRequest, RealDisk};
    use paceline_binlog::{Log, LogConfig};
    use paceline_log_stream::source::options::ReplicaOptions;
    use paceline_log_stream::source::password::{Password, PasswordKey};
    use paceline_storage::{Storage, StorageConfig};
    use paceline_txn::{ManagerParts, TransactionManager};

    /// An environment that starts nothing.
    struct Quiet(Arc<TransactionManager>, PasswordKey);

    impl Environment for Quiet {
        fn transactions(&self) -> &Arc<TransactionManager> {
            &self.0
        }

        fn password_key(&self) -> &PasswordKey {
            &self.1
        }

        fn options(&self, _: &str) -> ReplicaOptions {
            unreachable!("nothing is started")
        }

        fn new_thread_id(&self) -> u32 {
            unreachable!("nothing is started")
        }

        fn start_applier(&self, _: &Arc<str>, _: KeptPosition) -> Applier {
            unreachable!("nothing is started")
        }
    }

    fn environment(directory: &std::path::Path) -> Arc<Quiet> {
        let storage = Storage::open(&StorageConfig::new(directory.join("tables"))).unwrap();
        let mut config = LogConfig::new(directory, "bin", ServerId(1));
        config.prepare_step = 1 << 20;
        let (log, recovery) = Log::open(Arc::new(RealDisk), config, OpenRequest::new(1)).unwrap();
        let parts = ManagerParts::new(log, recovery.state, Arc::new(storage));
        let transactions = Arc::new(TransactionManager::open(parts));
        Arc::new(Quiet(transactions, PasswordKey::in_directory(directory)))
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap()
    }

    /// Returns the connection's definition as recorded in the log.
    fn recorded(environment: &Quiet) -> String {
        let state = environment.0.log().replica_state();
        String::from_utf8(state.definitions["east"].to_vec()).unwrap()
    }

    #[test]
    fn a_password_in_clear_is_sealed_at_the_start() {
        let directory = tempfile::tempdir().unwrap();
        let known = environment(directory.path());
        let mut record = ReplicaRecord::of_gtids(PositionChange::None);
        let earlier = br#"{"host":"primary","password":"geheim"}"#;
        record
            .definitions
            .push(("east".into(), Some(earlier.as_slice().into())));
        known.0.move_replica_position(&record).unwrap();
        let replicas = ConnectionSet::open(known.clone());
        let password = |replicas: &ConnectionSet| replicas.get("east").unwrap().definition().password.clone();
        assert_eq!(password(&replicas), Password::Known("geheim".into()));
        let sealed = recorded(&known);
        assert!(
            sealed.contains("sealed_password") && !sealed.contains("geheim"),
            "{sealed}"
        );
        // Only once: at the next start it is already sealed.
        let replicas = ConnectionSet::open(known.clone());
        assert_eq!(password(&replicas), Password::Known("geheim".into()));
        assert_eq!(recorded(&known), sealed);
    }

    #[test]
    fn without_the_key_a_connection_needs_its_password_again() {
        let directory = tempfile::tempdir().unwrap();
        let known = environment(directory.path());
        let replicas = ConnectionSet::open(known.clone());
        runtime().block_on(async {
            let define = |definition: &mut Definition| {
                definition.host = "primary".into();
                definition.password = "geheim".to_owned().into();
                Ok(NewPlace::Forget)
            };
            replicas.change("east", define).await.unwrap();
        });
        let elsewhere = tempfile::tempdir().unwrap();
        let without = Arc::new(Quiet(
            known.0.clone(),
            PasswordKey::in_directory(elsewhere.path()),
        ));
        let replicas = ConnectionSet::open(without);
        let sealed = recorded(&known);
        runtime().block_on(async {
            // A change of another setting keeps the unreadable password.
            let delay = |definition: &mut Definition| {
                definition.delay_seconds = 5;
                Ok(NewPlace::Keep)
            };
            replicas.change("east", delay).await.unwrap();
            let refused = replicas.start("east", Threads::Both, None).await.unwrap_err();
            assert_eq!(refused.code, ER_MASTER_INFO);
            assert!(refused.message.contains("CHANGE MASTER TO MASTER_PASSWORD"));
            let status = replicas.get("east").unwrap().status();
            assert_eq!(status.receiver.error.number, ER_MASTER_INFO.number());
        });
        let password = |record: &str| record.split("sealed_password").nth(1).unwrap().to_owned();
        assert_eq!(password(&recorded(&known)), password(&sealed));
    }

    #[test]
    fn a_removed_connection_is_not_started() {
        let directory = tempfile::tempdir().unwrap();
        let replicas = ConnectionSet::open(environment(directory.path()));
        runtime().block_on(async {
            let define = |definition: &mut Definition| {
                definition.host = "primary".into();
                Ok(NewPlace::Forget)
            };
            replicas.change("east", define).await.unwrap();
            let connection = replicas.get("east").unwrap();
            let changing = connection.changing.lock().await;
            // Both wait, in this order.
            let forgotten = replicas.reset("east", Forget::Connection);
            let started = replicas.start("east", Threads::Both, None);
            let (mut forgotten, mut started) = (Box::pin(forgotten), Box::pin(started));
            let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
            assert!(forgotten.as_mut().poll(context).is_pending());
            assert!(started.as_mut().poll(context).is_pending());
            drop(changing);
            forgotten.await.unwrap();
            assert_eq!(started.await.unwrap_err().code, WARN_NO_MASTER_INFO);
            assert!(!connection.runs());
        });
    }

    #[test]
    fn a_position_before_the_own_log_causes_a_warning() {
        let logged: GtidState = "0-100-1,3-100-7,4-1-9".parse().unwrap();
        let warnings = |text: &str| -> Vec<(u16, String)> {
            conflicts(&text.parse().unwrap(), &logged, ServerId(100))
                .into_iter()
                .map(|warning| (warning.code.number(), warning.message))
                .collect()
        };
        assert!(warnings("0-9-1,3-9-8").is_empty());
        let both = warnings("0-100-0");
        assert_eq!(both.len(), 2, "transactions of another server are not a conflict");
        assert_eq!(both[0].0, 1947);
        assert!(both[0].1.starts_with(
            "Specified GTID 0-100-0 conflicts with the binary log which contains a more recent GTID 0-100-1."
        ));
        assert_eq!(both[1].0, 1948);
        assert!(both[1].1.starts_with(
            "Specified value for @@gtid_slave_pos contains no value for replication domain 3. This conflicts with the binary log which \
             contains GTID 3-100-7."
        ));
    }
}
