//! The state machine of one member. The module head of the crate has the protocol.
//!
//! This file has what all roles share: the inputs' ways, the promise, the gate for clients.

mod campaign;
mod election;
mod following;
mod primacy;
mod status;

pub use status::{RoleName, Status, Wait};

use crate::configuration::MemberId;
use crate::epoch::{Epoch, Promise};
use crate::interface::{
    Action, DurableState, EtcdState, Input, Leave, LogOrigin, Message, Millis, StoredPromise, SwitchError,
    Timing,
};
use crate::log_tail::LogTail;
use campaign::Campaign;
use election::Election;
use following::Following;
use paceline_types::LogIndex;
use primacy::Primacy;

/// Member of a cluster: a server or an archive.
#[derive(Debug)]
pub struct Member {
    id: MemberId,
    timing: Timing,
    now: Millis,
    /// Durable promise. `None`: it is torn.
    promise: Option<Promise>,
    /// Promise that is being written. Meanwhile nothing is acknowledged and nothing else promised.
    writing: Option<Promise>,
    /// The durable log, as last reported or cut.
    tail: LogTail,
    origin: LogOrigin,
    /// Index up to which this member knows the log to be acknowledged, and has it.
    published: LogIndex,
    role: Role,
    gate: Gate,
    reads_until: Millis,
    /// Until then it promises nothing, because of the last pulse that it answered.
    grant_until: Millis,
    /// When pulses, opinions and requests are sent again.
    repeat_at: Millis,
    etcd: Option<EtcdState>,
    is_etcd_away: bool,
    election: Election,
    /// Its tables have transactions that the primary's log lacks, or its log has nothing in common with it.
    must_be_copied: bool,
    actions: Vec<Action>,
}

#[derive(Debug)]
enum Role {
    /// It knows no primary that it could follow.
    Waiting,
    Following(Following),
    Campaigning(Campaign),
    Primary(Primacy),
}

/// Access of clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gate {
    Closed,
    Held,
    Open,
}

impl Member {
    /// Creates a member that has started just now.
    ///
    /// # Panics
    /// The tables are ahead of the log.
    pub fn new(id: MemberId, timing: Timing, durable: DurableState, now: Millis) -> Self {
        assert!(
            durable.applied <= durable.tail.end(),
            "tables are never ahead of the log"
        );
        let promise = match durable.promise {
            StoredPromise::Whole(promise) => Some(promise),
            StoredPromise::Torn => None,
        };
        // It may have answered a pulse just before it stopped.
        let grant_until = match promise {
            Some(Promise::NONE) => now,
            _ => now.after(timing.grant),
        };
        Member {
            id,
            timing,
            now,
            promise,
            writing: None,
            tail: durable.tail,
            origin: durable.origin,
            published: durable.applied,
            role: Role::Waiting,
            gate: Gate::Closed,
            reads_until: Millis(0),
            grant_until,
            repeat_at: now,
            etcd: None,
            is_etcd_away: true,
            election: Election::default(),
            must_be_copied: false,
            actions: Vec::new(),
        }
    }

    /// Handles an event at the time `now` and returns what must be done. A time before an earlier one counts as that.
    pub fn handle(&mut self, now: Millis, input: Input) -> Vec<Action> {
        self.now = self.now.max(now);
        match input {
            Input::Tick => self.on_tick(),
            Input::Etcd(state) => self.on_etcd(state),
            Input::EtcdAway => self.is_etcd_away = true,
            Input::Message(from, message) => self.on_message(from, message),
            Input::Disconnected(member) => self.on_disconnected(member),
            Input::PromiseWritten(promise, tail) => self.on_promise_written(promise, tail),
            Input::LogEnd(tail) => self.on_log_end(tail),
            Input::Switch(target) => self.on_switch(target),
        }
        std::mem::take(&mut self.actions)
    }

    fn on_tick(&mut self) {
        let repeats = self.now >= self.repeat_at;
        if repeats {
            self.repeat_at = self.now.after(self.timing.pulse);
        }
        self.use_own_record();
        match self.role {
            Role::Primary(_) => self.lead(repeats),
            Role::Campaigning(_) => self.campaign(repeats),
            Role::Waiting | Role::Following(_) => {}
        }
        if repeats {
            self.report_missing();
        }
        self.consider_claim();
    }

    fn on_message(&mut self, from: MemberId, message: Message) {
        match message {
            Message::Missing => self.on_missing(from),
            Message::Ask { epoch, leave } => self.on_ask(from, epoch, leave),
            Message::Promised { epoch, tail } => self.on_promised(from, epoch, tail),
            Message::Refused { epoch, promise } => self.on_refused(from, epoch, promise),
            Message::Pulse {
                epoch,
                log,
                published,
                needed,
                sent,
                hearing,
            } => {
                let promise = Promise { epoch, primary: from };
                if self.accepts(promise) {
                    self.on_pulse(promise, &log, published, sent, hearing);
                    self.on_needed(needed);
                }
            }
            Message::Copy { epoch, end, sent } => self.on_copy(from, epoch, end, sent),
            Message::Published { epoch, upto } => self.on_published(Promise { epoch, primary: from }, upto),
            Message::TakeOver { consent } => self.on_take_over(from, consent),
        }
    }

    fn on_log_end(&mut self, tail: LogTail) {
        self.tail = tail;
        match self.role {
            Role::Waiting => {}
            Role::Following(_) => self.acknowledge(),
            Role::Campaigning(_) => self.campaign_log_end(),
            Role::Primary(_) => self.advance(),
        }
    }

    fn on_disconnected(&mut self, member: MemberId) {
        match &mut self.role {
            Role::Following(following) if following.primary == member => {
                following.heard = None;
                self.repeat_at = self.now;
            }
            Role::Primary(primacy) => primacy.forget(member),
            _ => {}
        }
    }

    /// Returns whether this member acknowledges records of a primary: its promise is that primary's epoch. A newer
    /// primary is promised its epoch first; the next pulse finds the promise written. An older one learns why not.
    fn accepts(&mut self, primary: Promise) -> bool {
        let Some(promise) = self.promise.filter(|_| self.writing.is_none()) else {
            return false;
        };
        if primary == promise {
            return true;
        }
        match primary.epoch > promise.epoch {
            // It has the promises that it needs, so no grant stands against it.
            true => self.write_promise(primary),
            false => self.send(
                primary.primary,
                Message::Refused {
                    epoch: primary.epoch,
                    promise,
                },
            ),
        }
        false
    }

    /// A candidate asks for a promise.
    fn on_ask(&mut self, from: MemberId, epoch: Epoch, leave: Leave) {
        let Some(promise) = self.promise.filter(|_| self.writing.is_none()) else {
            return;
        };
        let asked = Promise { epoch, primary: from };
        if asked == promise {
            self.send_promised();
        } else if epoch <= promise.epoch {
            self.send(from, Message::Refused { epoch, promise });
        } else if self.may_leave(leave) {
            self.write_promise(asked);
        }
    }

    /// Returns whether a later epoch may be promised now.
    fn may_leave(&self, leave: Leave) -> bool {
        let agrees = match leave {
            Leave::WhenSilent => false,
            Leave::Forced => true,
            Leave::ByConsent(consent) => match &self.role {
                Role::Following(following) => {
                    following.epoch == consent.epoch && following.pulse <= consent.pulse
                }
                Role::Primary(primacy) => {
                    primacy.record.epoch == consent.epoch && primacy.last_pulse <= consent.pulse
                }
                Role::Waiting | Role::Campaigning(_) => false,
            },
        };
        agrees || (!self.hears_primary() && self.now >= self.grant_until)
    }

    /// Returns whether there is a primary as far as this member itself can tell.
    fn hears_primary(&self) -> bool {
        match &self.role {
            Role::Following(following) => following.is_heard(self.now, &self.timing),
            Role::Primary(primacy) => primacy.hears_enough(self.id, self.now, &self.timing),
            Role::Waiting | Role::Campaigning(_) => false,
        }
    }

    /// Gives up the present role and promises a later epoch.
    fn write_promise(&mut self, promise: Promise) {
        assert!(self.writing.is_none(), "one promise at a time");
        assert!(
            self.promise.is_none_or(|old| old.epoch < promise.epoch),
            "promises grow"
        );
        self.revoke_reads();
        if let Role::Primary(primacy) = &self.role
            && primacy
                .switch_target()
                .is_some_and(|target| target != promise.primary)
        {
            self.actions.push(Action::SwitchRefused(SwitchError::Overtaken));
        }
        if self.gate != Gate::Closed {
            let is_own = promise.primary == self.id;
            self.set_gate(if is_own { Gate::Held } else { Gate::Closed });
        }
        self.role = Role::Waiting;
        self.writing = Some(promise);
        self.actions.push(Action::WritePromise(promise));
    }

    fn on_promise_written(&mut self, promise: Promise, tail: LogTail) {
        assert_eq!(
            self.writing.take(),
            Some(promise),
            "the promise that was to be written"
        );
        self.promise = Some(promise);
        self.tail = tail;
        match &self.role {
            Role::Campaigning(_) => self.campaign(true),
            _ => {
                self.election.attempt_seen = self.now;
                self.send_promised();
            }
        }
    }

    fn send_promised(&mut self) {
        let Some(promise) = self.promise.filter(|promise| promise.primary != self.id) else {
            return;
        };
        let tail = self.tail.clone();
        self.send(
            promise.primary,
            Message::Promised {
                epoch: promise.epoch,
                tail,
            },
        );
    }

    fn on_promised(&mut self, from: MemberId, epoch: Epoch, tail: LogTail) {
        match &mut self.role {
            Role::Campaigning(campaign) if campaign.record.epoch == epoch => {
                campaign.add(from, tail);
                self.campaign(false);
            }
            // It can follow now.
            Role::Primary(primacy) if primacy.record.epoch == epoch => self.send_pulse(from),
            _ => {}
        }
    }

    fn on_refused(&mut self, from: MemberId, epoch: Epoch, promise: Promise) {
        self.election.promised = self.election.promised.max(promise.epoch);
        match &mut self.role {
            // Another has been promised what this member needs: a later epoch is necessary.
            Role::Campaigning(campaign) if campaign.record.epoch == epoch => {
                self.role = Role::Waiting;
                self.set_gate(Gate::Closed);
            }
            Role::Primary(primacy) if primacy.record.epoch == epoch => primacy.refuse(from, self.now),
            _ => {}
        }
    }

    fn on_etcd(&mut self, state: EtcdState) {
        let newest = state.newest().clone();
        let known = self.etcd.as_ref().map(|known| known.newest().epoch);
        if known != Some(newest.epoch) {
            self.election.attempt_seen = self.now;
        }
        self.etcd = Some(state);
        self.is_etcd_away = false;
        self.election.end_claim(newest.epoch);
        if self.promise.is_none() && self.writing.is_none() {
            // Every promise follows a claim. So this one is at least as high as the one that was lost.
            self.write_promise(Promise {
                epoch: newest.epoch,
                primary: newest.primary,
            });
        }
        self.yield_to_established();
        self.use_own_record();
    }

    /// Gives up the role of a primary whose epoch can never acknowledge anything more.
    fn yield_to_established(&mut self) {
        let established = self.etcd.as_ref().and_then(EtcdState::established);
        let established = established.map(|record| record.epoch);
        if matches!(&self.role, Role::Primary(primacy) if established > Some(primacy.record.epoch)) {
            self.role = Role::Waiting;
            self.revoke_reads();
            self.set_gate(Gate::Closed);
        }
    }

    fn set_gate(&mut self, gate: Gate) {
        if self.gate == gate {
            return;
        }
        self.gate = gate;
        self.actions.push(match (&self.role, gate) {
            (Role::Primary(primacy), Gate::Open) => Action::Open(primacy.record.epoch),
            (_, Gate::Open) => unreachable!("only a primary opens"),
            (_, Gate::Held) => Action::Hold,
            (_, Gate::Closed) => Action::Close,
        });
    }

    fn set_reads(&mut self, until: Millis) {
        if self.reads_until != until {
            self.reads_until = until;
            self.actions.push(Action::ReadsUntil(until));
        }
    }

    fn revoke_reads(&mut self) {
        self.set_reads(Millis(0));
    }

    fn publish(&mut self, upto: LogIndex) {
        if upto > self.published {
            self.published = upto;
            self.actions.push(Action::Publish(upto));
        }
    }

    fn send(&mut self, to: MemberId, message: Message) {
        self.actions.push(Action::Send(to, message));
    }
}
