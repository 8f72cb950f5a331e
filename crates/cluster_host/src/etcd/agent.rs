//! The task between a member and etcd.
//!
//! It reads, does what the member wants ([`RegisterRequest`]), keeps the claimer's lease, enters the member into the
//! directory, and runs the planned switches that operators ask for through etcd.
//!
//! # The claimer's lease
//! It is taken for a claim and kept while the newest epoch is this member's, for [`LEASE_SECONDS`] after the process's
//! end. Nothing safe rests on it.
//!
//! # Requests that are out of date
//! While etcd is away, requests wait. Of those that wait only the newest claim and the newest mark are made. A claim
//! that comes late fails at its comparison, or the member decides whether it uses it.

use super::gateway::EtcdError;
use super::store::{LeaseId, Snapshot, Store};
use crate::driver::RegisterRequest;
use crate::handle::ClusterHandle;
use crate::register::{MemberEntry, SwitchEntry};
use paceline_cluster::{MemberId, RoleName};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Longest time between two reads while etcd answers.
pub const READ_INTERVAL: Duration = Duration::from_millis(400);
/// Time without an answer after which etcd is away.
pub const AWAY_AFTER: Duration = Duration::from_millis(1500);
/// Duration of the claimer's lease.
pub const LEASE_SECONDS: u64 = 3;
/// Time after which the lease is extended.
const KEEP_INTERVAL: Duration = Duration::from_secs(1);
/// Least time between two reads.
const NOTICE_INTERVAL: Duration = Duration::from_millis(10);
/// Time after which a watch is opened anew: it may be cut without a sign.
const WATCH_SILENCE: Duration = Duration::from_secs(10);
/// Time before a watch that failed is opened again.
const WATCH_PAUSE: Duration = Duration::from_millis(500);
/// Duration of the lease of a switch's result.
pub const RESULT_SECONDS: u64 = 30;

struct HeldLease {
    id: LeaseId,
    kept: Instant,
}

/// Task of a member that talks to etcd.
pub struct EtcdAgent {
    store: Arc<Store>,
    entry: MemberEntry,
    handle: ClusterHandle,
    requests: mpsc::Receiver<RegisterRequest>,
    lease: Option<HeldLease>,
    answered: Instant,
    is_away: bool,
    /// Request of the switch that this member has begun last.
    switch: Option<u64>,
    tasks: JoinSet<()>,
}

impl EtcdAgent {
    /// Creates the agent of a member, which enters itself into the directory like this.
    pub fn new(
        store: Arc<Store>,
        entry: MemberEntry,
        handle: ClusterHandle,
        requests: mpsc::Receiver<RegisterRequest>,
    ) -> Self {
        EtcdAgent {
            store,
            entry,
            handle,
            requests,
            lease: None,
            answered: Instant::now(),
            is_away: false,
            switch: None,
            tasks: JoinSet::new(),
        }
    }

    /// Runs until the driver ends.
    pub async fn run(mut self) {
        let notice = Arc::new(Notify::new());
        let watching = watch(Arc::clone(&self.store), Arc::clone(&notice));
        tokio::select! {
            () = watching => {}
            () = self.work(&notice) => {}
        }
    }

    async fn work(&mut self, notice: &Notify) {
        loop {
            let read_at = Instant::now() + READ_INTERVAL;
            let store = Arc::clone(&self.store);
            let read = self.timed(async move { store.read().await }).await;
            match read {
                Ok(snapshot) => self.take(snapshot).await,
                Err(error) => self.failed(&error),
            }
            let pause = Instant::now() + NOTICE_INTERVAL;
            let request = tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => Some(request),
                    None => return,
                },
                () = async {
                    sleep_until(pause).await;
                    notice.notified().await;
                } => None,
                () = sleep_until(read_at) => None,
            };
            if let Some(request) = request {
                self.execute(request).await;
            }
        }
    }

    /// Waits for an answer, and meanwhile tells the member when etcd has not answered for too long.
    async fn timed<T>(&mut self, answer: impl Future<Output = Result<T, EtcdError>>) -> Result<T, EtcdError> {
        let mut answer = pin!(answer);
        loop {
            let away_at = self.answered + AWAY_AFTER;
            tokio::select! {
                answer = &mut answer => {
                    if answer.is_ok() {
                        self.answered = Instant::now();
                    }
                    return answer;
                }
                () = sleep_until(away_at), if !self.is_away => self.away("it does not answer"),
            }
        }
    }

    fn failed(&mut self, error: &EtcdError) {
        if !self.is_away && self.answered.elapsed() >= AWAY_AFTER {
            self.away(&error.to_string());
        }
    }

    fn away(&mut self, reason: &str) {
        tracing::warn!("etcd is away, nobody can become the primary: {reason}");
        self.is_away = true;
        self.handle.etcd_away();
    }

    async fn take(&mut self, snapshot: Option<Snapshot>) {
        let Some(snapshot) = snapshot else {
            if !self.is_away {
                self.away("it knows no cluster of this name");
            }
            return;
        };
        if std::mem::take(&mut self.is_away) {
            tracing::info!("etcd answers again");
        }
        let register = &snapshot.register;
        self.handle.etcd(register.state());
        self.handle.set_directory(register.members.clone());
        // A member that this one replaces may have been a log holder until now.
        let replaces = register.replaced_by(&self.entry).next().is_some();
        if replaces || !register.members.contains(&self.entry) {
            let (store, entry) = (Arc::clone(&self.store), self.entry.clone());
            if let Err(error) = self.timed(async move { store.enter(&entry).await }).await {
                tracing::warn!("the member is not in etcd's directory yet: {error}");
            }
        }
        self.keep_lease(register.newest().primary).await;
        self.begin_switch(&snapshot);
    }

    async fn keep_lease(&mut self, claimer: MemberId) {
        let Some(lease) = &self.lease else {
            return;
        };
        if claimer != self.entry.member() {
            self.lease = None;
        } else if lease.kept.elapsed() >= KEEP_INTERVAL {
            let (store, id) = (Arc::clone(&self.store), lease.id.clone());
            let kept = self.timed(async move { store.keep_lease(&id).await }).await;
            match (kept, &mut self.lease) {
                (Ok(true), Some(lease)) => lease.kept = Instant::now(),
                (Ok(false), _) => self.lease = None,
                (Ok(true) | Err(_), _) => {}
            }
        }
    }

    async fn execute(&mut self, request: RegisterRequest) {
        let (mut claim, mut opened) = (None, None);
        let mut sort = |request| match request {
            RegisterRequest::Claim { record, newest } => claim = Some((record, newest)),
            RegisterRequest::MarkOpened(record) => opened = Some(record),
        };
        sort(request);
        while let Ok(request) = self.requests.try_recv() {
            sort(request);
        }
        if let Some(record) = opened {
            let store = Arc::clone(&self.store);
            let marked = self.timed(async move { store.mark_opened(&record).await }).await;
            if let Err(error) = marked {
                tracing::warn!("the epoch is not marked as opened yet: {error}");
            }
        }
        if let Some((record, newest)) = claim {
            let claimed = async {
                let lease = self.lease().await?;
                let store = Arc::clone(&self.store);
                self.timed(async move { store.claim(&record, newest, &lease).await })
                    .await
            };
            if let Err(error) = claimed.await {
                tracing::warn!("the epoch cannot be claimed: {error}");
            }
        }
    }

    /// Returns a lease with some time left.
    async fn lease(&mut self) -> Result<LeaseId, EtcdError> {
        if let Some(lease) = &self.lease
            && lease.kept.elapsed() < KEEP_INTERVAL
        {
            return Ok(lease.id.clone());
        }
        let store = Arc::clone(&self.store);
        let id = self
            .timed(async move { store.grant_lease(LEASE_SECONDS).await })
            .await?;
        self.lease = Some(HeldLease {
            id: id.clone(),
            kept: Instant::now(),
        });
        Ok(id)
    }

    /// Hands over if an operator wants it and this member is the primary. The target itself, once it is open, finds the
    /// request fulfilled, if the old primary has not said so yet.
    fn begin_switch(&mut self, snapshot: &Snapshot) {
        let Some(entry) = &snapshot.register.switch else {
            return;
        };
        let status = self.handle.status();
        let is_open = status.role == RoleName::Primary && status.waits.is_none();
        if entry.result.is_some() || self.switch == Some(entry.request) || !is_open {
            return;
        }
        self.switch = Some(entry.request);
        let (handle, store, entry) = (self.handle.clone(), Arc::clone(&self.store), entry.clone());
        let is_target = entry.target == self.entry.id;
        self.tasks.spawn(async move {
            let switched = match is_target {
                true => Ok(()),
                false => handle.switch(MemberId(entry.target)).await,
            };
            let result = switched.err().map(|failure| failure.to_string());
            let entry = SwitchEntry {
                result: Some(result.unwrap_or_default()),
                ..entry
            };
            if let Err(error) = answer_switch(&store, &entry).await {
                tracing::warn!("the result of a switch cannot be written to etcd: {error}");
            }
        });
        while self.tasks.try_join_next().is_some() {}
    }
}

/// Writes the result of a switch, as long as nobody has asked for another.
async fn answer_switch(store: &Store, entry: &SwitchEntry) -> Result<(), EtcdError> {
    let lease = store.grant_lease(RESULT_SECONDS).await?;
    loop {
        let snapshot = store.read_founded().await?;
        let asked = snapshot.register.switch.as_ref().map(|asked| asked.request);
        if asked != Some(entry.request) || store.put_switch(&snapshot, entry, &lease).await? {
            return Ok(());
        }
    }
}

/// Notifies when a key of the cluster may have changed.
async fn watch(store: Arc<Store>, notice: Arc<Notify>) {
    loop {
        if let Ok(mut stream) = store.watch().await {
            // The first answer says that the watch has begun: what changed before is read after it.
            while let Ok(Ok(Some(_))) = timeout(WATCH_SILENCE, stream.chunk()).await {
                notice.notify_one();
            }
        }
        sleep(WATCH_PAUSE).await;
    }
}
