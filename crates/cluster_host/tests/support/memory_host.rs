//! A log in memory. What is appended is durable at once; streams copy from host to host.

use paceline_cluster::{Epoch, EpochSpan, LogIndex, LogRank, LogTail, MemberId, Millis, Promise};
use paceline_cluster_host::report::HostReport;
use paceline_cluster_host::{FreezeFuture, LogHost, LogProgress};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Notify, watch};

/// Record of a log. The start of an epoch has number 0; a transaction has a number of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    pub epoch: Epoch,
    pub primary: MemberId,
    pub number: u64,
}

/// The hosts that reach each other, and what they have done.
#[derive(Clone)]
pub struct Hosts {
    shared: Arc<Shared>,
}

struct Shared {
    hosts: Mutex<HashMap<MemberId, Arc<MemoryHost>>>,
    opened: Mutex<Vec<(Epoch, MemberId)>>,
    changes: watch::Sender<u64>,
}

impl Hosts {
    pub fn new() -> Self {
        Hosts {
            shared: Arc::new(Shared {
                hosts: Mutex::default(),
                opened: Mutex::default(),
                changes: watch::Sender::new(0),
            }),
        }
    }

    /// Makes a host with this log. It replaces the member's earlier one.
    pub fn create(&self, id: MemberId, log: Vec<Entry>, published: usize) -> Arc<MemoryHost> {
        let host = Arc::new(MemoryHost {
            id,
            hosts: self.clone(),
            calls: Mutex::default(),
            frozen_until: Mutex::default(),
            refused: Mutex::default(),
            state: Mutex::new(State {
                log,
                published,
                role: 0,
                serves: Serves::Nobody,
                gate: Gate::Closed,
                progress: None,
                reads_until: Millis(0),
                is_retired: false,
            }),
        });
        self.shared.hosts.lock().insert(id, Arc::clone(&host));
        host
    }

    /// The member's process ends, or another host takes over. Returns its log and what was published.
    pub fn remove(&self, id: MemberId) -> (Vec<Entry>, usize) {
        let host = self.shared.hosts.lock().remove(&id).expect("it was there");
        let mut state = host.state.lock();
        state.role += 1;
        state.serves = Serves::Nobody;
        state.gate = Gate::Closed;
        state.is_retired = true;
        let left = (state.log.clone(), state.published);
        drop(state);
        self.changed();
        left
    }

    pub fn get(&self, id: MemberId) -> Option<Arc<MemoryHost>> {
        self.shared.hosts.lock().get(&id).cloned()
    }

    pub fn opened(&self) -> Vec<(Epoch, MemberId)> {
        self.shared.opened.lock().clone()
    }

    /// Returns the member that accepts transactions.
    pub fn primary(&self) -> Option<Arc<MemoryHost>> {
        let hosts = self.shared.hosts.lock();
        hosts
            .values()
            .find(|host| matches!(host.state.lock().gate, Gate::Open(_)))
            .cloned()
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    fn changed(&self) {
        self.shared.changes.send_modify(|count| *count += 1);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Serves {
    Nobody,
    Candidate(Promise),
    Followers(Epoch),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gate {
    Closed,
    Held,
    Open(Epoch),
}

struct State {
    log: Vec<Entry>,
    published: usize,
    role: u64,
    serves: Serves,
    gate: Gate,
    progress: Option<LogProgress>,
    reads_until: Millis,
    /// Another host has the log now, or the process has ended: nothing is written any more.
    is_retired: bool,
}

pub struct MemoryHost {
    pub id: MemberId,
    hosts: Hosts,
    state: Mutex<State>,
    calls: Mutex<Vec<String>>,
    /// A freeze waits for this.
    frozen_until: Mutex<Option<Arc<Notify>>>,
    /// Members to which nothing is sent: their logs have something else.
    refused: Mutex<Vec<MemberId>>,
}

/// Request of a stream.
#[derive(Clone, Copy)]
enum Stream {
    Follow {
        source: MemberId,
        epoch: Epoch,
    },
    Fetch {
        source: MemberId,
        epoch: Epoch,
        upto: LogRank,
    },
}

/// Change of what a member is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    Begins,
    Ends,
}

/// Fate of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Acknowledged,
    Refused,
    /// The host has closed before it was acknowledged.
    Undecided,
}

impl MemoryHost {
    pub fn log(&self) -> Vec<Entry> {
        self.state.lock().log.clone()
    }

    pub fn hosts(&self) -> Hosts {
        self.hosts.clone()
    }

    pub fn published(&self) -> usize {
        self.state.lock().published
    }

    pub fn reads_until(&self) -> Millis {
        self.state.lock().reads_until
    }

    /// Returns the calls of the driver.
    pub fn calls(&self) -> Vec<String> {
        self.calls.lock().clone()
    }

    /// Lets the next freeze wait until the notification.
    pub fn delay_freeze(&self) -> Arc<Notify> {
        let notify = Arc::new(Notify::new());
        *self.frozen_until.lock() = Some(Arc::clone(&notify));
        notify
    }

    /// Sends nothing to this member any more, or again.
    pub fn refuse(&self, member: MemberId, refusal: Refusal) {
        let mut refused = self.refused.lock();
        refused.retain(|other| *other != member);
        if refusal == Refusal::Begins {
            refused.push(member);
        }
    }

    /// Loses the end of the log, as a disk that lies does.
    pub fn lose(&self, length: usize) {
        let mut state = self.state.lock();
        state.log.truncate(length);
        state.progress.as_ref().expect("it has a role").report();
    }

    /// Executes a transaction.
    pub async fn commit(&self, number: u64) -> Fate {
        let mut changes = self.hosts.changes();
        let (at, entry) = loop {
            changes.borrow_and_update();
            match self.append(number) {
                Ok(Some(appended)) => break appended,
                Ok(None) => changes.changed().await.expect("the hosts exist"),
                Err(fate) => return fate,
            }
        };
        self.hosts.changed();
        loop {
            changes.borrow_and_update();
            {
                let state = self.state.lock();
                if state.log.get(at - 1) != Some(&entry) {
                    return Fate::Undecided;
                }
                if state.published >= at {
                    return Fate::Acknowledged;
                }
                if state.gate == Gate::Closed {
                    return Fate::Undecided;
                }
            }
            changes.changed().await.expect("the hosts exist");
        }
    }

    /// Appends a transaction; returns the end of the log after it. `None`: it has to wait.
    fn append(&self, number: u64) -> Result<Option<(usize, Entry)>, Fate> {
        let mut state = self.state.lock();
        match state.gate {
            Gate::Closed => Err(Fate::Refused),
            Gate::Held => Ok(None),
            Gate::Open(epoch) => {
                let entry = Entry {
                    epoch,
                    primary: self.id,
                    number,
                };
                state.log.push(entry);
                state.progress.as_ref().expect("it leads").report();
                Ok(Some((state.log.len(), entry)))
            }
        }
    }

    fn called(&self, call: String) {
        self.calls.lock().push(call);
    }

    fn begin(&self, stream: Stream, at: LogIndex, progress: LogProgress) {
        let role = {
            let mut state = self.state.lock();
            if state.is_retired {
                return;
            }
            assert!(
                at.0 >= state.published as u64,
                "{:?}: published records are never cut",
                self.id
            );
            let at = usize::try_from(at.0).expect("small");
            state.log.truncate(at);
            state.role += 1;
            state.serves = Serves::Nobody;
            state.progress = Some(progress.clone());
            state.role
        };
        progress.report();
        let host = self.hosts.get(self.id);
        if let Some(host) = host.filter(|host| std::ptr::eq(Arc::as_ptr(host), self)) {
            tokio::spawn(async move { host.copy(stream, role, progress).await });
        }
    }

    async fn copy(self: Arc<Self>, stream: Stream, role: u64, progress: LogProgress) {
        let mut changes = self.hosts.changes();
        loop {
            changes.borrow_and_update();
            let length = {
                let state = self.state.lock();
                if state.role != role {
                    return;
                }
                state.log.len()
            };
            let (Stream::Follow { source, .. } | Stream::Fetch { source, .. }) = stream;
            let source = self.hosts.get(source);
            let piece = source
                .map(|source| source.served(self.id, stream, length))
                .unwrap_or_default();
            if !piece.is_empty() {
                let mut state = self.state.lock();
                if state.role != role {
                    return;
                }
                state.log.extend(piece);
                drop(state);
                progress.report();
                self.hosts.changed();
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Returns the records that this stream may have.
    fn served(&self, to: MemberId, stream: Stream, from: usize) -> Vec<Entry> {
        let state = self.state.lock();
        let end = match (stream, state.serves) {
            (Stream::Follow { epoch, .. }, Serves::Followers(leads)) if epoch == leads => state.log.len(),
            (Stream::Fetch { epoch, upto, .. }, Serves::Candidate(promise))
                if promise == (Promise { epoch, primary: to }) =>
            {
                upto.end.0 as usize
            }
            _ => 0,
        };
        state.log.get(from..end).unwrap_or_default().to_vec()
    }
}

impl LogHost for MemoryHost {
    fn tail(&self) -> LogTail {
        let state = self.state.lock();
        let starts = state.log.iter().zip(0..).filter(|(entry, _)| entry.number == 0);
        let spans = starts.map(|(entry, at)| EpochSpan {
            epoch: entry.epoch,
            primary: entry.primary,
            start: LogIndex(at),
        });
        LogTail::new(spans.collect(), LogIndex(state.log.len() as u64))
    }

    fn freeze(&self) -> FreezeFuture<'_> {
        Box::pin(async {
            self.called("freeze".to_owned());
            let delay = self.frozen_until.lock().take();
            if let Some(delay) = delay {
                delay.notified().await;
            }
            {
                let mut state = self.state.lock();
                state.role += 1;
                state.serves = Serves::Nobody;
                state.progress = None;
                if let Gate::Open(_) = state.gate {
                    state.gate = Gate::Held;
                }
            }
            self.hosts.changed();
            Ok(self.tail())
        })
    }

    fn promised(&self, promise: Promise) {
        self.called(format!("promised {}", promise.epoch));
        let mut state = self.state.lock();
        if state.is_retired {
            return;
        }
        state.serves = Serves::Candidate(promise);
        drop(state);
        self.hosts.changed();
    }

    fn follow(&self, primary: MemberId, epoch: Epoch, at: LogIndex, progress: LogProgress) {
        self.called(format!("follow {} in {epoch} at {}", primary.0, at.0));
        self.begin(
            Stream::Follow {
                source: primary,
                epoch,
            },
            at,
            progress,
        );
    }

    fn sends_to(&self, member: MemberId) -> bool {
        !self.refused.lock().contains(&member)
    }

    fn fetch(&self, from: MemberId, epoch: Epoch, at: LogIndex, upto: LogRank, progress: LogProgress) {
        self.called(format!("fetch from {} at {}", from.0, at.0));
        let stream = Stream::Fetch {
            source: from,
            epoch,
            upto,
        };
        self.begin(stream, at, progress);
    }

    fn write_start(&self, epoch: Epoch, progress: LogProgress) {
        self.called(format!("write start of {epoch}"));
        let mut state = self.state.lock();
        if state.is_retired {
            return;
        }
        let last = state.log.iter().rfind(|entry| entry.number == 0);
        if last.is_none_or(|last| last.epoch != epoch) {
            state.log.push(Entry {
                epoch,
                primary: self.id,
                number: 0,
            });
        }
        state.role += 1;
        state.serves = Serves::Followers(epoch);
        state.progress = Some(progress.clone());
        drop(state);
        progress.report();
        self.hosts.changed();
    }

    fn publish(&self, upto: LogIndex) {
        let mut state = self.state.lock();
        let upto = usize::try_from(upto.0).expect("small");
        state.published = state.published.max(upto.min(state.log.len()));
        drop(state);
        self.hosts.changed();
    }

    fn open(&self, epoch: Epoch) {
        self.called(format!("open {epoch}"));
        let mut state = self.state.lock();
        if state.is_retired {
            return;
        }
        assert_eq!(state.serves, Serves::Followers(epoch), "it leads");
        state.gate = Gate::Open(epoch);
        drop(state);
        self.hosts.shared.opened.lock().push((epoch, self.id));
        self.hosts.changed();
    }

    fn hold(&self) {
        self.called("hold".to_owned());
        let mut state = self.state.lock();
        if !state.is_retired {
            state.gate = Gate::Held;
        }
        drop(state);
        self.hosts.changed();
    }

    fn close(&self) {
        self.called("close".to_owned());
        self.state.lock().gate = Gate::Closed;
        self.hosts.changed();
    }

    fn reads_until(&self, until: Millis) {
        self.state.lock().reads_until = until;
    }

    fn report(&self, ends: &[LogIndex]) -> HostReport {
        HostReport {
            gtid_position: self.tail().end().0.to_string(),
            lags: vec![None; ends.len()],
            ..HostReport::default()
        }
    }

    fn may_be_lost(&self, after: LogIndex) {
        self.called(format!("may be lost after {}", after.0));
    }
}
