//! Who has what: decided from GTID positions alone.
//!
//! In a domain the sequence number orders history, whoever wrote: so the higher number has everything that the lower one has. Two servers
//! at the same number by different writers contradict each other.

use paceline_binlog::{BinlogState, GtidPosition};

/// What a server has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// HOST:PORT.
    pub address: String,
    /// `gtid_binlog_pos`: what it can give to others.
    pub logged: GtidPosition,
    /// `gtid_slave_pos`: what it has replicated, logged or not.
    pub replicated: GtidPosition,
}

impl Holding {
    /// Everything that it has.
    pub fn has(&self) -> GtidPosition {
        let mut position = self.logged.clone();
        self.replicated.iter().for_each(|gtid| position.advance(gtid));
        position
    }
}

/// What stands in `other` and is missing in `has`, domain by domain.
pub fn lacking(has: &GtidPosition, other: &GtidPosition) -> GtidPosition {
    other
        .iter()
        .filter(|gtid| !has.reaches(gtid.domain_id, gtid.sequence))
        .collect()
}

/// Who has replicated something that is missing in `has`, and what: it stands in no log that could give it.
pub fn not_given<'h>(has: &GtidPosition, others: &'h [Holding]) -> Option<(&'h Holding, GtidPosition)> {
    let mut lacks = others.iter().map(|other| (other, lacking(has, &other.has())));
    lacks.find(|(_, lacks)| !lacks.is_empty())
}

/// What a server has yet to replicate to come to `position`, if its log has this state. What it has written itself it never replicates, and its
/// number alone does not tell: here it must have that very transaction.
pub fn not_logged(logged: &BinlogState, position: &GtidPosition) -> GtidPosition {
    position.iter().filter(|gtid| !logged.contains(*gtid)).collect()
}

/// Two servers that have different transactions under one number of a domain; as a text for people.
pub fn contradiction(holdings: &[Holding]) -> Option<String> {
    let all: Vec<_> = holdings
        .iter()
        .map(|holding| (&holding.address, holding.has()))
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

    fn holding(address: &str, logged: &str, replicated: &str) -> Holding {
        Holding {
            address: address.into(),
            logged: logged.parse().unwrap(),
            replicated: replicated.parse().unwrap(),
        }
    }

    #[test]
    fn nobody_is_ahead_in_all_domains() {
        let candidate = holding("a", "0-1-10,5-2-7", "0-1-11");
        let other = holding("b", "0-1-12,5-2-6,7-3-1", "");
        assert_eq!(candidate.has().to_string(), "0-1-11,5-2-7");
        assert_eq!(
            lacking(&candidate.has(), &other.logged).to_string(),
            "0-1-12,7-3-1"
        );
        assert!(lacking(&other.has(), &holding("c", "0-1-3", "").logged).is_empty());
        assert_eq!(contradiction(&[candidate, other]), None);
    }

    #[test]
    fn what_is_in_no_log() {
        let others = [
            holding("b", "0-1-12", "0-1-11"),
            holding("c", "5-3-2", "0-1-15,5-2-1"),
        ];
        let found = |has: &str| {
            let has: GtidPosition = has.parse().unwrap();
            not_given(&has, &others).map(|(other, lacks)| format!("{} {lacks}", other.address))
        };
        assert_eq!(found("0-1-12,5-3-2").unwrap(), "c 0-1-15");
        assert_eq!(found("0-1-15,5-3-2"), None);
    }

    #[test]
    fn what_it_wrote_itself_is_not_waited_for() {
        let logged: BinlogState = "0-2-4,0-1-10,5-2-7".parse().unwrap();
        let yet = |position: &str| not_logged(&logged, &position.parse().unwrap()).to_string();
        assert_eq!(yet("0-1-10"), "");
        assert_eq!(yet("0-2-11,5-2-7"), "0-2-11");
        // It has that number, and another's transaction under it.
        assert_eq!(yet("0-2-9,6-2-1"), "0-2-9,6-2-1");
    }

    #[test]
    fn one_number_by_two_writers() {
        let both = [holding("a", "0-1-10,5-2-7", ""), holding("b", "0-1-10,5-3-7", "")];
        assert_eq!(contradiction(&both).unwrap(), "a has 5-2-7 where b has 5-3-7");
    }
}
