//! The starts of a cluster's epochs in the log.
//!
//! An epoch is the time of one primary. It begins with an event group of one Query event, with a GTID of its own like
//! a DDL statement:
//!
//! ```text
//!   Gtid (standalone) | Query: # paceline: epoch 5, primary 3
//! ```
//! The text is a comment. Replicas of any kind execute it as an empty statement and `mariadb-binlog` prints it.
//! Paceline logs no statement that is only a comment, so no client can write such a group. A MariaDB that replicates it
//! moves its position and logs nothing: a number is missing in the log of that server. A member that replicates from
//! outside its cluster passes over the starts of epochs there.
//!
//! The log knows the newest starts ([`EpochHistory`]). The head of each file repeats them in a record of type 28
//! ([`crate::event::IgnorableEvent::Epochs`]), so that opening reads no more than the file that it reads anyway. The
//! history is a function of the groups alone: two logs with the same groups have the same.
//!
//! *Rejected*: the start as a record of type 28, which is never sent and at which a MariaDB replica stops; a row in a
//! table, which users can change and which archives do not have; an empty transaction, which has no place for the
//! number; a statement without effect that MariaDB logs (`CREATE DATABASE IF NOT EXISTS mysql`), which every client
//! with the privilege could write, too.

use crate::codec::{Cursor, PutExt};
use crate::error::Result;
use crate::event::{EventType, QueryEvent};
use paceline_types::LogIndex;
use std::fmt;

/// Beginning of the text of every epoch start.
const PREFIX: &str = "# paceline: epoch ";

/// Longest text of an epoch start, in bytes: the prefix, both numbers and what is between them.
const TEXT_LENGTH_MAX: usize = PREFIX.len() + 20 + ", primary ".len() + 10;

/// Longest body of a Query event that is examined, in bytes. That of a start has few settings.
const BODY_LENGTH_MAX: usize = 1024;

/// Epoch and primary that an event group names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EpochMark {
    /// The epoch.
    pub epoch: u64,
    /// The member that begins it.
    pub primary: u32,
}

impl fmt::Display for EpochMark {
    /// Writes the text of the Query event.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}, primary {}", self.epoch, self.primary)
    }
}

impl EpochMark {
    /// Parses the text of a Query event. Only what [`EpochMark`]'s display writes is an epoch start.
    pub fn parse(sql: &[u8]) -> Option<Self> {
        if sql.len() > TEXT_LENGTH_MAX {
            return None;
        }
        let numbers = std::str::from_utf8(sql).ok()?.strip_prefix(PREFIX)?;
        let (epoch, primary) = numbers.split_once(", primary ")?;
        let mark = EpochMark {
            epoch: epoch.parse().ok()?,
            primary: primary.parse().ok()?,
        };
        // No sign, no leading zero.
        (mark.to_string().as_bytes() == sql).then_some(mark)
    }

    /// Returns what the event of a standalone group starts.
    pub(crate) fn of_event(event_type: EventType, body: &[u8]) -> Option<Self> {
        match event_type {
            EventType::QUERY | EventType::QUERY_COMPRESSED if body.len() <= BODY_LENGTH_MAX => {
                Self::parse(&QueryEvent::decode(event_type, body).ok()?.sql)
            }
            _ => None,
        }
    }
}

/// Start of an epoch, with its place in the log.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EpochStart {
    /// The epoch.
    pub epoch: u64,
    /// The member that began it.
    pub primary: u32,
    /// Index of the log before the start.
    pub index: LogIndex,
}

/// The newest epoch starts of a log, with ascending epochs. Only [`EpochHistory::STARTS_MAX`] are kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EpochHistory {
    starts: Vec<EpochStart>,
}

impl EpochHistory {
    /// Maximum number of starts.
    pub const STARTS_MAX: usize = 64;

    /// Returns the starts, oldest first.
    pub fn starts(&self) -> &[EpochStart] {
        &self.starts
    }

    /// Returns the newest start.
    pub fn last(&self) -> Option<&EpochStart> {
        self.starts.last()
    }

    /// Returns whether no start is known.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Takes the next start in the log. One that is not above the last is ignored: it belongs to another cluster,
    /// whose log this server has replicated.
    pub fn push(&mut self, start: EpochStart) {
        if let Some(last) = self.last()
            && (start.epoch <= last.epoch || start.index <= last.index)
        {
            tracing::warn!("{start:?} in the binary log does not follow {last:?} and is ignored");
            return;
        }
        if self.starts.len() == Self::STARTS_MAX {
            self.starts.remove(0);
        }
        self.starts.push(start);
    }

    /// Returns the starts that are part of a log that ends at `end`.
    #[must_use]
    pub fn up_to(&self, end: LogIndex) -> Self {
        let number = self.starts.partition_point(|start| start.index < end);
        EpochHistory {
            starts: self.starts[..number].to_vec(),
        }
    }

    /// Encodes the history, as the content of a [`crate::event::IgnorableEvent::Epochs`]: count (2), starts: epoch (8),
    /// primary (4), index (8).
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(2 + self.starts.len() * 20);
        out.put_u16(self.starts.len() as u16);
        for start in &self.starts {
            out.put_u64(start.epoch);
            out.put_u32(start.primary);
            out.put_u64(start.index.0);
        }
        out
    }

    /// Decodes a history.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Ignorable", bytes);
        let count = usize::from(cursor.u16()?);
        if count > Self::STARTS_MAX {
            return Err(cursor.malformed("it has too many epochs"));
        }
        let starts: Vec<EpochStart> = (0..count)
            .map(|_| {
                Ok(EpochStart {
                    epoch: cursor.u64()?,
                    primary: cursor.u32()?,
                    index: LogIndex(cursor.u64()?),
                })
            })
            .collect::<Result<_>>()?;
        let ascend = |pair: &[EpochStart]| pair[0].epoch < pair[1].epoch && pair[0].index < pair[1].index;
        if !starts.windows(2).all(ascend) {
            return Err(cursor.malformed("its epochs do not ascend"));
        }
        Ok(EpochHistory { starts })
    }
}

impl FromIterator<EpochStart> for EpochHistory {
    fn from_iter<I: IntoIterator<Item = EpochStart>>(starts: I) -> Self {
        let mut history = Self::default();
        starts.into_iter().for_each(|start| history.push(start));
        history
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(epoch: u64) -> EpochStart {
        EpochStart {
            epoch,
            primary: 3,
            index: LogIndex(epoch * 10),
        }
    }

    #[test]
    fn only_the_exact_text_is_an_epoch_start() {
        let mark = EpochMark {
            epoch: u64::MAX,
            primary: u32::MAX,
        };
        let text = mark.to_string();
        assert_eq!(text.len(), TEXT_LENGTH_MAX);
        assert_eq!(EpochMark::parse(text.as_bytes()), Some(mark));
        let mark = EpochMark { epoch: 5, primary: 3 };
        assert_eq!(mark.to_string(), "# paceline: epoch 5, primary 3");
        assert_eq!(EpochMark::parse(b"# paceline: epoch 5, primary 3"), Some(mark));
        for other in [
            "",
            "# paceline: epoch 5",
            "# paceline: epoch 05, primary 3",
            "# paceline: epoch +5, primary 3",
            "# paceline: epoch 5, primary 3 ",
            "# paceline: epoch 5, primary 3\n",
            " # paceline: epoch 5, primary 3",
            "# paceline: epoch 5, primary -3",
            "# paceline: epoch 5, primary 4294967296",
            "# paceline: epoch 18446744073709551616, primary 3",
            "# Paceline: epoch 5, primary 3",
        ] {
            assert_eq!(EpochMark::parse(other.as_bytes()), None, "{other:?}");
        }
        assert_eq!(EpochMark::parse(b"# paceline: epoch 5, primary \xff"), None);
    }

    #[test]
    fn the_newest_starts_are_kept_and_survive_encoding() {
        let history: EpochHistory = (1..=100).map(start).collect();
        assert_eq!(history.starts().len(), EpochHistory::STARTS_MAX);
        assert_eq!(history.last(), Some(&start(100)));
        assert_eq!(history.starts()[0], start(37));
        assert_eq!(EpochHistory::decode(&history.encode()).unwrap(), history);
        assert_eq!(history.up_to(LogIndex(990)).last(), Some(&start(98)));
        assert_eq!(history.up_to(LogIndex(991)).last(), Some(&start(99)));
        assert!(history.up_to(LogIndex(0)).is_empty());
        assert!(EpochHistory::decode(&history.encode()[1..]).is_err());
        assert!(EpochHistory::decode(&[65, 0]).is_err());
    }

    #[test]
    fn starts_that_do_not_ascend_are_ignored() {
        let history: EpochHistory = [start(5), start(5), start(4), start(6)].into_iter().collect();
        assert_eq!(history.starts(), &[start(5), start(6)]);
    }
}
