//! Compares what servers have, from their GTID positions alone.
//!
//! In a domain, sequence numbers order the history, whichever server wrote a transaction. So a server with a higher
//! number has everything that a server with a lower number has. Two servers with the same number from different writers
//! contradict each other.

use paceline_binlog::{GtidPosition, GtidState};
use paceline_types::DomainId;
use std::collections::HashSet;

/// Transactions that a server has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPosition {
    /// HOST:PORT.
    pub address: String,
    /// `gtid_binlog_pos`: transactions that other servers can fetch from it.
    pub logged: GtidPosition,
    /// `gtid_slave_pos`: transactions that it has replicated, logged or not.
    pub replicated: GtidPosition,
}

impl ServerPosition {
    /// Returns the position of everything that it has.
    pub fn position(&self) -> GtidPosition {
        let mut position = self.logged.clone();
        self.replicated.iter().for_each(|gtid| position.advance(gtid));
        position
    }

    /// Removes all other domains.
    pub fn keep(&mut self, domains: &HashSet<DomainId>) {
        for position in [&mut self.logged, &mut self.replicated] {
            *position = position
                .iter()
                .filter(|gtid| domains.contains(&gtid.domain_id))
                .collect();
        }
    }
}

/// Returns the domains in which any of the servers has a transaction.
pub fn domains(holdings: &[ServerPosition]) -> HashSet<DomainId> {
    let all = holdings
        .iter()
        .flat_map(|holding| [&holding.logged, &holding.replicated]);
    all.flat_map(|position| position.iter().map(|gtid| gtid.domain_id))
        .collect()
}

/// Returns the GTIDs of `other` that `has` does not reach.
pub fn lacking(has: &GtidPosition, other: &GtidPosition) -> GtidPosition {
    other
        .iter()
        .filter(|gtid| !has.reaches(gtid.domain_id, gtid.sequence))
        .collect()
}

/// Returns a server that has replicated something that `has` lacks, and what: no log contains it.
pub fn unfetchable<'h>(
    has: &GtidPosition,
    others: &'h [ServerPosition],
) -> Option<(&'h ServerPosition, GtidPosition)> {
    let mut lacks = others
        .iter()
        .map(|other| (other, lacking(has, &other.position())));
    lacks.find(|(_, lacks)| !lacks.is_empty())
}

/// Returns the GTIDs of `position` that a server must still replicate, given the state of its log. A server never
/// replicates its own transactions, and comparing their numbers is not enough: it must have exactly these transactions.
pub fn missing_from_log(logged: &GtidState, position: &GtidPosition) -> GtidPosition {
    position.iter().filter(|gtid| !logged.contains(*gtid)).collect()
}

/// Returns a text for users about two servers that have different transactions with the same number in a domain; `None`
/// if there are none.
pub fn contradiction(holdings: &[ServerPosition]) -> Option<String> {
    let all: Vec<_> = holdings
        .iter()
        .map(|holding| (&holding.address, holding.position()))
        .collect();
    for (number, (one, position)) in all.iter().enumerate() {
        for (other, theirs) in &all[number + 1..] {
            let contradicts = |gtid: &paceline_types::Gtid| {
                theirs
                    .get(gtid.domain_id)
                    .is_some_and(|their| their.sequence == gtid.sequence && their != *gtid)
            };
            if let Some(gtid) = position.iter().find(contradicts) {
                let their = theirs.get(gtid.domain_id)?;
                return Some(format!("{one} has {gtid} where {other} has {their}"));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(address: &str, logged: &str, replicated: &str) -> ServerPosition {
        ServerPosition {
            address: address.into(),
            logged: logged.parse().unwrap(),
            replicated: replicated.parse().unwrap(),
        }
    }

    #[test]
    fn lacking_transactions_are_found_domain_by_domain() {
        let candidate = holding("a", "0-1-10,5-2-7", "0-1-11");
        let other = holding("b", "0-1-12,5-2-6,7-3-1", "");
        assert_eq!(candidate.position().to_string(), "0-1-11,5-2-7");
        assert_eq!(
            lacking(&candidate.position(), &other.logged).to_string(),
            "0-1-12,7-3-1"
        );
        assert!(lacking(&other.position(), &holding("c", "0-1-3", "").logged).is_empty());
        assert_eq!(contradiction(&[candidate, other]), None);
    }

    #[test]
    fn replicated_transactions_that_no_log_contains_are_found() {
        let others = [
            holding("b", "0-1-12", "0-1-11"),
            holding("c", "5-3-2", "0-1-15,5-2-1"),
        ];
        let found = |has: &str| {
            let has: GtidPosition = has.parse().unwrap();
            unfetchable(&has, &others).map(|(other, lacks)| format!("{} {lacks}", other.address))
        };
        assert_eq!(found("0-1-12,5-3-2").unwrap(), "c 0-1-15");
        assert_eq!(found("0-1-15,5-3-2"), None);
    }

    #[test]
    fn transactions_in_the_servers_own_log_are_not_waited_for() {
        let logged: GtidState = "0-2-4,0-1-10,5-2-7".parse().unwrap();
        let yet = |position: &str| missing_from_log(&logged, &position.parse().unwrap()).to_string();
        assert_eq!(yet("0-1-10"), "");
        assert_eq!(yet("0-2-11,5-2-7"), "0-2-11");
        // It has the number, but with another server's transaction.
        assert_eq!(yet("0-2-9,6-2-1"), "0-2-9,6-2-1");
    }

    #[test]
    fn the_same_number_from_two_writers_is_a_contradiction() {
        let both = [holding("a", "0-1-10,5-2-7", ""), holding("b", "0-1-10,5-3-7", "")];
        assert_eq!(contradiction(&both).unwrap(), "a has 5-2-7 where b has 5-3-7");
    }
}
