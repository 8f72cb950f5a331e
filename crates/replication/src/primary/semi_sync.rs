//! Semi-synchronous replication, the primary's side: a transaction is published when enough replicas have it.
//!
//! ```text
//!   leader ── made durable ──▶ waits: [end, since]… ◀── acknowledged up to … ── streams
//!                                   │                          │
//!                                   └─ timeout: switched off ──┴──▶ TransactionManager::acknowledge ─▶ published
//! ```
//!
//! It is lossless (MariaDB's `AFTER_SYNC`): nobody sees a transaction, and its client is not told, before `wait_for` replicas have
//! said that they have it. Waiting stops no sync: the next groups are
//! written and made durable meanwhile. `rpl_semi_sync_master_wait_point=AFTER_COMMIT` is accepted and means the same.
//!
//! When an acknowledgement is not there within the timeout, semi-sync is switched off: everything durable is published, and that is
//! said in the error log and by `Rpl_semi_sync_master_status`. It switches itself on again when enough replicas have caught up:
//! when they have everything, or are behind by less time than half the timeout. From the fallback on a client is told of transactions that no
//! replica has; so a server that was cut off, or stopped and continued, acknowledges what its successor never gets. With [`Fallback::Never`]
//! (`paceline_semi_sync_fallback=OFF`) there is no such moment: a transaction waits as long as it takes, also while no replica is connected.
//! Only then a server that takes over from an acknowledging replica has everything that a client was told of.
//!
//! A replica is asked to acknowledge only at the last transaction of what it is sent at a time; an acknowledgement covers everything
//! before it. Transactions that stay here (`sql_log_bin=0`), transactions that came from a primary, and events of the log itself wait for nobody but
//! those before them.

use paceline_txn::{Acknowledger, MadeDurable, TransactionManager};
use paceline_types::{LogPosition, ServerId};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How many of the newest groups are remembered while it is off.
const RECENT_MAX: usize = 1024;

/// The settings (`rpl_semi_sync_master_…`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SemiSyncSettings {
    /// `enabled`.
    pub mode: SemiSyncMode,
    /// `timeout`: how long a transaction waits before it is switched off.
    pub timeout: Duration,
    /// `wait_for_slave_count`: how many replicas must have a transaction. At least 1.
    pub wait_for: usize,
    /// `wait_no_slave`.
    pub too_few: TooFewReplicas,
    /// `paceline_semi_sync_fallback`.
    pub fallback: Fallback,
}

/// Whether semi-sync is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SemiSyncMode {
    /// Transactions wait for replicas.
    Enabled,
    /// They do not.
    Disabled,
}

/// What a transaction does when fewer replicas are connected than it needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooFewReplicas {
    /// It waits for them, up to the timeout.
    Wait,
    /// It goes on.
    GoOn,
}

/// Whether commits go on without replicas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// When an acknowledgement has not come within the timeout.
    AfterTimeout,
    /// Never, whatever the timeout and `wait_no_slave` say.
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

/// What `SHOW STATUS` says. Times are in microseconds.
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
    /// Where its last transaction that replicas are sent ends: what is acknowledged.
    end: LogPosition,
    /// Up to where the log is acknowledged then.
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
    /// While it is off: where the newest groups end, and since when they are durable.
    recent: VecDeque<(LogPosition, Instant)>,
    last_replicated: LogPosition,
    durable: LogPosition,
    /// The timer has been told, or is at it.
    timer_runs: bool,
    status: SemiSyncStatus,
}

impl State {
    /// Up to where enough replicas have the log.
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

    /// Up to where the log is acknowledged now, when the waits in front are over.
    fn acknowledged(&self, passed: Option<LogPosition>) -> Option<LogPosition> {
        match self.waits.is_empty() {
            true => Some(self.durable),
            false => passed,
        }
    }

    /// Takes what enough replicas have out of the waits. Returns up to where the log is acknowledged, if that has moved.
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

    /// Nobody is waited for any more.
    fn release(&mut self) -> Option<LogPosition> {
        if self.waits.is_empty() {
            return None;
        }
        self.status.no_tx += self.waits.iter().map(|wait| wait.transactions).sum::<u64>();
        self.waits.clear();
        Some(self.durable)
    }

    /// Whether enough replicas are near enough to be waited for again.
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

/// See the module's head.
#[derive(Default)]
pub struct SemiSync {
    /// To be looked at by each commit without the lock.
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

/// Lets the commit pipeline ask; the server keeps the other end.
#[derive(Debug)]
pub struct SemiSyncAcknowledger(pub Arc<SemiSync>);

impl Acknowledger for SemiSyncAcknowledger {
    fn made_durable(&self, made: MadeDurable) -> LogPosition {
        self.0.made_durable(made)
    }
}

impl SemiSync {
    /// Switched off, until [`SemiSync::set`] says otherwise.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Whom to tell what is acknowledged. To be called once, when there is a manager.
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
                // It had fallen back: from here on commits wait again.
                state.is_on = true;
                state.recent.clear();
                tracing::info!("Semi-sync replication switched ON: commits wait for replicas, however long");
                None
            }
            // Fewer may be enough now.
            _ if state.waits_for_nobody() => state.release(),
            _ => state.take_acknowledged(),
        };
        self.enabled
            .store(settings.mode == SemiSyncMode::Enabled, Ordering::Release);
        drop(state);
        self.timer.notify_one();
        self.acknowledge(released);
    }

    /// `RESET MASTER`: the counters begin anew, as in MariaDB, and commits wait for replicas again if that had been given up: there is nothing left that replicas
    /// could be behind with.
    pub fn begin_anew(&self) {
        let mut state = self.state.lock();
        state.status = SemiSyncStatus::default();
        state.is_on = state.settings.mode == SemiSyncMode::Enabled;
        state.recent.clear();
    }

    /// `FLUSH STATUS`: the counters begin anew.
    pub fn reset_counters(&self) {
        self.state.lock().status = SemiSyncStatus::default();
    }

    /// How many transactions wait for more replicas than are connected.
    pub fn waits_in_vain(&self) -> u64 {
        let state = self.state.lock();
        match state.replicas.len() < state.settings.wait_for.max(1) {
            true => state.waits.iter().map(|wait| wait.transactions).sum(),
            false => 0,
        }
    }

    /// The server ends: what waits is published, so that the tables have what the log has. Whoever waited for it must be gone.
    pub fn end(&self) {
        let mut state = self.state.lock();
        state.settings.mode = SemiSyncMode::Disabled;
        state.is_on = false;
        let released = state.release();
        self.enabled.store(false, Ordering::Release);
        drop(state);
        self.acknowledge(released);
    }

    /// What `SHOW STATUS` says.
    pub fn status(&self) -> SemiSyncStatus {
        let state = self.state.lock();
        SemiSyncStatus {
            clients: state.replicas.len() as u64,
            is_on: state.is_on,
            wait_sessions: state.waits.iter().map(|wait| wait.transactions).sum(),
            ..state.status
        }
    }

    fn made_durable(&self, made: MadeDurable) -> LogPosition {
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

    /// A replica that acknowledges begins to read at `position`: it has what is before.
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

    /// Sees to timeouts. Runs as long as the server does.
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

    /// Switches off if somebody has waited too long. When to look again.
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
        // A timeout of centuries is none.
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

    /// The place at which a replica that is sent the log from `from` to `to` is asked to acknowledge.
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

    /// A position for people.
    fn shown(&self, position: LogPosition) -> String {
        let transactions = self.transactions.get().and_then(Weak::upgrade);
        match transactions.and_then(|transactions| transactions.coordinates(position).ok()) {
            Some((file, offset)) => format!("file: {file}, pos: {offset}"),
            None => position.to_string(),
        }
    }
}

/// A connected replica that acknowledges. It is counted out when this is dropped.
#[derive(Debug)]
pub(super) struct Member {
    semi_sync: Arc<SemiSync>,
    connection: u32,
}

impl Member {
    /// The place at which the replica is asked when it is sent what is between the two.
    pub fn asked_at(&self, from: LogPosition, to: LogPosition) -> Option<LogPosition> {
        self.semi_sync.asked_at(from, to)
    }

    /// The replica has everything before `position`.
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

    fn at(offset: u64) -> LogPosition {
        LogPosition::new(1, offset)
    }

    fn durable(end: u64) -> MadeDurable {
        MadeDurable {
            durable: at(end),
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
    fn waits_for_as_many_as_asked_for() {
        let semi_sync = enabled(SemiSyncSettings {
            wait_for: 2,
            ..SemiSyncSettings::default()
        });
        let first = semi_sync.join(1, ServerId(1), at(4));
        let second = semi_sync.join(2, ServerId(2), at(4));
        let third = semi_sync.join(3, ServerId(3), at(4));
        assert_eq!(semi_sync.made_durable(durable(100)), LogPosition::ZERO);
        assert_eq!(semi_sync.made_durable(durable(200)), LogPosition::ZERO);
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
        // What nobody is sent waits for nobody.
        let local = MadeDurable {
            replicated: None,
            own: None,
            ..durable(300)
        };
        assert_eq!(semi_sync.made_durable(local), at(300));
        // But for those before it.
        assert_eq!(semi_sync.made_durable(durable(400)), LogPosition::ZERO);
        let local = MadeDurable {
            replicated: None,
            own: None,
            ..durable(450)
        };
        assert_eq!(semi_sync.made_durable(local), LogPosition::ZERO);
    }

    fn from_a_primary(end: u64) -> MadeDurable {
        MadeDurable {
            own: None,
            transactions: 0,
            ..durable(end)
        }
    }

    #[test]
    fn what_came_from_a_primary_waits_only_behind_what_was_made_here() {
        let semi_sync = enabled(SemiSyncSettings::default());
        assert_eq!(semi_sync.made_durable(from_a_primary(100)), at(100));
        assert_eq!(semi_sync.made_durable(durable(200)), LogPosition::ZERO);
        assert_eq!(semi_sync.made_durable(from_a_primary(300)), LogPosition::ZERO);
        let member = semi_sync.join(1, ServerId(1), at(100));
        assert_eq!(member.asked_at(at(100), at(300)), Some(at(200)));
        member.acknowledged(at(300));
        assert_eq!(semi_sync.made_durable(from_a_primary(400)), at(400));
        assert_eq!(semi_sync.status().yes_tx, 1);
    }

    #[test]
    fn without_fallback_it_waits_for_ever() {
        let settings = SemiSyncSettings {
            timeout: Duration::from_millis(1),
            too_few: TooFewReplicas::GoOn,
            fallback: Fallback::Never,
            ..SemiSyncSettings::default()
        };
        let semi_sync = enabled(settings);
        assert_eq!(semi_sync.made_durable(durable(100)), LogPosition::ZERO);
        std::thread::sleep(Duration::from_millis(3));
        assert_eq!(semi_sync.next_timeout(), None);
        let status = semi_sync.status();
        assert_eq!(
            (status.is_on, status.no_times, status.wait_sessions),
            (true, 0, 1)
        );
        // Nor does it when the last replica goes.
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
        semi_sync.made_durable(durable(100));
        assert_eq!(semi_sync.next_timeout(), None);
        assert!(!semi_sync.status().is_on);
        semi_sync.set(SemiSyncSettings {
            fallback: Fallback::Never,
            ..settings
        });
        assert!(semi_sync.status().is_on);
        assert_eq!(semi_sync.made_durable(durable(200)), LogPosition::ZERO);
        // The timer is needed again when it is allowed.
        semi_sync.set(settings);
        assert_eq!(semi_sync.next_timeout(), None);
        assert_eq!(
            (semi_sync.status().no_times, semi_sync.status().is_on),
            (2, false)
        );
    }

    #[test]
    fn asks_once_for_what_is_sent_together() {
        let semi_sync = enabled(SemiSyncSettings::default());
        let member = semi_sync.join(1, ServerId(1), at(4));
        for end in [100, 200, 300] {
            semi_sync.made_durable(durable(end));
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
        semi_sync.made_durable(durable(100));
        std::thread::sleep(Duration::from_millis(3));
        assert_eq!(semi_sync.next_timeout(), None);
        let status = semi_sync.status();
        assert_eq!((status.is_on, status.no_times, status.no_tx), (false, 1, 1));
        assert_eq!(semi_sync.made_durable(durable(200)), at(200));
        // Off, it asks nevertheless, at the newest transaction, to learn when the replica has caught up.
        assert_eq!(member.asked_at(at(4), at(200)), Some(at(200)));
        member.acknowledged(at(100));
        assert!(!semi_sync.status().is_on);
        member.acknowledged(at(200));
        assert!(semi_sync.status().is_on);
        assert_eq!(semi_sync.made_durable(durable(300)), LogPosition::ZERO);
    }

    #[test]
    fn a_new_log_is_counted_from_its_beginning() {
        let semi_sync = enabled(SemiSyncSettings {
            timeout: Duration::from_millis(1),
            ..SemiSyncSettings::default()
        });
        semi_sync.made_durable(durable(100));
        std::thread::sleep(Duration::from_millis(3));
        assert_eq!(semi_sync.next_timeout(), None);
        assert!(!semi_sync.status().is_on);
        semi_sync.begin_anew();
        let status = semi_sync.status();
        assert_eq!((status.is_on, status.no_times, status.no_tx), (true, 0, 0));
    }

    #[test]
    fn near_is_near_enough_under_load() {
        let semi_sync = enabled(SemiSyncSettings::default());
        let member = semi_sync.join(1, ServerId(1), at(4));
        semi_sync.state.lock().is_on = false;
        for end in 1..=10 {
            semi_sync.made_durable(durable(end * 100));
        }
        // It never reaches the newest, but what it has is only just durable.
        member.acknowledged(at(700));
        assert!(semi_sync.status().is_on);
    }

    #[test]
    fn without_replicas_it_waits_or_goes_on() {
        let semi_sync = enabled(SemiSyncSettings {
            too_few: TooFewReplicas::GoOn,
            ..SemiSyncSettings::default()
        });
        assert_eq!(semi_sync.made_durable(durable(100)), at(100));
        let member = semi_sync.join(1, ServerId(1), at(100));
        assert_eq!(semi_sync.made_durable(durable(200)), LogPosition::ZERO);
        drop(member);
        let status = semi_sync.status();
        assert_eq!((status.wait_sessions, status.no_tx, status.is_on), (0, 2, true));
    }
}
