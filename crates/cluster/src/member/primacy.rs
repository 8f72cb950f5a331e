//! A primary: from the start of its epoch to the promise of a later one.

use super::{Gate, Member, Role};
use crate::configuration::{Configuration, HolderKind, MemberId};
use crate::epoch::{Epoch, EpochRecord, Progress};
use crate::interface::{Action, Consent, Elections, Hearing, Message, Millis, SwitchError, Timing};
use paceline_types::LogIndex;

/// Maximum number of members that a primary remembers, beside its holders.
const PEERS_MAX: usize = 256;

#[derive(Debug)]
pub(super) struct Primacy {
    pub(super) record: EpochRecord,
    start: LogIndex,
    loss: Loss,
    since: Millis,
    is_opened: bool,
    peers: Vec<Peer>,
    /// `sent` of the newest pulse.
    pub(super) last_pulse: Millis,
    /// Answers to pulses up to this one prove nothing about reads: another was allowed to take over.
    reads_after: Option<Millis>,
    /// Published index at the last pulse. A member that has this much keeps up.
    published_at_pulse: LogIndex,
    switch: Option<Switch>,
    renewal: Renewal,
}

/// Preparation of an epoch with another configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Renewal {
    /// None is wanted.
    Unprepared,
    /// New transactions wait until those under way are everywhere, since then.
    Draining { since: Millis },
    /// That lasted too long. Transactions go on meanwhile.
    Undrained,
}

/// Whether acknowledged transactions may be missing in the log with which it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Loss {
    Impossible,
    /// After a forced epoch.
    Possible,
}

/// Another member, as the primary knows it.
#[derive(Clone, Copy, Debug)]
struct Peer {
    id: MemberId,
    /// Durable end of its copy of this log.
    end: Option<LogIndex>,
    /// `sent` of the newest pulse that it has answered.
    sent: Option<Millis>,
    /// When it answered.
    heard: Option<Millis>,
    /// Since when it has refused this epoch.
    refused: Option<Millis>,
}

/// Planned switch.
#[derive(Clone, Copy, Debug)]
struct Switch {
    target: MemberId,
    since: Millis,
    /// Given when the target had everything.
    consent: Option<Consent>,
}

impl Primacy {
    fn peer(&self, id: MemberId) -> Option<&Peer> {
        self.peers.iter().find(|peer| peer.id == id)
    }

    fn peer_mut(&mut self, id: MemberId) -> &mut Peer {
        let at = self.peers.iter().position(|peer| peer.id == id);
        let at = at.unwrap_or_else(|| {
            self.peers.push(Peer {
                id,
                end: None,
                sent: None,
                heard: None,
                refused: None,
            });
            self.peers.len() - 1
        });
        &mut self.peers[at]
    }

    /// Returns the target of the planned switch that is under way.
    pub(super) fn switch_target(&self) -> Option<MemberId> {
        self.switch.map(|switch| switch.target)
    }

    /// The member's process is gone.
    pub(super) fn forget(&mut self, member: MemberId) {
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.id == member) {
            peer.heard = None;
        }
    }

    /// A member has promised a later epoch.
    pub(super) fn refuse(&mut self, member: MemberId, now: Millis) {
        if self.remembers(member) {
            self.peer_mut(member).refused.get_or_insert(now);
        }
    }

    /// Returns whether what this member says is remembered. Others never leave a holder without a place.
    fn remembers(&self, member: MemberId) -> bool {
        let is_holder = self.record.configuration.holder(member).is_some();
        is_holder || self.peer(member).is_some() || self.peers.len() < PEERS_MAX
    }

    pub(super) fn hears_enough(&self, own: MemberId, now: Millis, timing: &Timing) -> bool {
        let is_heard = |id| {
            let heard = self.peer(id).and_then(|peer| peer.heard);
            id == own || heard.is_some_and(|heard| now < heard.after(timing.silence))
        };
        now < self.since.after(timing.silence) || self.record.configuration.acknowledges(is_heard)
    }

    /// Returns whether a member has refused this epoch for so long that no candidate will take it along.
    fn is_outdated(&self, now: Millis, timing: &Timing) -> bool {
        let mut refusals = self.peers.iter().filter_map(|peer| peer.refused);
        refusals.any(|since| now >= since.after(timing.patience))
    }
}

impl Member {
    /// The start of the epoch is durable here.
    pub(super) fn become_primary(&mut self, record: EpochRecord, start: LogIndex, loss: Loss) {
        self.role = Role::Primary(Primacy {
            record,
            start,
            loss,
            since: self.now,
            is_opened: false,
            peers: Vec::new(),
            last_pulse: Millis(0),
            reads_after: None,
            published_at_pulse: self.published,
            switch: None,
            renewal: Renewal::Unprepared,
        });
        self.pulse();
        self.advance();
    }

    fn primacy(&mut self) -> &mut Primacy {
        match &mut self.role {
            Role::Primary(primacy) => primacy,
            _ => unreachable!("only a primary leads"),
        }
    }

    /// Does what time demands of a primary.
    pub(super) fn lead(&mut self, repeats: bool) {
        self.drive_switch(repeats);
        if repeats {
            self.pulse();
            self.mark_opened();
        }
        self.consider_renewal();
    }

    /// Returns everyone that should follow: the holders, those that are to become holders, and all other members of the
    /// directory.
    fn followers(&self) -> Vec<MemberId> {
        let wanted = self.etcd.as_ref().and_then(|etcd| etcd.wanted.as_ref());
        let wanted = wanted.map_or(&[][..], Configuration::holders);
        let listed = self.etcd.iter().flat_map(|etcd| &etcd.members);
        let Role::Primary(primacy) = &self.role else {
            unreachable!("only a primary leads")
        };
        let holders = primacy.record.configuration.holders().iter().chain(wanted);
        let members = holders
            .map(|holder| holder.id)
            .chain(listed.map(|member| member.id));
        let mut members: Vec<_> = members.filter(|id| *id != self.id).collect();
        members.sort_unstable();
        members.dedup();
        members
    }

    /// Sends a pulse to everyone that should follow, and forgets those that no longer should.
    fn pulse(&mut self) {
        let followers = self.followers();
        let primacy = self.primacy();
        primacy
            .peers
            .retain(|peer| followers.binary_search(&peer.id).is_ok());
        for member in followers {
            self.send_pulse(member);
        }
        let published = self.published;
        self.primacy().published_at_pulse = published;
    }

    pub(super) fn send_pulse(&mut self, to: MemberId) {
        let (id, now, timing) = (self.id, self.now, self.timing);
        let primacy = self.primacy();
        // After the consent to a switch pulses prove nothing, and must not look newer than it.
        if primacy.switch.is_none_or(|switch| switch.consent.is_none()) {
            primacy.last_pulse = now;
        }
        let hearing = match primacy.hears_enough(id, now, &timing) {
            true => Hearing::Enough,
            false => Hearing::TooFew,
        };
        let (epoch, sent) = (primacy.record.epoch, primacy.last_pulse);
        let (log, published, needed) = (self.tail.endless(), self.published, self.needed());
        let pulse = Message::Pulse {
            epoch,
            log,
            published,
            needed,
            sent,
            hearing,
        };
        self.send(to, pulse);
    }

    /// Returns the index up to which every server that could become the primary has the log, as far as known.
    pub(super) fn needed(&self) -> LogIndex {
        let Role::Primary(primacy) = &self.role else {
            unreachable!("only a primary leads")
        };
        let holders = primacy.record.configuration.holders().iter();
        let servers = holders.filter(|holder| holder.kind == HolderKind::Server && holder.id != self.id);
        let ends = servers.map(|server| {
            primacy
                .peer(server.id)
                .and_then(|peer| peer.end)
                .unwrap_or_default()
        });
        ends.min().unwrap_or(self.published).min(self.published)
    }

    pub(super) fn on_copy(&mut self, from: MemberId, epoch: Epoch, end: LogIndex, sent: Millis) {
        let now = self.now;
        let Role::Primary(primacy) = &mut self.role else {
            return;
        };
        if primacy.record.epoch != epoch || !primacy.remembers(from) {
            return;
        }
        let peer = primacy.peer_mut(from);
        peer.end = peer.end.max(Some(end));
        peer.sent = peer.sent.max(Some(sent));
        peer.heard = Some(now);
        peer.refused = None;
        self.advance();
        self.drive_switch(false);
    }

    /// Publishes what is acknowledged, opens when the start is, and extends the time of new reads.
    pub(super) fn advance(&mut self) {
        let (id, end, grant) = (self.id, self.tail.end(), self.timing.grant);
        let primacy = self.primacy();
        let configuration = &primacy.record.configuration;
        let end_of = |member| match member == id {
            true => Some(end),
            false => primacy.peer(member).and_then(|peer| peer.end),
        };
        // A record of an older epoch counts only together with the start of this one.
        let acknowledged = configuration.reached(end_of).filter(|end| *end > primacy.start);
        let Some(acknowledged) = acknowledged else {
            return;
        };
        let pulse_of = |member| match member == id {
            true => Some(Millis(u64::MAX)),
            false => {
                let sent = primacy.peer(member).and_then(|peer| peer.sent);
                sent.filter(|sent| primacy.reads_after.is_none_or(|after| *sent > after))
            }
        };
        let proven = configuration.reached(pulse_of);
        let is_first = !std::mem::replace(&mut primacy.is_opened, true);
        let consents = primacy.switch.is_some_and(|switch| switch.consent.is_some());
        let (start, loss) = (primacy.start, primacy.loss);
        if is_first && loss == Loss::Possible {
            self.actions.push(Action::MayBeLost { after: start });
        }
        if acknowledged > self.published {
            self.publish(acknowledged);
            self.announce(acknowledged);
        }
        if is_first {
            self.set_gate(Gate::Open);
            self.mark_opened();
        }
        if let Some(proven) = proven
            && !consents
        {
            let grant = grant.saturating_sub(grant * self.timing.drift_percent / 100 + 1);
            self.set_reads(proven.after(grant).max(self.reads_until));
        }
    }

    /// Tells those that follow what is acknowledged. A server applies only a little beyond what it has published, so
    /// without this it would do that much with each pulse, and acknowledge no more meanwhile.
    fn announce(&mut self, upto: LogIndex) {
        let primacy = self.primacy();
        let epoch = primacy.record.epoch;
        let following = primacy.peers.iter().filter(|peer| peer.end.is_some());
        let following: Vec<_> = following.map(|peer| peer.id).collect();
        for member in following {
            self.send(member, Message::Published { epoch, upto });
        }
    }

    /// Tells etcd that older configurations no longer matter, until it has understood.
    fn mark_opened(&mut self) {
        let Role::Primary(primacy) = &self.role else {
            return;
        };
        let epoch = primacy.record.epoch;
        let mut records = self.etcd.iter().flat_map(|etcd| &etcd.records);
        let is_marked = records.any(|record| record.epoch >= epoch && record.progress == Progress::Opened);
        if primacy.is_opened && !is_marked {
            self.actions.push(Action::MarkOpened(EpochRecord {
                progress: Progress::Opened,
                ..primacy.record.clone()
            }));
        }
    }

    /// Claims the next epoch for itself if the operator wants another configuration, or a holder cannot follow this
    /// one.
    fn consider_renewal(&mut self) {
        let Some(etcd) = self.etcd.as_ref() else {
            return;
        };
        let Role::Primary(primacy) = &self.role else {
            return;
        };
        if primacy.switch.is_some() {
            return;
        }
        let present = &primacy.record.configuration;
        let keeps_up = |id| {
            let end = primacy.peer(id).and_then(|peer| peer.end);
            id == self.id || end >= Some(primacy.published_at_pulse)
        };
        let is_ready = |wanted: &&Configuration| {
            let added = wanted
                .holders()
                .iter()
                .filter(|holder| present.holder(holder.id).is_none());
            let mut added = added.map(|holder| holder.id);
            wanted.has_server(self.id) && wanted.acknowledges(keeps_up) && added.all(keeps_up)
        };
        let wanted = etcd
            .wanted
            .as_ref()
            .filter(|wanted| primacy.is_opened && *wanted != present);
        let is_outdated = primacy.is_outdated(self.now, &self.timing) && etcd.elections == Elections::Active;
        let present = present.clone();
        match wanted.filter(is_ready).cloned() {
            Some(wanted) => {
                if self.is_drained(&wanted) {
                    self.claim(wanted);
                }
            }
            None => {
                self.end_draining();
                if is_outdated {
                    self.claim(present);
                }
            }
        }
    }

    /// Lets new transactions wait until those under way are acknowledged by all that will follow, and returns whether
    /// they are, or have lasted too long. A member that applies a definition needs what is before it published; in the
    /// next epoch nothing is published before that epoch's start, which comes after the definition.
    fn is_drained(&mut self, wanted: &Configuration) -> bool {
        let (id, now, published, end) = (self.id, self.now, self.published, self.tail.end());
        let longest = self.timing.switch;
        let primacy = self.primacy();
        match primacy.renewal {
            Renewal::Unprepared => {
                primacy.renewal = Renewal::Draining { since: now };
                self.set_gate(Gate::Held);
                false
            }
            Renewal::Draining { since } if now >= since.after(longest) => {
                primacy.renewal = Renewal::Undrained;
                self.set_gate(Gate::Open);
                true
            }
            Renewal::Draining { .. } => {
                let has_all =
                    |member| member == id || primacy.peer(member).and_then(|peer| peer.end) == Some(end);
                published == end && wanted.acknowledges(has_all)
            }
            Renewal::Undrained => true,
        }
    }

    /// No other configuration is wanted any more, or it is not ready.
    fn end_draining(&mut self) {
        let renewal = std::mem::replace(&mut self.primacy().renewal, Renewal::Unprepared);
        if matches!(renewal, Renewal::Draining { .. }) {
            self.set_gate(Gate::Open);
        }
    }

    pub(super) fn on_switch(&mut self, target: MemberId) {
        let now = self.now;
        let refusal = match &self.role {
            Role::Primary(primacy) if primacy.is_opened => {
                let is_server = primacy.record.configuration.has_server(target) && target != self.id;
                let is_draining = matches!(primacy.renewal, Renewal::Draining { .. });
                let is_busy = primacy.switch.is_some() || is_draining;
                let is_unreadable = |etcd| !self.needs_upgrades(etcd, target).is_empty();
                if !is_server {
                    Some(SwitchError::NoSuchServer)
                } else if self.etcd.as_ref().is_some_and(is_unreadable) {
                    Some(SwitchError::Unreadable)
                } else if is_busy || self.election.is_claiming(now, &self.timing) {
                    Some(SwitchError::Busy)
                } else {
                    None
                }
            }
            _ => Some(SwitchError::NotPrimary),
        };
        if let Some(refusal) = refusal {
            self.actions.push(Action::SwitchRefused(refusal));
            return;
        }
        self.primacy().switch = Some(Switch {
            target,
            since: now,
            consent: None,
        });
        self.set_gate(Gate::Held);
        self.drive_switch(true);
    }

    /// Hands over when the target has everything; takes the word back when that lasts too long.
    fn drive_switch(&mut self, repeats: bool) {
        let (now, published, end) = (self.now, self.published, self.tail.end());
        let patience = self.timing.switch;
        let primacy = self.primacy();
        let Some(switch) = primacy.switch else {
            return;
        };
        if now >= switch.since.after(patience) {
            primacy.switch = None;
            self.set_gate(Gate::Open);
            self.actions.push(Action::SwitchRefused(SwitchError::TimedOut));
            return;
        }
        let target_end = primacy.peer(switch.target).and_then(|peer| peer.end);
        let is_ready = published == end && target_end == Some(end);
        let consent = match switch.consent {
            None if is_ready => {
                let consent = Consent {
                    epoch: primacy.record.epoch,
                    pulse: primacy.last_pulse,
                };
                primacy.reads_after = Some(consent.pulse);
                primacy.switch = Some(Switch {
                    consent: Some(consent),
                    ..switch
                });
                self.revoke_reads();
                consent
            }
            Some(consent) if repeats => consent,
            Some(_) | None => return,
        };
        self.send(switch.target, Message::TakeOver { consent });
    }
}
