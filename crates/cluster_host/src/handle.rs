//! Handle of a running member, for the rest of its process.

use crate::clock;
use crate::durable_tail::epoch_history;
use crate::host::LogHost;
pub use crate::inbox::SwitchFailure;
use crate::inbox::{EtcdNews, Inbox, PeerEvent, SwitchRequest};
use crate::peer_view::PeerView;
use crate::register::MemberEntry;
use crate::report::{HostReport, MemberReport};
use paceline_binlog::EpochHistory;
use paceline_cluster::{Epoch, EtcdState, MemberId, Message, Status};
use paceline_program_version as program_version;
use std::sync::Arc;
use tokio::sync::{oneshot, watch};

/// Handle of a running member. Cheap to clone. No method except [`switch`](Self::switch) waits.
#[derive(Clone)]
pub struct ClusterHandle {
    inbox: Arc<Inbox>,
}

impl ClusterHandle {
    pub(crate) fn new(inbox: Arc<Inbox>) -> Self {
        ClusterHandle { inbox }
    }

    /// Passes a message of another member on.
    pub fn message(&self, from: MemberId, message: Message) {
        self.inbox.peer(PeerEvent::Message(from, message));
    }

    /// Tells that the process of another member is gone.
    pub fn disconnected(&self, member: MemberId) {
        self.inbox.peer(PeerEvent::Disconnected(member));
    }

    /// Passes an answer of etcd on.
    pub fn etcd(&self, state: EtcdState) {
        self.inbox.etcd(EtcdNews::State(Box::new(state)));
    }

    /// Tells that etcd does not answer.
    pub fn etcd_away(&self) {
        self.inbox.etcd(EtcdNews::Away);
    }

    /// Replaces the log's host. The member goes on; the new host is told what lasts ([`crate::host`]).
    pub fn set_host(&self, host: Arc<dyn LogHost>) {
        self.inbox.host(host);
    }

    /// Hands over to that server if this member is the primary, and returns when it follows that server.
    ///
    /// # Errors
    /// The reason why the switch was not made. The primary then goes on, except after [`SwitchFailure::Unfinished`].
    pub async fn switch(&self, target: MemberId) -> Result<(), SwitchFailure> {
        let (reply, answer) = oneshot::channel();
        self.inbox.switch(SwitchRequest { target, reply });
        answer.await.unwrap_or(Err(SwitchFailure::Ended))
    }

    /// Returns whether the driver has ended. The member's state no longer changes then.
    pub fn has_ended(&self) -> bool {
        self.inbox.is_closed()
    }

    /// Returns the member's state.
    pub fn status(&self) -> Status {
        self.inbox.status.borrow().clone()
    }

    /// Returns a receiver of the member's state. It changes at each commit.
    pub fn watch(&self) -> watch::Receiver<Status> {
        self.inbox.status.subscribe()
    }

    /// Returns the other members from which messages have come.
    pub fn peers(&self) -> Vec<PeerView> {
        self.inbox.peers.lock().clone()
    }

    /// Returns the epochs of the log of a primary that has sent a pulse in this epoch.
    pub fn epochs_of(&self, primary: MemberId, epoch: Epoch) -> Option<EpochHistory> {
        let known = self.inbox.pulse_log.lock();
        let of_primary = known.as_ref();
        let of_primary = of_primary.filter(|known| (known.primary, known.epoch) == (primary, epoch));
        of_primary.map(|known| epoch_history(&known.log))
    }

    /// Returns how long ago a peer was heard, in milliseconds.
    pub fn silence_ms(peer: &PeerView) -> u64 {
        clock::now().0.saturating_sub(peer.heard.0)
    }

    /// Returns the member's state as it tells it to others.
    pub fn report(&self) -> MemberReport {
        let (status, peers) = (self.status(), self.peers());
        let host = self.inbox.host.lock().clone();
        let version = program_version::number().to_owned();
        MemberReport::new(self.inbox.id, version, &status, &peers, |ends| match host {
            Some(host) => host.report(ends),
            None => HostReport::default(),
        })
    }

    /// Returns the state of etcd that the member knows.
    pub fn etcd_state(&self) -> Option<Arc<EtcdState>> {
        self.inbox.etcd.lock().state.clone()
    }

    /// Returns whether etcd does not answer.
    pub fn is_etcd_away(&self) -> bool {
        self.inbox.etcd.lock().is_away
    }

    /// Replaces the members' directory.
    pub fn set_directory(&self, members: Vec<MemberEntry>) {
        self.inbox.directory.send_if_modified(|known| {
            let is_new = **known != members;
            if is_new {
                *known = Arc::new(members);
            }
            is_new
        });
    }

    /// Returns a receiver of the members' directory: names and addresses, also of members that are no log holders.
    pub fn directory(&self) -> watch::Receiver<Arc<Vec<MemberEntry>>> {
        self.inbox.directory.subscribe()
    }

    /// Returns a member's entry in the directory.
    pub fn entry(&self, member: MemberId) -> Option<MemberEntry> {
        let directory = self.inbox.directory.borrow();
        directory.iter().find(|entry| entry.member() == member).cloned()
    }
}
