//! A member that follows a primary: its log is a beginning of that primary's.

use super::{Member, Role};
use crate::configuration::MemberId;
use crate::epoch::{Epoch, Promise};
use crate::interface::{Action, Consent, Hearing, LogOrigin, Message, Millis, Timing};
use crate::log_tail::LogTail;
use paceline_types::LogIndex;

#[derive(Debug)]
pub(super) struct Following {
    pub(super) primary: MemberId,
    pub(super) epoch: Epoch,
    /// When the newest pulse arrived from a primary that hears enough holders.
    pub(super) heard: Option<Millis>,
    /// `sent` of the newest pulse from a primary that hears enough holders: for that one it has granted time.
    pub(super) pulse: Millis,
    /// The highest index that the primary has published.
    published: LogIndex,
    /// Index up to which all servers have the log, as the primary has said last.
    pub(super) needed: LogIndex,
}

impl Following {
    pub(super) fn is_heard(&self, now: Millis, timing: &Timing) -> bool {
        self.heard.is_some_and(|heard| now < heard.after(timing.silence))
    }
}

impl Member {
    /// Takes a pulse of the primary to which this member has promised.
    pub(super) fn on_pulse(
        &mut self,
        primary: Promise,
        log: &LogTail,
        published: LogIndex,
        sent: Millis,
        hearing: Hearing,
    ) {
        assert_ne!(primary.primary, self.id, "no member sends a pulse to itself");
        let (now, grant_until) = (self.now, self.now.after(self.timing.grant));
        let following = match &mut self.role {
            Role::Following(following) => following,
            _ => {
                let agreement = self.agreement(log).filter(|at| *at >= self.published);
                self.must_be_copied = agreement.is_none();
                let Some(at) = agreement else {
                    return;
                };
                self.tail.cut(at);
                self.actions.push(Action::Follow {
                    primary: primary.primary,
                    epoch: primary.epoch,
                    at,
                });
                self.role = Role::Following(Following {
                    primary: primary.primary,
                    epoch: primary.epoch,
                    heard: None,
                    pulse: Millis(0),
                    published: LogIndex(0),
                    needed: LogIndex(0),
                });
                let Role::Following(following) = &mut self.role else {
                    unreachable!("it has just been set")
                };
                following
            }
        };
        following.published = following.published.max(published);
        // A primary that cannot commit is given no time: this holder may be needed by one that can.
        if hearing == Hearing::Enough && sent >= following.pulse {
            following.heard = Some(now);
            if sent > following.pulse {
                following.pulse = sent;
                self.grant_until = grant_until;
            }
        }
        self.acknowledge();
    }

    /// Returns the index up to which this log and the primary's are the same, if that is known.
    fn agreement(&self, log: &LogTail) -> Option<LogIndex> {
        let (end, first) = (self.tail.end(), log.spans().first());
        match (self.origin, self.tail.spans(), first) {
            // Its archive has not received the start of an epoch yet. Otherwise it would know this one, too.
            (LogOrigin::Received, [], Some(first)) if end <= first.start => Some(end),
            _ => self.tail.agreement(log),
        }
    }

    /// Takes what a pulse says of the part that nobody will fetch any more.
    pub(super) fn on_needed(&mut self, needed: LogIndex) {
        if let Role::Following(following) = &mut self.role {
            following.needed = needed;
        }
    }

    /// Tells the primary what is durable here, and publishes what is acknowledged.
    pub(super) fn acknowledge(&mut self) {
        let Role::Following(following) = &self.role else {
            unreachable!("only a member that follows acknowledges")
        };
        let (primary, published) = (following.primary, following.published);
        let copy = Message::Copy {
            epoch: following.epoch,
            end: self.tail.end(),
            sent: following.pulse,
        };
        self.send(primary, copy);
        self.publish(published.min(self.tail.end()));
    }

    /// More is acknowledged in the epoch that this member follows.
    pub(super) fn on_published(&mut self, primary: Promise, upto: LogIndex) {
        if self.writing.is_some() || self.promise != Some(primary) {
            return;
        }
        let Role::Following(following) = &mut self.role else {
            return;
        };
        if (following.primary, following.epoch) == (primary.primary, primary.epoch) {
            following.published = following.published.max(upto);
            let published = following.published;
            self.publish(published.min(self.tail.end()));
        }
    }

    /// The primary hands over to this member.
    pub(super) fn on_take_over(&mut self, from: MemberId, consent: Consent) {
        let is_from_primary = matches!(&self.role, Role::Following(following)
            if following.primary == from && following.epoch == consent.epoch);
        if is_from_primary {
            self.election.consent = Some(consent);
            self.claim_by_consent();
        }
    }
}
