//! The way of a member from its claim to the start of its epoch: promises, the newest log, the start.

use super::primacy::Loss;
use super::{Gate, Member, Role};
use crate::configuration::{Configuration, MemberId};
use crate::epoch::{EpochRecord, Origin, Progress, Promise};
use crate::interface::{Action, EtcdState, Leave, Message, Millis};
use crate::log_tail::{LogRank, LogTail};

#[derive(Debug)]
pub(super) struct Campaign {
    pub(super) record: EpochRecord,
    leave: Leave,
    /// Configurations in which transactions may have been acknowledged that no later epoch is known to contain.
    required: Vec<(Configuration, Need)>,
    /// Logs of the members that have promised. This member's own promise is not among them.
    promises: Vec<(MemberId, LogTail)>,
    pub(super) phase: Phase,
}

/// Set of holders whose promises are needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Need {
    /// Holders that block.
    Blocking,
    /// Every holder: the epoch was forced and may not have opened, so there is no quorum to meet.
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Promising,
    /// `since`: when more of it became durable last.
    Fetching {
        from: MemberId,
        upto: LogRank,
        since: Millis,
    },
    Starting,
}

impl Campaign {
    fn new(record: EpochRecord, leave: Leave, etcd: &EtcdState) -> Self {
        let mut required: Vec<(Configuration, Need)> = Vec::new();
        let mut require = |record: &EpochRecord| {
            let need = match (record.origin, record.progress) {
                (Origin::Forced, Progress::Claimed) => Need::All,
                (Origin::Forced, Progress::Opened) | (Origin::Regular, _) => Need::Blocking,
            };
            let entry = (record.configuration.clone(), need);
            if !required.contains(&entry) {
                required.push(entry);
            }
        };
        // An earlier record with the same configuration may have been removed by this one.
        require(&record);
        match record.origin {
            Origin::Forced => {}
            Origin::Regular => {
                let before = etcd.records.iter().filter(|older| older.epoch < record.epoch);
                for older in before.rev() {
                    require(older);
                    if older.progress == Progress::Opened || older.origin == Origin::Forced {
                        break;
                    }
                }
            }
        }
        Campaign {
            record,
            leave,
            required,
            promises: Vec::new(),
            phase: Phase::Promising,
        }
    }

    /// Takes the promise of a holder that was asked.
    pub(super) fn add(&mut self, from: MemberId, tail: LogTail) {
        if self
            .configurations()
            .any(|configuration| configuration.holder(from).is_some())
        {
            self.remove(from);
            self.promises.push((from, tail));
        }
    }

    fn configurations(&self) -> impl Iterator<Item = &Configuration> {
        self.required.iter().map(|(configuration, _)| configuration)
    }

    fn remove(&mut self, member: MemberId) {
        self.promises.retain(|(from, _)| *from != member);
    }

    fn has_promised(&self, member: MemberId) -> bool {
        self.promises.iter().any(|(from, _)| *from == member)
    }

    /// Returns whether acknowledged transactions may be missing: a forced epoch is not known to have opened.
    fn is_forced(&self) -> bool {
        self.required.iter().any(|(_, need)| *need == Need::All)
    }

    /// Returns the holders whose promises are missing; all of them are asked.
    pub(super) fn unpromised(&self, own: MemberId) -> Vec<MemberId> {
        let holders = self
            .configurations()
            .flat_map(Configuration::holders)
            .map(|holder| holder.id);
        let mut unpromised: Vec<_> = holders
            .filter(|id| *id != own && !self.has_promised(*id))
            .collect();
        unpromised.sort_unstable();
        unpromised.dedup();
        unpromised
    }

    fn is_promised(&self, own: MemberId) -> bool {
        let has = |id| id == own || self.has_promised(id);
        self.required.iter().all(|(configuration, need)| match need {
            Need::Blocking => configuration.blocks(has),
            Need::All => configuration.holders().iter().all(|holder| has(holder.id)),
        })
    }

    /// Returns the newest log of those that have promised.
    fn newest(&self) -> Option<&(MemberId, LogTail)> {
        self.promises.iter().max_by_key(|(_, tail)| tail.rank())
    }
}

impl Member {
    /// Uses up the record: the first step is the member's own promise.
    pub(super) fn begin_campaign(&mut self, record: EpochRecord, leave: Leave) {
        let etcd = self.etcd.as_ref().expect("the record is from etcd");
        let campaign = Campaign::new(record, leave, etcd);
        let promise = Promise {
            epoch: campaign.record.epoch,
            primary: self.id,
        };
        self.write_promise(promise);
        self.role = Role::Campaigning(campaign);
    }

    /// Goes on as far as possible. Asks again if it `repeats`.
    pub(super) fn campaign(&mut self, repeats: bool) {
        if self.writing.is_some() {
            return;
        }
        let Role::Campaigning(campaign) = &mut self.role else {
            unreachable!("only a candidate campaigns")
        };
        if let Phase::Fetching { from, since, .. } = campaign.phase
            && self.now >= since.after(self.timing.patience)
        {
            // Perhaps the others' promises suffice. If not, it is asked again.
            campaign.remove(from);
            campaign.phase = Phase::Promising;
        }
        if campaign.phase != Phase::Promising {
            return;
        }
        if repeats {
            let (epoch, leave) = (campaign.record.epoch, campaign.leave);
            let asked = campaign.unpromised(self.id).into_iter();
            let messages = asked.map(|id| Action::Send(id, Message::Ask { epoch, leave }));
            self.actions.extend(messages);
        }
        if campaign.is_promised(self.id) {
            self.take_newest_log();
        }
    }

    /// Makes the newest log that was found this member's own.
    fn take_newest_log(&mut self) {
        let Role::Campaigning(campaign) = &mut self.role else {
            unreachable!("only a candidate campaigns")
        };
        let epoch = campaign.record.epoch;
        let newer = campaign
            .newest()
            .filter(|(_, tail)| tail.rank() > self.tail.rank());
        let Some((from, newest)) = newer else {
            campaign.phase = Phase::Starting;
            self.actions.push(Action::WriteStart(epoch));
            return;
        };
        let agreement = self.tail.agreement(newest).filter(|at| *at >= self.published);
        let Some(at) = agreement else {
            self.must_be_copied = true;
            self.role = Role::Waiting;
            self.set_gate(Gate::Closed);
            return;
        };
        let (from, upto) = (*from, newest.rank());
        campaign.phase = Phase::Fetching {
            from,
            upto,
            since: self.now,
        };
        self.tail.cut(at);
        self.actions.push(Action::Fetch {
            from,
            epoch,
            at,
            upto,
        });
    }

    /// More of the log is durable: of what is fetched, or the start.
    pub(super) fn campaign_log_end(&mut self) {
        let Role::Campaigning(campaign) = &mut self.role else {
            unreachable!("only a candidate campaigns")
        };
        match &mut campaign.phase {
            Phase::Promising => {}
            Phase::Fetching { upto, since, .. } => {
                *since = self.now;
                if self.tail.rank() == *upto {
                    campaign.phase = Phase::Starting;
                    self.actions.push(Action::WriteStart(campaign.record.epoch));
                }
            }
            Phase::Starting => {
                if let Some(start) = self.tail.start_of_last(campaign.record.epoch) {
                    let loss = match campaign.is_forced() {
                        true => Loss::Possible,
                        false => Loss::Impossible,
                    };
                    let record = campaign.record.clone();
                    self.become_primary(record, start, loss);
                }
            }
        }
    }
}
