//! A connection to a primary: its definition, its receiver (`Slave_IO`) and its applier (`Slave_SQL`).
//!
//! Both are started and stopped independently, as in MariaDB. A receiver without an applier reads the log but keeps
//! only its position; an applier without a receiver has nothing to do.

use super::apply::{ApplierStatus, ApplyError, GroupCounts, KeptPosition};
use super::duplicates::DomainOwners;
use super::environment::Environment;
use super::obstacle::{LOOK_INTERVAL, Obstacle};
use super::received::SourcePosition;
use super::receiver::Receiver;
use super::shared::{ApplierSlot, ConnectionShared};
use super::skip_counter::SkipCounter;
use super::status::{ReceiverState, ReceiverStatus, SharedStatus, ShownError};
use super::until::Until;
use paceline_binlog::mysql::MySqlGtidSet;
use paceline_log_stream::source::definition::{Definition, UseGtid};
use paceline_log_stream::source::error::ReplicaError;
use paceline_types::error_code::{ER_BAD_SLAVE, ER_MASTER_INFO};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Time between receiving and applying a transaction if nothing delays it.
const APPLIED_WITHIN: Duration = Duration::from_millis(100);
/// Age at which an event is late when it arrives. Its time has whole seconds.
const LATE_SECONDS: u64 = 2;

/// Selection of the two parts of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// Receiver and applier.
    Both,
    /// `IO_THREAD`: the receiver.
    Receiver,
    /// `SQL_THREAD`: the applier.
    Applier,
}

impl Threads {
    fn has_receiver(self) -> bool {
        self != Threads::Applier
    }

    fn has_applier(self) -> bool {
        self != Threads::Receiver
    }
}

/// Whether a start or stop had an effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartChange {
    /// The part was started or stopped.
    Yes,
    /// The part was already running or stopped.
    No,
}

/// A running part as the process list shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShownThread {
    /// Id in the process list.
    pub id: u32,
    /// Time of its start.
    pub started: Instant,
}

struct RunningReceiver {
    task: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

/// A connection to a primary; see the module comment.
pub struct Connection {
    shared: Arc<ConnectionShared>,
    definition: Mutex<Arc<Definition>>,
    receiver: Mutex<Option<RunningReceiver>>,
    /// Number of transactions applied by ended appliers since the last RESET SLAVE.
    ended_groups: Mutex<GroupCounts>,
    /// The receiver and the applier, as they were last started.
    threads: Mutex<[Option<ShownThread>; 2]>,
    /// Looks for the cause of the replica's delay, while either part is running.
    observer: Mutex<Option<JoinHandle<()>>>,
    /// Locked by statements that start, stop or change the connection.
    pub(super) changing: tokio::sync::Mutex<()>,
}

/// Data for `SHOW SLAVE STATUS`.
#[derive(Clone, Debug)]
pub struct ConnectionStatus {
    /// Name of the connection.
    pub name: Arc<str>,
    /// Its settings.
    pub definition: Arc<Definition>,
    /// Status of the receiver.
    pub receiver: ReceiverStatus,
    /// `Slave_SQL_Running`.
    pub applier_runs: bool,
    /// Status of the applier, or the final status of the previous one.
    pub applier: ApplierStatus,
    /// Cause of the replica's delay.
    held_back_by: Obstacle,
    /// Number of transactions applied since the last RESET SLAVE.
    pub groups: GroupCounts,
    /// `Until_Condition`.
    pub until: Option<Until>,
    /// The receiver's and the applier's threads, if they are running.
    pub threads: [Option<ShownThread>; 2],
    /// `Skip_Counter`.
    pub skip_events: u64,
    /// Position recorded in the log, for connections without GTIDs.
    pub recorded: Option<SourcePosition>,
    /// Set of MySQL's GTIDs that are present here, as recorded in the log.
    pub executed: Option<MySqlGtidSet>,
}

impl Connection {
    pub(super) fn new(
        name: Arc<str>,
        definition: Definition,
        environment: Arc<dyn Environment>,
        owners: Arc<DomainOwners>,
    ) -> Arc<Self> {
        Arc::new(Connection {
            shared: Arc::new(ConnectionShared {
                name,
                environment,
                status: SharedStatus::default(),
                applier: ApplierSlot::default(),
                until: Mutex::new(None),
                skip_counter: SkipCounter::default(),
                owners,
                receives_late: AtomicBool::new(false),
                looks: Mutex::default(),
            }),
            definition: Mutex::new(Arc::new(definition)),
            receiver: Mutex::new(None),
            ended_groups: Mutex::default(),
            threads: Mutex::default(),
            observer: Mutex::default(),
            changing: tokio::sync::Mutex::new(()),
        })
    }

    /// Returns the name; empty for the default connection.
    pub fn name(&self) -> &Arc<str> {
        &self.shared.name
    }

    /// Returns the settings.
    pub fn definition(&self) -> Arc<Definition> {
        self.definition.lock().clone()
    }

    pub(super) fn set_definition(&self, definition: Definition) {
        *self.definition.lock() = Arc::new(definition);
    }

    /// Forgets the receiver's progress, because the connection will start at another position.
    pub(super) fn forget_progress(&self) {
        self.shared
            .status
            .update(|status| *status = ReceiverStatus::default());
        // An applier that has ended with an error still exists, with its error.
        self.shared.applier.end();
        self.shared.applier.take_last();
        *self.ended_groups.lock() = GroupCounts::default();
        *self.shared.until.lock() = None;
    }

    /// Returns whether the receiver is running.
    pub fn receiver_runs(&self) -> bool {
        let receiver = self.receiver.lock();
        receiver
            .as_ref()
            .is_some_and(|running| !running.task.is_finished())
    }

    /// Returns whether the applier is running.
    pub fn applier_runs(&self) -> bool {
        let applier = self.shared.applier.get();
        applier.is_some_and(|applier| applier.status().error.is_none())
    }

    /// Returns whether either part is running.
    pub fn runs(&self) -> bool {
        self.receiver_runs() || self.applier_runs()
    }

    /// Starts the parts that are not running. The caller holds `changing`.
    pub(super) async fn start(
        &self,
        threads: Threads,
        until: Option<Until>,
    ) -> Result<PartChange, ReplicaError> {
        let definition = self.definition();
        if definition.host.is_empty() {
            return Err(ReplicaError::with_message(
                ER_BAD_SLAVE,
                "Misconfigured slave: MASTER_HOST was not set; Fix in config file or with CHANGE MASTER TO",
            ));
        }
        let mut changed = PartChange::No;
        let starts_applier = threads.has_applier() && !self.applier_runs();
        let starts_receiver = threads.has_receiver() && !self.receiver_runs();
        if starts_receiver && let Err(error) = definition.password() {
            self.shared.status.set_error(&error);
            return Err(ReplicaError::with_message(ER_MASTER_INFO, error.shown().1));
        }
        if starts_applier || (starts_receiver && until.is_some()) {
            *self.shared.until.lock() = until;
        }
        if starts_applier {
            // An applier that has ended with an error still exists.
            self.stop_applier().await;
            let ended = self.shared.applier.take_last();
            *self.ended_groups.lock() += ended.groups;
            let position = match definition.use_gtid {
                UseGtid::No => KeptPosition::FileAndGtid,
                UseGtid::SlavePos | UseGtid::CurrentPos => KeptPosition::Gtid,
            };
            let applier = self.shared.environment.start_applier(&self.shared.name, position);
            self.shared.applier.set(applier);
            self.threads.lock()[1] = Some(self.new_thread());
            changed = PartChange::Yes;
        }
        if starts_receiver {
            let (stop, stopped) = watch::channel(false);
            self.shared.status.clear_error();
            self.shared
                .status
                .set_doing(ReceiverState::Connecting, "Connecting to master");
            let receiver = Receiver {
                shared: self.shared.clone(),
                definition,
                until: None,
                stop: stopped,
                appliers: self.shared.applier.subscribe(),
            };
            let task = tokio::spawn(receiver.run());
            *self.receiver.lock() = Some(RunningReceiver { task, stop });
            self.threads.lock()[0] = Some(self.new_thread());
            changed = PartChange::Yes;
        }
        if changed == PartChange::Yes {
            self.start_observer();
        }
        Ok(changed)
    }

    /// Starts the task that looks for the cause of the replica's delay, in place of one that may be ending.
    fn start_observer(&self) {
        let task = tokio::spawn(observe(Arc::downgrade(&self.shared)));
        if let Some(before) = self.observer.lock().replace(task) {
            before.abort();
        }
    }

    fn new_thread(&self) -> ShownThread {
        ShownThread {
            id: self.shared.environment.new_thread_id(),
            started: Instant::now(),
        }
    }

    /// Stops the running parts and waits until they have ended. The caller holds `changing`.
    pub(super) async fn stop(&self, threads: Threads) -> PartChange {
        let mut changed = PartChange::No;
        if threads.has_receiver() {
            let running = self.receiver.lock().take();
            if let Some(running) = running {
                if !running.task.is_finished() {
                    changed = PartChange::Yes;
                }
                running.stop.send_replace(true);
                let _ = running.task.await;
            }
        }
        if threads.has_applier() {
            if self.applier_runs() {
                changed = PartChange::Yes;
            }
            self.stop_applier().await;
            if changed == PartChange::Yes {
                *self.shared.until.lock() = None;
            }
        }
        changed
    }

    /// Returns whether both parts are running.
    pub fn runs_both(&self) -> bool {
        self.receiver_runs() && self.applier_runs()
    }

    async fn stop_applier(&self) {
        // A member of a cluster continues from the end of its log. While it changes its primary, nothing may be
        // logged.
        let keeps_place = self.definition().reader.is_none();
        if let Some(status) = self.shared.applier.stop().await
            && keeps_place
        {
            self.shared.record_place(&status);
        }
    }

    /// Sets the counter for `SET GLOBAL sql_slave_skip_counter`.
    pub fn set_skip_events(&self, events: u64) {
        self.shared.skip_counter.set(events);
    }

    /// Returns the value of `sql_slave_skip_counter`.
    pub fn skip_events(&self) -> u64 {
        self.shared.skip_counter.get()
    }

    /// Returns the status.
    pub fn status(&self) -> ConnectionStatus {
        let [receiver_thread, applier_thread] = *self.threads.lock();
        let applier = self.shared.applier.status();
        let mut groups = *self.ended_groups.lock();
        groups += applier.groups;
        let receiver = self.shared.status.get();
        let now = self.shared.obstacle(&receiver, &applier, self.applier_runs());
        let held_back_by = self.shared.looks.lock().answer(now);
        ConnectionStatus {
            held_back_by,
            groups,
            threads: [
                receiver_thread.filter(|_| self.receiver_runs()),
                applier_thread.filter(|_| self.applier_runs()),
            ],
            name: self.shared.name.clone(),
            definition: self.definition(),
            receiver,
            applier_runs: self.applier_runs(),
            applier,
            until: self.shared.until.lock().clone(),
            skip_events: self.skip_events(),
            recorded: self
                .shared
                .environment
                .transactions()
                .source_position(&self.shared.name),
            executed: self
                .shared
                .environment
                .transactions()
                .executed_mysql_gtids(&self.shared.name),
        }
    }
}

impl ConnectionStatus {
    /// Returns `Seconds_Behind_Master`: 0 if everything that the primary has sent is applied, else the time since the
    /// primary executed the next transaction. `None` unless both parts are running.
    pub fn seconds_behind(&self, now_seconds: u64) -> Option<u64> {
        if !self.applier_runs || self.receiver.state != ReceiverState::Connected {
            return None;
        }
        let clock = self.receiver.clock_difference_seconds;
        let pending = self
            .applier
            .pending_timestamp_seconds
            .map(|at| (i64::from(at) - clock).max(0) as u64);
        let delayed = self
            .receiver
            .delayed
            .map(|delayed| u64::from(delayed.executed_at_seconds));
        Some(match pending.or(delayed) {
            Some(executed_at) => now_seconds.saturating_sub(executed_at),
            None => 0,
        })
    }

    /// Returns the applier's error as SHOW SLAVE STATUS shows it.
    pub fn shown_apply_error(&self) -> ShownError {
        self.apply_error()
            .map_or_else(ShownError::default, |error| ShownError {
                number: error.code.number(),
                message: error.text.clone(),
                at: Some(error.time),
            })
    }

    /// Returns the applier's error.
    pub fn apply_error(&self) -> Option<&ApplyError> {
        self.applier.error.as_ref()
    }

    /// Returns `SQL_Remaining_Delay`.
    pub fn remaining_delay(&self, now_seconds: u64) -> Option<u64> {
        let delayed = self.receiver.delayed?;
        Some(delayed.until_seconds.saturating_sub(now_seconds))
    }

    /// Returns the cause of the replica's delay (`Paceline_replica_held_back_by`).
    pub fn held_back_by(&self) -> &'static str {
        self.held_back_by.name()
    }
}

impl ConnectionShared {
    /// Returns the cause of the replica's delay at this moment; see [`super::obstacle`].
    fn obstacle(&self, receiver: &ReceiverStatus, applier: &ApplierStatus, applier_runs: bool) -> Obstacle {
        // The oldest unapplied transaction was received a while ago: a faster network would not help.
        let since = applier.pending_since;
        let waits_for_the_applier =
            applier.is_full || since.is_some_and(|since| since.elapsed() >= APPLIED_WITHIN);
        if !applier_runs {
            Obstacle::StoppedApplier
        } else if receiver.state != ReceiverState::Connected {
            Obstacle::LostPrimary
        } else if receiver.delayed.is_some() {
            Obstacle::MasterDelay
        } else if waits_for_the_applier {
            applier.obstacle
        } else if self.receives_late.load(Ordering::Relaxed) {
            Obstacle::Network
        } else {
            Obstacle::Nothing
        }
    }
}

/// Looks for the cause of a replica's delay, until neither part of the connection is running.
async fn observe(connection: Weak<ConnectionShared>) {
    let mut looks = tokio::time::interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut received_bytes = 0;
    loop {
        looks.tick().await;
        let Some(shared) = connection.upgrade() else {
            return;
        };
        let applier = shared.applier.get().map(|applier| applier.status());
        let receiver = shared.status.get();
        if applier.is_none() && receiver.state == ReceiverState::Stopped {
            shared.looks.lock().add(Obstacle::StoppedApplier);
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let is_arriving = receiver.is_inside_group || receiver.received_bytes != received_bytes;
        received_bytes = receiver.received_bytes;
        let is_late = is_arriving && receiver.event_age_seconds(now.as_secs()) >= LATE_SECONDS;
        shared.receives_late.store(is_late, Ordering::Relaxed);
        let runs = applier.as_ref().is_some_and(|applier| applier.error.is_none());
        let seen = shared.obstacle(&receiver, &applier.unwrap_or_default(), runs);
        shared.looks.lock().add(seen);
    }
}
