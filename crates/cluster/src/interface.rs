//! Inputs and actions of a [`Member`](crate::Member).

use crate::configuration::{Configuration, Holder, MemberId};
use crate::epoch::{Epoch, EpochRecord, Origin, Progress, Promise};
use crate::log_tail::{LogRank, LogTail};
use paceline_types::LogIndex;
use std::cmp::Reverse;

/// Time in milliseconds, from a clock of this host that never goes back. Clocks of different members are never
/// compared; only their speeds are, within [`Timing::drift_percent`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Millis(pub u64);

impl Millis {
    /// Returns the time `milliseconds` later.
    pub fn after(self, milliseconds: u64) -> Millis {
        Millis(self.0.saturating_add(milliseconds))
    }
}

/// Durations, in milliseconds. Safety does not depend on them; that reads of the primary are new does depend on
/// `grant` and `drift_percent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Time between two pulses of the primary, and between repetitions of anything that can be lost.
    pub pulse: u64,
    /// Time without a pulse after which a member no longer hears its primary.
    pub silence: u64,
    /// Time after a pulse during which a holder promises no later epoch.
    pub grant: u64,
    /// Maximum difference between the speeds of two clocks.
    pub drift_percent: u64,
    /// Additional time that a server waits for each server that ranks before it.
    pub rank_step: u64,
    /// How long others leave a new claim alone, after those that it asks may promise: beyond `grant`.
    pub patience: u64,
    /// Longest pause of a planned switch. After that the old primary goes on.
    pub switch: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            pulse: 100,
            silence: 2000,
            grant: 600,
            drift_percent: 2,
            rank_step: 150,
            patience: 900,
            switch: 2000,
        }
    }
}

/// Promise as it was found on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoredPromise {
    /// It is whole. A new member has [`Promise::NONE`].
    Whole(Promise),
    /// A write was interrupted, and what was there before is lost.
    Torn,
}

/// State of a member on its disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DurableState {
    /// Promise.
    pub promise: StoredPromise,
    /// The log, without a torn end.
    pub tail: LogTail,
    /// Index up to which the tables contain the log; an archive has 0. All of this was acknowledged.
    pub applied: LogIndex,
    /// Where the log comes from.
    pub origin: LogOrigin,
}

/// Origin of a log in which no epoch has started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogOrigin {
    /// Unknown: it may be any server's log.
    Unknown,
    /// All of it was received from primaries of this cluster, in their order. So before its first epoch it is a
    /// beginning of every later log, like an empty one.
    Received,
}

/// Returns a key that is lowest for the server that should become the primary: whose log the most members can read,
/// then by priority and number.
pub fn primary_order(log_format: u32, holder: &Holder) -> (u32, Reverse<u8>, MemberId) {
    (log_format, Reverse(holder.priority), holder.id)
}

/// State of the cluster in etcd, from one read that began after the member had started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EtcdState {
    /// Records of the newest epochs, ascending, back to the last that is known to have opened. Not empty.
    pub records: Vec<EpochRecord>,
    /// Whether the one that claimed the newest epoch still holds its lease.
    pub claimer: Claimer,
    /// Configuration that the operator wants; the primary establishes it. `None`: as it is.
    pub wanted: Option<Configuration>,
    /// Whether members may claim epochs by themselves.
    pub elections: Elections,
    /// Members of the directory. Those that are no holders follow as well; their copies count for nothing.
    pub members: Vec<ListedMember>,
}

/// Member of etcd's directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListedMember {
    /// Identity.
    pub id: MemberId,
    /// Format of the log that it writes, as a number that grows. One that has told none has the oldest, 0.
    pub log_format: u32,
}

impl EtcdState {
    /// Returns the newest record.
    ///
    /// # Panics
    /// The list is empty.
    pub fn newest(&self) -> &EpochRecord {
        self.records.last().expect("the list of epochs is never empty")
    }

    /// Returns the last record that has opened or was forced. Earlier epochs can acknowledge nothing any more.
    pub fn established(&self) -> Option<&EpochRecord> {
        let is_established =
            |record: &&EpochRecord| record.progress == Progress::Opened || record.origin == Origin::Forced;
        self.records.iter().rfind(is_established)
    }

    /// Returns [`primary_order`] of a holder.
    pub fn primary_order(&self, holder: &Holder) -> (u32, Reverse<u8>, MemberId) {
        primary_order(self.log_format(holder.id).unwrap_or(0), holder)
    }

    /// Returns the holders that are known not to read the log that a server writes. A version reads all formats up to
    /// the one that it writes.
    pub fn unable_to_read(&self, configuration: &Configuration, server: MemberId) -> Vec<MemberId> {
        let Some(written) = self.log_format(server) else {
            return Vec::new();
        };
        let holders = configuration.holders().iter().map(|holder| holder.id);
        let is_older = |id: &MemberId| self.log_format(*id).is_some_and(|read| read < written);
        holders.filter(is_older).collect()
    }

    fn log_format(&self, id: MemberId) -> Option<u32> {
        let listed = self.members.iter().find(|member| member.id == id);
        listed.map(|member| member.log_format)
    }

    /// Returns the configuration that elections keep: the established one, or else the first. A change that did not
    /// get so far is left to its primary.
    pub fn established_configuration(&self) -> &Configuration {
        &self.established().unwrap_or(&self.records[0]).configuration
    }
}

/// State of the lease of the newest epoch's claimer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claimer {
    /// The lease is held.
    Alive,
    /// The lease is gone or has expired.
    Gone,
}

/// The operator's `pause` and `resume`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elections {
    /// Members act by themselves.
    Active,
    /// Only planned switches and `restore-quorum`.
    Paused,
}

/// Agreement of a primary that another takes over. It holds for a holder that has heard no later pulse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Consent {
    /// Epoch of that primary.
    pub epoch: Epoch,
    /// Time of its last pulse, by its own clock.
    pub pulse: Millis,
}

/// Whether a holder that hears its primary may leave it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    /// Only when it no longer hears it, and its grant has run out.
    WhenSilent,
    /// At once: the primary agrees.
    ByConsent(Consent),
    /// At once: an operator has decided.
    Forced,
}

/// Message between members. Messages may be lost, repeated, delayed and overtake each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// "I hear no primary."
    Missing,
    /// "Promise me this epoch."
    Ask {
        /// The sender's epoch.
        epoch: Epoch,
        /// When the receiver may promise.
        leave: Leave,
    },
    /// "I have promised you this epoch, and this is my log."
    Promised {
        /// The epoch.
        epoch: Epoch,
        /// The log at the time of the promise, or later.
        tail: LogTail,
    },
    /// "I have promised a later epoch, or this one to another."
    Refused {
        /// Epoch of the message that is refused.
        epoch: Epoch,
        /// The promise.
        promise: Promise,
    },
    /// "I am the primary of this epoch, and its start is in my log."
    Pulse {
        /// The epoch.
        epoch: Epoch,
        /// Epochs of the sender's log, which has no end.
        log: LogTail,
        /// Index up to which the log is acknowledged.
        published: LogIndex,
        /// Index up to which every server that could become the primary has the log: none of them will fetch what is
        /// before. 0 while one has not been heard in this epoch.
        needed: LogIndex,
        /// Time of the sender's clock. Repeated in the answer.
        sent: Millis,
        /// Whether the sender hears enough holders.
        hearing: Hearing,
    },
    /// "I am a copy of your log up to `end`, durably." The answer to a pulse, and sent when more is durable.
    Copy {
        /// The receiver's epoch.
        epoch: Epoch,
        /// Durable end.
        end: LogIndex,
        /// `sent` of the last pulse of a sender that heard enough holders: the time that this member has granted.
        sent: Millis,
    },
    /// "My log is acknowledged up to here." To members that follow, as soon as it is; the next pulse says it again.
    Published {
        /// The sender's epoch.
        epoch: Epoch,
        /// Index up to which the log is acknowledged.
        upto: LogIndex,
    },
    /// "Claim the next epoch." To the target of a planned switch.
    TakeOver {
        /// For those that are asked for promises.
        consent: Consent,
    },
}

/// Whether a primary hears an acknowledgement quorum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hearing {
    /// Yes, or it has begun just now.
    Enough,
    /// No: it cannot commit, and holders do not count its pulses as signs of life.
    TooFew,
}

/// Event that a member learns of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// Time has passed. At least every quarter of [`Timing::pulse`].
    Tick,
    /// etcd has answered: to a read, or to a claim, whether that succeeded or not. At least every second.
    Etcd(EtcdState),
    /// etcd does not answer.
    EtcdAway,
    /// A message.
    Message(MemberId, Message),
    /// The host of this member has closed the connection: its process is gone.
    Disconnected(MemberId),
    /// [`Action::WritePromise`] is done. The stream has ended, the log is synced, this is its tail.
    PromiseWritten(Promise, LogTail),
    /// More of the log is durable.
    LogEnd(LogTail),
    /// An operator wants this member, the primary, to hand over to that server.
    Switch(MemberId),
}

/// Action for the member's host. Actions are executed in the order in which they are returned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send it. It may be lost.
    Send(MemberId, Message),
    /// Stop writing to the log: no record of a stream, a fetch or a client is appended after this. Serve no stream
    /// and no fetch. Sync the log, write the promise durably, report [`Input::PromiseWritten`].
    WritePromise(Promise),
    /// Append this record to etcd's list if its newest epoch is `newest`, under a lease. In the same step remove the
    /// regular record with this configuration that has not opened; so the list stays short however many claims fail.
    /// Report [`Input::Etcd`].
    Claim {
        /// The record.
        record: EpochRecord,
        /// Expected newest epoch.
        newest: Epoch,
    },
    /// Put this record in the place of those up to its epoch, unless a later one is marked already.
    MarkOpened(EpochRecord),
    /// Cut the log at `at` if it is longer. Then append what `from` has up to `upto`. `from` serves it while its
    /// promise is this epoch to this member, and no longer. Report [`Input::LogEnd`].
    Fetch {
        /// A holder that has promised.
        from: MemberId,
        /// The epoch that this member prepares.
        epoch: Epoch,
        /// Index at which the two logs diverge.
        at: LogIndex,
        /// The log as it must become.
        upto: LogRank,
    },
    /// Cut the log at `at` if it is longer. Then append the durable records of this primary's log from there on, as
    /// long as it is the primary of this epoch. Report [`Input::LogEnd`].
    Follow {
        /// The primary.
        primary: MemberId,
        /// Its epoch.
        epoch: Epoch,
        /// Index at which the two logs diverge.
        at: LogIndex,
    },
    /// Append the start of this epoch to the log and sync it. Serve the log to those that follow. Report
    /// [`Input::LogEnd`].
    WriteStart(Epoch),
    /// The log is acknowledged up to here: apply and publish it, reply to clients.
    Publish(LogIndex),
    /// Accept transactions of clients, when everything acknowledged is published.
    Open(Epoch),
    /// Let new transactions of clients wait: it opens again soon, or another does.
    Hold,
    /// Refuse transactions of clients. Those that wait remain undecided.
    Close,
    /// Until this time no other primary can have opened, so reads here are new. Later ones are refused or marked.
    /// Only the last of these actions counts.
    ReadsUntil(Millis),
    /// A forced epoch has opened. Transactions from this index on, which only other holders had, may be lost.
    MayBeLost {
        /// End of the newest log that was found.
        after: LogIndex,
    },
    /// A planned switch does not happen.
    SwitchRefused(SwitchError),
}

/// Reason why a planned switch does not happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SwitchError {
    #[error("this member is not the primary, or not open")]
    NotPrimary,
    #[error("the target is not a server of the cluster, or is the primary already")]
    NoSuchServer,
    #[error(
        "too few log holders read the format of the log that the target would write: upgrade the others first"
    )]
    Unreadable,
    #[error("another switch, or a change of the configuration, is under way")]
    Busy,
    #[error("another epoch has begun first")]
    Overtaken,
    #[error("the target did not catch up or did not take over in time; the old primary goes on")]
    TimedOut,
}
