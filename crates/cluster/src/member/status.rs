//! State of a member in words, for `SHOW CLUSTER STATUS`.

use super::campaign::Phase;
use super::{Gate, Member, Role};
use crate::configuration::MemberId;
use crate::epoch::{Epoch, Progress};
use crate::interface::{Elections, EtcdState};
use paceline_types::LogIndex;
use std::fmt;

/// Role of a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum RoleName {
    Waiting,
    Following,
    Campaigning,
    Primary,
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RoleName::Waiting => "no primary known",
            RoleName::Following => "replica",
            RoleName::Campaigning => "becoming the primary",
            RoleName::Primary => "primary",
        })
    }
}

/// Reason why a member waits.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Wait {
    TornPromise,
    Etcd,
    Disk,
    Copying,
    Primary,
    Paused,
    Opinions,
    Upgrade { of: Vec<MemberId> },
    Promises { of: Vec<MemberId> },
    Log { from: MemberId, upto: LogIndex },
    Start,
    Copies { start: LogIndex },
    Switch,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::TornPromise => f.write_str("for etcd: the file of the promise is damaged, and etcd bounds what it said"),
            Wait::Etcd => f.write_str("for etcd: nobody can become the primary without it"),
            Wait::Disk => f.write_str("for the disk: a promise is being written"),
            Wait::Copying => f.write_str(
                "for an operator: its tables have transactions that the cluster gave up, or its log is too old. Remove it (paceline cluster remove), empty its directory and start it: it copies the primary",
            ),
            Wait::Primary => f.write_str("for a primary: it is no log holder, so it takes no part in finding one (paceline cluster add)"),
            Wait::Paused => f.write_str("for an operator: elections are paused (paceline cluster resume)"),
            Wait::Opinions => f.write_str("for a primary, or for enough members that hear none"),
            Wait::Upgrade { of } => {
                f.write_str("for other servers, or for an upgrade of those that cannot read the log it would write: ")?;
                write_list(f, of)
            }
            Wait::Promises { of } => {
                f.write_str("for promises of ")?;
                write_list(f, of)
            }
            Wait::Log { from, upto } => write!(f, "for the log up to {} from {from}", upto.0),
            Wait::Start => f.write_str("for the disk: the start of the epoch is being written"),
            Wait::Copies { start } => write!(f, "for holders that acknowledge the start of the epoch at {}", start.0),
            Wait::Switch => f.write_str("for the server that takes over"),
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, members: &[MemberId]) -> fmt::Result {
    for (at, member) in members.iter().enumerate() {
        write!(f, "{}{member}", if at == 0 { "" } else { ", " })?;
    }
    Ok(())
}

/// State of a member.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// Role.
    pub role: RoleName,
    /// The promised epoch. `None`: the promise is torn.
    pub epoch: Option<Epoch>,
    /// The primary of that epoch, if this member is or follows it.
    pub primary: Option<MemberId>,
    /// Durable end of the log.
    pub end: LogIndex,
    /// Acknowledged end of the log, as far as known.
    pub published: LogIndex,
    /// Index up to which every server that could become the primary has the log, as far as known.
    pub needed: LogIndex,
    /// `None`: nothing is missing.
    pub waits: Option<Wait>,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.role)?;
        if let Some(epoch) = self.epoch {
            write!(f, ", epoch {epoch}")?;
        }
        write!(f, ", log {}, published {}", self.end.0, self.published.0)?;
        match &self.waits {
            Some(wait) => write!(f, "; waits {wait}"),
            None => Ok(()),
        }
    }
}

impl Member {
    /// Returns the state.
    pub fn status(&self) -> Status {
        let (role, primary) = match &self.role {
            Role::Waiting => (RoleName::Waiting, None),
            Role::Following(following) => (RoleName::Following, Some(following.primary)),
            Role::Campaigning(_) => (RoleName::Campaigning, None),
            Role::Primary(_) => (RoleName::Primary, Some(self.id)),
        };
        let needed = match &self.role {
            Role::Following(following) => following.needed,
            Role::Primary(_) => self.needed(),
            Role::Waiting | Role::Campaigning(_) => LogIndex(0),
        };
        Status {
            needed,
            role,
            epoch: self.promise.map(|promise| promise.epoch),
            primary,
            end: self.tail.end(),
            published: self.published,
            waits: self.wait(),
        }
    }

    /// Returns whether it is a log holder as far as it knows.
    fn is_holder(&self) -> bool {
        let etcd = self.etcd.as_ref();
        etcd.is_none_or(|etcd| etcd.established_configuration().holder(self.id).is_some())
    }

    fn wait(&self) -> Option<Wait> {
        if self.promise.is_none() {
            return Some(Wait::TornPromise);
        }
        if self.writing.is_some() {
            return Some(Wait::Disk);
        }
        match &self.role {
            Role::Primary(_) => match self.gate {
                Gate::Open => None,
                Gate::Held => Some(Wait::Switch),
                Gate::Closed => self
                    .tail
                    .start_of_last(self.promise?.epoch)
                    .map(|start| Wait::Copies { start }),
            },
            Role::Campaigning(campaign) => Some(match campaign.phase {
                Phase::Promising => Wait::Promises {
                    of: campaign.unpromised(self.id),
                },
                Phase::Fetching { from, upto, .. } => Wait::Log { from, upto: upto.end },
                Phase::Starting => Wait::Start,
            }),
            Role::Following(_) if self.hears_primary() => None,
            _ if self.must_be_copied => Some(Wait::Copying),
            _ if self.is_etcd_away => Some(Wait::Etcd),
            _ if !self.is_holder() => Some(Wait::Primary),
            _ => {
                let is_paused = |etcd: &EtcdState| {
                    etcd.elections == Elections::Paused && etcd.newest().progress == Progress::Opened
                };
                let upgrades = |etcd: &EtcdState| match self.is_primary_missing() {
                    true => self.needs_upgrades(etcd, self.id),
                    false => Vec::new(),
                };
                let of = self.etcd.as_ref().map(upgrades).unwrap_or_default();
                Some(match self.etcd.as_ref().is_some_and(is_paused) {
                    true => Wait::Paused,
                    false if !of.is_empty() => Wait::Upgrade { of },
                    false => Wait::Opinions,
                })
            }
        }
    }
}
