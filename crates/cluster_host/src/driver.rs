//! The task that owns a [`Member`].
//!
//! ```text
//!   inbox, progress, tick ──▶ Member::handle ──▶ actions, in order ──▶ host, messages, register
//!                                 ▲                     │
//!                                 └── PromiseWritten ◀──┴── freeze the host, then write the file (blocking threads)
//! ```
//! Everything except a promise is done at once: the calls of the host, the messages and the register begin something
//! and return. While a promise is being written the member still hears messages and etcd. It begins no writing role
//! then, so [`LogHost::freeze`] and the calls that begin a role never cross.
//!
//! # The log's tail
//! The member is told of a tail only when the present writing role has reported progress, and the tail is asked for at
//! that time ([`crate::host`]). Within a role it must not go back; if it does, something durable was lost, and the
//! driver ends with an error, on which the process must stop.
//!
//! # A new host
//! A host that replaces another while a promise is being written waits until that is done: the first host has been
//! asked to freeze. If the role's cut was not complete, the new host begins with it; otherwise it is told to cut at
//! its own end, which is no cut.
//!
//! # Copies that count
//! A member's copy of the present epoch counts only while this primary sends it the log
//! ([`LogHost::sends_to`]). The state machine trusts that a log which follows is a beginning of the primary's; this
//! holds whatever was done to a member's directory by hand, for example by a restored image of its disk.
//!
//! # Order of inputs
//! Progress of the log comes before messages: a pulse that is answered afterwards then acknowledges more. Messages and
//! the end of a connection keep their order. A tick comes when a quarter of a pulse has passed since the last, however
//! many messages there are.

use crate::clock;
use crate::handle::{ClusterHandle, SwitchFailure};
use crate::host::{HostError, LogHost};
use crate::inbox::{EtcdNews, EtcdView, Inbox, PeerEvent, PulseLog, SwitchRequest};
use crate::peer_view::PeerView;
use crate::promise_file::{PromiseFile, PromiseFileError};
use crate::register::{MEMBERS_MAX, MemberEntry};
use paceline_cluster::{
    Action, DurableState, Epoch, EpochRecord, Input, LogIndex, LogOrigin, LogRank, LogTail, Member, MemberId,
    Message, Millis, Promise, RoleName, StoredPromise, SwitchError, Timing,
};
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};

/// Maximum number of other members that are remembered for the status.
const PEERS_MAX: usize = 2 * MEMBERS_MAX;

/// Time after a planned switch's own limit within which the target must send its first pulse.
const SWITCH_END_MS: u64 = 3000;

/// Sends messages to other members.
pub trait MessageSender: Send + Sync {
    /// Queues a message. Never blocks; the message may be lost.
    fn send(&self, to: MemberId, message: Message);
}

/// Change of etcd's list of epochs that the member wants. If it is lost, the member wants it again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegisterRequest {
    /// [`Action::Claim`].
    Claim {
        /// The record.
        record: EpochRecord,
        /// Expected newest epoch.
        newest: Epoch,
    },
    /// [`Action::MarkOpened`].
    MarkOpened(EpochRecord),
}

/// State of a member on its disk, beside the log, when it starts.
#[derive(Debug)]
pub struct StoredMember {
    /// Identity of the directory.
    pub id: MemberId,
    /// File of the promise.
    pub promise_file: PromiseFile,
    /// The promise in it.
    pub promise: StoredPromise,
    /// Index up to which the tables contain the log; an archive has 0.
    pub applied: LogIndex,
    /// Where the log comes from.
    pub origin: LogOrigin,
}

/// Failure after which the process must stop.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum DriverError {
    #[error("the log has failed: {0}")]
    Log(#[from] HostError),
    #[error("the promise cannot be written: {0}")]
    Promise(#[from] PromiseFileError),
    #[error("the log has lost what was durable: it ended at {before:?} and now ends at {now:?}")]
    LogWentBack { before: LogRank, now: LogRank },
    #[error("an assertion has failed; the log of the server says which")]
    Panic,
}

/// Writing role of the host, as told last.
#[derive(Clone, Copy, Debug)]
enum WritingRole {
    None,
    Follow {
        primary: MemberId,
        epoch: Epoch,
        at: LogIndex,
    },
    Fetch {
        from: MemberId,
        epoch: Epoch,
        at: LogIndex,
        upto: LogRank,
    },
    Lead {
        epoch: Epoch,
    },
}

/// Access of clients, as told last.
#[derive(Clone, Copy, Debug)]
enum GateCall {
    Close,
    Hold,
    Open(Epoch),
}

/// Switch that was accepted by the queue.
struct RunningSwitch {
    target: MemberId,
    reply: oneshot::Sender<Result<(), SwitchFailure>>,
    is_handed_over: bool,
    ends: Millis,
}

/// A promise that is being written.
type Writing = Pin<Box<dyn Future<Output = Result<(Promise, LogTail), DriverError>> + Send>>;

/// The task's state. [`Driver::run`] runs it.
pub struct Driver {
    member: Member,
    timing: Timing,
    inbox: Arc<Inbox>,
    host: Arc<dyn LogHost>,
    messages: Arc<dyn MessageSender>,
    register: mpsc::Sender<RegisterRequest>,
    promise_file: Arc<Mutex<PromiseFile>>,
    /// The durable promise. `None`: it is torn.
    promise: Option<Promise>,
    writing: Option<Writing>,
    /// Rank of the log as reported last before it was frozen.
    frozen: Option<LogRank>,
    /// Host that takes over when the promise is written.
    next_host: Option<Arc<dyn LogHost>>,
    role: WritingRole,
    /// Number of the role; 0: none.
    role_number: u64,
    roles: u64,
    /// Rank of the log as reported last in this role. `None`: the cut is not known to be complete.
    reported: Option<LogRank>,
    gate: GateCall,
    reads_until: Millis,
    published: LogIndex,
    switch: Option<RunningSwitch>,
    peers: Vec<PeerView>,
}

impl Driver {
    /// Creates a member that starts now, with the log of `host`, and its handle. Reads of etcd whose answers are
    /// given to the handle must begin after this. The handle changes `directory`.
    pub fn new(
        stored: StoredMember,
        timing: Timing,
        host: Arc<dyn LogHost>,
        messages: Arc<dyn MessageSender>,
        directory: watch::Sender<Arc<Vec<MemberEntry>>>,
        register: mpsc::Sender<RegisterRequest>,
    ) -> (ClusterHandle, Driver) {
        let durable = DurableState {
            promise: stored.promise,
            tail: host.tail(),
            applied: stored.applied,
            origin: stored.origin,
        };
        let member = Member::new(stored.id, timing, durable, clock::now());
        let inbox = Inbox::new(stored.id, member.status(), directory);
        *inbox.host.lock() = Some(Arc::clone(&host));
        let promise = match stored.promise {
            StoredPromise::Whole(promise) => Some(promise),
            StoredPromise::Torn => None,
        };
        let driver = Driver {
            member,
            timing,
            inbox: Arc::clone(&inbox),
            host,
            messages,
            register,
            promise_file: Arc::new(Mutex::new(stored.promise_file)),
            promise,
            writing: None,
            frozen: None,
            next_host: None,
            role: WritingRole::None,
            role_number: 0,
            roles: 0,
            reported: None,
            gate: GateCall::Close,
            reads_until: Millis(0),
            published: stored.applied,
            switch: None,
            peers: Vec::new(),
        };
        (ClusterHandle::new(inbox), driver)
    }

    /// Runs until the log or the promise's file fails.
    pub async fn run(mut self) -> DriverError {
        if let Some(promise) = self.promise {
            self.host.promised(promise);
        }
        // Everything in the tables was acknowledged. If nothing is written any more, no other message may say so.
        self.host.publish(self.published);
        loop {
            if let Err(error) = self.turn().await {
                return error;
            }
        }
    }

    /// Waits for events until the next tick, and handles them.
    async fn turn(&mut self) -> Result<(), DriverError> {
        let tick_at = Instant::now() + Duration::from_millis((self.timing.pulse / 4).max(1));
        // Checked before each wait: events that are there already are taken first, and a timer would starve.
        while Instant::now() < tick_at {
            let inbox = Arc::clone(&self.inbox);
            let writing = &mut self.writing;
            let written = async {
                match writing {
                    Some(writing) => writing.await,
                    None => std::future::pending().await,
                }
            };
            let event = timeout_at(tick_at, async {
                tokio::select! {
                    written = written => Some(written),
                    () = inbox.wake.notified() => None,
                }
            });
            match event.await {
                Ok(Some(written)) => self.promise_written(written?)?,
                Ok(None) => self.drain()?,
                Err(_) => break,
            }
            self.show();
        }
        self.input(Input::Tick)?;
        self.end_switch_in_time();
        self.inbox.peers.lock().clone_from(&self.peers);
        self.show();
        Ok(())
    }

    fn promise_written(&mut self, (promise, tail): (Promise, LogTail)) -> Result<(), DriverError> {
        self.writing = None;
        let now = tail.rank();
        if let Some(before) = self.frozen.take().filter(|before| *before > now) {
            return Err(DriverError::LogWentBack { before, now });
        }
        self.promise = Some(promise);
        match self.next_host.take() {
            Some(host) => self.replace_host(host)?,
            None => self.host.promised(promise),
        }
        self.input(Input::PromiseWritten(promise, tail))
    }

    fn drain(&mut self) -> Result<(), DriverError> {
        let pending = self.inbox.take();
        match (pending.host, &self.writing) {
            (Some(host), None) => self.replace_host(host)?,
            (Some(host), Some(_)) => self.next_host = Some(host),
            (None, _) => {}
        }
        if self.inbox.progress.take(self.role_number) {
            self.log_progress()?;
        }
        match pending.etcd {
            Some(EtcdNews::State(state)) => {
                *self.inbox.etcd.lock() = EtcdView {
                    state: Some(Arc::new((*state).clone())),
                    is_away: false,
                };
                self.input(Input::Etcd(*state))?;
            }
            Some(EtcdNews::Away) => {
                self.inbox.etcd.lock().is_away = true;
                self.input(Input::EtcdAway)?;
            }
            None => {}
        }
        for event in pending.peers {
            match event {
                PeerEvent::Message(from, message) => {
                    let message = self.counted(from, message);
                    self.remember(from, &message);
                    self.input(Input::Message(from, message))?;
                }
                PeerEvent::Disconnected(member) => self.input(Input::Disconnected(member))?,
            }
        }
        for request in pending.switches {
            self.begin_switch(request)?;
        }
        Ok(())
    }

    /// Tells the member where the log ends now.
    fn log_progress(&mut self) -> Result<(), DriverError> {
        let tail = self.host.tail();
        let now = tail.rank();
        match self.reported.replace(now) {
            Some(before) if before > now => Err(DriverError::LogWentBack { before, now }),
            Some(before) if before == now => Ok(()),
            Some(_) | None => self.input(Input::LogEnd(tail)),
        }
    }

    fn input(&mut self, input: Input) -> Result<(), DriverError> {
        for action in self.member.handle(clock::now(), input) {
            self.execute(action);
        }
        Ok(())
    }

    fn execute(&mut self, action: Action) {
        match action {
            Action::Send(to, message) => self.messages.send(to, message),
            Action::WritePromise(promise) => self.write_promise(promise),
            Action::Claim { record, newest } => self.ask(RegisterRequest::Claim { record, newest }),
            Action::MarkOpened(record) => self.ask(RegisterRequest::MarkOpened(record)),
            Action::Fetch {
                from,
                epoch,
                at,
                upto,
            } => self.begin_role(WritingRole::Fetch {
                from,
                epoch,
                at,
                upto,
            }),
            Action::Follow { primary, epoch, at } => {
                self.begin_role(WritingRole::Follow { primary, epoch, at });
            }
            Action::WriteStart(epoch) => self.begin_role(WritingRole::Lead { epoch }),
            Action::Publish(upto) => {
                self.published = upto;
                self.host.publish(upto);
            }
            Action::Open(epoch) => self.set_gate(GateCall::Open(epoch)),
            Action::Hold => self.set_gate(GateCall::Hold),
            Action::Close => self.set_gate(GateCall::Close),
            Action::ReadsUntil(until) => {
                self.reads_until = until;
                self.host.reads_until(until);
            }
            Action::MayBeLost { after } => self.host.may_be_lost(after),
            Action::SwitchRefused(refusal) => self.end_switch(Err(refusal.into())),
        }
    }

    /// A full queue loses the request; the member repeats it.
    fn ask(&self, request: RegisterRequest) {
        let _ = self.register.try_send(request);
    }

    fn write_promise(&mut self, promise: Promise) {
        self.role = WritingRole::None;
        self.role_number = 0;
        self.frozen = self.reported.take();
        if let Some(switch) = &mut self.switch {
            match switch.target == promise.primary {
                true => switch.is_handed_over = true,
                false => self.end_switch(Err(SwitchError::Overtaken.into())),
            }
        }
        let (host, file) = (Arc::clone(&self.host), Arc::clone(&self.promise_file));
        self.writing = Some(Box::pin(async move {
            let tail = host.freeze().await?;
            let write = tokio::task::spawn_blocking(move || file.lock().write(promise));
            write.await.expect("writing a promise does not panic")?;
            Ok((promise, tail))
        }));
    }

    fn begin_role(&mut self, role: WritingRole) {
        self.roles += 1;
        self.role = role;
        self.role_number = self.roles;
        self.reported = None;
        let progress = self.inbox.progress.progress(self.role_number);
        match role {
            WritingRole::None => unreachable!("a promise ends a role"),
            WritingRole::Follow { primary, epoch, at } => self.host.follow(primary, epoch, at, progress),
            WritingRole::Fetch {
                from,
                epoch,
                at,
                upto,
            } => self.host.fetch(from, epoch, at, upto, progress),
            WritingRole::Lead { epoch } => self.host.write_start(epoch, progress),
        }
    }

    fn set_gate(&mut self, gate: GateCall) {
        self.gate = gate;
        match gate {
            GateCall::Close => self.host.close(),
            GateCall::Hold => self.host.hold(),
            GateCall::Open(epoch) => self.host.open(epoch),
        }
    }

    /// Tells the new host everything that lasts.
    fn replace_host(&mut self, host: Arc<dyn LogHost>) -> Result<(), DriverError> {
        assert!(self.writing.is_none(), "the old host is freezing");
        *self.inbox.host.lock() = Some(Arc::clone(&host));
        self.host = host;
        if let Some(promise) = self.promise {
            self.host.promised(promise);
        }
        let reported = self.reported;
        let place = |at: LogIndex| match reported {
            Some(_) => at.max(self.host.tail().end()),
            None => at,
        };
        let role = match self.role {
            WritingRole::None => None,
            WritingRole::Follow { primary, epoch, at } => Some(WritingRole::Follow {
                primary,
                epoch,
                at: place(at),
            }),
            WritingRole::Fetch {
                from,
                epoch,
                at,
                upto,
            } => Some(WritingRole::Fetch {
                from,
                epoch,
                at: place(at),
                upto,
            }),
            WritingRole::Lead { epoch } => Some(WritingRole::Lead { epoch }),
        };
        if let Some(role) = role {
            self.begin_role(role);
            self.reported = reported;
        }
        self.host.publish(self.published);
        self.set_gate(self.gate);
        self.host.reads_until(self.reads_until);
        match reported {
            Some(_) => self.log_progress(),
            None => Ok(()),
        }
    }

    fn begin_switch(&mut self, request: SwitchRequest) -> Result<(), DriverError> {
        if self.switch.is_some() {
            let _ = request.reply.send(Err(SwitchError::Busy.into()));
            return Ok(());
        }
        self.switch = Some(RunningSwitch {
            target: request.target,
            reply: request.reply,
            is_handed_over: false,
            ends: clock::now().after(self.timing.switch + SWITCH_END_MS),
        });
        self.input(Input::Switch(request.target))
    }

    /// The receiver may have given up.
    fn end_switch(&mut self, result: Result<(), SwitchFailure>) {
        if let Some(switch) = self.switch.take() {
            let _ = switch.reply.send(result);
        }
    }

    fn end_switch_in_time(&mut self) {
        let Some(switch) = &self.switch else {
            return;
        };
        if clock::now() >= switch.ends {
            self.end_switch(Err(match switch.is_handed_over {
                true => SwitchFailure::Unfinished,
                false => SwitchError::TimedOut.into(),
            }));
        }
    }

    /// Returns the message as it counts. A copy of this epoch comes from this log: a member that it is not sent to has
    /// at most what was there at the start. Its log has something else: its directory was changed by hand.
    fn counted(&self, from: MemberId, message: Message) -> Message {
        match (message, self.role) {
            (Message::Copy { epoch, end, sent }, WritingRole::Lead { epoch: led })
                if epoch == led && !self.host.sends_to(from) =>
            {
                let start = self.host.tail().start_of_last(led);
                let end = end.min(start.unwrap_or(LogIndex(0)));
                Message::Copy { epoch, end, sent }
            }
            (message, _) => message,
        }
    }

    fn remember(&mut self, from: MemberId, message: &Message) {
        let known = self.peers.iter().position(|peer| peer.id == from);
        let at = match known {
            Some(at) => at,
            None if self.peers.len() < PEERS_MAX => {
                self.peers.push(PeerView {
                    id: from,
                    heard: Millis(0),
                    end: None,
                });
                self.peers.len() - 1
            }
            None => return,
        };
        let peer = &mut self.peers[at];
        peer.heard = clock::now();
        match message {
            Message::Copy { end, .. } => peer.end = Some(*end),
            Message::Promised { tail, .. } => peer.end = Some(tail.end()),
            Message::Missing
            | Message::Ask { .. }
            | Message::Refused { .. }
            | Message::Published { .. }
            | Message::TakeOver { .. } => {}
            Message::Pulse { epoch, log, .. } => self.remember_epochs(from, *epoch, log),
        }
    }

    fn remember_epochs(&self, primary: MemberId, epoch: Epoch, log: &LogTail) {
        let mut known = self.inbox.pulse_log.lock();
        let is_known = known
            .as_ref()
            .is_some_and(|known| (known.primary, known.epoch) == (primary, epoch));
        // A primary's epochs are fixed while it leads.
        if !is_known {
            *known = Some(PulseLog {
                primary,
                epoch,
                log: log.clone(),
            });
        }
    }

    fn show(&mut self) {
        let status = self.member.status();
        let is_followed = self.switch.as_ref().is_some_and(|switch| {
            let follows = status.role == RoleName::Following && status.primary == Some(switch.target);
            switch.is_handed_over && follows
        });
        if is_followed {
            self.end_switch(Ok(()));
        }
        self.inbox.status.send_if_modified(|shown| {
            let is_new = *shown != status;
            if is_new {
                *shown = status;
            }
            is_new
        });
    }
}

impl Drop for Driver {
    /// A switch that is waited for does not happen.
    fn drop(&mut self) {
        self.inbox.close();
    }
}
