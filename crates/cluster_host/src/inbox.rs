//! The queue of a driver. Everything in it is bounded, and nobody who adds to it waits.
//!
//! Messages may be lost. When many wait, only the newest of each kind of each member does, so a member that sends too
//! many harms only itself; and the oldest goes when there are still too many. Of etcd's answers only the newest
//! matters; of reports of the log only that there is one ([`ProgressSignal`]).

use crate::host::{LogHost, ProgressSignal};
use crate::peer_view::PeerView;
use crate::register::MemberEntry;
use paceline_cluster::{Epoch, EtcdState, LogTail, MemberId, Message, Status, SwitchError};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::mem::discriminant;
use std::sync::Arc;
use tokio::sync::{Notify, oneshot, watch};

/// Maximum number of messages that wait.
const MESSAGES_MAX: usize = 1024;
/// Number of messages from which on only the newest of a kind waits.
const MESSAGES_MANY: usize = 64;
/// Maximum number of switches that wait. More than one is refused by the driver anyway.
const SWITCHES_MAX: usize = 8;

/// Reason why a planned switch was not made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SwitchFailure {
    /// The member refuses it.
    #[error(transparent)]
    Refused(#[from] SwitchError),
    /// The primary has handed over, but the target did not come up in time.
    #[error("the old primary has handed over, and the target has not become the primary in time")]
    Unfinished,
    /// The member's driver has ended.
    #[error("this member no longer takes part in the cluster")]
    Ended,
}

/// Event from another member.
#[derive(Debug)]
pub(crate) enum PeerEvent {
    Message(MemberId, Message),
    Disconnected(MemberId),
}

impl PeerEvent {
    /// Returns whether the older event no longer matters.
    fn replaces(&self, older: &PeerEvent) -> bool {
        match (self, older) {
            (PeerEvent::Message(from, message), PeerEvent::Message(sender, earlier)) => {
                from == sender && discriminant(message) == discriminant(earlier)
            }
            (PeerEvent::Disconnected(gone), PeerEvent::Disconnected(earlier)) => gone == earlier,
            (PeerEvent::Message(..), PeerEvent::Disconnected(_))
            | (PeerEvent::Disconnected(_), PeerEvent::Message(..)) => false,
        }
    }
}

/// News of etcd.
#[derive(Debug)]
pub(crate) enum EtcdNews {
    State(Box<EtcdState>),
    Away,
}

/// Request of an operator.
#[derive(Debug)]
pub(crate) struct SwitchRequest {
    pub(crate) target: MemberId,
    pub(crate) reply: oneshot::Sender<Result<(), SwitchFailure>>,
}

#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) peers: VecDeque<PeerEvent>,
    pub(crate) etcd: Option<EtcdNews>,
    pub(crate) switches: Vec<SwitchRequest>,
    pub(crate) host: Option<Arc<dyn LogHost>>,
    /// The driver has ended: nothing is taken any more.
    is_closed: bool,
}

/// etcd, as the member knows it.
#[derive(Default)]
pub(crate) struct EtcdView {
    pub(crate) state: Option<Arc<EtcdState>>,
    pub(crate) is_away: bool,
}

/// Epochs of a primary's log, as it said in a pulse of its epoch.
pub(crate) struct PulseLog {
    pub(crate) primary: MemberId,
    pub(crate) epoch: Epoch,
    pub(crate) log: LogTail,
}

pub(crate) struct Inbox {
    /// This member.
    pub(crate) id: MemberId,
    pending: Mutex<Pending>,
    pub(crate) wake: Arc<Notify>,
    pub(crate) progress: Arc<ProgressSignal>,
    pub(crate) status: watch::Sender<Status>,
    pub(crate) peers: Mutex<Vec<PeerView>>,
    /// Of the last primary that has sent a pulse.
    pub(crate) pulse_log: Mutex<Option<PulseLog>>,
    pub(crate) etcd: Mutex<EtcdView>,
    /// The log's host that the driver calls.
    pub(crate) host: Mutex<Option<Arc<dyn LogHost>>>,
    pub(crate) directory: watch::Sender<Arc<Vec<MemberEntry>>>,
}

impl Inbox {
    pub(crate) fn new(
        id: MemberId,
        status: Status,
        directory: watch::Sender<Arc<Vec<MemberEntry>>>,
    ) -> Arc<Self> {
        let wake = Arc::new(Notify::new());
        Arc::new(Inbox {
            id,
            pending: Mutex::default(),
            progress: ProgressSignal::new(Arc::clone(&wake)),
            wake,
            status: watch::Sender::new(status),
            peers: Mutex::default(),
            pulse_log: Mutex::default(),
            etcd: Mutex::default(),
            host: Mutex::default(),
            directory,
        })
    }

    pub(crate) fn take(&self) -> Pending {
        std::mem::take(&mut self.pending.lock())
    }

    /// Refuses and drops everything from now on.
    pub(crate) fn close(&self) {
        *self.pending.lock() = Pending {
            is_closed: true,
            ..Pending::default()
        };
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.pending.lock().is_closed
    }

    /// Adds something, and wakes the driver. What the driver can no longer take is dropped.
    fn add(&self, add: impl FnOnce(&mut Pending)) {
        let mut pending = self.pending.lock();
        if !pending.is_closed {
            add(&mut pending);
        }
        drop(pending);
        self.wake.notify_one();
    }

    pub(crate) fn peer(&self, event: PeerEvent) {
        self.add(|pending| {
            if pending.peers.len() >= MESSAGES_MANY {
                pending.peers.retain(|older| !event.replaces(older));
            }
            if pending.peers.len() >= MESSAGES_MAX {
                pending.peers.pop_front();
            }
            pending.peers.push_back(event);
        });
    }

    pub(crate) fn etcd(&self, news: EtcdNews) {
        self.add(|pending| pending.etcd = Some(news));
    }

    pub(crate) fn host(&self, host: Arc<dyn LogHost>) {
        self.add(|pending| pending.host = Some(host));
    }

    pub(crate) fn switch(&self, request: SwitchRequest) {
        self.add(|pending| {
            if pending.switches.len() < SWITCHES_MAX {
                pending.switches.push(request);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_cluster::{Epoch, LogIndex, Millis, RoleName};

    #[test]
    fn a_member_that_sends_too_much_hides_no_other() {
        let status = Status {
            role: RoleName::Waiting,
            epoch: None,
            primary: None,
            end: LogIndex(0),
            published: LogIndex(0),
            needed: LogIndex(0),
            waits: None,
        };
        let inbox = Inbox::new(MemberId(3), status, watch::Sender::default());
        let copy = |end| Message::Copy {
            epoch: Epoch(1),
            end: LogIndex(end),
            sent: Millis(1),
        };
        inbox.peer(PeerEvent::Message(MemberId(1), copy(1)));
        inbox.peer(PeerEvent::Disconnected(MemberId(2)));
        for end in 0..100_000 {
            inbox.peer(PeerEvent::Message(MemberId(7), copy(end)));
        }
        let peers = inbox.take().peers;
        assert!(peers.len() <= MESSAGES_MANY, "{}", peers.len());
        assert!(
            matches!(&peers[0], PeerEvent::Message(MemberId(1), _)),
            "{peers:?}"
        );
        assert!(
            matches!(&peers[1], PeerEvent::Disconnected(MemberId(2))),
            "{peers:?}"
        );
        assert!(
            matches!(peers.back(), Some(PeerEvent::Message(MemberId(7), newest)) if *newest == copy(99_999)),
            "{peers:?}"
        );
        inbox.close();
        inbox.peer(PeerEvent::Disconnected(MemberId(2)));
        assert!(inbox.take().peers.is_empty());
    }
}
