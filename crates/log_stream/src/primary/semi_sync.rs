//! Semi-synchronous replication on the primary: a transaction is published when enough replicas have it.
//!
//! ```text
//!   leader ── made durable ──▶ waits: [end, since]… ◀── acknowledged up to … ── streams
//!                                   │                          │
//!                                   └─ timeout: switched off ──┴──▶ TransactionManager::acknowledge ─▶ published
//! ```
//!
//! It is lossless (MariaDB's `AFTER_SYNC`): a transaction is not visible, and is not reported to its client, before
//! `wait_for` replicas have acknowledged it. The wait does not delay syncs: the next groups are written and made
//! durable meanwhile. `rpl_semi_sync_master_wait_point=AFTER_COMMIT` is accepted and means the same.
//!
//! If an acknowledgement does not arrive within the timeout, semi-sync is switched off: everything durable is
//! published, and the error log and `Rpl_semi_sync_master_status` report it. It is switched on again when enough
//! replicas have caught up: when they have everything, or their delay is less than half the timeout. After the
//! fallback, clients get results for transactions that no replica has. A server that was cut off, or stopped and
//! continued, therefore acknowledges transactions that its successor never gets. With [`Fallback::Never`]
//! (`paceline_semi_sync_fallback=OFF`) this cannot happen: a transaction waits as long as necessary, also while no
//! replica is connected. Only then does a server that takes over from an acknowledging replica have everything that
//! clients were told is committed.
//!
//! A replica is asked to acknowledge only the last transaction of those that it is sent together; an acknowledgement
//! covers everything before it. Transactions that are not replicated (`sql_log_bin=0`), transactions from a primary,
//! and events of the log itself wait only for transactions before them.

use paceline_txn::{Acknowledger, DurableExtent, TransactionManager};
use paceline_types::{LogPosition, ServerId};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Maximum number of the newest groups that are remembered while it is off.
const RECENT_MAX: usize = 1024;

/// Settings (`rpl_semi_sync_master_…`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SemiSyncSettings {
    /// `enabled`.
    pub mode: SemiSyncMode,
    /// `timeout`: how long a transaction waits before semi-sync is switched off.
    pub timeout: Duration,
    /// `wait_for_slave_count`: number of replicas that must have a transaction. At least 1.
    pub wait_for: usize,
    /// `wait_no_slave`.
    pub too_few: TooFewReplicas,
    /// `paceline_semi_sync_fallback`.
    pub fallback: Fallback,
}

/// Whether semi-sync is enabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SemiSyncMode {
    /// Transactions wait for replicas.
    Enabled,
    /// Transactions do not wait.
    Disabled,
}

/// Behaviour of a transaction when fewer replicas are connected than it needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooFewReplicas {
    /// It waits for them, up to the timeout.
    Wait,
    /// It does not wait.
    GoOn,
}

/// Whether commits continue without replicas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// Yes, when an acknowledgement has not arrived within the timeout.
    AfterTimeout,
    /// Never, regardless of the timeout and `wait_no_slave`.
    Never,
}

impl Default for SemiSyncSettings {
    fn default() -> Self {
        SemiSyncSettings {
            mode: SemiSyncMode::Disabled,
            timeout: Duration::from_secs(10),
            wait_for: 1,
            too_few: TooFewReplicas::Wait,
            fallback: Fallback::AfterTimeout,
        }
    }
}

/// Values of `SHOW STATUS`. Times are in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // The names are those of MariaDB's Rpl_semi_sync_master_…
pub struct SemiSyncStatus {
    pub clients: u64,
    pub get_ack: u64,
    pub net_waits: u64,
    pub no_times: u64,
    pub no_tx: u64,
    pub request_ack: u64,
    pub is_on: bool,
    pub tx_wait_time: u64,
    pub tx_waits: u64,
    pub wait_sessions: u64,
    pub yes_tx: u64,
}

/// A group that waits.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// End of its last transaction that is sent to replicas: the acknowledged position.
    end: LogPosition,
    /// Position up to which the log is acknowledged when the wait ends.
    durable: LogPosition,
    transactions: u64,
    since: Instant,
}

#[derive(Debug)]
struct Replica {
    server_id: ServerId,
    acknowledged: LogPosition,
}

#[derive(Debug, Default)]
struct State {
    settings: SemiSyncSettings,
    is_on: bool,
    replicas: HashMap<u32, Replica>,
    waits: VecDeque<Wait>,
    /// While it is off: the ends of the newest groups, and the times when they became durable.
    recent: VecDeque<(LogPosition, Instant)>,
    last_replicated: LogPosition,
    durable: LogPosition,
    /// The timer has been notified or is running.
    timer_runs: bool,
    status: SemiSyncStatus,
}

impl State {
    /// Returns the position up to which enough replicas have the log.
    fn enough(&self) -> Option<LogPosition> {
        let needed = self.settings.wait_for.max(1);
        let mut acknowledged: Vec<LogPosition> = self
            .replicas
            .values()
            .map(|replica| replica.acknowledged)
            .collect();
        acknowledged.sort_unstable_by(|a, b| b.cmp(a));
        acknowledged.get(needed - 1).copied()
    }

    fn waits_for_nobody(&self) -> bool {
        self.settings.fallback == Fallback::AfterTimeout
            && self.settings.too_few == TooFewReplicas::GoOn
            && self.replicas.len() < self.settings.wait_for.max(1)
    }

    /// Returns the position up to which the log is acknowledged after the waits at the front have ended.
    fn acknowledged(&self, passed: Option<LogPosition>) -> Option<LogPosition> {
        match self.waits.is_empty() {
            true => Some(self.durable),
            false => passed,
        }
    }

    /// Removes the waits of groups that enough replicas have. Returns the new acknowledged position, if it has moved.
    fn take_acknowledged(&mut self) -> Option<LogPosition> {
        let enough = self.enough()?;
        let mut passed = None;
        while let Some(wait) = self.waits.front().copied() {
            if wait.end > enough {
                break;
            }
            self.waits.pop_front();
            self.status.yes_tx += wait.transactions;
            self.status.tx_waits += wait.transactions;
            self.status.tx_wait_time += wait.transactions * micros(wait.since.elapsed());
            passed = Some(wait.durable);
        }
        passed.and_then(|passed| self.acknowledged(Some(passed)))
    }

    /// Ends all waits.
    fn release(&mut self) -> Option<LogPosition> {
        if self.waits.is_empty() {
            return None;
        }
        self.status.no_tx += self.waits.iter().map(|wait| wait.transactions).sum::<u64>();
        self.waits.clear();
        Some(self.durable)
    }

    /// Returns whether enough replicas have caught up, so that commits can wait for them again.
    fn has_caught_up(&self) -> bool {
        let Some(enough) = self.enough() else {
            return false;
        };
        if enough >= self.last_replicated {
            return true;
        }
        let at = self.recent.partition_point(|(end, _)| *end <= enough);
        let limit = self.settings.timeout / 2;
        at > 0 && self.recent[at - 1].1.elapsed() < limit
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Semi-synchronous replication of one server; see the module comment.
#[derive(Default)]
pub struct SemiSync {
    /// Read by each commit without the lock.
    enabled: AtomicBool,
    state: Mutex<State>,
    timer: Notify,
    transactions: OnceLock<Weak<TransactionManager>>,
}

impl std::fmt::Debug for SemiSync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SemiSync")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

/// Acknowledger for the commit pipeline. The server holds the other reference.
#[derive(Debug)]
pub struct SemiSyncAcknowledger(pub Arc<SemiSync>);

impl Acknowledger for SemiSyncAcknowledger {
    fn on_durable(&self, made: DurableExtent) -> LogPosition {
        self.0.on_durable(made)
    }
}

impl SemiSync {
    /// Creates it switched off, until [`SemiSync::set`] is called.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Sets the manager that receives acknowledgements. Must be called once.
    pub fn connect(&self, transactions: &Arc<TransactionManager>) {
        let is_first = self.transactions.set(Arc::downgrade(transactions)).is_ok();
        assert!(is_first, "semi-sync belongs to one manager");
    }

    /// Changes the settings.
    pub fn set(&self, settings: SemiSyncSettings) {
        let mut state = self.state.lock();
        let before = std::mem::replace(&mut state.settings, settings);
        let released = match (before.mode, settings.mode) {
            (SemiSyncMode::Disabled, SemiSyncMode::Enabled) => {
                state.is_on = true;
                state.recent.clear();
                tracing::info!("Semi-sync replication enabled on the master.");
                None
            }
            (SemiSyncMode::Enabled, SemiSyncMode::Disabled) => {
                state.is_on = false;
                tracing::info!("Semi-sync replication disabled on the master.");
                state.release()
            }
            (SemiSyncMode::Enabled, SemiSyncMode::Enabled)
                if settings.fallback == Fallback::Never && !state.is_on =>
            {
                // It had fallen back. From now on commits wait again.
                state.is_on = true;
                state.recent.clear();
                tracing::info!("Semi-sync replication switched ON: commits wait for replicas, however long");
                None
            }
            // Perhaps fewer replicas are sufficient now.
            _ if state.waits_for_nobody() => state.release(),
            _ => state.take_acknowledged(),
        };
        self.enabled
            .store(settings.mode == SemiSyncMode::Enabled, Ordering::Release);
        drop(state);
        self.timer.notify_one();
        self.acknowledge(released);
    }

    /// Restarts the counters for `RESET MASTER`, as in MariaDB. After a fallback, commits wait for replicas again:
    /// nothing is left that replicas could be missing.
    pub fn restart_counters(&self) {
        let mut state = self.state.lock();
        state.status = SemiSyncStatus::default();
        state.is_on = state.settings.mode == SemiSyncMode::Enabled;
        state.recent.clear();
    }

    /// Restarts the counters for `FLUSH STATUS`.
    pub fn reset_counters(&self) {
        self.state.lock().status = SemiSyncStatus::default();
    }

    /// Returns the number of transactions that wait for more replicas than are connected.
    pub fn waits_in_vain(&self) -> u64 {
        let state = self.state.lock();
        match state.replicas.len() < state.settings.wait_for.max(1) {
            true => state.waits.iter().map(|wait| wait.transactions).sum(),
            false => 0,
        }
    }

    /// Publishes waiting transactions at shutdown, so that the tables contain everything in the log. No client may wait
    /// for them any more.
    pub fn end(&self) {
        let mut state = self.state.lock();
        state.settings.mode = SemiSyncMode::Disabled;
        state.is_on = false;
        let released = state.release();
        self.enabled.store(false, Ordering::Release);
        drop(state);
        self.acknowledge(released);
    }

    /// Returns the values of `SHOW STATUS`.
    pub fn status(&self) -> SemiSyncStatus {
        let state = self.state.lock();
        SemiSyncStatus {
            clients: state.replicas.len() as u64,
            is_on: state.is_on,
            wait_sessions: state.waits.iter().map(|wait| wait.transactions).sum(),
            ..state.status
        }
    }

    fn on_durable(&self, made: DurableExtent) -> LogPosition {
        if !self.enabled.load(Ordering::Acquire) {
            return made.durable;
        }
        let mut state = self.state.lock();
        state.durable = state.durable.max(made.durable);
        if state.settings.mode == SemiSyncMode::Disabled {
            return made.durable;
        }
        if let Some(end) = made.replicated {
            state.last_replicated = end;
            if !state.is_on {
                if state.recent.len() >= RECENT_MAX {
                    state.recent.pop_front();
                }
                state.recent.push_back((end, Instant::now()));
            }
        }
        if let Some(end) = made.own {
            if !state.is_on || state.waits_for_nobody() {
                state.status.no_tx += made.transactions;
            } else {
                state.status.request_ack += made.transactions;
                state.waits.push_back(Wait {
                    end,
                    durable: made.durable,
                    transactions: made.transactions,
                    since: Instant::now(),
                });
                let is_timed = state.settings.fallback == Fallback::AfterTimeout;
                if is_timed && !state.timer_runs {
                    state.timer_runs = true;
                    self.timer.notify_one();
                }
            }
        }
        state.acknowledged(None).unwrap_or(LogPosition::ZERO)
    }

    /// Adds an acknowledging replica that begins to read at `position`. It has everything before it.
    pub(super) fn join(
        self: &Arc<Self>,
        connection: u32,
        server_id: ServerId,
        position: LogPosition,
    ) -> Member {
        let acknowledged = position;
        self.state.lock().replicas.insert(
            connection,
            Replica {
                server_id,
                acknowledged,
            },
        );
        tracing::info!(
            "Start semi-sync binlog_dump to slave (server_id: {server_id}), at {}",
            self.shown(position)
        );
        let member = Member {
            semi_sync: self.clone(),
            connection,
        };
        member.moved(None);
        member
    }

    /// Handles timeouts. Runs until the server ends.
    pub async fn run_timer(self: Arc<Self>) {
        loop {
            let next = self.next_timeout();
            match next {
                None => self.timer.notified().await,
                Some(at) => {
                    let until = tokio::time::Instant::from_std(at);
                    tokio::select! {
                        () = tokio::time::sleep_until(until) => {}
                        () = self.timer.notified() => {}
                    }
                }
            }
        }
    }

    /// Switches semi-sync off if a transaction has waited too long. Returns the time of the next check.
    fn next_timeout(&self) -> Option<Instant> {
        let mut state = self.state.lock();
        let Some(first) = state.waits.front().copied() else {
            state.timer_runs = false;
            return None;
        };
        if state.settings.fallback == Fallback::Never {
            state.timer_runs = false;
            return None;
        }
        // A timeout that overflows the clock is not a timeout.
        let Some(at) = first.since.checked_add(state.settings.timeout) else {
            state.timer_runs = false;
            return None;
        };
        if at > Instant::now() {
            return Some(at);
        }
        let enough = state.enough();
        let released = state.release();
        state.is_on = false;
        state.recent.clear();
        state.status.no_times += 1;
        state.timer_runs = false;
        drop(state);
        let reached = enough.map_or_else(
            || "nowhere: too few replicas".to_owned(),
            |enough| self.shown(enough),
        );
        tracing::error!(
            "Timeout waiting for reply of binlog ({}), semi-sync up to {reached}. Semi-sync replication switched OFF: from here on \
             commits do not wait for replicas",
            self.shown(first.end)
        );
        self.acknowledge(released);
        None
    }

    /// Returns the position at which a replica is asked to acknowledge, if it is sent the log from `from` to `to`.
    fn asked_at(&self, from: LogPosition, to: LogPosition) -> Option<LogPosition> {
        if !self.enabled.load(Ordering::Acquire) {
            return None;
        }
        let mut state = self.state.lock();
        let found = match state.is_on {
            true => {
                let behind = state.waits.partition_point(|wait| wait.end <= to);
                behind.checked_sub(1).map(|at| state.waits[at].end)
            }
            false => {
                let behind = state.recent.partition_point(|(end, _)| *end <= to);
                match behind.checked_sub(1) {
                    Some(at) => Some(state.recent[at].0),
                    None => Some(state.last_replicated),
                }
            }
        };
        let found = found.filter(|end| from < *end && *end <= to);
        if found.is_some() {
            state.status.net_waits += 1;
        }
        found
    }

    fn acknowledge(&self, position: Option<LogPosition>) {
        if let Some(position) = position
            && let Some(transactions) = self.transactions.get().and_then(Weak::upgrade)
        {
            transactions.acknowledge(position);
        }
    }

    /// Returns a position for messages.
    fn shown(&self, position: LogPosition) -> String {
        let transactions = self.transactions.get().and_then(Weak::upgrade);
        match transactions.and_then(|transactions| transactions.coordinates(position).ok()) {
            Some((file, offset)) => format!("file: {file}, pos: {offset}"),
            None => position.to_string(),
        }
    }
}

/// A connected replica that acknowledges. Dropping it removes it from the count.
#[derive(Debug)]
pub(super) struct Member {
    semi_sync: Arc<SemiSync>,
    connection: u32,
}

impl Member {
    /// Returns the position at which the replica is asked to acknowledge, if it is sent the log between these
    /// positions.
    pub fn asked_at(&self, from: LogPosition, to: LogPosition) -> Option<LogPosition> {
        self.semi_sync.asked_at(from, to)
    }

    /// Records that the replica has everything before `position`.
    pub fn acknowledged(&self, position: LogPosition) {
        self.moved(Some(position));
    }

    fn moved(&self, position: Option<LogPosition>) {
        let semi_sync = &self.semi_sync;
        let mut state = semi_sync.state.lock();
        let mut server_id = ServerId(0);
        if let Some(replica) = state.replicas.get_mut(&self.connection) {
            server_id = replica.server_id;
            if let Some(position) = position {
                replica.acknowledged = replica.acknowledged.max(position);
            }
        }
        if position.is_some() {
            state.status.get_ack += 1;
        }
        let is_enabled = state.settings.mode == SemiSyncMode::Enabled;
        let switches_on = is_enabled && !state.is_on && state.has_caught_up();
        if switches_on {
            state.is_on = true;
            state.recent.clear();
        }
        let passed = state.take_acknowledged();
        drop(state);
        if switches_on {
            tracing::info!(
                "Semi-sync replication switched ON with slave (server_id: {server_id}){}",
                position.map_or_else(String::new, |position| format!(
                    " at {}",
                    semi_sync.shown(position)
                ))
            );
        }
        semi_sync.acknowledge(passed);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut state = self.semi_sync.state.lock();
        let gone = state.replicas.remove(&self.connection);
        let released = match state.waits_for_nobody() {
            true => state.release(),
            false => None,
        };
        drop(state);
        if let Some(replica) = gone {
            tracing::info!(
                "Stop semi-sync binlog_dump to slave (server_id: {})",
                replica.server_id
            );
        }
        self.semi_sync.acknowledge(released);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_types::LogIndex;

    fn at(offset: u64) -> LogPosition {
        LogPosition::new(1, offset)
    }

    fn durable(end: u64) -> DurableExtent {
        DurableExtent {
            durable: at(end),
            end_index: LogIndex::default(),
            replicated: Some(at(end)),
            own: Some(at(end)),
            transactions: 1,
        }
    }

    fn enabled(settings: SemiSyncSettings) -> Arc<SemiSync> {
        let semi_sync = SemiSync::new();
        semi_sync.set(SemiSyncSettings {
            mode: SemiSyncMode::Enabled,
            ..settings
        });
        semi_sync
    }

    #[test]
    fn waits_for_the_configured_number_of_replicas() {
        let semi_sync = enabled(SemiSyncSettings {
            wait_for: 2,
            ..SemiSyncSettings::default()
        });
        let first = semi_sync.join(1, ServerId(1), at(4));
        let second = semi_sync.join(2, ServerId(2), at(4));
        let third = semi_sync.join(3, ServerId(3), at(4));
        assert_eq!(semi_sync.on_durable(durable(100)), LogPosition::ZERO);
        assert_eq!(semi_sync.on_durable(durable(200)), LogPosition::ZERO);
        first.acknowledged(at(200));
        assert_eq!(semi_sync.status().wait_sessions, 2);
        third.acknowledged(at(100));
        assert_eq!(
            (semi_sync.status().wait_sessions, semi_sync.status().yes_tx),
            (1, 1)
        );
        second.acknowledged(at(250));
        assert_eq!(
            (semi_sync.status().wait_sessions, semi_sync.status().yes_tx),
            (0, 2)
        );
        // A transaction that is not sent to replicas does not wait for them.
        let local = DurableExtent {
            replicated: None,
            own: None,
            ..durable(300)
        };
        assert_eq!(semi_sync.on_durable(local), at(300));
        // Except for the transactions before it.
        assert_eq!(semi_sync.on_durable(durable(400)), LogPosition::ZERO);
        let local = DurableExtent {
            replicated: None,
            own: None,
            ..durable(450)
        };
        assert_eq!(semi_sync.on_durable(local), LogPosition::ZERO);
    }

    fn from_a_primary(end: u64) -> DurableExtent {
        DurableExtent {
            own: None,
            transactions: 0,
            ..durable(end)
        }
    }

    #[test]
    fn a_replicated_transaction_waits_only_for_earlier_local_ones() {
        let semi_sync = enabled(SemiSyncSettings::default());
        assert_eq!(semi_sync.on_durable(from_a_primary(100)), at(100));
        assert_eq!(semi_sync.on_durable(durable(200)), LogPosition::ZERO);
        assert_eq!(semi_sync.on_durable(from_a_primary(300)), LogPosition::ZERO);
        let member = semi_sync.join(1, ServerId(1), at(100));
        assert_eq!(member.asked_at(at(100), at(300)), Some(at(200)));
        member.acknowledged(at(300));
        assert_eq!(semi_sync.on_durable(from_a_primary(400)), at(400));
        assert_eq!(semi_sync.status().yes_tx, 1);
    }

    #[test]
    fn without_fallback_it_waits_forever() {
        let settings = SemiSyncSettings {
            timeout: Duration::from_millis(1),
            too_few: TooFewReplicas::GoOn,
            fallback: Fallback::Never,
            ..SemiSyncSettings::default()
        };
        let semi_sync = enabled(settings);
        assert_eq!(semi_sync.on_durable(durable(100)), LogPosition::ZERO);
        // The timeout passes.
        std::thread::sleep(Duration::from_millis(3));
        assert_eq!(semi_sync.next_timeout(), None);
        let status = semi_sync.status();
        assert_eq!(
            (status.is_on, status.no_times, status.wait_sessions),
            (true, 0, 1)
        );
        // It also waits after the last replica has disconnected.
        drop(semi_sync.join(1, ServerId(1), at(4)));
        assert_eq!(semi_sync.status().wait_sessions, 1);
        semi_sync.join(2, ServerId(2), at(4)).acknowledged(at(100));
        assert_eq!(semi_sync.status().yes_tx, 1);
    }

    #[test]
    fn a_fallback_ends_when_it_is_forbidden() {
        let settings = SemiSyncSettings {
            mode: SemiSyncMode::Enabled,
            timeout: Duration::ZERO,
            ..SemiSyncSettings::default()
        };
        let semi_sync = enabled(settings);
        semi_sync.on_durable(durable(100));
        assert_eq!(semi_sync.next_timeout(), None);
        assert!(!semi_sync.status().is_on);
        semi_sync.set(SemiSyncSettings {
            fallback: Fallback::Never,
            ..settings
        });
        assert!(semi_sync.status().is_on);
        assert_eq!(semi_sync.on_durable(durable(200)), LogPosition::ZERO);
        // The timer is needed again when fallback is allowed.
        semi_sync.set(settings);
        assert_eq!(semi_sync.next_timeout(), None);
        assert_eq!(
            (semi_sync.status().no_times, semi_sync.status().is_on),
            (2, false)
        );
    }

    #[test]
    fn asks_once_for_transactions_sent_together() {
        let semi_sync = enabled(SemiSyncSettings::default());
        let member = semi_sync.join(1, ServerId(1), at(4));
        for end in [100, 200, 300] {
            semi_sync.on_durable(durable(end));
        }
        assert_eq!(member.asked_at(at(4), at(50)), None);
        assert_eq!(member.asked_at(at(4), at(250)), Some(at(200)));
        assert_eq!(member.asked_at(at(200), at(300)), Some(at(300)));
        assert_eq!(member.asked_at(at(300), at(400)), None);
    }

    #[test]
    fn a_timeout_switches_off_and_catching_up_on() {
        let settings = SemiSyncSettings {
            timeout: Duration::from_millis(1),
            ..SemiSyncSettings::default()
        };
        let semi_sync = enabled(settings);
        let member = semi_sync.join(1, ServerId(1), at(4));
        semi_sync.on_durable(durable(100));
        // The timeout passes.
        std::thread::sleep(Duration::from_millis(3));
        assert_eq!(semi_sync.next_timeout(), None);
        let status = semi_sync.status();
        assert_eq!((status.is_on, status.no_times, status.no_tx), (false, 1, 1));
        assert_eq!(semi_sync.on_durable(durable(200)), at(200));
        // While it is off it still asks, at the newest transaction, to detect when the replica has caught up.
        assert_eq!(member.asked_at(at(4), at(200)), Some(at(200)));
        member.acknowledged(at(100));
        assert!(!semi_sync.status().is_on);
        member.acknowledged(at(200));
        assert!(semi_sync.status().is_on);
        assert_eq!(semi_sync.on_durable(durable(300)), LogPosition::ZERO);
    }

    #[test]
    fn a_new_log_is_counted_from_its_beginning() {
        let semi_sync = enabled(SemiSyncSettings {
            timeout: Duration::from_millis(1),
            ..SemiSyncSettings::default()
        });
        semi_sync.on_durable(durable(100));
        // The timeout passes.
        std::thread::sleep(Duration::from_millis(3));
        assert_eq!(semi_sync.next_timeout(), None);
        assert!(!semi_sync.status().is_on);
        semi_sync.restart_counters();
        let status = semi_sync.status();
        assert_eq!((status.is_on, status.no_times, status.no_tx), (true, 0, 0));
    }

    #[test]
    fn switches_on_under_load_when_the_delay_is_short() {
        let semi_sync = enabled(SemiSyncSettings::default());
        let member = semi_sync.join(1, ServerId(1), at(4));
        semi_sync.state.lock().is_on = false;
        for end in 1..=10 {
            semi_sync.on_durable(durable(end * 100));
        }
        // The replica never reaches the newest group, but what it has became durable only just now.
        member.acknowledged(at(700));
        assert!(semi_sync.status().is_on);
    }

    #[test]
    fn without_replicas_it_waits_or_continues() {
        let semi_sync = enabled(SemiSyncSettings {
            too_few: TooFewReplicas::GoOn,
            ..SemiSyncSettings::default()
        });
        assert_eq!(semi_sync.on_durable(durable(100)), at(100));
        let member = semi_sync.join(1, ServerId(1), at(100));
        assert_eq!(semi_sync.on_durable(durable(200)), LogPosition::ZERO);
        drop(member);
        let status = semi_sync.status();
        assert_eq!((status.wait_sessions, status.no_tx, status.is_on), (0, 2, true));
    }
}
