//! The server as [`LogHost`]: it carries out what the member of the cluster decides.
//!
//! | call | what it does |
//! |---|---|
//! | `freeze` | gate closed, log stage stopped, streams to members ended, connection left; then the log's end |
//! | `follow`, `fetch` | log stage goes on, connection to that member from the end of the log on |
//! | `write_start` | log stage goes on, the start goes through the commit pipeline; then members may read |
//! | `publish` | [`HeldLog`](crate::cluster::HeldLog) |
//! | `open`, `hold`, `close` | [`ClientGate`], `read_only`; a new primary lets clients in when its tables have what was acknowledged before |
//!
//! The order in `freeze` matters: when the log stage is stopped nothing is appended any more, whatever appliers and
//! sessions still do; only then the end of the log is read. The applier of a connection that is left does not wait
//! until what it has logged is published. [`RoleFence`] keeps the steps of an ended role from following.
//!
//! # MEMORY tables
//! They are empty after a start, while those of other members are not. A replica passes over rows that it lacks, so it
//! has a part of what the primary has. When it becomes the primary for the first time since its start, it empties them
//! once more, with a statement that all members get: then all have the same again. MariaDB's primaries do that too.
//!
//! # Restart instead of repair
//! The process starts itself again if the log has to be cut, and if an applier makes no progress because a transaction
//! needs that those before it are published, while they are published only when that transaction is durable: a
//! definition, after a transaction that no quorum has acknowledged. With the log alone neither is a problem.

use crate::cluster::{CLUSTER_USER, CONNECTION, Cluster, GateState, commit_watch};
use crate::server::Server;
use crate::session::event::run_for_scheduler;
use crate::variables::{Variable, VariableValue};
use paceline_binlog::EpochMark;
use paceline_catalog::ddl::quote_identifier;
use paceline_cluster::{Epoch, LogRank, LogTail, MemberId, Millis, Promise};
use paceline_cluster_host::report::{HostReport, Stage};
use paceline_cluster_host::{
    FreezeFuture, HostError, LogHost, LogProgress, RoleFence, RoleNumber, durable_tail,
};
use paceline_log_stream::primary::request::MemberReader;
use paceline_log_stream::source::definition::{Definition, TlsSettings, UseGtid};
use paceline_txn::{GtidChoice, Replication, TransactionManager};
use paceline_types::{DomainId, LogIndex, ServerId};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Time that a statement on a MEMORY table may delay the opening, and later others on this table.
const EMPTY_WITHIN: Duration = Duration::from_secs(1);
/// Pause before a MEMORY table that a statement uses is emptied again.
const EMPTY_AGAIN_AFTER: Duration = Duration::from_secs(5);
/// Duration of the wait of a new primary for its tables from which on it is said.
const SAID_AFTER: Duration = Duration::from_secs(1);
/// Reason in the cluster's status why a new primary does not let its clients in yet.
const CATCHES_UP: &str = "for its tables to have what was committed before: clients are let in then";
/// Interval at which a connection that has ended is started again.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Attempts to connect to a member that sends nothing, at each look; and the time between the later ones.
const ATTEMPTS_IN_HASTE: u32 = 20;
/// See [`ATTEMPTS_IN_HASTE`].
const PATIENT_AFTER: Duration = Duration::from_secs(1);
/// Time that the applier has for the end of the statement that it executes.
const LEAVE_WITHIN: Duration = Duration::from_millis(500);
/// Time without progress, though transactions have been received, after which the process starts again. If others can
/// acknowledge what the applier waits for, that takes a round trip; if nobody can, nothing is committed meanwhile.
const STUCK_AFTER: Duration = Duration::from_millis(700);

/// The server, as the host of its member.
pub struct ServerHost {
    server: Weak<Server>,
    cluster: Arc<Cluster>,
    transactions: Arc<TransactionManager>,
    runtime: Handle,
    fence: Arc<RoleFence>,
    access: Arc<Access>,
    /// Why the member that this one follows does not send its log.
    not_served: Arc<Mutex<Option<String>>>,
}

impl ServerHost {
    /// Creates the host of a server that has just been built, and has emptied so many MEMORY tables.
    pub fn new(server: &Arc<Server>, cluster: Arc<Cluster>, memory_tables: usize) -> Arc<Self> {
        let access = Access {
            server: Arc::downgrade(server),
            cluster: cluster.clone(),
            transactions: server.transactions.clone(),
            calls: Mutex::new(0),
            empties_tables: AtomicBool::new(memory_tables > 0),
            not_emptied: tokio::sync::Mutex::default(),
        };
        Arc::new(ServerHost {
            server: Arc::downgrade(server),
            cluster,
            transactions: server.transactions.clone(),
            runtime: Handle::current(),
            fence: Arc::default(),
            access: Arc::new(access),
            not_served: Arc::default(),
        })
    }

    fn is_stopping(&self) -> bool {
        self.server.upgrade().is_none_or(|server| server.is_stopping())
    }

    /// Starts the process again, because the member's role does not end. A server that was told to stop just stops:
    /// what waits for this waits until then.
    async fn give_up(&self, reason: &str) {
        match self.is_stopping() {
            true => std::future::pending().await,
            false => self.cluster.restart(reason),
        }
    }

    /// Receives the log of `from` from the end of this log on.
    fn receive(&self, from: MemberId, epoch: Epoch, at: LogIndex, progress: LogProgress) {
        let role = self.fence.begin();
        if at < self.tail().end() {
            // A server that was told to stop cuts its log when it starts.
            if !self.is_stopping() {
                self.cluster
                    .restart("the log has transactions that the cluster does not have: they are cut off");
            }
            return;
        }
        self.cluster.held.report_to(Some(progress.clone()));
        *self.not_served.lock() = None;
        let reception = Reception {
            server: self.server.clone(),
            cluster: self.cluster.clone(),
            transactions: self.transactions.clone(),
            fence: self.fence.clone(),
            role,
            from,
            epoch,
            not_served: self.not_served.clone(),
        };
        self.runtime.spawn(reception.run(progress));
    }
}

/// Access of clients, and what comes before it.
struct Access {
    server: Weak<Server>,
    cluster: Arc<Cluster>,
    transactions: Arc<TransactionManager>,
    /// Number of the last change. A later one ends what an earlier one has begun.
    calls: Mutex<u64>,
    /// Whether this process has MEMORY tables that may lack rows which other members have.
    empties_tables: AtomicBool,
    /// Those of them that are still to be emptied. `None`: not listed yet.
    not_emptied: tokio::sync::Mutex<Option<Vec<(String, String)>>>,
}

impl Access {
    /// Begins a change.
    fn call(&self) -> u64 {
        let mut calls = self.calls.lock();
        *calls += 1;
        *calls
    }

    fn set(&self, state: GateState) {
        let call = self.call();
        self.set_if(call, state);
    }

    /// Sets the state if this is the last change.
    fn set_if(&self, call: u64, state: GateState) {
        let calls = self.calls.lock();
        if *calls != call {
            return;
        }
        self.cluster.set_gate(state);
        if let Some(server) = self.server.upgrade() {
            let is_read_only = state == GateState::Closed;
            server
                .globals
                .set(Variable::ReadOnly, VariableValue::Boolean(is_read_only));
        }
    }

    fn is_last(&self, call: u64) -> bool {
        *self.calls.lock() == call
    }

    /// Waits until the tables have everything that is acknowledged now. A member acknowledges what its log has; its
    /// tables may be far behind, because its disk was full. Without this wait, reads on a new primary would not see
    /// what the one before had reported as committed.
    async fn catch_up(&self) {
        let end = self.cluster.held.acknowledged();
        let published = self.transactions.published_up_to(end);
        if timeout(SAID_AFTER, published).await.is_err() {
            tracing::warn!(
                "cluster: clients wait until the tables of this server have what was committed before"
            );
            self.transactions.published_up_to(end).await;
        }
    }

    /// Lets clients in: at once, or when the tables have caught up.
    fn let_in(self: &Arc<Self>, runtime: &Handle, call: u64, state: GateState) {
        // Clients that are in have seen everything: their commits are reported when they are published.
        let is_in = self.cluster.gate.state() != GateState::Closed;
        let empties_tables = state == GateState::Open && self.empties_tables.load(Ordering::Relaxed);
        let is_caught_up = || self.transactions.positions().published >= self.cluster.held.acknowledged();
        if !empties_tables && (is_in || is_caught_up()) {
            self.set_if(call, state);
            return;
        }
        let access = self.clone();
        runtime.spawn(async move {
            access.catch_up().await;
            match empties_tables {
                true => access.empty_and_open(call).await,
                false => access.set_if(call, state),
            }
        });
    }

    /// Empties the MEMORY tables of all members, then lets clients in. A statement that uses such a table delays them
    /// only for a short time; the table is emptied later then. Each is emptied once: clients fill it again.
    async fn empty_and_open(self: Arc<Self>, call: u64) {
        {
            let mut not_emptied = self.not_emptied.lock().await;
            let Some(server) = self.server.upgrade().filter(|_| self.is_last(call)) else {
                return;
            };
            let tables = not_emptied.take();
            let emptying = tokio::task::spawn_blocking(move || empty_tables(&server, tables));
            match emptying.await {
                Ok(rest) => *not_emptied = Some(rest),
                Err(error) => tracing::error!("cluster: the MEMORY tables are not emptied: {error}"),
            }
        }
        self.set_if(call, GateState::Open);
        // Nothing is locked meanwhile: the statement may wait until this server opens in the next epoch.
        while let Some((server, table)) = self.next_not_emptied(call).await {
            if let Err(error) = run_for_scheduler(&server, &truncation(&table)).await {
                tracing::warn!("cluster: a MEMORY table cannot be emptied yet: {error}");
                self.not_emptied.lock().await.get_or_insert_default().push(table);
                tokio::time::sleep(EMPTY_AGAIN_AFTER).await;
            }
        }
        let is_done = self.not_emptied.lock().await.as_ref().is_some_and(Vec::is_empty);
        self.empties_tables.store(!is_done, Ordering::Relaxed);
    }

    /// Takes a MEMORY table that is to be emptied, as long as this server is open by this call.
    async fn next_not_emptied(&self, call: u64) -> Option<(Arc<Server>, (String, String))> {
        let server = self.server.upgrade().filter(|server| !server.is_stopping())?;
        let mut not_emptied = self.not_emptied.lock().await;
        let tables = not_emptied.as_mut().filter(|_| self.is_last(call))?;
        Some((server, tables.pop()?))
    }
}

/// Empties these MEMORY tables, or all, for all members. Returns those that statements use. Nobody can define tables
/// meanwhile, because this server is not open.
fn empty_tables(server: &Server, tables: Option<Vec<(String, String)>>) -> Vec<(String, String)> {
    let (transactions, catalog) = (&server.transactions, &server.catalog);
    let mut tables = tables.unwrap_or_else(|| paceline_apply::memory_tables(&catalog.load()));
    tables.retain(|table| {
        let gtid = GtidChoice::Next {
            domain_id: DomainId(server.globals.number(Variable::GtidDomainId) as u32),
            server_id: ServerId(server.globals.number(Variable::ServerId) as u32),
        };
        let replication = Replication::Replicated;
        let emptied =
            paceline_apply::empty_memory_table(transactions, catalog, table, gtid, replication, EMPTY_WITHIN);
        if let Err(error) = &emptied {
            tracing::warn!("cluster: a MEMORY table cannot be emptied yet: {error}");
        }
        emptied.is_err()
    });
    tables
}

/// Returns the statement that empties a MEMORY table while clients may define tables.
fn truncation((database, name): &(String, String)) -> String {
    let seconds = EMPTY_WITHIN.as_secs();
    let mut text = format!("SET STATEMENT lock_wait_timeout={seconds} FOR TRUNCATE TABLE ");
    quote_identifier(database, &mut text);
    text.push('.');
    quote_identifier(name, &mut text);
    text
}

/// Role of a member that receives another one's log.
struct Reception {
    server: Weak<Server>,
    cluster: Arc<Cluster>,
    transactions: Arc<TransactionManager>,
    fence: Arc<RoleFence>,
    role: RoleNumber,
    from: MemberId,
    epoch: Epoch,
    not_served: Arc<Mutex<Option<String>>>,
}

/// Attempts to connect within a role that have brought nothing.
#[derive(Default)]
struct Refusals {
    attempts: u32,
    last: Option<Instant>,
    /// Reason that was reported last.
    reason: String,
}

impl Refusals {
    /// Returns whether the member may be asked again now: often at first, because it may not be ready yet.
    fn may_try(&mut self) -> bool {
        let is_early = self.last.is_some_and(|last| last.elapsed() < PATIENT_AFTER);
        if self.attempts >= ATTEMPTS_IN_HASTE && is_early {
            return false;
        }
        self.attempts += 1;
        self.last = Some(Instant::now());
        true
    }

    /// Returns whether the last attempt was long ago.
    fn are_over(&self) -> bool {
        self.last.is_none_or(|last| last.elapsed() >= PATIENT_AFTER)
    }

    /// Reports why the last attempt has ended, once for each reason: it may last until a member is upgraded.
    fn report(&mut self, from: MemberId, reason: &str) {
        if !reason.is_empty() && reason != self.reason {
            tracing::error!("cluster: {from} does not send its log: {reason}");
            self.reason = reason.to_owned();
        }
    }
}

impl Reception {
    /// Keeps the connection to the member running until the role ends.
    async fn run(self, progress: LogProgress) {
        {
            let Some(_step) = self.fence.step(self.role).await else {
                return;
            };
            let transactions = self.transactions.clone();
            let resumed = tokio::task::spawn_blocking(move || transactions.resume_writing());
            resumed.await.expect("resuming does not panic");
        }
        // There is nothing to cut.
        progress.report();
        let mut progressed = (self.transactions.log().durable(), Instant::now());
        let mut refusals = Refusals::default();
        loop {
            {
                let Some(_step) = self.fence.step(self.role).await else {
                    return;
                };
                let Some(server) = self.server.upgrade().filter(|server| !server.is_stopping()) else {
                    return;
                };
                let connection = server.replicas().get(CONNECTION).ok();
                let is_running = connection
                    .as_ref()
                    .is_some_and(|connection| connection.runs_both());
                if is_running && refusals.are_over() {
                    *self.not_served.lock() = None;
                }
                if !is_running && refusals.may_try() {
                    if let Some(connection) = &connection {
                        let reason = connection.status().receiver.error.message;
                        refusals.report(self.from, &reason);
                        *self.not_served.lock() = Some(reason).filter(|reason| !reason.is_empty());
                    }
                    self.connect(&server).await;
                }
                let durable = self.transactions.log().durable();
                let is_pending =
                    connection.is_some_and(|connection| connection.status().applier.pending_since.is_some());
                if durable > progressed.0 {
                    refusals.attempts = 0;
                }
                if durable > progressed.0 || !is_pending {
                    progressed = (durable, Instant::now());
                } else if progressed.1.elapsed() >= STUCK_AFTER && self.lacks_start() {
                    self.cluster
                        .restart("the applier waits for transactions that wait for the applier");
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Connects to the member, if its address is known.
    async fn connect(&self, server: &Arc<Server>) {
        let membership = &self.cluster.membership;
        let Some(entry) = membership.handle.entry(self.from) else {
            return;
        };
        let definition = Definition {
            host: entry.host,
            port: entry.port,
            user: CLUSTER_USER.to_owned(),
            password: membership.secret.to_string().into(),
            use_gtid: UseGtid::CurrentPos,
            connect_retry_seconds: 1,
            tls: TlsSettings::of_cluster(membership.key.clone()),
            reader: Some(MemberReader {
                member: membership.id.0,
                epoch: self.epoch.0,
            }),
            ..Definition::default()
        };
        server.replicas().leave(CONNECTION).await;
        if let Err(error) = server.replicas().follow(CONNECTION, definition).await {
            tracing::warn!("{} cannot be followed: {error}", self.from);
        }
    }

    /// Returns whether the log does not have the start of the epoch yet. Only then can publication depend on a
    /// transaction that has been received and not appended.
    fn lacks_start(&self) -> bool {
        let tail = durable_tail(&self.transactions.durable_tail());
        tail.start_of_last(self.epoch).is_none()
    }
}

impl LogHost for ServerHost {
    fn tail(&self) -> LogTail {
        durable_tail(&self.transactions.durable_tail())
    }

    fn freeze(&self) -> FreezeFuture<'_> {
        Box::pin(async move {
            self.cluster.count_epoch();
            self.access.set(GateState::Closed);
            if timeout(LEAVE_WITHIN, self.fence.end()).await.is_err() {
                self.give_up("a step of the member's role does not end").await;
            }
            self.cluster.held.report_to(None);
            let transactions = self.transactions.clone();
            let stopped = self.runtime.spawn_blocking(move || transactions.stop_writing());
            let stopped = stopped.await.expect("stopping does not panic");
            stopped.map_err(|error| HostError(error.to_string()))?;
            self.cluster.readers.end_all().await;
            if let Some(server) = self.server.upgrade()
                && timeout(LEAVE_WITHIN, server.replicas().leave(CONNECTION))
                    .await
                    .is_err()
            {
                // A definition that waits for its publication, for example.
                self.give_up("a statement of the applier does not end").await;
            }
            Ok(self.tail())
        })
    }

    fn promised(&self, promise: Promise) {
        self.cluster.readers.promised(promise);
    }

    fn follow(&self, primary: MemberId, epoch: Epoch, at: LogIndex, progress: LogProgress) {
        tracing::info!("cluster: following {primary} in epoch {epoch}");
        self.receive(primary, epoch, at, progress);
    }

    fn fetch(&self, from: MemberId, epoch: Epoch, at: LogIndex, upto: LogRank, progress: LogProgress) {
        tracing::info!(
            "cluster: fetching from {from} up to {:?}, to become the primary of epoch {epoch}",
            upto.end
        );
        self.receive(from, epoch, at, progress);
    }

    fn write_start(&self, epoch: Epoch, progress: LogProgress) {
        let role = self.fence.begin();
        self.cluster.held.report_to(Some(progress.clone()));
        let (transactions, cluster, server, fence) = (
            self.transactions.clone(),
            self.cluster.clone(),
            self.server.clone(),
            self.fence.clone(),
        );
        self.runtime.spawn(async move {
            let Some(_step) = fence.step(role).await else {
                return;
            };
            let Some(server) = server.upgrade() else { return };
            server.replicas().leave(CONNECTION).await;
            let server_id = ServerId(server.globals.number(Variable::ServerId) as u32);
            let mark = EpochMark {
                epoch: epoch.0,
                primary: cluster.membership.id.0,
            };
            let written = tokio::task::spawn_blocking(move || {
                let tail = durable_tail(&transactions.durable_tail());
                let written = match tail.start_of_last(epoch) {
                    Some(_) => Ok(()),
                    // In the domain that each server has.
                    None => transactions
                        .write_epoch_start(mark, DomainId(0), server_id)
                        .map(drop),
                };
                transactions.resume_writing();
                written
            });
            match written.await.expect("writing the start does not panic") {
                Ok(()) => {
                    cluster.readers.lead(epoch);
                    progress.report();
                }
                // A failed log stops the process. Anything else: another epoch follows.
                Err(error) => {
                    tracing::error!("cluster: the start of epoch {epoch} cannot be written: {error}")
                }
            }
        });
    }

    fn sends_to(&self, member: MemberId) -> bool {
        self.cluster.readers.sends_to(member)
    }

    fn publish(&self, upto: LogIndex) {
        self.cluster.held.publish(upto);
    }

    fn open(&self, epoch: Epoch) {
        tracing::info!("cluster: this server is the primary, in epoch {epoch}");
        let call = self.access.call();
        self.access.let_in(&self.runtime, call, GateState::Open);
    }

    fn hold(&self) {
        let call = self.access.call();
        self.access.let_in(&self.runtime, call, GateState::Held);
    }

    fn close(&self) {
        self.access.set(GateState::Closed);
    }

    fn reads_until(&self, until: Millis) {
        self.cluster.reads.set_until(until);
    }

    fn report(&self, ends: &[LogIndex]) -> HostReport {
        HostReport {
            stage: Stage::Tables,
            gtid_position: self.transactions.gtid_state().position().to_string(),
            lags: self.cluster.held.lags(ends),
            clients_wait: match self.cluster.gate.state() {
                GateState::Closed => Some(CATCHES_UP.to_owned()),
                GateState::Held | GateState::Open => commit_watch::present_wait(&self.cluster),
            },
            not_served: self.not_served.lock().clone(),
        }
    }

    fn may_be_lost(&self, after: LogIndex) {
        tracing::error!(
            "cluster: the quorum was restored by hand; transactions after index {} that only other members had may be lost",
            after.0
        );
    }
}
