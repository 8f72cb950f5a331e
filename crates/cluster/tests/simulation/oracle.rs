//! Checks of the safety properties. The oracle sees the state of all hosts.

use super::host::{Entry, Host};
use paceline_cluster::{Configuration, Epoch, MemberId, Promise};
use std::collections::HashMap;

/// Violated property, in words.
pub type Violation = String;

#[derive(Default)]
pub struct Oracle {
    /// The log as far as it was acknowledged.
    acknowledged: Vec<Entry>,
    /// Acknowledged index of each epoch.
    ends: HashMap<Epoch, usize>,
    /// The primary that opened in each epoch.
    opened: HashMap<Epoch, MemberId>,
    newest_opened: Epoch,
    /// Epochs before a forced one are given up when it opens: what they acknowledge no longer counts.
    forced: Epoch,
    /// The highest promise that each member has had on its disk.
    promised: HashMap<MemberId, Epoch>,
    /// Whether clocks keep to the drift, so that reads must be new.
    pub clocks_are_honest: bool,
}

impl Oracle {
    pub fn acknowledged(&self) -> usize {
        self.acknowledged.len()
    }

    pub fn opened(&self) -> usize {
        self.opened.len()
    }

    pub fn newest_opened(&self) -> Epoch {
        self.newest_opened
    }

    /// A promise is durable.
    pub fn promise(&mut self, id: MemberId, promise: Promise) -> Result<(), Violation> {
        let before = self.promised.entry(id).or_default();
        if promise.epoch < *before {
            return Err(format!("{id} promises {} after {before}", promise.epoch));
        }
        *before = promise.epoch;
        Ok(())
    }

    /// A primary opens.
    pub fn open(&mut self, hosts: &[Host], at: usize, epoch: Epoch, now: u64) -> Result<(), Violation> {
        let host = &hosts[at];
        let first = *self.opened.entry(epoch).or_insert(host.id);
        if first != host.id {
            return Err(format!("{first} and {} are open in epoch {epoch}", host.id));
        }
        if epoch < self.forced {
            return Ok(());
        }
        // A primary may learn late that its start was acknowledged: what later epochs have added is not its affair.
        let before = self.ends.iter().filter(|(other, _)| **other < epoch);
        let kept = before.map(|(_, end)| *end).max().unwrap_or(0);
        if host.log.get(..kept) != Some(&self.acknowledged[..kept]) {
            return Err(format!(
                "{} opens without what was acknowledged up to {kept}",
                host.id
            ));
        }
        self.newest_opened = self.newest_opened.max(epoch);
        for other in hosts {
            self.reads(other, now)?;
        }
        Ok(())
    }

    /// Reads of a host are new: no later primary has opened.
    pub fn reads(&self, host: &Host, now: u64) -> Result<(), Violation> {
        let (until, epoch) = host.reads;
        let is_new = until > host.clock(now).0;
        if self.clocks_are_honest && is_new && epoch < self.newest_opened {
            let (id, newest) = (host.id, self.newest_opened);
            return Err(format!("{id} calls its reads new, but epoch {newest} has opened"));
        }
        Ok(())
    }

    /// The log is cut at `length`.
    pub fn cut(&self, host: &Host, length: usize) -> Result<(), Violation> {
        match length < host.published {
            true => Err(format!("{} cuts published records from {length} on", host.id)),
            false => Ok(()),
        }
    }

    /// A host publishes its log up to `upto`. `configuration` is its epoch's, if it is the primary.
    pub fn publish(
        &mut self,
        hosts: &[Host],
        at: usize,
        upto: usize,
        configuration: Option<(Epoch, &Configuration)>,
    ) -> Result<(), Violation> {
        let host = &hosts[at];
        let id = host.id;
        if upto > host.durable {
            return Err(format!(
                "{id} publishes {upto}, but has only {} durably",
                host.durable
            ));
        }
        let log = &host.log[..upto];
        let is_given_up = log.last().is_some_and(|entry| entry.epoch < self.forced);
        if is_given_up && self.acknowledged.get(..upto) != Some(log) {
            return Ok(());
        }
        if let Some((epoch, configuration)) = configuration {
            let last = upto.checked_sub(1);
            let has_it = |member: MemberId| {
                let other = hosts.iter().find(|other| other.id == member);
                let durably = other.map(|other| &other.log[..other.durable]);
                durably.is_some_and(|durably| last.is_none_or(|last| durably.get(last) == Some(&log[last])))
            };
            if log.iter().all(|entry| entry.epoch < epoch) {
                return Err(format!("{id} publishes {upto} before the start of epoch {epoch}"));
            }
            if !configuration.acknowledges(has_it) {
                return Err(format!(
                    "{id} publishes {upto} in epoch {epoch} without enough copies"
                ));
            }
            self.ends.insert(epoch, upto);
            if upto > self.acknowledged.len() {
                let new = &log[self.acknowledged.len()..];
                self.acknowledged.extend_from_slice(new);
            }
        }
        let from = host.published.min(upto);
        match self.acknowledged.get(from..upto) == Some(&log[from..]) {
            true => Ok(()),
            false => Err(format!(
                "{id} publishes {upto}, which is not what was acknowledged"
            )),
        }
    }

    /// A forced epoch has opened: what its primary lacks is lost, as the operator was told.
    pub fn force(&mut self, host: &Host, epoch: Epoch) {
        let kept = self
            .acknowledged
            .iter()
            .zip(&host.log)
            .take_while(|(one, other)| one == other);
        let kept = kept.count();
        self.acknowledged.truncate(kept);
        self.ends.values_mut().for_each(|end| *end = (*end).min(kept));
        self.forced = self.forced.max(epoch);
    }

    pub fn is_forced(&self) -> bool {
        self.forced > Epoch(0)
    }
}
