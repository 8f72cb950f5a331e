//! When a member claims an epoch, and when it uses a record of etcd that names it.

use super::{Member, Role};
use crate::configuration::{Configuration, MemberId};
use crate::epoch::{Epoch, EpochRecord, Origin, Progress};
use crate::interface::{Action, Claimer, Consent, Elections, EtcdState, Leave, Message, Millis, Timing};

/// Number of pulses for which an opinion counts.
const OPINION_PULSES: u64 = 4;

/// Evidence that the cluster needs another primary.
#[derive(Debug, Default)]
pub(super) struct Election {
    /// Members that hear no primary, and when they said so last.
    opinions: Vec<(MemberId, Millis)>,
    /// Time since which they block.
    since: Option<Millis>,
    /// Time of the last sign of another candidate: a new epoch in etcd, or a promise to it.
    pub(super) attempt_seen: Millis,
    /// Highest epoch that others report to have promised.
    pub(super) promised: Epoch,
    /// This member's claim that etcd has not answered, and its time.
    claim: Option<(Epoch, Millis)>,
    /// Consent of the primary that this member follows.
    pub(super) consent: Option<Consent>,
}

impl Election {
    /// Returns whether etcd may still answer a claim.
    pub(super) fn is_claiming(&self, now: Millis, timing: &Timing) -> bool {
        let claim = self.claim.as_ref();
        claim.is_some_and(|(_, claimed)| now < claimed.after(timing.patience))
    }

    /// Takes an answer of etcd.
    pub(super) fn end_claim(&mut self, newest: Epoch) {
        self.claim = self.claim.filter(|(epoch, _)| *epoch > newest);
    }
}

impl Member {
    /// A member says that it hears no primary. If it was the primary, it no longer is.
    pub(super) fn on_missing(&mut self, from: MemberId) {
        if let Role::Following(following) = &mut self.role
            && following.primary == from
        {
            following.heard = None;
        }
        let opinions = &mut self.election.opinions;
        opinions.retain(|(member, _)| *member != from);
        if opinions.len() < Configuration::HOLDERS_MAX {
            opinions.push((from, self.now));
        }
    }

    /// Tells the others that this member hears no primary.
    pub(super) fn report_missing(&mut self) {
        let Some(etcd) = self.etcd.as_ref().filter(|_| !self.hears_primary()) else {
            return;
        };
        let configuration = etcd.established_configuration();
        if configuration.holder(self.id).is_none() {
            return;
        }
        let others = configuration.holders().iter().map(|holder| holder.id);
        let others = others.filter(|id| *id != self.id);
        let messages = others.map(|id| Action::Send(id, Message::Missing));
        self.actions.extend(messages);
    }

    /// Claims the next epoch if a primary is missing, and it is this member's turn.
    pub(super) fn consider_claim(&mut self) {
        let Some(etcd) = self.etcd.as_ref().filter(|_| self.is_primary_missing()) else {
            self.election.since = None;
            return;
        };
        let since = *self.election.since.get_or_insert(self.now);
        let configuration = etcd.established_configuration();
        let wait = self.rank(etcd) * self.timing.rank_step;
        // The newest epoch in etcd may be older than this member's promise.
        let newest = etcd.newest();
        let is_promised = self.promise.is_some_and(|promise| promise.epoch > newest.epoch);
        let is_claimed = newest.progress == Progress::Claimed && etcd.claimer == Claimer::Alive;
        let patience = self.timing.grant + self.timing.patience;
        let attempt_ends = match is_claimed || is_promised {
            true => self.election.attempt_seen.after(patience),
            false => since,
        };
        // The grants of all end at about the same time, so the wait comes after them.
        let turn = since.max(attempt_ends).max(self.grant_until);
        let is_turn = self.now >= turn.after(wait);
        let is_useful = is_turn && self.needs_upgrades(etcd, self.id).is_empty();
        if etcd.elections == Elections::Active && is_useful {
            let configuration = configuration.clone();
            self.claim(configuration);
        }
    }

    /// Returns the holders without which nothing could commit and that could not read a server's log. Such a primary
    /// would be heard, so that no other would be elected, and commits would wait for ever.
    pub(super) fn needs_upgrades(&self, etcd: &EtcdState, server: MemberId) -> Vec<MemberId> {
        let configuration = etcd.established_configuration();
        let unable = etcd.unable_to_read(configuration, server);
        match configuration.blocks(|id| unable.contains(&id)) {
            true => unable,
            false => Vec::new(),
        }
    }

    /// Returns whether so many holders hear no primary that none can commit.
    pub(super) fn is_primary_missing(&self) -> bool {
        let Some(etcd) = &self.etcd else {
            return false;
        };
        if self.hears_primary() || matches!(self.role, Role::Campaigning(_)) {
            return false;
        }
        let configuration = etcd.established_configuration();
        let is_missing = |id| id == self.id || self.misses_primary(id);
        let opinions = configuration
            .holders()
            .iter()
            .filter(|holder| is_missing(holder.id));
        // One opinion is enough only for a member that is alone.
        let is_certain = opinions.count() >= configuration.holders().len().min(2);
        is_certain && configuration.blocks(is_missing)
    }

    fn misses_primary(&self, id: MemberId) -> bool {
        let counts = OPINION_PULSES * self.timing.pulse;
        let mut opinions = self.election.opinions.iter();
        opinions.any(|(member, said)| *member == id && self.now < said.after(counts))
    }

    /// Returns the number of servers that also hear no primary and come first.
    fn rank(&self, etcd: &EtcdState) -> u64 {
        let configuration = etcd.established_configuration();
        let Some(own) = configuration.holder(self.id) else {
            return 0;
        };
        let own = etcd.primary_order(own);
        let holders = configuration.holders().iter();
        let servers =
            holders.filter(|holder| configuration.has_server(holder.id) && self.misses_primary(holder.id));
        servers.filter(|holder| etcd.primary_order(holder) < own).count() as u64
    }

    /// Claims the next epoch with this configuration, unless this member cannot, or waits for etcd already.
    pub(super) fn claim(&mut self, configuration: Configuration) {
        let etcd = self.etcd.as_ref().filter(|_| !self.is_etcd_away);
        let promise = self.promise.filter(|_| self.writing.is_none());
        let (Some(etcd), Some(promise)) = (etcd, promise) else {
            return;
        };
        let newest = etcd.newest();
        let has_unused = newest.primary == self.id && newest.epoch > promise.epoch;
        let is_claiming = self.election.is_claiming(self.now, &self.timing);
        if has_unused || is_claiming || self.must_be_copied || !configuration.has_server(self.id) {
            return;
        }
        let newest = newest.epoch;
        let record = EpochRecord {
            epoch: newest.max(promise.epoch).max(self.election.promised).next(),
            primary: self.id,
            configuration,
            origin: Origin::Regular,
            progress: Progress::Claimed,
        };
        self.election.claim = Some((record.epoch, self.now));
        self.actions.push(Action::Claim { record, newest });
    }

    /// Claims the next epoch because the primary hands over.
    pub(super) fn claim_by_consent(&mut self) {
        let consent = self.election.consent.map(Leave::ByConsent);
        if let Some(etcd) = &self.etcd
            && consent.is_some_and(|leave| self.may_leave(leave))
        {
            let configuration = etcd.established_configuration().clone();
            self.claim(configuration);
        }
    }

    /// Begins with the newest epoch if it is this member's and was never used. It is used up by its own promise.
    pub(super) fn use_own_record(&mut self) {
        let Some(newest) = self.etcd.as_ref().map(EtcdState::newest) else {
            return;
        };
        let is_new = self.promise.is_some_and(|promise| newest.epoch > promise.epoch);
        if newest.primary != self.id || !is_new || self.writing.is_some() || self.must_be_copied {
            return;
        }
        if !newest.configuration.has_server(self.id) {
            return;
        }
        let leave = match (newest.origin, &self.role, self.election.consent) {
            (Origin::Forced, _, _) => Leave::Forced,
            (Origin::Regular, Role::Primary(primacy), _) => Leave::ByConsent(Consent {
                epoch: primacy.record.epoch,
                pulse: Millis(u64::MAX),
            }),
            (Origin::Regular, _, consent) => match consent.map(Leave::ByConsent) {
                Some(consent) if self.may_leave(consent) => consent,
                Some(_) | None => Leave::WhenSilent,
            },
        };
        // A claim that was answered late, or made by another life, is not used against a primary that others hear.
        let is_due = leave != Leave::WhenSilent || self.is_primary_missing();
        if is_due && self.may_leave(leave) {
            self.begin_campaign(newest.clone(), leave);
        }
    }
}
