//! When a member claims an epoch, and when it uses a record of etcd that names it.

use super::{Member, Role};
use crate::configuration::{Configuration, MemberId};
use crate::epoch::{Epoch, EpochRecord, Origin, Progress};
use crate::interface::{Action, Claimer, Consent, Elections, EtcdState, Leave, Message, Millis};
use std::cmp::Reverse;

/// Number of pulses for which an opinion counts.
const OPINION_PULSES: u64 = 4;

/// What a member knows about the need of another primary.
#[derive(Debug, Default)]
pub(super) struct Election {
    /// Members that hear no primary, and when they said so last.
    opinions: Vec<(MemberId, Millis)>,
    /// Since when they block.
    since: Option<Millis>,
    /// When the newest epoch was seen first.
    pub(super) newest_seen: Millis,
    /// The highest epoch of a promise that others told.
    pub(super) promised: Epoch,
    /// The own claim that etcd has not answered, and its time.
    claim: Option<(Epoch, Millis)>,
    /// Of the primary that this member follows.
    pub(super) consent: Option<Consent>,
}

impl Election {
    /// Takes an answer of etcd.
    pub(super) fn end_claim(&mut self, newest: Epoch) {
        self.claim = self.claim.filter(|(epoch, _)| *epoch > newest);
    }
}

impl Member {
    pub(super) fn on_missing(&mut self, from: MemberId) {
        let opinions = &mut self.election.opinions;
        opinions.retain(|(member, _)| *member != from);
        if opinions.len() < Configuration::HOLDERS_MAX {
            opinions.push((from, self.now));
        }
    }

    /// Tells the others that this member hears no primary.
    pub(super) fn report_missing(&mut self) {
        if self.hears_primary() {
            return;
        }
        let Some(etcd) = &self.etcd else {
            return;
        };
        let holders = etcd.newest().configuration.holders().iter();
        let others = holders.map(|holder| holder.id).filter(|id| *id != self.id);
        let messages = others.map(|id| Action::Send(id, Message::Missing));
        self.actions.extend(messages);
    }

    /// Claims the next epoch if holders that block hear no primary, and it is this member's turn.
    pub(super) fn consider_claim(&mut self) {
        let Some(since) = self.missing_since() else {
            self.election.since = None;
            return;
        };
        let since = *self.election.since.get_or_insert(since);
        let etcd = self.etcd.as_ref().expect("no opinion counts before etcd is read");
        let newest = etcd.newest();
        let wait = self.rank(&newest.configuration) * self.timing.rank_step;
        let is_contested = newest.progress == Progress::Claimed && etcd.claimer == Claimer::Alive;
        let turn = match is_contested {
            true => since.max(self.election.newest_seen.after(self.timing.patience)),
            false => since,
        };
        if etcd.elections == Elections::Active && self.now >= turn.after(wait) && self.now >= self.grant_until
        {
            let configuration = newest.configuration.clone();
            self.claim(configuration);
        }
    }

    /// Returns now if this member could claim and enough holders hear no primary.
    fn missing_since(&self) -> Option<Millis> {
        let etcd = self.etcd.as_ref().filter(|_| !self.is_etcd_away)?;
        let configuration = &etcd.newest().configuration;
        let is_free = matches!(self.role, Role::Waiting | Role::Following(_)) && !self.hears_primary();
        if !is_free || !self.can_claim() {
            return None;
        }
        // Without these holders no primary can commit. One opinion is enough only for those that are alone.
        let is_missing = |id| id == self.id || self.misses_primary(id);
        let opinions = configuration
            .holders()
            .iter()
            .filter(|holder| is_missing(holder.id));
        let is_certain = opinions.count() >= configuration.holders().len().min(2);
        (is_certain && configuration.blocks(is_missing)).then_some(self.now)
    }

    fn misses_primary(&self, id: MemberId) -> bool {
        let counts = OPINION_PULSES * self.timing.pulse;
        let mut opinions = self.election.opinions.iter();
        opinions.any(|(member, said)| *member == id && self.now < said.after(counts))
    }

    /// Returns the number of servers that also hear no primary and come first.
    fn rank(&self, configuration: &Configuration) -> u64 {
        let order = |id| {
            let priority = configuration.holder(id).map(|holder| holder.priority);
            (Reverse(priority), id)
        };
        let holders = configuration.holders().iter().map(|holder| holder.id);
        let servers = holders.filter(|id| configuration.has_server(*id) && self.misses_primary(*id));
        servers.filter(|id| order(*id) < order(self.id)).count() as u64
    }

    /// Returns whether this member may be the primary of the next epoch.
    fn can_claim(&self) -> bool {
        let Some(etcd) = self.etcd.as_ref().filter(|_| !self.is_etcd_away) else {
            return false;
        };
        let newest = etcd.newest();
        let Some(promise) = self.promise.filter(|_| self.writing.is_none()) else {
            return false;
        };
        let has_unused = newest.primary == self.id && newest.epoch > promise.epoch;
        !has_unused && !self.must_be_copied && newest.configuration.has_server(self.id)
    }

    /// Claims the next epoch with this configuration, if no other claim of this member is unanswered.
    pub(super) fn claim(&mut self, configuration: Configuration) {
        let is_waiting = |claimed: Millis| self.now < claimed.after(self.timing.patience);
        if !self.can_claim()
            || self
                .election
                .claim
                .is_some_and(|(_, claimed)| is_waiting(claimed))
        {
            return;
        }
        let newest = self.etcd.as_ref().expect("it can claim").newest().epoch;
        let promised = self
            .promise
            .expect("it can claim")
            .epoch
            .max(self.election.promised);
        let record = EpochRecord {
            epoch: newest.max(promised).next(),
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
        if consent.is_some_and(|leave| self.may_leave(leave)) && self.can_claim() {
            let etcd = self.etcd.as_ref().expect("it can claim");
            let configuration = etcd.newest().configuration.clone();
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
            (Origin::Regular, _, Some(consent)) => Leave::ByConsent(consent),
            (Origin::Regular, _, None) => Leave::WhenSilent,
        };
        if self.may_leave(leave) {
            self.begin_campaign(newest.clone(), leave);
        }
    }
}
