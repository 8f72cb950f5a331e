//! A member of a cluster that has only its log.
//!
//! ```text
//!   driver (cluster_host) ── follow, fetch, write_start, freeze ──▶ LogMember ──▶ Follower ──▶ Writer ──▶ Log
//!                         ◀── progress: more of the log is durable ─────┘
//! ```
//! A server takes part in this way from its start until its log is acknowledged to its end ([`crate::hold`]): with the
//! log alone nothing has to be undone when a tail turns out not to be acknowledged, nothing of it is visible, and a
//! transaction never waits for another one to be published. Then the tables are opened and the log is replayed.
//!
//! # Writing roles
//! There is one follower. Its candidates are the one member that the present role reads from; without a role it is
//! stopped. [`LogHost::freeze`] stops it, and waits until it has ended and everything that it has received is written:
//! then nothing more can be appended. A role that has to cut the log ends the whole holder with [`HoldEnd::Cut`], and
//! the log is cut while it is closed.
//!
//! # Readiness
//! The holder of a server ([`Tenure::UntilAcknowledged`]) is ready when the log is acknowledged to its end while it
//! follows a primary, or when it is the primary and may open. More may arrive after that; it is acknowledged by the
//! server, or by its recovery at the latest. An archive is never ready.
//!
//! # A new archive
//! Its log begins where the primary's begins ([`crate::log_start`]), with the epochs before: pulses have told them.
//! Whether two logs part, and where, is decided by epochs, so a log that began without them would be foreign.

use crate::acknowledged::AcknowledgedLog;
use crate::context::ArchiveContext;
use crate::follow::{Follower, RequestedState};
use crate::options::{Address, Candidates};
use paceline_cluster::{Epoch, LogRank, LogTail, MemberId, Millis, Promise};
use paceline_cluster_host::report::{HostReport, Stage};
use paceline_cluster_host::{
    FreezeFuture, HostError, LogHost, LogProgress, Reader, Readers, RoleFence, RoleNumber, durable_tail,
};
use paceline_log_stream::primary::request::MemberReader;
use paceline_txn::{Interrupt, InterruptReason};
use paceline_types::LogIndex;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Interval at which the address of a member is looked up again, while it is unknown or the member does not answer.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Reason why a holder ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HoldEnd {
    /// The log is acknowledged to its end, or this member is the primary: a server can be started on it.
    Ready,
    /// The log must be cut at this index.
    Cut(LogIndex),
    /// It was told to stop.
    Stopped,
}

/// Time for which a member has only its log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tenure {
    /// Until the log is acknowledged: then a server opens its tables.
    UntilAcknowledged,
    /// For ever: it is an archive.
    Lasting,
}

/// The log of a member without tables.
pub struct LogMember {
    id: MemberId,
    tenure: Tenure,
    context: Arc<ArchiveContext>,
    follower: Arc<Follower>,
    acknowledged: Arc<AcknowledgedLog>,
    /// Members that may read the log.
    readers: Arc<Readers>,
    fence: Arc<RoleFence>,
    runtime: Handle,
    state: Mutex<State>,
    end: watch::Sender<Option<HoldEnd>>,
    /// Changes with each role, and when more is published.
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    follows: bool,
    published: LogIndex,
}

impl LogMember {
    /// Creates a member that reads nothing yet. The follower must be stopped.
    pub fn new(
        id: MemberId,
        tenure: Tenure,
        context: Arc<ArchiveContext>,
        follower: Arc<Follower>,
        acknowledged: Arc<AcknowledgedLog>,
    ) -> Arc<Self> {
        Arc::new(LogMember {
            id,
            tenure,
            context,
            follower,
            acknowledged,
            readers: Arc::default(),
            fence: Arc::default(),
            runtime: Handle::current(),
            state: Mutex::default(),
            end: watch::Sender::new(None),
            changes: watch::Sender::new(()),
        })
    }

    /// Waits until it ends. Before it is ready, nothing more is received, and everything that was received is
    /// acknowledged: recovery will replay all of the log.
    pub async fn settled(&self) -> HoldEnd {
        let mut end = self.end.subscribe();
        loop {
            // The sender lives as long as this.
            let reason = end.wait_for(Option::is_some).await.ok().and_then(|end| *end);
            let Some(HoldEnd::Ready) = reason else {
                return reason.unwrap_or(HoldEnd::Stopped);
            };
            let role = self.fence.present();
            // Within a step: the role's task must not begin to follow afterwards.
            let is_present = {
                let step = self.fence.step(role).await;
                if step.is_some() {
                    self.follower.request(RequestedState::Stop);
                }
                step.is_some()
            };
            if is_present {
                self.follower.stopped().await;
                self.follower.written().await;
            }
            let mut changes = self.changes.subscribe();
            let is_settled = loop {
                if self.fence.present() != role {
                    break false;
                }
                if self.state.lock().published >= self.tail().end() {
                    break true;
                }
                if changes.changed().await.is_err() {
                    break false;
                }
            };
            if is_settled {
                return HoldEnd::Ready;
            }
            // Another role has begun meanwhile, or this one has ended.
            self.end
                .send_if_modified(|end| *end == Some(HoldEnd::Ready) && end.take().is_some());
            // That role may have been ready while this one was looked at.
            self.look_whether_ready();
        }
    }

    /// Lets it end. Only the first reason counts.
    pub fn finish(&self, reason: HoldEnd) {
        self.end.send_if_modified(|end| {
            let is_first = end.is_none();
            end.get_or_insert(reason);
            is_first
        });
    }

    /// Returns how long it has only its log.
    pub fn tenure(&self) -> Tenure {
        self.tenure
    }

    /// Returns the member's number.
    pub fn id(&self) -> MemberId {
        self.id
    }

    /// Returns how far the log is acknowledged.
    pub fn acknowledged(&self) -> &Arc<AcknowledgedLog> {
        &self.acknowledged
    }

    /// Admits a member's stream, or returns false. It must be [released](Self::release) at its end.
    pub fn admit(&self, reader: MemberReader, connection: u32, interrupt: &Interrupt) -> bool {
        let reader = Reader {
            member: MemberId(reader.member),
            epoch: Epoch(reader.epoch),
        };
        let interrupt = interrupt.clone();
        let end = move || interrupt.raise(InterruptReason::Connection);
        self.readers.admit(reader, connection, end)
    }

    /// The log has the position from which this admitted stream reads.
    pub fn accept(&self, connection: u32) {
        self.readers.accept(connection);
    }

    /// Tells that a stream has ended.
    pub fn release(&self, connection: u32) {
        self.readers.remove(connection);
    }

    /// Begins a role: no step of the one before begins any more.
    fn begin(&self, follows: bool) -> RoleNumber {
        let role = self.fence.begin();
        self.state.lock().follows = follows;
        self.changes.send_replace(());
        role
    }

    /// Reads the log of `from` from the end of this log on.
    fn read(&self, follows: bool, from: MemberId, epoch: Epoch, at: LogIndex, progress: LogProgress) {
        let role = self.begin(follows);
        if at < self.tail().end() {
            self.finish(HoldEnd::Cut(at));
            return;
        }
        if self.is_ready() {
            // The tables have all of it. Nothing must be received now: it would be replayed without acknowledgement.
            progress.report();
            self.finish(HoldEnd::Ready);
            return;
        }
        let (fence, follower, acknowledged) = (
            self.fence.clone(),
            self.follower.clone(),
            self.acknowledged.clone(),
        );
        let (context, end) = (self.context.clone(), self.end.subscribe());
        let reader = MemberReader {
            member: self.id.0,
            epoch: epoch.0,
        };
        self.runtime.spawn(async move {
            let mut known = None;
            let mut durable = follower.durable_groups();
            loop {
                // At first because there is nothing to cut. A log that begins after a state grows without a group.
                acknowledged.remember_end();
                progress.report();
                // The member may have been started just now, and its handle be known a little later.
                let handle = acknowledged.handle();
                if let Some(epochs) = handle.and_then(|handle| handle.epochs_of(from, epoch)) {
                    context.log_start.set_epochs(epochs);
                }
                let address = handle.and_then(|handle| handle.entry(from)).map(|entry| Address {
                    host: entry.host,
                    port: entry.port,
                });
                {
                    let Some(_step) = fence.step(role).await else {
                        return;
                    };
                    // A member that is ready receives nothing more.
                    let is_over = end.borrow().is_some();
                    let is_new = |address: &Address| !is_over && known.as_ref() != Some(address);
                    if let Some(address) = address.filter(is_new) {
                        follower.read_as(Some(reader));
                        follower.set_candidates(Candidates(vec![address.clone()]));
                        follower.request(RequestedState::Follow);
                        known = Some(address);
                    }
                }
                tokio::select! {
                    changed = durable.changed() => {
                        if changed.is_err() {
                            return;
                        }
                    }
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
            }
        });
    }

    /// Returns whether the log is acknowledged to its end, while it follows, and tables can be opened.
    fn is_ready(&self) -> bool {
        if self.tenure == Tenure::Lasting {
            return false;
        }
        let state = self.state.lock();
        state.follows && state.published >= self.tail().end()
    }

    /// Ends if it is ready.
    fn look_whether_ready(&self) {
        if self.is_ready() {
            self.finish(HoldEnd::Ready);
        }
    }
}

impl LogHost for LogMember {
    fn tail(&self) -> LogTail {
        durable_tail(&self.context.log.durable_end())
    }

    fn freeze(&self) -> FreezeFuture<'_> {
        Box::pin(async move {
            self.fence.end().await;
            self.state.lock().follows = false;
            self.changes.send_replace(());
            self.follower.request(RequestedState::Stop);
            self.follower.stopped().await;
            self.follower.written().await;
            if *self.context.stop.borrow() && self.end.borrow().is_none() {
                // The writer has failed: what it says of the log is not to be trusted.
                return Err(HostError("the log is not written any more".to_owned()));
            }
            self.readers.end_all().await;
            Ok(self.tail())
        })
    }

    fn promised(&self, promise: Promise) {
        self.readers.promised(promise);
    }

    fn follow(&self, primary: MemberId, epoch: Epoch, at: LogIndex, progress: LogProgress) {
        tracing::info!("cluster: following {primary} in epoch {epoch}, with the log alone");
        self.read(true, primary, epoch, at, progress);
    }

    fn fetch(&self, from: MemberId, epoch: Epoch, at: LogIndex, _upto: LogRank, progress: LogProgress) {
        tracing::info!("cluster: fetching from {from}, to become the primary of epoch {epoch}");
        self.read(false, from, epoch, at, progress);
    }

    fn sends_to(&self, member: MemberId) -> bool {
        self.readers.sends_to(member)
    }

    fn write_start(&self, epoch: Epoch, progress: LogProgress) {
        assert_eq!(self.tenure, Tenure::UntilAcknowledged, "an archive never leads");
        let role = self.begin(false);
        let starts_now = self.tail().start_of_last(epoch).is_none();
        let (fence, context, follower) = (self.fence.clone(), self.context.clone(), self.follower.clone());
        let (readers, id) = (self.readers.clone(), self.id);
        self.runtime.spawn(async move {
            let Some(_step) = fence.step(role).await else {
                return;
            };
            // All that was fetched is in the log.
            follower.request(RequestedState::Stop);
            follower.stopped().await;
            follower.written().await;
            let writer = context.writer.lock().clone();
            if starts_now && let Some(writer) = writer {
                match writer.start_epoch(context.server_id, epoch.0, id.0).await {
                    Ok(()) => tracing::info!("cluster: the log has the start of epoch {epoch}"),
                    Err(error) => {
                        tracing::error!("cluster: the start of epoch {epoch} cannot be written: {error}");
                        return;
                    }
                }
            }
            readers.lead(epoch);
            progress.report();
        });
    }

    fn publish(&self, upto: LogIndex) {
        self.acknowledged.publish(upto);
        {
            let mut state = self.state.lock();
            state.published = state.published.max(upto);
        }
        self.changes.send_replace(());
        self.look_whether_ready();
    }

    fn open(&self, _epoch: Epoch) {
        self.finish(HoldEnd::Ready);
    }

    // There are no clients.
    fn hold(&self) {}
    fn close(&self) {}
    fn reads_until(&self, _until: Millis) {}

    fn report(&self, ends: &[LogIndex]) -> HostReport {
        HostReport {
            stage: Stage::Log,
            gtid_position: self.context.position().to_string(),
            lags: vec![None; ends.len()],
            clients_wait: None,
            not_served: Some(self.follower.status().error).filter(|error| !error.is_empty()),
        }
    }

    fn may_be_lost(&self, after: LogIndex) {
        tracing::error!(
            "cluster: the quorum was restored by hand; transactions after index {} that only other members had may be lost",
            after.0
        );
    }
}
