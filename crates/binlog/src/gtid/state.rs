//! A GTID state: the last GTID of each domain and server, and which server wrote last in each domain.

use super::LOCAL_DOMAIN;
use super::position::{GtidPosition, parse_list, write_list};
use crate::error::{Error, Result};
use paceline_types::{DomainId, Gtid, LogIndex, SequenceNumber, ServerId};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The last GTID of each domain and server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GtidState {
    domains: BTreeMap<DomainId, Domain>,
    /// Sum of [`Domain::listed`] over all domains.
    index: u128,
}

/// One domain's part of the state.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Domain {
    /// Highest sequence number that was ever assigned or received in this domain.
    highest: SequenceNumber,
    /// Highest sequence number in `servers`. It is lower than `highest` after a server's numbers have descended, which
    /// a state that is read from the log no longer tells.
    listed: SequenceNumber,
    /// Last GTID of each server, ordered by the time of writing.
    servers: Vec<(ServerId, SequenceNumber)>,
}

impl Domain {
    fn highest_listed(&self) -> SequenceNumber {
        let numbers = self.servers.iter().map(|(_, sequence)| *sequence);
        numbers.max().unwrap_or(SequenceNumber(0))
    }
}

/// Changes that a sequence of transactions made to a state: the GTIDs for [`GtidState::update`], in order.
pub type StateDelta = Vec<Gtid>;

impl GtidState {
    /// Returns the state of an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a transaction that was written to the log. Transactions of [`LOCAL_DOMAIN`] are not recorded.
    pub fn update(&mut self, gtid: Gtid) {
        if gtid.domain_id == LOCAL_DOMAIN {
            return;
        }
        let domain = self.domains.entry(gtid.domain_id).or_insert_with(|| Domain {
            highest: gtid.sequence,
            listed: SequenceNumber(0),
            servers: Vec::with_capacity(1),
        });
        domain.highest = domain.highest.max(gtid.sequence);
        self.index -= u128::from(domain.listed.0);
        match domain.servers.last_mut() {
            Some(last) if last.0 == gtid.server_id => last.1 = gtid.sequence,
            _ => {
                domain
                    .servers
                    .retain(|(server_id, _)| *server_id != gtid.server_id);
                domain.servers.push((gtid.server_id, gtid.sequence));
            }
        }
        domain.listed = match gtid.sequence >= domain.listed {
            true => gtid.sequence,
            false => domain.highest_listed(),
        };
        self.index += u128::from(domain.listed.0);
    }

    /// Returns the sum of the domains' highest sequence numbers, or the highest index if it is greater. States with the
    /// same text have the same index.
    pub fn log_index(&self) -> LogIndex {
        LogIndex(u64::try_from(self.index).unwrap_or(u64::MAX))
    }

    /// Returns the number for the next local transaction of this domain: one above everything written or received, so
    /// that the number alone orders the history across failovers. `None` when the numbers are exhausted.
    pub fn next_sequence(&self, domain_id: DomainId) -> Option<SequenceNumber> {
        let highest = self.domains.get(&domain_id).map_or(0, |domain| domain.highest.0);
        highest.checked_add(1).map(SequenceNumber)
    }

    /// Returns the highest sequence number of a domain.
    pub fn highest_sequence(&self, domain_id: DomainId) -> Option<SequenceNumber> {
        self.domains.get(&domain_id).map(|domain| domain.highest)
    }

    /// Returns the last GTID written in a domain, by any server.
    pub fn last(&self, domain_id: DomainId) -> Option<Gtid> {
        let domain = self.domains.get(&domain_id)?;
        domain.servers.last().map(|(server_id, sequence)| Gtid {
            domain_id,
            server_id: *server_id,
            sequence: *sequence,
        })
    }

    /// Returns the last GTID of a server in a domain.
    pub fn last_of(&self, domain_id: DomainId, server_id: ServerId) -> Option<Gtid> {
        let (_, sequence) = *self
            .domains
            .get(&domain_id)?
            .servers
            .iter()
            .find(|(server, _)| *server == server_id)?;
        Some(Gtid {
            domain_id,
            server_id,
            sequence,
        })
    }

    /// Returns whether a log with this state has, or had, that transaction: the state has the same or a higher number
    /// of its server and domain. Always true for [`LOCAL_DOMAIN`], whose transactions concern no other server.
    pub fn contains(&self, gtid: Gtid) -> bool {
        let last = self.last_of(gtid.domain_id, gtid.server_id);
        gtid.domain_id == LOCAL_DOMAIN || last.is_some_and(|last| last.sequence >= gtid.sequence)
    }

    /// Returns the last GTID of each domain (`gtid_binlog_pos`).
    pub fn position(&self) -> GtidPosition {
        self.domains
            .keys()
            .filter_map(|domain_id| self.last(*domain_id))
            .collect()
    }

    /// Returns the last GTID of each server in a domain.
    pub fn domain(&self, domain_id: DomainId) -> impl Iterator<Item = Gtid> + '_ {
        let servers = self
            .domains
            .get(&domain_id)
            .map_or(&[][..], |domain| &domain.servers);
        servers.iter().map(move |(server_id, sequence)| Gtid {
            domain_id,
            server_id: *server_id,
            sequence: *sequence,
        })
    }

    /// Returns all GTIDs, ordered by domain; within a domain by the time of writing, as in a Gtid_list event.
    pub fn iter(&self) -> impl Iterator<Item = Gtid> + '_ {
        self.domains.iter().flat_map(|(domain_id, domain)| {
            domain.servers.iter().map(|(server_id, sequence)| Gtid {
                domain_id: *domain_id,
                server_id: *server_id,
                sequence: *sequence,
            })
        })
    }

    /// Removes a domain (`FLUSH BINARY LOGS DELETE_DOMAIN_ID`). Returns whether it existed.
    pub fn remove_domain(&mut self, domain_id: DomainId) -> bool {
        let removed = self.domains.remove(&domain_id);
        self.index -= removed.as_ref().map_or(0, |domain| u128::from(domain.listed.0));
        removed.is_some()
    }

    /// Returns whether nothing was ever written.
    pub fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }
}

impl FromIterator<Gtid> for GtidState {
    fn from_iter<I: IntoIterator<Item = Gtid>>(gtids: I) -> Self {
        let mut state = Self::new();
        for gtid in gtids {
            state.update(gtid);
        }
        state
    }
}

impl fmt::Display for GtidState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.iter())
    }
}

impl FromStr for GtidState {
    type Err = Error;

    /// Parses the text form of `gtid_binlog_state`. If a domain and server occur twice, the last GTID counts, as in
    /// MariaDB.
    ///
    /// # Errors
    /// [`Error::GtidSyntax`] (1941).
    fn from_str(text: &str) -> Result<Self> {
        Ok(parse_list(text)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gtid(text: &str) -> Gtid {
        text.parse().unwrap()
    }

    #[test]
    fn the_last_writer_of_a_domain_is_listed_last() {
        let mut state = GtidState::new();
        for text in ["0-1-1", "0-2-2", "1-1-1", "0-1-3"] {
            state.update(gtid(text));
        }
        assert_eq!(state.to_string(), "0-2-2,0-1-3,1-1-1");
        assert_eq!(state.position().to_string(), "0-1-3,1-1-1");
        assert_eq!(state.last(DomainId(0)), Some(gtid("0-1-3")));
        assert_eq!(state.last_of(DomainId(0), ServerId(2)), Some(gtid("0-2-2")));
        assert_eq!(state.to_string().parse::<GtidState>().unwrap(), state);
        let contained = ["0-1-3", "0-1-1", "0-2-2", "1-1-1", "4294967295-7-9"];
        assert!(contained.iter().all(|text| state.contains(gtid(text))));
        let lacking = ["0-1-4", "0-2-3", "0-3-1", "2-1-1"];
        assert!(!lacking.iter().any(|text| state.contains(gtid(text))));
        assert!(state.remove_domain(DomainId(1)) && !state.remove_domain(DomainId(1)));
        assert_eq!(state.to_string(), "0-2-2,0-1-3");
    }

    #[test]
    fn the_next_number_is_above_all_own_and_received() {
        let mut state = GtidState::new();
        assert_eq!(state.next_sequence(DomainId(0)), Some(SequenceNumber(1)));
        state.update(gtid("0-1-10"));
        state.update(gtid("0-2-50"));
        // Two writers in one domain: the next number does not decrease.
        state.update(gtid("0-1-11"));
        assert_eq!(state.next_sequence(DomainId(0)), Some(SequenceNumber(51)));
        assert_eq!(state.next_sequence(DomainId(1)), Some(SequenceNumber(1)));
        state.update(gtid("0-1-18446744073709551615"));
        assert_eq!(state.next_sequence(DomainId(0)), None);
    }

    #[test]
    fn the_log_index_is_the_sum_of_what_the_state_lists() {
        let mut state = GtidState::new();
        let mut index = 0;
        for (text, expected) in [
            ("0-1-1", 1),
            ("0-2-5", 5),
            ("7-1-10", 15),
            ("0-1-6", 16),
            ("4294967295-1-9", 16),
            // Not in strict mode: a number that descends.
            ("0-1-3", 15),
            ("0-2-2", 13),
            ("0-1-4", 14),
        ] {
            state.update(gtid(text));
            assert_eq!(state.log_index(), LogIndex(expected), "after {text}");
            assert_eq!(
                state.to_string().parse::<GtidState>().unwrap().log_index(),
                state.log_index(),
                "a state that is read has the same index"
            );
            index = expected;
        }
        assert!(state.remove_domain(DomainId(7)));
        assert_eq!(state.log_index(), LogIndex(index - 10));
        state.update(gtid("7-1-18446744073709551615"));
        assert_eq!(state.log_index(), LogIndex(u64::MAX));
        assert!(state.remove_domain(DomainId(7)));
        assert_eq!(state.log_index(), LogIndex(index - 10));
    }

    #[test]
    fn local_transactions_are_not_in_the_state() {
        let mut state = GtidState::new();
        state.update(Gtid::new(LOCAL_DOMAIN, ServerId(1), SequenceNumber(1)));
        assert!(state.is_empty());
    }

    #[test]
    fn invalid_states_have_mariadbs_errors() {
        assert_eq!("0-1-1,0-1".parse::<GtidState>().unwrap_err().code(), 1941);
        assert_eq!(
            "0-1-1,0-2-2,0-1-3".parse::<GtidState>().unwrap().to_string(),
            "0-2-2,0-1-3"
        );
    }
}
